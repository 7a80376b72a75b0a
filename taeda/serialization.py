"""Saving objects to files and loading them: PyTorch's formats, in both directions."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from enum import Enum
from typing import IO, Any, TypeAlias

from taeda._serialization.file_writer import _is_zipfile as _is_zipfile
from taeda._serialization.file_writer import _open_file_like as _open_file_like
from taeda._serialization.file_writer import _open_zipfile_reader as _open_zipfile_reader
from taeda._serialization.file_writer import _open_zipfile_writer as _open_zipfile_writer
from taeda._serialization.locations import default_restore_location, location_tag, register_package
from taeda.types import Device, FileLike, Storage

__all__ = [
    "LoadEndianness",
    "SourceChangeWarning",
    "add_safe_globals",
    "check_module_version_greater_or_equal",
    "clear_safe_globals",
    "default_restore_location",
    "get_crc32_options",
    "get_default_load_endianness",
    "get_default_mmap_options",
    "get_safe_globals",
    "get_unsafe_globals_in_checkpoint",
    "load",
    "location_tag",
    "mkdtemp",
    "normalize_storage_type",
    "register_package",
    "safe_globals",
    "save",
    "set_crc32_options",
    "set_default_load_endianness",
    "set_default_mmap_options",
    "skip_data",
]

_RANDOM = 6  # bytes that tell apart files which are not yet whole
_DAY = 24 * 60 * 60  # seconds

FILE_LIKE: TypeAlias = FileLike
MAP_LOCATION: TypeAlias = Callable[[Storage, str], Storage] | Device | dict[str, str]
DEFAULT_PROTOCOL = 2
MAP_SHARED, MAP_PRIVATE = 1, 2  # POSIX values


class LoadEndianness(Enum):
    """Byte order assumed for files that do not say theirs."""

    NATIVE = 1
    LITTLE = 2
    BIG = 3


class SourceChangeWarning(Warning):
    """A class is not written as it was when an object of it was saved. Never shown: files hold no sources."""


@contextlib.contextmanager
def mkdtemp() -> Iterator[str]:
    """A new folder that goes with the ``with`` block."""
    import tempfile

    with tempfile.TemporaryDirectory() as path:
        yield path


def normalize_storage_type(storage_type: Any) -> Any:
    """The storage class of this library that goes by the name of another, such as ``taeda.cuda``'s."""
    import taeda

    return getattr(taeda, storage_type.__name__)


def check_module_version_greater_or_equal(
    module: Any, req_version_tuple: tuple[Any, ...], error_if_malformed: bool = True
) -> bool:
    """Whether ``module.__version__`` is at least that of the tuple, as far as the tuple goes.

    Raises:
        RuntimeError: the version is written otherwise. Without ``error_if_malformed``, True with a warning.
    """
    try:
        parts = module.__version__.split(".")
        found = tuple(type(wanted)(parts[i]) for i, wanted in enumerate(req_version_tuple))
    except (ValueError, IndexError) as error:
        message = (
            f"taeda.serialization: the version '{module.__version__}' of {module.__name__} cannot be compared with "
            f"{req_version_tuple}"
        )
        if error_if_malformed:
            raise RuntimeError(message) from error
        import warnings

        warnings.warn(f"{message}; it is taken for new enough", stacklevel=2)
        return True
    return found >= req_version_tuple


class _Settings:
    load_endianness: LoadEndianness | None = None
    mmap_flags: int = MAP_PRIVATE
    crc32: bool = True
    skip_data: bool = False
    fakes: bool = False  # are saved as if they had memory


