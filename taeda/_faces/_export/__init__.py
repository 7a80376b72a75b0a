"""What PyTorch keeps in ``torch._export``, under ``taeda.export``."""

from taeda._export import utils as utils
from taeda._export import verifier as verifier
