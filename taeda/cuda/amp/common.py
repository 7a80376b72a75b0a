"""Whether mixed precision can run on CUDA."""

import taeda


def amp_definitely_not_available() -> bool:
    """Whether there is no CUDA device, so that `autocast` and `GradScaler` of this package do nothing."""
    return not taeda.cuda.is_available()
