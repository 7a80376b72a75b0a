"""Ops and kernels that a program registers: ``Library`` for single registrations, ``custom_op`` for whole ops.

A kernel is a Python function for one dispatch key: a backend (``"CPU"``, ``"CUDA"``, ``"Meta"``, ``"PrivateUse1"``), a
layer (``"Autograd"``, ``"AutogradCPU"``, ``"AutocastCPU"``, ``"ADInplaceOrView"``, ``"Python"``), or
``"CompositeImplicitAutograd"`` (made of other ops, which record for it) and ``"CompositeExplicitAutograd"`` (every
backend, its derivative registered apart).
"""

from taeda._library.custom_ops import CustomOpDef, custom_op
from taeda._library.fake import get_ctx
from taeda._library.infer_schema import infer_schema
from taeda._library.kernels import SafeKernelFunction as SafeKernelFunction
from taeda._library.kernels import get_kernel
from taeda._library.library import Library, fallthrough_kernel
from taeda._library.library import _scoped_library as _scoped_library
from taeda._library.opcheck import opcheck
from taeda._library.registration import (
    define,
    impl,
    impl_abstract,
    register_autocast,
    register_autograd,
    register_fake,
    register_kernel,
    register_torch_dispatch,
    register_vmap,
)

__all__ = [
    "CustomOpDef",
    "Library",
    "custom_op",
    "define",
    "fallthrough_kernel",
    "get_ctx",
    "get_kernel",
    "impl",
    "impl_abstract",
    "infer_schema",
    "opcheck",
    "register_autocast",
    "register_autograd",
    "register_fake",
    "register_kernel",
    "register_torch_dispatch",
    "register_vmap",
]
