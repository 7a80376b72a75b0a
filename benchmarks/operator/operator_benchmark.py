"""What files of tests import: ``import operator_benchmark as op_bench``. Those that say ``import torch`` get Taeda."""

import sys

import taeda

if "torch" not in sys.modules:
    taeda.install_as_torch()

from taeda.utils.operator_benchmark import *  # noqa: F403
