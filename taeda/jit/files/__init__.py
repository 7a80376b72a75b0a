"""TorchScript's archives, PyTorch's and ours: reading them, writing them, and the source text in them."""
