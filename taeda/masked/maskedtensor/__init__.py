"""Tensors that carry their mask."""

from taeda.masked.maskedtensor.core import MaskedTensor as MaskedTensor
from taeda.masked.maskedtensor.core import is_masked_tensor as is_masked_tensor
from taeda.masked.maskedtensor.creation import as_masked_tensor as as_masked_tensor
from taeda.masked.maskedtensor.creation import masked_tensor as masked_tensor
