"""From Python's tree to a typed graph: the second stage of `script`."""
