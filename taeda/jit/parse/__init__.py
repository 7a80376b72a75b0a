"""Python source as a tree with source places: the first stage of `script`."""
