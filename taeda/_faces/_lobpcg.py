"""What PyTorch keeps in ``torch._lobpcg``."""

from taeda._main.lobpcg import LOBPCG as LOBPCG
from taeda._main.lobpcg import lobpcg as lobpcg
