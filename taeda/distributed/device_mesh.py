"""``DeviceMesh``: processes laid out in several dimensions, each of which names what its neighbours share."""

from __future__ import annotations

import math
import threading
import weakref
from collections.abc import Sequence
from typing import Any

import taeda
from taeda.distributed._group import ProcessGroup
from taeda.distributed._new_group import new_group
from taeda.distributed._queries import _get_default_group, get_process_group_ranks
from taeda.distributed._world import init_process_group, is_initialized

__all__ = ["DeviceMesh", "init_device_mesh"]


class _Active(threading.local):
    def __init__(self) -> None:
        self.meshes: list[DeviceMesh] = []


_active = _Active()


class DeviceMesh:
    """The processes ``mesh``, a tensor or nested lists of their ranks, and what tells its dimensions apart.

    ``with mesh:`` makes it the one that is meant where none is given.

    Args:
        device_type: the kind of device that the processes use, as in ``"cpu"``.
        mesh: the ranks; those of the group of all processes by default, which is made if there is none.
        mesh_dim_names: a name for each dimension, by which ``mesh["name"]`` finds it.

    Raises:
        RuntimeError: more processes than the group has, an index in ``device_type``, or names that do not fit.
        ValueError: a process that is not there.
    """

    def __init__(self, device_type: str, mesh: Any = None, *, mesh_dim_names: Sequence[str] | None = None) -> None:
        if not is_initialized():
            init_process_group()
        if not isinstance(device_type, str) or not device_type.isalnum():
            raise RuntimeError(f"DeviceMesh: device_type is wanted without an index, as in 'cpu'; got {device_type!r}")
        everyone = get_process_group_ranks(None)
        ranks = taeda.as_tensor(everyone if mesh is None else mesh, dtype=taeda.int32, device="cpu").clone()
        listed = ranks.flatten().tolist()
        if len(listed) > len(everyone):
            raise RuntimeError(f"DeviceMesh: a mesh of {len(listed)} processes, but the group has {len(everyone)}")
        if len(set(listed)) != len(listed) or not set(listed) <= set(everyone):
            raise ValueError(f"DeviceMesh: the processes are {everyone}; got {ranks.tolist()}")
        self._set(device_type, ranks, _names_for(tuple(ranks.shape), mesh_dim_names))
        self._groups: list[Any] = [self._made_group([dim]) for dim in range(self.ndim)]

    def _set(self, device_type: str, ranks: taeda.Tensor, names: tuple[str, ...] | None) -> None:
        self._device_type, self._ranks, self._names = device_type, ranks, names
        self._shape = tuple(ranks.shape)
        self._listed = tuple(ranks.flatten().tolist())
        self._groups = []
        _known[self._key()] = self
        self._root: DeviceMesh | None = None  # the mesh that this one was taken from
        self._flattened: dict[str, DeviceMesh] = {}

    def _made_group(self, dims: list[int]) -> Any:
        """The group of the processes that differ from this one along ``dims`` only. All processes call this."""
        own = _get_default_group().rank()
        others = [dim for dim in range(self.ndim) if dim not in dims]
        rows = self._ranks.permute(others + dims).reshape(-1, math.prod(self._shape[dim] for dim in dims)).tolist()
        if len(rows) == 1 and rows[0] == get_process_group_ranks(None):
            return _get_default_group()
        made = [new_group(row, sort_ranks=False) for row in rows]
        return next((group for row, group in zip(rows, made, strict=True) if own in row), None)

    @property
    def device_type(self) -> str:
        """The kind of device."""
        return self._device_type

    @property
    def mesh(self) -> taeda.Tensor:
        """The ranks: an int32 tensor of `shape`."""
        return self._ranks

    @property
    def mesh_dim_names(self) -> tuple[str, ...] | None:
        """The names of the dimensions, if they have any."""
        return self._names

    @property
    def shape(self) -> tuple[int, ...]:
        """How many processes there are along each dimension."""
        return self._shape

    @property
    def ndim(self) -> int:
        """How many dimensions there are."""
        return len(self._shape)

    def size(self, mesh_dim: int | None = None) -> int:
        """How many processes there are, along one dimension if ``mesh_dim`` is given."""
        return math.prod(self._shape) if mesh_dim is None else self._shape[mesh_dim]

    def get_rank(self) -> int:
        """This process's number among all."""
        return _get_default_group().rank()

    def get_coordinate(self) -> tuple[int, ...] | None:
        """This process's coordinates in the mesh; None if it is not in it."""
        own = self.get_rank()
        if own not in self._listed:
            return None
        rest, found = self._listed.index(own), []
        for size in reversed(self._shape):
            rest, at = divmod(rest, size)
            found.append(at)
        return tuple(reversed(found))

    def get_local_rank(self, mesh_dim: int | str | None = None) -> int:
        """This process's number along a dimension, which need not be named if there is only one.

        Raises:
            RuntimeError: there are several, and none is given.
            KeyError, IndexError: there is no such dimension.
        """
        dim = self._along("get_local_rank", mesh_dim)
        here = self.get_coordinate()
        if here is None:
            raise RuntimeError(f"DeviceMesh.get_local_rank: process {self.get_rank()} is not in {self}")
        return here[dim]

    def get_group(self, mesh_dim: int | str | None = None) -> ProcessGroup:
        """The processes that differ from this one along a dimension only; as in `get_local_rank`."""
        group: ProcessGroup = self._groups[self._along("get_group", mesh_dim)]
        return group

    def get_all_groups(self) -> list[ProcessGroup]:
        """`get_group` of each dimension."""
        return list(self._groups)

    @staticmethod
    def from_group(
        group: ProcessGroup | list[ProcessGroup], device_type: str, mesh: Any = None, *,
        mesh_dim_names: Sequence[str] | None = None,
    ) -> DeviceMesh:  # fmt: skip
        """A mesh of groups that are there already: one, or one for each dimension of ``mesh``.

        Raises:
            ValueError: several groups without ``mesh`` and ``mesh_dim_names``, or not one for each dimension.
        """
        groups = [group] if isinstance(group, ProcessGroup) else list(group)
        if mesh is None and len(groups) == 1:
            mesh = get_process_group_ranks(groups[0])
        ranks = None if mesh is None else taeda.as_tensor(mesh, dtype=taeda.int32, device="cpu").clone()
        if ranks is None or len(groups) != ranks.ndim or len(groups) > 1 and mesh_dim_names is None:
            raise ValueError(
                f"DeviceMesh.from_group: {len(groups)} groups need a mesh of as many dimensions and mesh_dim_names; "
                f"got {mesh} and {mesh_dim_names}"
            )
        made = DeviceMesh.__new__(DeviceMesh)
        made._set(device_type, ranks, _names_for(tuple(ranks.shape), mesh_dim_names))
        made._groups = groups
        return made

    def __getitem__(self, mesh_dim_names: str | tuple[str, ...]) -> DeviceMesh:
        """The mesh of some of the dimensions.

        Raises:
            RuntimeError: the dimensions have no names.
            KeyError: none has that name.
        """
        if self._names is None:
            raise RuntimeError("DeviceMesh: a part of a mesh is found by mesh_dim_names, which this one has none of")
        wanted = (mesh_dim_names,) if isinstance(mesh_dim_names, str) else tuple(mesh_dim_names)
        if wanted == self._names:
            return self
        flattened = self._get_root_mesh()._flattened
        if len(wanted) == 1 and wanted[0] in flattened:
            return flattened[wanted[0]]
        missing = [name for name in wanted if name not in self._names]
        if missing:
            raise KeyError(f"DeviceMesh: no dimension is called {missing}; there are {list(self._names)}")
        return self._part(wanted)

    def _part(self, names: tuple[str, ...]) -> DeviceMesh:
        """The mesh of this process's neighbours along some of the dimensions."""
        assert self._names is not None
        dims = [self._names.index(name) for name in names]
        here = self.get_coordinate() or (0,) * self.ndim
        others = [dim for dim in range(self.ndim) if dim not in dims]
        ranks = self._ranks.permute(others + dims)[tuple(here[dim] for dim in others)].clone()
        part = DeviceMesh.__new__(DeviceMesh)
        part._set(self._device_type, ranks, names)
        part._groups = [self._groups[dim] for dim in dims]
        part._root = self._get_root_mesh()
        return part

    def _flatten(self, mesh_dim_name: str | None = None) -> DeviceMesh:
        """A mesh of the same processes in one dimension, which `_get_root_mesh` then knows by its name."""
        if self._names is None:
            raise RuntimeError("DeviceMesh._flatten: the mesh has no mesh_dim_names")
        name = mesh_dim_name or "_".join(self._names)
        if self._names == (name,):
            return self
        root = self._get_root_mesh()
        if root._names is not None and name in root._names:
            raise ValueError(f"DeviceMesh._flatten: a dimension is called {name!r} already")
        if name not in root._flattened:
            flat = DeviceMesh.__new__(DeviceMesh)
            flat._set(self._device_type, self._ranks.flatten(), (name,))
            whole = root if root._names is not None else self
            assert whole._names is not None
            flat._groups = [whole._made_group([whole._names.index(one) for one in self._names])]
            flat._root = root
            root._flattened[name] = flat
        return root._flattened[name]

    def _get_root_mesh(self) -> DeviceMesh:
        """The mesh that this one is a part of; itself if it was not taken from another."""
        return self._root or self

    def _along(self, function: str, mesh_dim: int | str | None) -> int:
        """A dimension by its number or its name."""
        if mesh_dim is None:
            if self.ndim > 1:
                raise RuntimeError(f"DeviceMesh.{function}: mesh_dim is needed, for there are {self.ndim} dimensions")
            mesh_dim = 0
        if isinstance(mesh_dim, str):
            if self._names is None or mesh_dim not in self._names:
                raise KeyError(f"DeviceMesh.{function}: no dimension is called {mesh_dim!r}; there are {self._names}")
            mesh_dim = self._names.index(mesh_dim)
        return range(self.ndim)[mesh_dim]

    def __enter__(self) -> DeviceMesh:
        _active.meshes.append(self)
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        _active.meshes.pop()

    def __repr__(self) -> str:
        if self._names is None:
            shape = str(self._shape)
        else:
            shape = f"({', '.join(f'{name}={size}' for name, size in zip(self._names, self._shape, strict=True))})"
        return f"DeviceMesh({shape}, {self._device_type!r}, stride={self._strides()})"

    def _strides(self) -> tuple[Any, ...]:
        """By how much ranks grow along each dimension."""
        first, starts = self._ranks, [self._ranks.select(dim, 0).flatten()[0] for dim in range(self.ndim)]
        return tuple(
            int(first.select(dim, 1).flatten()[0] - starts[dim]) if self._shape[dim] > 1 else ()
            for dim in range(self.ndim)
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> DeviceMesh:
        return self

    def __reduce__(self) -> Any:
        return _known_mesh, (self._device_type, self._ranks.tolist(), self._names)

    def _key(self) -> tuple[Any, ...]:
        return self._device_type, self._shape, self._names, self._listed

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceMesh) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


