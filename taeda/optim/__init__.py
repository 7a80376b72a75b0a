"""Optimisers and learning rate schedules.

Every optimiser takes the parameters, or groups of parameters with options of their own, and updates them in ``step()``
from the gradients that ``backward()`` left. :mod:`taeda.optim.lr_scheduler` changes the learning rate over time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import lr_scheduler as lr_scheduler
from .adadelta import Adadelta
from .adafactor import Adafactor
from .adagrad import Adagrad
from .adam import Adam
from .adamax import Adamax
from .adamw import AdamW
from .asgd import ASGD
from .lbfgs import LBFGS
from .muon import Muon
from .nadam import NAdam
from .optimizer import Optimizer
from .radam import RAdam
from .rmsprop import RMSprop
from .rprop import Rprop
from .sgd import SGD
from .sparse_adam import SparseAdam

__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "SparseAdam",
    "lr_scheduler",
    "swa_utils",
    "swap_in_optimizer_params_and_state",
]


if TYPE_CHECKING:
    from . import swa_utils as swa_utils
    from ._swap import swap_in_optimizer_params_and_state as swap_in_optimizer_params_and_state
else:

    def __getattr__(name: str) -> Any:
        """Loads ``swa_utils`` when first named, for it needs :mod:`taeda.nn`."""
        if name == "swa_utils":
            import importlib

            return importlib.import_module(".swa_utils", __name__)
        if name == "swap_in_optimizer_params_and_state":
            from ._swap import swap_in_optimizer_params_and_state

            return swap_in_optimizer_params_and_state
        from taeda._main.absent import missing

        raise missing(__name__, name)
