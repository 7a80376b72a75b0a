"""Where PyTorch has the class of jagged tensors."""
