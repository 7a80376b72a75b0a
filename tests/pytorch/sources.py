"""PyTorch 2.6's test files, from Debian's source package into a cache: they are never part of this repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
from pathlib import Path

VERSION = "2.6.0"
PACKAGE = "pytorch=2.6.0+dfsg-7"  # of Debian 13
WANTED = ("test/", "torch/testing/", "torch/_export/db/")
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


class NotThere(Exception):
    """The files cannot be had; says what to do."""


def home() -> Path:
    """Where the files are kept: ``TAEDA_PYTORCH_TESTS``, or a folder of the user's cache."""
    chosen = os.environ.get("TAEDA_PYTORCH_TESTS")
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    return Path(chosen) if chosen else cache / "taeda" / f"pytorch-{VERSION}-tests"


def fetch() -> Path:
    """The folder with ``test`` and what of ``torch`` the tests use, fetched if need be.

    Raises:
        NotThere: there is no apt, or no package.
    """
    folder = home()
    if (folder / "test" / "test_torch.py").exists() and (folder / "torch" / "_export" / "db").exists():
        return folder
    if shutil.which("apt-get") is None or not Path(KEYRING).exists():
        raise NotThere(
            f"these tests need PyTorch {VERSION}'s folders test, torch/testing and torch/_export/db in {folder} (or in "
            f"the folder that TAEDA_PYTORCH_TESTS names). They come from Debian's source package by apt, which this "
            f"system has not: extract a source archive of PyTorch {VERSION} there"
        )
    print(f"fetching PyTorch {VERSION}'s test files (27 MB) into {folder}", flush=True)
    fetched = next((folder / "apt" / "src").glob("pytorch_*.orig.tar.xz"), None)
    _extract(fetched or _download(folder / "apt"), folder)
    return folder


def _host() -> str:
    """The package host that this system's own sources name."""
    for file in Path("/etc/apt/sources.list.d").glob("*.sources"):
        for line in file.read_text().splitlines():
            if line.startswith("URIs:") and line.rstrip("/").endswith("/debian"):
                return line.split()[1]
    return "http://deb.debian.org/debian"


def _download(folder: Path) -> Path:
    """The source archive, through apt with lists and sources of its own."""
    for part in ("lists/partial", "cache/archives/partial", "src"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    listed = folder / "src.list"
    listed.write_text(f"deb-src [signed-by={KEYRING}] {_host()} trixie main\n")
    options = {
        "Dir::Etc::sourcelist": listed, "Dir::Etc::sourceparts": "/nonexistent", "Dir::State::lists": folder / "lists",
        "Dir::Cache": folder / "cache", "APT::Sandbox::User": os.environ.get("USER", "root"),
    }  # fmt: skip
    apt = ["apt-get", "-qq", *(f"-o{name}={value}" for name, value in options.items())]
    try:
        subprocess.run([*apt, "update"], check=True)
        subprocess.run([*apt, "source", "--download-only", PACKAGE], check=True, cwd=folder / "src")
    except subprocess.CalledProcessError as error:
        raise NotThere(f"apt could not fetch {PACKAGE} from {_host()}: {error}") from None
    return next((folder / "src").glob("pytorch_*.orig.tar.xz"))


def _extract(archive: Path, folder: Path) -> None:
    with tarfile.open(archive) as tar:
        for member in tar:
            member.name = member.name.partition("/")[2]
            if member.name.startswith(WANTED):
                tar.extract(member, folder, filter="data")
