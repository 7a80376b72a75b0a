"""The Kullback-Leibler divergence."""

from __future__ import annotations

from taeda.distributions import _kl_scalars, _kl_vectors  # noqa: F401  they register their functions
from taeda.distributions._kl_registry import _KL_REGISTRY as _KL_REGISTRY
from taeda.distributions._kl_registry import kl_divergence, register_kl

__all__ = ["kl_divergence", "register_kl"]
