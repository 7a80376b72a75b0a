"""The functions of `taeda.nn.functional`, by family."""
