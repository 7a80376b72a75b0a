"""The module classes, by family: each module names its own in ``__all__``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taeda.nn.modules import (
    activation,
    adaptive,
    batchnorm,
    container,
    conv,
    distance,
    dropout,
    flatten,
    fold,
    instancenorm,
    lazy_conv,
    linear,
    linear_cross_entropy,
    loss,
    normalization,
    padding,
    pixelshuffle,
    pooling,
    rnn,
    sparse,
    transformer,
    upsampling,
)
from taeda.nn.modules.activation import *  # noqa: F403
from taeda.nn.modules.adaptive import *  # noqa: F403
from taeda.nn.modules.batchnorm import *  # noqa: F403
from taeda.nn.modules.container import *  # noqa: F403
from taeda.nn.modules.conv import *  # noqa: F403
from taeda.nn.modules.distance import *  # noqa: F403
from taeda.nn.modules.dropout import *  # noqa: F403
from taeda.nn.modules.flatten import *  # noqa: F403
from taeda.nn.modules.fold import *  # noqa: F403
from taeda.nn.modules.instancenorm import *  # noqa: F403
from taeda.nn.modules.lazy_conv import *  # noqa: F403
from taeda.nn.modules.linear import *  # noqa: F403
from taeda.nn.modules.linear_cross_entropy import *  # noqa: F403
from taeda.nn.modules.loss import *  # noqa: F403
from taeda.nn.modules.module import Module as Module
from taeda.nn.modules.normalization import *  # noqa: F403
from taeda.nn.modules.padding import *  # noqa: F403
from taeda.nn.modules.pixelshuffle import *  # noqa: F403
from taeda.nn.modules.pooling import *  # noqa: F403
from taeda.nn.modules.rnn import *  # noqa: F403
from taeda.nn.modules.sparse import *  # noqa: F403
from taeda.nn.modules.transformer import *  # noqa: F403
from taeda.nn.modules.upsampling import *  # noqa: F403

if not TYPE_CHECKING:  # type checkers lose names of lists of lists
    __all__ = [
        "Module",
        *activation.__all__,
        *adaptive.__all__,
        *batchnorm.__all__,
        *container.__all__,
        *conv.__all__,
        *distance.__all__,
        *dropout.__all__,
        *flatten.__all__,
        *fold.__all__,
        *instancenorm.__all__,
        *lazy_conv.__all__,
        *linear.__all__,
        *linear_cross_entropy.__all__,
        *loss.__all__,
        *normalization.__all__,
        *padding.__all__,
        *pixelshuffle.__all__,
        *pooling.__all__,
        *rnn.__all__,
        *sparse.__all__,
        *transformer.__all__,
        *upsampling.__all__,
    ]
