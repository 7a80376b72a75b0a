"""``DeviceMesh``: processes laid out in several dimensions, each of which names what its neighbours share."""

from __future__ import annotations

import math
import os
import threading
import weakref
from collections.abc import Sequence
from typing import Any

import taeda
from taeda.distributed import _mesh_layout as layout
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
        backend_override: accepted; all groups have the engine of the group of all processes.

    Raises:
        RuntimeError: more processes than the group has, one in two places, an index in ``device_type``, or names that
            do not fit.
        ValueError: a process that is not there, or is in a row twice.
    """

    _groups: list[Any]  # one for each dimension; none at all if it was made without

    def __init__(
        self, device_type: str, mesh: Any = None, *, mesh_dim_names: Sequence[str] | None = None,
        backend_override: Any = None, _init_backend: bool = True,
    ) -> None:  # fmt: skip
        if not isinstance(device_type, str) or not device_type.isalnum():
            raise RuntimeError(f"DeviceMesh: device_type is wanted without an index, as in 'cpu'; got {device_type!r}")
        if _init_backend and not is_initialized():
            init_process_group()
        everyone = get_process_group_ranks(None) if is_initialized() else None
        ranks = taeda.as_tensor(everyone if mesh is None else mesh, dtype=taeda.int32, device="cpu")
        listed = ranks.flatten().tolist()
        if everyone is not None and len(listed) > len(everyone):
            raise RuntimeError(f"DeviceMesh: a mesh of {len(listed)} processes, but the group has {len(everyone)}")
        if len(set(listed)) != len(listed) and ranks.ndim > 1:
            raise RuntimeError(f"DeviceMesh: each process is wanted once; got {ranks.tolist()}")
        if len(set(listed)) != len(listed) or everyone is not None and not set(listed) <= set(everyone):
            raise ValueError(f"DeviceMesh: the processes are {everyone}; got {ranks.tolist()}")
        self._set(device_type, listed, layout.contiguous(ranks.shape), _names_for(tuple(ranks.shape), mesh_dim_names))
        if _init_backend:
            self._groups = [self._made_group(dim) for dim in self._dims]

    def _set(
        self, device_type: str, ranks: Sequence[int], dims: Sequence[layout.Pairs], names: tuple[str, ...] | None,
        root: DeviceMesh | None = None,
    ) -> None:  # fmt: skip
        """``ranks``, this mesh's own, lie in order; ``dims`` say where its dimensions go in the root's ranks."""
        self._device_type, self._listed, self._dims, self._names = device_type, tuple(ranks), tuple(dims), names
        self._shape = tuple(map(layout.size_of, dims))
        self._groups = []
        self._coordinate: tuple[int, ...] | None = ()  # not looked for yet
        self._root = root  # the mesh that this one was taken from
        self._flattened: dict[str, DeviceMesh] = {}
        self._made: dict[layout.Pairs, Any] = {} if root is None else root._made
        _known[self._key()] = self

    def _made_group(self, dim: layout.Pairs) -> Any:
        """The group of the processes that differ from this one along ``dim`` only. All processes call this."""
        if dim not in self._made:
            self._made[dim] = self._get_root_mesh()._new_group(dim)
        return self._made[dim]

    def _new_group(self, dim: layout.Pairs) -> Any:
        steps, own = layout.offsets(dim), _get_default_group().rank()
        starts = sorted({layout.start(position, dim) for position in range(len(self._listed))})
        rows = [[self._listed[first + step] for step in steps] for first in starts]
        if rows == [get_process_group_ranks(None)]:
            return _get_default_group()
        made = [new_group(row, sort_ranks=False) for row in rows]
        return next((group for row, group in zip(rows, made, strict=True) if own in row), None)

    def _position(self) -> int | None:
        """Where this process stands in the list of ranks."""
        own = self.get_rank()
        return self._listed.index(own) if own in self._listed else None

    @property
    def device_type(self) -> str:
        """The kind of device."""
        return self._device_type

    @property
    def mesh(self) -> taeda.Tensor:
        """The ranks: an int32 tensor of `shape`."""
        return taeda.tensor(self._listed, dtype=taeda.int32, device="cpu").reshape(self._shape)

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
        if self._coordinate == ():
            position = self._position()
            dims = layout.contiguous(self._shape)
            self._coordinate = None if position is None else tuple(layout.coordinate(position, dim) for dim in dims)
        return self._coordinate

    def _is_current_rank_part_of_mesh(self) -> bool:
        """Whether this process is in the mesh."""
        return self.get_coordinate() is not None

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
        if isinstance(mesh_dim, str) and mesh_dim not in (self._names or ()) and mesh_dim in self._joined_dims():
            return self._joined_dims()[mesh_dim].get_group()
        if not self._groups:
            raise RuntimeError(f"DeviceMesh.get_group: {self} was made without groups")
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
        ranks = None if mesh is None else taeda.as_tensor(mesh, dtype=taeda.int32, device="cpu")
        if ranks is None or len(groups) != ranks.ndim or len(groups) > 1 and mesh_dim_names is None:
            raise ValueError(
                f"DeviceMesh.from_group: {len(groups)} groups need a mesh of as many dimensions and mesh_dim_names; "
                f"got {mesh} and {mesh_dim_names}"
            )
        made = DeviceMesh.__new__(DeviceMesh)
        dims, names = layout.contiguous(ranks.shape), _names_for(tuple(ranks.shape), mesh_dim_names)
        made._set(device_type, ranks.flatten().tolist(), dims, names)
        made._groups = groups
        made._made.update(zip(dims, groups, strict=True))
        return made

    def __getitem__(self, mesh_dim_names: str | tuple[str, ...]) -> DeviceMesh:
        """The mesh of some of the dimensions, in their order; `_flatten`'s among them.

        Raises:
            RuntimeError: the dimensions have no names, or overlap.
            KeyError: none has that name, or they are named in another order.
        """
        if self._names is None:
            raise RuntimeError("DeviceMesh: a part of a mesh is found by mesh_dim_names, which this one has none of")
        wanted = (mesh_dim_names,) if isinstance(mesh_dim_names, str) else tuple(mesh_dim_names)
        if wanted == self._names:
            return self
        joined = self._joined_dims() if self._root is None else {}
        known = {name: mesh._dims[0] for name, mesh in joined.items()}
        known |= dict(zip(self._names, self._dims, strict=True))
        missing = [name for name in wanted if name not in known]
        if missing:
            raise KeyError(f"DeviceMesh: no dimension is called {missing}; there are {list(known)}")
        dims = [known[name] for name in wanted]
        if not layout.falling(dims):
            raise KeyError(f"DeviceMesh: {list(wanted)} are not in the order of {list(self._names)}")
        if not layout.ascending(dims):
            raise RuntimeError(f"DeviceMesh: {list(wanted)} go over the same processes")
        return self._part(dims, wanted)

    def _joined_dims(self) -> dict[str, DeviceMesh]:
        """What `_flatten` has made of the root mesh's dimensions, by name."""
        return self._get_root_mesh()._flattened

    def _part(self, dims: Sequence[layout.Pairs], names: tuple[str, ...] | None) -> DeviceMesh:
        """The mesh of this process's neighbours along some dimensions of the root. All processes call this."""
        root = self._get_root_mesh()
        whole = layout.joined(dims)
        first = layout.start(root._position() or 0, whole)
        ranks = [root._listed[first + step] for step in layout.offsets(tuple(pair for dim in dims for pair in dim))]
        part = DeviceMesh.__new__(DeviceMesh)
        part._set(self._device_type, ranks, dims, names, root)
        if self._groups:
            part._groups = [root._made_group(dim) for dim in dims]
        return part

    def _flatten(self, mesh_dim_name: str | None = None, backend_override: Any = None) -> DeviceMesh:
        """A mesh of the same processes in one dimension, which `_get_root_mesh` then knows by its name."""
        if self._names is None:
            raise RuntimeError("DeviceMesh._flatten: the mesh has no mesh_dim_names")
        name, flattened = mesh_dim_name or "_".join(self._names), self._joined_dims()
        if self._names == (name,):
            return self
        if name in (self._get_root_mesh()._names or ()):
            raise ValueError(f"DeviceMesh._flatten: a dimension is called {name!r} already")
        dim = layout.joined(self._dims)
        if name in flattened and flattened[name]._dims != (dim,):
            raise ValueError(f"DeviceMesh._flatten: {name!r} is made of other dimensions already")
        if name not in flattened:
            flattened[name] = self._part([dim], (name,))
        return flattened[name]

    def _unflatten(
        self, dim: int | str, mesh_sizes: Sequence[int], mesh_dim_names: Sequence[str], backend_override: Any = None
    ) -> DeviceMesh:
        """The same processes with one dimension as several, of ``mesh_sizes``. All processes call this.

        Raises:
            RuntimeError: not one name for each size.
            ValueError: the sizes do not multiply to that of the dimension, or cut across what `_flatten` has joined.
        """
        at = self._along("_unflatten", dim)
        if len(mesh_sizes) != len(mesh_dim_names):
            raise RuntimeError(f"DeviceMesh._unflatten: sizes {tuple(mesh_sizes)} have names {tuple(mesh_dim_names)}")
        parts = layout.cut(self._dims[at], mesh_sizes) if math.prod(mesh_sizes) == self._shape[at] else None
        if parts is None:
            raise ValueError(f"DeviceMesh._unflatten: {self._shape[at]} processes are not laid out as {mesh_sizes}")
        names = self._names or tuple(f"dim_{one}" for one in range(self.ndim))
        return self._part([*self._dims[:at], *parts, *self._dims[at + 1 :]],
                          (*names[:at], *mesh_dim_names, *names[at + 1 :]))  # fmt: skip

    @staticmethod
    def _concatenate(device_mesh_list: Sequence[DeviceMesh]) -> DeviceMesh:
        """A mesh with the dimensions of several parts of one mesh, in order.

        Raises:
            RuntimeError: the meshes are not parts of one, or have no names.
            ValueError: they overlap.
        """
        first = device_mesh_list[0]
        named = [mesh._names for mesh in device_mesh_list]
        if any(mesh._get_root_mesh() != first._get_root_mesh() for mesh in device_mesh_list) or None in named:
            raise RuntimeError(
                f"DeviceMesh._concatenate: parts of one mesh, with names, are wanted; got {device_mesh_list}"
            )
        dims = [dim for mesh in device_mesh_list for dim in mesh._dims]
        if not layout.ascending(sorted(dims, key=lambda pairs: -pairs[0][1])):
            raise ValueError(f"DeviceMesh._concatenate: the meshes overlap: {device_mesh_list}")
        return first._part(dims, tuple(name for names in named for name in names or ()))

    def _get_all_submeshes(self, mesh_dim_name: str) -> list[DeviceMesh]:
        """`self[mesh_dim_name]` of every process, each once."""
        dim = self._dims[self._get_mesh_dim_by_name(mesh_dim_name)]
        root, found = self._get_root_mesh(), []
        for first in sorted({layout.start(root._listed.index(rank), dim) for rank in self._listed}):
            one = DeviceMesh.__new__(DeviceMesh)
            one._set(self._device_type, [root._listed[first + step] for step in layout.offsets(dim)], [dim],
                     (mesh_dim_name,), root)  # fmt: skip
            one._groups = [root._made_group(dim)] if self.get_rank() in one._listed else [None]
            found.append(one)
        return found

    def _get_mesh_dim_by_name(self, mesh_dim_name: str) -> int:
        """Which dimension has that name; KeyError if none has."""
        return self._along("_get_mesh_dim_by_name", mesh_dim_name)

    def _get_root_mesh_dim(self) -> int | None:
        """Which dimension of the root this one-dimensional part is; None if it is the root itself, or of several."""
        root = self._get_root_mesh()
        return root._dims.index(self._dims[0]) if root is not self and self._dims[0] in root._dims else None

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
        told = f", Mesh: {self.mesh.tolist()}" if os.environ.get("TORCH_DISTRIBUTED_DEBUG") == "DETAIL" else ""
        return f"DeviceMesh({shape}, {self._device_type!r}, stride={tuple(map(layout.stride_of, self._dims))}{told})"

    def __deepcopy__(self, memo: dict[int, Any]) -> DeviceMesh:
        return self

    def __reduce__(self) -> Any:
        return _known_mesh, (self._device_type, self.mesh.tolist(), self._names)

    def _key(self) -> tuple[Any, ...]:
        return self._device_type, self._shape, self._names, self._listed

    def __eq__(self, other: object) -> bool:
        return self is other or isinstance(other, DeviceMesh) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