_known: weakref.WeakValueDictionary[Any, DeviceMesh] = weakref.WeakValueDictionary()


def _known_mesh(device_type: str, ranks: Any, names: tuple[str, ...] | None) -> DeviceMesh:
    """The mesh that a file means: one that is there, or a new one, for which all processes read the file."""
    key = device_type, tuple(taeda.tensor(ranks).shape), names, tuple(taeda.tensor(ranks).flatten().tolist())
    found = _known.get(key)
    alive = found is not None and found._groups and found._groups[0] is not None and is_initialized()
    return found if alive and found is not None else DeviceMesh(device_type, ranks, mesh_dim_names=names)


def _names_for(shape: tuple[int, ...], names: Sequence[str] | None) -> tuple[str, ...] | None:
    if names is None:
        return None
    if len(names) != len(shape) or len(set(names)) != len(names):
        raise RuntimeError(f"DeviceMesh: {len(shape)} different mesh_dim_names are wanted; got {tuple(names)}")
    return tuple(names)


def init_device_mesh(
    device_type: str, mesh_shape: tuple[int, ...], *, mesh_dim_names: Sequence[str] | None = None
) -> DeviceMesh:
    """A mesh of that shape of the group of all processes, which is made, by ``env://``, if there is none.

    Raises:
        RuntimeError, ValueError: as in `DeviceMesh`.
    """
    return DeviceMesh(
        device_type, taeda.arange(math.prod(mesh_shape)).reshape(mesh_shape), mesh_dim_names=mesh_dim_names
    )


def current_mesh(function: str) -> DeviceMesh:
    """The innermost mesh of a ``with`` statement; RuntimeError, in the name of ``function``, if there is none."""
    if not _active.meshes:
        raise RuntimeError(f"{function}: device_mesh is needed outside of `with mesh:`")
    return _active.meshes[-1]
