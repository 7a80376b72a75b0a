"""What PyTorch keeps in ``torch._tensor_str``."""

from taeda._tensor.printing import PRINT_OPTS as PRINT_OPTS
from taeda._tensor.printing import _tensor_str as _tensor_str
from taeda._tensor.printing import get_printoptions as get_printoptions
from taeda._tensor.printing import printoptions as printoptions
from taeda._tensor.printing import set_printoptions as set_printoptions
