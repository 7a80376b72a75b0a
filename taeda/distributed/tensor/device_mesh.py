"""Meshes, beside the tensors on them."""

from __future__ import annotations

from taeda.distributed.device_mesh import DeviceMesh as DeviceMesh
from taeda.distributed.device_mesh import init_device_mesh as init_device_mesh
