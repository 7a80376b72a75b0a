"""What PyTorch keeps under this name: pruning of whole channels, of any tensors, and of activations."""
