"""What PyTorch keeps in ``torch._subclasses``: fake tensors."""

from taeda._library.fake_tensor import DynamicOutputShapeException as DynamicOutputShapeException
from taeda._library.fake_tensor import FakeTensor as FakeTensor
from taeda._library.fake_tensor import FakeTensorMode as FakeTensorMode
from taeda._library.fake_tensor import UnsupportedFakeTensorException as UnsupportedFakeTensorException
from taeda._subclasses import fake_tensor as fake_tensor
