"""Models that others publish: by a ``hubconf.py`` in a repository, or as a file of weights behind a URL.

Everything is kept below `get_dir`. A download is written beside its place and moved there once it is whole and its hash
is right, so that a file in the cache is never half of one.
"""

from __future__ import annotations

import hashlib
import importlib.util
import itertools
import json
import os
import re
import shutil
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlparse
from urllib.request import Request, urlopen

__all__ = ["download_url_to_file", "get_dir", "help", "list", "load", "load_state_dict_from_url", "set_dir"]

HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")  # a file name ends in it: "resnet18-bf5a011c.pth"
READ_DATA_CHUNK = 128 * 1024
MODULE_HUBCONF = "hubconf.py"
_TRUSTED_OWNERS = ("facebookresearch", "facebookincubator", "pytorch", "fairinternal")

_hub_dir: str | None = None


def _get_torch_home() -> str:
    cache = os.environ.get("XDG_CACHE_HOME", "~/.cache")
    return os.path.expanduser(os.environ.get("TORCH_HOME", os.path.join(cache, "torch")))


def get_dir() -> str:
    """The folder of what was downloaded: what `set_dir` set, else ``$TORCH_HOME/hub``, else ``torch/hub`` in
    ``$XDG_CACHE_HOME`` or ``~/.cache``."""
    return _hub_dir if _hub_dir is not None else os.path.join(_get_torch_home(), "hub")


def set_dir(d: str | os.PathLike[str]) -> None:
    """Sets the folder of what is downloaded."""
    global _hub_dir
    _hub_dir = os.path.expanduser(d)


class _NoBar:
    """Stands in for tqdm's bar where that is not installed: draws nothing."""

    def __init__(self, iterable: Any = (), **options: Any) -> None:
        self._items = iterable

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __enter__(self) -> _NoBar:
        return self

    def __exit__(self, *error: Any) -> None:
        pass

    def update(self, n: float = 1) -> None:
        pass

    close = set_description = set_postfix = lambda self, *args, **options: None


def _bars() -> Any:
    try:
        from tqdm import tqdm
    except ImportError:
        return _NoBar
    return tqdm


if TYPE_CHECKING:
    tqdm: Any
else:

    def __getattr__(name: str) -> Any:
        if name != "tqdm":  # other libraries take it from here
            raise AttributeError(f"module 'taeda.hub' has no attribute '{name}'")
        return _bars()


def _progress_bar(total: int | None, wanted: bool) -> Any:
    """A bar that draws if drawing is wanted and tqdm is there."""
    return _bars()(total=total, disable=not wanted, unit="B", unit_scale=True, unit_divisor=1024)


def _copy_checked(source: Any, target: Any, bar: Any, hash_prefix: str | None, url: str) -> None:
    digest = hashlib.sha256()
    while chunk := source.read(READ_DATA_CHUNK):
        target.write(chunk)
        digest.update(chunk)
        bar.update(len(chunk))
    if hash_prefix is not None and not digest.hexdigest().startswith(hash_prefix):
        raise RuntimeError(
            f"taeda.hub: the SHA-256 of {url} is {digest.hexdigest()}, which does not begin with {hash_prefix}"
        )


def download_url_to_file(url: str, dst: str, hash_prefix: str | None = None, progress: bool = True) -> None:
    """Downloads ``url`` (``http``, ``https``, ``ftp`` or ``file``) to the file ``dst``.

    Args:
        hash_prefix: what the hexadecimal SHA-256 of the data must begin with.
        progress: whether to draw a bar (with tqdm, if it is installed).

    Raises:
        RuntimeError: the hash is another; ``dst`` is not touched.
        OSError: the data cannot be had or written.
    """
    dst = os.path.expanduser(dst)
    with urlopen(Request(url, headers={"User-Agent": "taeda.hub"})) as source:
        length = source.headers.get("Content-Length")
        handle, partial = tempfile.mkstemp(".partial", f"{os.path.basename(dst)}.", os.path.dirname(dst) or ".")
        try:
            bar = _progress_bar(int(length) if length else None, progress)
            with os.fdopen(handle, "wb") as target:
                _copy_checked(source, target, bar, hash_prefix, url)
            bar.close()
            os.chmod(partial, 0o666 & ~_umask())
            os.replace(partial, dst)
        except BaseException:
            os.unlink(partial)
            raise