def save(
    obj: Any,
    f: FileLike,
    pickle_module: Any = None,
    pickle_protocol: int = DEFAULT_PROTOCOL,
    _use_new_zipfile_serialization: bool = True,
    _disable_byteorder_record: bool = False,
) -> None:
    """Save an object: tensors as raw storages, everything around them as a pickle.

    Views of one storage stay views of one storage. A path is written through a temporary file in the same folder that
    then takes its name, so that a crash never leaves half a file.

    Args:
        obj: anything that pickles.
        f: a path, or a binary file open for writing.
        pickle_module: a module to use instead of ``pickle``.
        pickle_protocol: the pickle's protocol; PyTorch's readers want 2. Above 3 it is taken as 3.
        _use_new_zipfile_serialization: False writes the format from before PyTorch 1.6, which any PyTorch reads.

    Raises:
        RuntimeError: one storage is shared by tensors of different dtypes; or the path's folder does not exist.
    """

    def write(file: IO[bytes], stem: str) -> None:
        if _use_new_zipfile_serialization:
            _write_archive(obj, file, stem, pickle_module, pickle_protocol, not _disable_byteorder_record)
        else:
            from taeda._serialization import old_format

            old_format.write(obj, file, pickle_module, pickle_protocol)

    if isinstance(f, (str, os.PathLike)):
        _save_to_path(os.fspath(f), write)
        return
    if not hasattr(f, "write"):
        raise AttributeError(f"taeda.save: f must be a path or a file with write(); got {type(f).__name__}")
    write(f, "archive")
    if hasattr(f, "flush"):
        f.flush()


def _save_to_path(path: str, write: Callable[[IO[bytes], str], None]) -> None:
    path = os.path.realpath(path)  # a link stays a link; its target is replaced
    folder, name = os.path.split(path)
    if not os.path.isdir(folder):
        raise RuntimeError(f"taeda.save: the parent folder {folder} does not exist")
    stem = os.path.splitext(name)[0] or "archive"
    if os.path.exists(path) and not os.path.isfile(path):  # a device or a pipe cannot be replaced
        with open(path, "wb") as file:
            write(file, stem)
        return
    try:
        _replace(path, lambda file: write(file, stem))
    except OSError as error:  # the user knows the path, not the name that the file had meanwhile
        if error.filename is not None:
            error.filename, error.filename2 = path, None
        raise


def _replace(path: str, write: Callable[[IO[bytes]], None]) -> None:
    """Puts what ``write`` writes in the place of the file at once, with the permissions that ``open`` would leave."""
    folder = os.path.dirname(path)
    descriptor, name = _unnamed_file(folder), None
    if descriptor is None:
        name = _temporary_name(path)
        descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            write(file)
            file.flush()
            if os.path.exists(path):
                os.fchmod(descriptor, os.stat(path).st_mode & 0o7777)
            if name is None:
                name = _give_name(descriptor, path)
        if name != path:
            os.replace(name, path)
    except BaseException:
        if name not in (None, path):
            os.unlink(name)
        raise
    if name != path:
        _sweep(path)


def _sweep(path: str) -> None:
    """Removes what saves to this path left that were killed before their file had its name; after a day without a
    write nobody is at it any more."""
    folder, start = os.path.split(_temporary_start(path))
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            rest = entry.name.removeprefix(start)
            if rest != entry.name and len(rest) == 2 * _RANDOM and set(rest) <= set("0123456789abcdef"):
                with contextlib.suppress(OSError):
                    if time.time() - entry.stat().st_mtime > _DAY:
                        os.unlink(entry.path)


def _unnamed_file(folder: str) -> int | None:
    """A new file without a name, of which nothing stays if the process is killed; None where there are none such."""
    if not hasattr(os, "O_TMPFILE") or not os.path.isdir("/proc/self/fd"):
        return None
    try:
        return os.open(folder, os.O_TMPFILE | os.O_WRONLY, 0o666)
    except OSError:  # the file system has none; what else is wrong, the file with a name will tell
        return None


def _give_name(descriptor: int, path: str) -> str:
    """Names such a file ``path``, or, since a link never replaces a file, by another name beside it."""
    folder = os.open(os.path.dirname(path), os.O_PATH)  # with a descriptor, os.link follows the link in /proc
    try:
        for name in (path, *(_temporary_name(path) for _ in range(100))):
            try:
                os.link(f"/proc/self/fd/{descriptor}", name, src_dir_fd=folder)
                return name
            except FileExistsError:
                continue
        raise FileExistsError(f"taeda.save: no name is free beside {path}")
    finally:
        os.close(folder)


