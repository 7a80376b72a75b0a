"""What ``taeda.library`` is made of beyond registration itself."""