def _umask() -> int:
    """The mode bits that new files of this process lack; a temporary file lacks more."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def load_state_dict_from_url(
    url: str, model_dir: str | None = None, map_location: Any = None, progress: bool = True, check_hash: bool = False,
    file_name: str | None = None, weights_only: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """What ``taeda.load`` reads from the file behind ``url``, which is downloaded unless the cache has it.

    Args:
        model_dir: the folder of the cache; ``checkpoints`` below `get_dir` by default.
        map_location, weights_only: as in ``taeda.load``.
        progress: whether to draw a bar.
        check_hash: check the data against the hash in the file's name, ``name-<first digits of its SHA-256>.ext``.
        file_name: its name in the cache; by default that in the URL.

    Raises:
        RuntimeError: the hash is another.
        OSError: the data cannot be had or written.
    """
    import taeda

    folder = os.path.join(get_dir(), "checkpoints") if model_dir is None else model_dir
    os.makedirs(folder, exist_ok=True)
    name = file_name or os.path.basename(urlparse(url).path)
    cached = os.path.join(folder, name)
    if not os.path.exists(cached):
        print(f'Downloading: "{url}" to {cached}', file=sys.stderr)
        match = HASH_REGEX.search(name) if check_hash else None
        download_url_to_file(url, cached, match[1] if match else None, progress)
    if _is_zipped_checkpoint(cached):
        return _load_zipped(cached, folder, map_location, weights_only)
    return taeda.load(cached, map_location=map_location, weights_only=weights_only)


def _is_zipped_checkpoint(path: str) -> bool:
    """Whether it is an archive with one file in it, the checkpoint, as some old ones are."""
    if not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
    return len(members) == 1 and not members[0].is_dir() and os.path.basename(members[0].filename) != "data.pkl"


def _load_zipped(path: str, folder: str, map_location: Any, weights_only: bool) -> dict[str, Any]:
    import taeda

    with zipfile.ZipFile(path) as archive:
        extracted = archive.extract(archive.infolist()[0], folder)
    return taeda.load(extracted, map_location=map_location, weights_only=weights_only)


def _parse_repository(github: str) -> tuple[str, str, str]:
    """Owner, name and branch, tag or commit of ``"owner/name[:ref]"``; the default branch is asked for."""
    repository, colon, ref = github.partition(":")
    owner, slash, name = repository.partition("/")
    if not slash or "/" in name or ":" in ref or not owner or not name:
        raise ValueError(f"taeda.hub: a repository is written owner/name or owner/name:ref; got {github!r}")
    return owner, name, ref if colon else _default_branch(owner, name)


def _default_branch(owner: str, name: str) -> str:
    try:
        with urlopen(f"https://github.com/{owner}/{name}/tree/main/"):
            return "main"
    except HTTPError as error:
        if error.code == 404:
            return "master"
        raise
    except URLError:
        for branch in ("main", "master"):  # no network: what is in the cache will do
            if os.path.exists(_repository_folder(owner, name, branch)):
                return branch
        raise


def _repository_folder(owner: str, name: str, ref: str) -> str:
    return os.path.join(get_dir(), "_".join([owner, name, ref.replace("/", "_")]))


def _fetch_repository(
    github: str, force_reload: bool, verbose: bool, trust_repo: bool | str | None, skip_validation: bool
) -> str:
    """The folder of the repository's files, downloaded unless the cache has it."""
    owner, name, ref = _parse_repository(github)
    folder = _repository_folder(owner, name, ref)
    os.makedirs(get_dir(), exist_ok=True)
    _check_trust(owner, name, trust_repo, known=os.path.exists(folder))
    if os.path.exists(folder) and not force_reload:
        if verbose:
            print(f"Using cache found in {folder}", file=sys.stderr)
        return folder
    if not skip_validation:
        _check_ref(owner, name, ref)
    url = f"https://github.com/{owner}/{name}/zipball/{ref}"
    if verbose:
        print(f'Downloading: "{url}" to {folder}', file=sys.stderr)
    with tempfile.TemporaryDirectory(dir=get_dir()) as scratch:
        archive_path = os.path.join(scratch, "archive.zip")
        download_url_to_file(url, archive_path, progress=False)
        with zipfile.ZipFile(archive_path) as archive:
            top = archive.namelist()[0].split("/")[0]
            archive.extractall(scratch)
        if os.path.exists(folder):
            shutil.rmtree(folder)
        os.replace(os.path.join(scratch, top), folder)
    return folder


def _check_ref(owner: str, name: str, ref: str) -> None:
    """Raises ``ValueError`` unless ``ref`` is a branch, tag or their commit in the repository itself: GitHub would also
    give a commit of anybody's fork under the repository's name."""
    headers = {"Accept": "application/vnd.github.v3+json"}
    if token := os.environ.get("GITHUB_TOKEN"):
        headers["Authorization"] = f"token {token}"
    for kind in ("branches", "tags"):
        for page in itertools.count(1):
            url = f"https://api.github.com/repos/{owner}/{name}/{kind}?per_page=100&page={page}"
            with urlopen(Request(url, headers=headers)) as answer:
                entries = json.loads(answer.read())
            if any(ref == entry["name"] or entry["commit"]["sha"].startswith(ref) for entry in entries):
                return
            if not entries:
                break
    raise ValueError(
        f"taeda.hub: {owner}/{name} has no branch, tag or commit of these named {ref}; skip_validation=True takes any"
    )


