"""PyTorch's own table of ops, with its sample inputs and error inputs, run through Taeda and PyTorch side by side."""