_known: weakref.WeakValueDictionary[Any, DeviceMesh] = weakref.WeakValueDictionary()


def _known_mesh(device_type: str, ranks: Any, names: tuple[str, ...] | None) -> DeviceMesh:
    """The mesh that a file means: one that is there, or a new one, for which all processes read the file."""
    given = taeda.tensor(ranks, device="cpu")
    key = device_type, tuple(given.shape), names, tuple(given.flatten().tolist())
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
    device_type: str, mesh_shape: tuple[int, ...], *, mesh_dim_names: Sequence[str] | None = None,
    backend_override: Any = None,
) -> DeviceMesh:  # fmt: skip
    """A mesh of that shape of the group of all processes, which is made, by ``env://``, if there is none.

    Arguments and what is raised are as in `DeviceMesh`.
    """
    mesh = taeda.arange(math.prod(mesh_shape), device="cpu").reshape(mesh_shape)
    return DeviceMesh(device_type, mesh, mesh_dim_names=mesh_dim_names)


def current_mesh(function: str) -> DeviceMesh:
    """The innermost mesh of a ``with`` statement; RuntimeError, in the name of ``function``, if there is none."""
    if not _active.meshes:
        raise RuntimeError(f"{function}: device_mesh is needed outside of `with mesh:`")
    return _active.meshes[-1]
