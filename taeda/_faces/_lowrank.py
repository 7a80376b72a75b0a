"""What PyTorch keeps in ``torch._lowrank``."""

from taeda._main.lowrank import pca_lowrank as pca_lowrank
from taeda._main.lowrank import svd_lowrank as svd_lowrank
