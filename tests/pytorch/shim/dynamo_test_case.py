"""`torch._dynamo.test_case`, which PyTorch makes of its test helpers."""

from torch.testing._internal.common_utils import TestCase as TestCase
from torch.testing._internal.common_utils import run_tests as run_tests
