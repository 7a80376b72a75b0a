"""Archives of older versions: ops mean what they meant when the archive was written."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import pytest

import taeda as torch
from taeda import jit, nn


def of_version(version: int, module: nn.Module, old: str = "", new: str = "") -> Any:
    """The module, saved with its source alone as if it were of another version, in which ``old`` stood as ``new``."""
    written, changed = io.BytesIO(), io.BytesIO()
    jit.save(jit.script(module), written)
    with zipfile.ZipFile(written) as source, zipfile.ZipFile(changed, "w", zipfile.ZIP_STORED) as target:
        for name in source.namelist():
            data = source.read(name)
            if name.endswith("/version"):
                data = b"%d\n" % version
            elif name.endswith(".py"):
                assert old.encode() in data
                data = data.replace(old.encode(), new.encode()) if old else data
            elif "/instructions" in name or name.endswith(".debug_pkl"):
                continue
            target.writestr(name, data)
    changed.seek(0)
    return jit.load(changed)


class Quotients(nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor, n: int, x: float) -> Any:
        into = torch.zeros([0])
        torch.div(a.float(), b, out=into)
        return a / b, a / n, a / x, a.clone().float().div_(b), into, torch.div(a, b, rounding_mode="floor")


def test_division_of_integers() -> None:
    a, b = torch.tensor([7, -7]), torch.tensor([2, 2])
    past, present = of_version(3, Quotients()), of_version(4, Quotients())
    assert [t.tolist() for t in past(a, b, 2, 2.0)] == [
        [3, -3], [3, -3], [3.5, -3.5], [3.5, -3.5], [3.5, -3.5], [3, -4],
    ]  # fmt: skip
    assert [t.tolist() for t in present(a, b, 2, 2.0)][:2] == [[3.5, -3.5], [3.5, -3.5]]
    assert past(a.float(), b, 2, 2.0)[0].tolist() == [3.5, -3.5]


def test_filling_with_integers() -> None:
    class Full(nn.Module):
        def forward(self, n: int) -> Any:
            return torch.full([2], n), torch.full([2], n, dtype=torch.int64)

    assert [t.dtype for t in of_version(4, Full())(3)] == [torch.float32, torch.int64]
    assert [t.dtype for t in of_version(5, Full())(3)] == [torch.int64, torch.int64]


@pytest.mark.parametrize("name", ["linspace", "logspace"])
def test_steps_left_out(name: str) -> None:
    class Spaced(nn.Module):
        def forward(self, a: float, n: int) -> torch.Tensor:
            return torch.linspace(a, 3.0, 100)

    shorter = f"torch.{name}(a, 3.)"
    found = of_version(7, Spaced(), "torch.linspace(a, 3., 100)", shorter)(1.0, 4)
    assert torch.equal(found, getattr(torch, name)(1.0, 3.0, 100))
    with pytest.raises(RuntimeError, match=f"no form of aten::{name}"):
        of_version(10, Spaced(), "torch.linspace(a, 3., 100)", shorter)(1.0, 4)


def test_sizes_in_the_source() -> None:
    class Zeros(nn.Module):
        def forward(self, n: int) -> torch.Tensor:
            return torch.zeros([n, 2])

    assert of_version(3, Zeros(), "[n, 2]", "torch.Size([n, 2])")(3).shape == (3, 2)