def _temporary_name(path: str) -> str:
    return _temporary_start(path) + os.urandom(_RANDOM).hex()


def _temporary_start(path: str) -> str:
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name[:60]}.")


def _write_archive(obj: Any, file: IO[bytes], folder: str, pickle_module: Any, protocol: int, byteorder: bool) -> None:
    from taeda._serialization.archive import ALIGNMENT, ArchiveWriter, bytes_of
    from taeda._serialization.pickler import StorageTable, dump

    table = StorageTable()
    pickled = dump(obj, pickle_module, protocol, table, _Settings.fakes)
    archive = ArchiveWriter(file, folder, _Settings.crc32)
    archive.write("data.pkl", pickled)
    archive.write(".format_version", b"1")
    archive.write(".storage_alignment", b"%d" % ALIGNMENT)
    if byteorder:
        archive.write("byteorder", sys.byteorder.encode())
    for key, storage in enumerate(table.storages):
        if _Settings.skip_data:
            archive.write_blank(f"data/{key}", storage.nbytes())
        else:
            archive.write(f"data/{key}", bytes_of(storage if storage.device.type == "cpu" else storage.cpu()))
    archive.finish()


def load(
    f: FileLike,
    map_location: MAP_LOCATION = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """Load what ``save`` (ours or PyTorch's) wrote.

    Args:
        f: a path, or a binary file that can seek.
        map_location: where storages go: a device or its name, a dictionary from saved to wanted locations, or a
            function of (storage, location) that returns the storage to use, or None for the default.
        pickle_module: a module to use instead of ``pickle``; only with ``weights_only=False``.
        weights_only: True (the default) admits tensors, plain containers and what ``add_safe_globals`` added, and
            never runs code from the file. False unpickles anything: a file from a stranger can then do anything.
        mmap: map the storages from the file instead of reading them; ``f`` must then be a path.

    Raises:
        pickle.UnpicklingError: the file is no checkpoint, or needs something that safe loading does not admit.
        RuntimeError: the file is damaged, or a storage cannot be placed where it should go.
        EOFError: the file is empty.
        ValueError: ``mmap`` with something other than a path.
    """
    safe = _decide_safe(weights_only, pickle_module)
    if mmap and not isinstance(f, (str, os.PathLike)):
        raise ValueError(f"taeda.load: mmap=True needs a path; got {type(f).__name__}")
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as file:
            return _load_file(file, map_location, pickle_module, safe, os.fspath(f) if mmap else None, pickle_load_args)
    return _load_file(_seekable(f), map_location, pickle_module, safe, None, pickle_load_args)


def _decide_safe(weights_only: bool | None, pickle_module: Any) -> bool:
    forced_on = os.environ.get("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "0").lower() in ("1", "y", "yes", "true")
    forced_off = os.environ.get("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "0").lower() in ("1", "y", "yes", "true")
    if forced_on and forced_off:
        raise RuntimeError("taeda.load: TORCH_FORCE_WEIGHTS_ONLY_LOAD and TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD contradict")
    if weights_only is None:
        weights_only = pickle_module is None and not forced_off
        if forced_off:
            import warnings

            warnings.warn(
                "taeda.load: TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD makes weights_only False: code from the file runs",
                stacklevel=4,
            )
    if forced_on:
        weights_only = True
    if weights_only and pickle_module is not None:
        raise RuntimeError("taeda.load: weights_only=True has its own unpickler; drop pickle_module")
    return weights_only


def _seekable(f: Any) -> Any:
    for method in ("read", "seek", "tell"):
        if not hasattr(f, method):
            raise AttributeError(
                f"taeda.load: f must be a path or a file that can read, seek and tell; {type(f).__name__} has no "
                f"{method}(). Read it into an io.BytesIO first"
            )
    return f


def _open(file: Any) -> tuple[Any, bytes]:
    """The checkpoint's archive and the pickle of its object. Of a file from before PyTorch 1.6: None and the pickle,
    after which ``file`` stands.

    Raises:
        pickle.UnpicklingError: it is neither.
        EOFError: the file is empty.
    """
    start = file.tell()
    magic = file.read(4)
    file.seek(start)
    if not magic:
        raise EOFError("taeda.load: the file is empty")
    if magic[:2] == b"PK":
        archive = _open_archive(file)
        return archive, archive.read("data.pkl")
    import pickle

    from taeda._serialization.old_format import open_old

    pickled = open_old(file)
    if pickled is None:
        raise pickle.UnpicklingError(
            f"taeda.load: this is no checkpoint: it starts with {bytes(magic)!r}, neither as a zip archive nor as "
            "files from before PyTorch 1.6 do"
        )
    return None, pickled


def _open_archive(file: Any) -> Any:
    from taeda._serialization.archive import ArchiveReader

    archive = ArchiveReader(file)
    assumed = _Settings.load_endianness
    fallback = sys.byteorder if assumed in (None, LoadEndianness.NATIVE) else assumed.name.lower()  # type: ignore[union-attr]
    archive.read_byteorder(fallback)
    return archive


def _load_file(
    file: Any, map_location: Any, pickle_module: Any, safe: bool, mapped_path: str | None, pickle_args: dict[str, Any]
) -> Any:
    from taeda._serialization.archive import ScriptArchive
    from taeda._serialization.locations import restorer
    from taeda._serialization.storages import StorageLoader

    start = file.tell()
    try:
        archive, data = _open(file)
    except ScriptArchive:
        if safe:
            raise
        file.seek(start)
        return _load_script(file, map_location)
    restore, blank = restorer(map_location), _Settings.skip_data or str(map_location) == "meta"
    old = None
    if archive is None:
        from taeda._serialization.old_format import OldStorages

        if mapped_path:
            raise RuntimeError("taeda.load: a file from before PyTorch 1.6 cannot be mapped; drop mmap=True")
        storages: Any = (old := OldStorages(restore, file, blank))
    else:
        mapping = (mapped_path, _Settings.mmap_flags == MAP_SHARED) if mapped_path else None
        storages = StorageLoader(archive, restore, mapping, blank)
    if safe:
        loaded = _load_safely(data, storages, pickle_args.get("encoding", "utf-8"))
    else:
        loaded = _load_anything(data, storages, pickle_module, pickle_args)
    if old is not None:
        old.fill()
    return loaded


def _load_script(file: Any, map_location: Any) -> Any:
    import warnings

    import taeda.jit

    warnings.warn("taeda.load: this is a TorchScript archive; taeda.jit.load opens it", stacklevel=4)
    return taeda.jit.load(file, map_location)


def _load_safely(data: bytes, storages: Any, encoding: str) -> Any:
    import pickle

    from taeda._serialization.safe_globals import find_global
    from taeda._serialization.safe_pickle import SafeUnpickler

    try:
        return SafeUnpickler(data, find_global, storages.load, encoding).load()
    except pickle.UnpicklingError as error:
        raise pickle.UnpicklingError(f"taeda.load: the file cannot be loaded safely: {error}") from error


def _load_anything(data: bytes, storages: Any, pickle_module: Any, pickle_args: dict[str, Any]) -> Any:
    import io

    if pickle_module is None:
        import pickle as pickle_module

    from taeda._serialization.names import FILE_ROOT, resolve

    class Unpickler(pickle_module.Unpickler):  # type: ignore[misc, name-defined]
        def find_class(self, module: str, name: str) -> Any:
            if module.partition(".")[0] == FILE_ROOT:
                return resolve(module, name)
            return super().find_class(module, name)

        def persistent_load(self, pid: Any) -> Any:
            return storages.load(pid)

    return Unpickler(io.BytesIO(data), **{"encoding": "utf-8", **pickle_args}).load()


def add_safe_globals(safe_globals: list[Callable[..., Any] | tuple[Callable[..., Any], str]]) -> None:
    """Admit classes and functions for ``load(weights_only=True)``; each alone or as ``(object, "module.name")``."""
    from taeda._serialization import safe_globals as registry

    registry.add(safe_globals)


def get_safe_globals() -> list[Any]:
    """What ``add_safe_globals`` admitted so far."""
    from taeda._serialization import safe_globals as registry

    return registry.added()


def clear_safe_globals() -> None:
    """Take back everything that ``add_safe_globals`` admitted."""
    from taeda._serialization import safe_globals as registry

    registry.replace([])


class safe_globals:
    """``with safe_globals([...]):`` admits classes and functions for the length of the block."""

    def __init__(self, safe_globals: list[Any]) -> None:
        self._globals = safe_globals

    def __enter__(self) -> None:
        self._before = get_safe_globals()
        add_safe_globals(self._globals)

    def __exit__(self, *exc: object) -> None:
        from taeda._serialization import safe_globals as registry

        registry.replace(self._before)


def get_unsafe_globals_in_checkpoint(f: str | os.PathLike[str] | IO[bytes]) -> list[str]:
    """The globals in a file that ``load(weights_only=True)`` would refuse, as ``module.name``; nothing is loaded."""
    from taeda._serialization.safe_globals import unsafe_in

    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as file:
            return unsafe_in(_open(file)[1])
    return unsafe_in(_open(_seekable(f))[1])


class skip_data:
    """``with skip_data():`` saves leave the storages' bytes blank, and loads leave them uninitialised.

    For files whose bytes come later: shapes, dtypes and everything else are kept.

    Args:
        materialize_fake_tensors: fake tensors, too, are saved as tensors on their devices.
    """

    def __init__(self, materialize_fake_tensors: bool = False) -> None:
        self.materialize_fake_tensors = materialize_fake_tensors

    def __enter__(self) -> None:
        self._before = _Settings.skip_data, _Settings.fakes
        _Settings.skip_data, _Settings.fakes = True, self.materialize_fake_tensors

    def __exit__(self, *exc: object) -> None:
        _Settings.skip_data, _Settings.fakes = self._before


def set_default_load_endianness(endianness: LoadEndianness | None) -> None:
    """Set the byte order assumed for files without a record of theirs; None means this machine's."""
    if endianness is not None and not isinstance(endianness, LoadEndianness):
        raise TypeError(f"taeda.serialization: expected a LoadEndianness or None; got {type(endianness).__name__}")
    _Settings.load_endianness = endianness


def get_default_load_endianness() -> LoadEndianness | None:
    """The byte order assumed for files without a record of theirs."""
    return _Settings.load_endianness


@contextlib.contextmanager
def _restoring(name: str, value: Any) -> Iterator[None]:
    try:
        yield
    finally:
        setattr(_Settings, name, value)


def set_default_mmap_options(flags: int) -> Any:
    """Set whether ``load(mmap=True)`` maps privately (``mmap.MAP_PRIVATE``, the default) or ``mmap.MAP_SHARED``.

    Takes effect at once; used as a ``with`` block, it is undone at the end.
    """
    if flags not in (MAP_SHARED, MAP_PRIVATE):
        raise ValueError(f"taeda.serialization: flags must be mmap.MAP_PRIVATE or mmap.MAP_SHARED; got {flags}")
    undo = _restoring("mmap_flags", _Settings.mmap_flags)
    _Settings.mmap_flags = flags
    return undo


def get_default_mmap_options() -> int:
    """How ``load(mmap=True)`` maps files."""
    return _Settings.mmap_flags


def set_crc32_options(compute_crc32: bool) -> None:
    """Set whether ``save`` writes checksums; without them a damaged storage goes unnoticed."""
    _Settings.crc32 = compute_crc32


def get_crc32_options() -> bool:
    """Whether ``save`` writes checksums."""
    return _Settings.crc32
