"""What PyTorch keeps in ``torch._subclasses.fake_tensor``."""

from taeda._library.fake_tensor import DataDependentOutputException as DataDependentOutputException
from taeda._library.fake_tensor import DynamicOutputShapeException as DynamicOutputShapeException
from taeda._library.fake_tensor import FakeTensor as FakeTensor
from taeda._library.fake_tensor import FakeTensorDeviceMismatchError as FakeTensorDeviceMismatchError
from taeda._library.fake_tensor import FakeTensorMode as FakeTensorMode
from taeda._library.fake_tensor import UnsupportedFakeTensorException as UnsupportedFakeTensorException
from taeda._library.fake_tensor import UnsupportedOperatorException as UnsupportedOperatorException
from taeda._library.fake_tensor import is_fake as is_fake