def _check_trust(owner: str, name: str, trust_repo: bool | str | None, known: bool) -> None:
    """Asks, warns or remembers, before code of a repository runs.

    Raises:
        ValueError: ``trust_repo`` is none of what it may be.
        RuntimeError: the user said no.
    """
    if trust_repo not in (True, False, None, "check"):
        raise ValueError(f"taeda.hub: trust_repo is True, False, 'check' or None; got {trust_repo!r}")
    trusted = Path(get_dir(), "trusted_list")
    entry = f"{owner}_{name}"
    listed = owner in _TRUSTED_OWNERS or (trusted.exists() and entry in trusted.read_text().split("\n"))
    if trust_repo is None:
        if not listed and not known:
            warnings.warn(f"taeda.hub: code of the repository {owner}/{name} will run", UserWarning, stacklevel=4)
        return
    if trust_repo is False or (trust_repo == "check" and not listed and not known):
        answer = input(f"The code of the repository {owner}/{name} will run. Do you trust it (y/N)? ")
        if answer.lower() not in ("y", "yes"):
            raise RuntimeError(f"taeda.hub: {owner}/{name} is not trusted; trust_repo=True says that it is")
    if not listed:
        with trusted.open("a") as file:
            file.write(f"{entry}\n")


@contextmanager
def _on_path(folder: str) -> Iterator[None]:
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)


def _import_hubconf(folder: str) -> ModuleType:
    """The module ``hubconf.py`` of ``folder``.

    Raises:
        RuntimeError: a package that it lists in ``dependencies`` is not installed.
    """
    spec = importlib.util.spec_from_file_location("hubconf", os.path.join(folder, MODULE_HUBCONF))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    missing = [name for name in getattr(module, "dependencies", ()) if importlib.util.find_spec(name) is None]
    if missing:
        raise RuntimeError(f"taeda.hub: {folder} needs packages that are not installed: {', '.join(missing)}")
    return module


def _entry(module: ModuleType, model: Any) -> Callable[..., Any]:
    if not isinstance(model, str):
        raise ValueError(f"taeda.hub: the model is named by a str; got {type(model).__name__}")
    found = getattr(module, model, None)
    if not callable(found):
        raise RuntimeError(f"taeda.hub: {MODULE_HUBCONF} has no function {model!r}")
    return found


def load(
    repo_or_dir: Any, model: str, *args: Any, source: str = "github", trust_repo: bool | str | None = "check",
    force_reload: bool = False, verbose: bool = True, skip_validation: bool = False, **kwargs: Any,
) -> Any:  # fmt: skip
    """What the function ``model`` of a repository's ``hubconf.py`` returns for ``args`` and ``kwargs``.

    Args:
        repo_or_dir: ``"owner/name"`` or ``"owner/name:ref"``; with ``source="local"``, a folder.
        source: ``"github"`` or ``"local"``.
        trust_repo: ``"check"`` asks the user about a repository that is new, ``False`` about each, ``True`` trusts
            this one from now on, ``None`` warns.
        force_reload: download it although the cache has it.
        verbose: say where it comes from.
        skip_validation: do not ask GitHub whether the branch, tag or commit belongs to the repository itself.

    Raises:
        ValueError: an unknown ``source``, a repository that is not written like one, or has no such branch.
        RuntimeError: there is no such function, a package it needs is missing, or the user does not trust it.
        OSError: the repository cannot be had.
    """
    if source.lower() not in ("github", "local"):
        raise ValueError(f'taeda.hub.load: source is "github" or "local"; got "{source}"')
    if source.lower() == "github":
        repo_or_dir = _fetch_repository(repo_or_dir, force_reload, verbose, trust_repo, skip_validation)
    with _on_path(os.fspath(repo_or_dir)):
        return _entry(_import_hubconf(repo_or_dir), model)(*args, **kwargs)


def list(
    github: str, force_reload: bool = False, skip_validation: bool = False, trust_repo: bool | str | None = "check",
    verbose: bool = True,
) -> Any:  # fmt: skip
    """The names of the functions that a repository's ``hubconf.py`` offers; arguments and errors as in `load`."""
    folder = _fetch_repository(github, force_reload, verbose, trust_repo, skip_validation)
    with _on_path(folder):
        module = _import_hubconf(folder)
    return [name for name in dir(module) if callable(getattr(module, name)) and not name.startswith("_")]


def help(
    github: str, model: str, force_reload: bool = False, skip_validation: bool = False,
    trust_repo: bool | str | None = "check",
) -> str | None:  # fmt: skip
    """The docstring of the function ``model`` of a repository's ``hubconf.py``; arguments and errors as in `load`."""
    folder = _fetch_repository(github, force_reload, True, trust_repo, skip_validation)
    with _on_path(folder):
        return _entry(_import_hubconf(folder), model).__doc__
