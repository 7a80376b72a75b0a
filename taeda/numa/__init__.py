"""Which processors a process runs on."""
