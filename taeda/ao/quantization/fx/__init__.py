"""Quantisation of graphs: fuse, prepare, convert, lower."""
