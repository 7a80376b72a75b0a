"""The loader's parts: collating, fetching, pinning, worker processes and the way from them back."""
