"""Reports on how a model's numbers would stand being quantised: which layers, which channels, and what to do."""
