"""Files, decoders and snapshots for pipes."""
