"""Parts of the numeric suite for graphs."""
