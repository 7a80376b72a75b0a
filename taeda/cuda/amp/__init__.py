"""The old names of mixed precision on CUDA; ``taeda.amp`` takes the device type as an argument."""

from taeda.cuda.amp.autocast_mode import autocast as autocast
from taeda.cuda.amp.autocast_mode import custom_bwd as custom_bwd
from taeda.cuda.amp.autocast_mode import custom_fwd as custom_fwd
from taeda.cuda.amp.common import amp_definitely_not_available as amp_definitely_not_available
from taeda.cuda.amp.grad_scaler import GradScaler as GradScaler

__all__ = ["GradScaler", "amp_definitely_not_available", "autocast", "custom_bwd", "custom_fwd"]
