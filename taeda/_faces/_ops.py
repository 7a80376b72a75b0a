"""What PyTorch keeps in ``torch._ops``."""

from taeda import ops as ops
from taeda._control_flow.operators import HigherOrderOperator as HigherOrderOperator
from taeda._library.ops import OpNamespace as OpNamespace
from taeda._library.ops import OpOverload as OpOverload
from taeda._library.ops import OpOverloadPacket as OpOverloadPacket
from taeda._library.ops import find_overload as find_overload
