"""What schemas say: types, arguments, tags, and the sizes of graphs. The core parses; this is its face."""
