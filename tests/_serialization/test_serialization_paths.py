"""Saving to a path: all or nothing, under the path's name, with the permissions that any program's file would have."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import taeda


@pytest.fixture(params=["without a name", "with a name"], autouse=True)
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both kinds of file that a save goes through."""
    if request.param == "with a name":
        monkeypatch.setattr(taeda.serialization, "_unnamed_file", lambda folder: None)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_permissions(umask: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    new, old = tmp_path / "new", tmp_path / "old"
    old.touch()
    old.chmod(0o640)
    before = os.umask(umask)
    try:
        with monkeypatch.context() as patch:
            patch.setattr(os, "umask", None)  # it would change for all threads
            taeda.save(1, new)
            taeda.save(2, old)
    finally:
        os.umask(before)
    assert (mode(new), mode(old)) == (0o666 & ~umask, 0o640)
    assert (taeda.load(new), taeda.load(old)) == (1, 2)
    assert sorted(os.listdir(tmp_path)) == ["new", "old"]


class Fails:
    def __reduce__(self) -> object:
        raise KeyError("on the way")


def test_a_save_that_fails_leaves_all_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "x"
    taeda.save(1, path)
    with pytest.raises(KeyError):
        taeda.save([taeda.ones(3), Fails()], path)
    with pytest.raises(OSError, match="No space left"):
        taeda.save(taeda.ones(3), "/dev/full")
    assert taeda.load(path) == 1 and os.listdir(tmp_path) == ["x"]


@pytest.mark.parametrize("name", ["x" * 300, "folder", "/proc/version", "/proc/none"])
def test_errors_name_the_path(name: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError) as caught:
        taeda.save(1, tmp_path / name)
    assert caught.value.filename == str(tmp_path / name) and caught.value.filename2 is None


def test_names_of_the_greatest_length(tmp_path: Path) -> None:
    for name in ("x" * 255, "é" * 127):
        for value in (1, 2):
            taeda.save(value, tmp_path / name)
        assert taeda.load(tmp_path / name) == 2


KILLED = """
import os, signal, sys, taeda
class Kills:
    def __reduce__(self):
        os.kill(os.getpid(), signal.SIGKILL)
taeda.save([taeda.ones(1000), Kills()], sys.argv[1])
"""


def killed_save(path: Path) -> list[str]:
    """What stands in the folder after a save to the path that is killed on its way."""
    taeda.save(1, path)
    done = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert done.returncode == -signal.SIGKILL and taeda.load(path) == 1
    return sorted(os.listdir(path.parent))


def test_a_killed_save_leaves_nothing_behind(tmp_path: Path) -> None:
    descriptor = taeda.serialization._unnamed_file(str(tmp_path))
    left = killed_save(tmp_path / "x")  # in a process of its own, where nothing is patched
    if descriptor is None:
        assert left[-1] == "x" and len(left) <= 2
    else:
        os.close(descriptor)
        assert left == ["x"]


def test_what_killed_saves_left_goes_with_a_later_save(tmp_path: Path) -> None:
    path, other = tmp_path / "x", [".x.0123456789", ".x.0123456789ag", ".y.0123456789ab", "x.0123456789ab", ".x."]
    fresh, old = ".x.0123456789ab", ".x.ba9876543210"
    for name in (*other, fresh, old):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (0, 0))
    os.utime(tmp_path / fresh)
    taeda.save(1, path)
    taeda.save(2, path)
    assert sorted(os.listdir(tmp_path)) == sorted([*other, fresh, "x"]) and taeda.load(path) == 2
