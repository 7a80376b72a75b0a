"""What stands in for ``torch.testing._internal``."""
