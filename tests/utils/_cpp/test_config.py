"""Programs find the library: by CMake, pkg-config and flags; and an environment finds it by torch's name."""

from __future__ import annotations

import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

import taeda
from taeda._stand_in import name
from taeda.utils._cpp import config, places

PROGRAM = """#include <torch/torch.h>
#include <iostream>
int main() { std::cout << at::ones({2, 3}).sum().item<double>() << std::endl; }
"""
CMAKE = """cmake_minimum_required(VERSION 3.18)
project(program LANGUAGES CXX)
find_package(Torch 2.0 REQUIRED)
find_package(Taeda REQUIRED)
add_executable(program program.cpp)
target_link_libraries(program "${TORCH_LIBRARIES}")
set_property(TARGET program PROPERTY CXX_STANDARD 17)
"""
needs_compiler = pytest.mark.skipif(shutil.which(places.compiler()) is None, reason="there is no C++ compiler")


def tool(name: str) -> str:
    beside = Path(sys.executable).with_name(name)
    found = str(beside) if beside.exists() else shutil.which(name)
    return found or pytest.skip(f"there is no {name}")


@needs_compiler
def test_find_package(tmp_path: Path) -> None:
    (tmp_path / "program.cpp").write_text(PROGRAM)
    (tmp_path / "CMakeLists.txt").write_text(CMAKE)
    build = tmp_path / "build"
    given = [f"-DCMAKE_PREFIX_PATH={taeda.utils.cmake_prefix_path}", "-DCMAKE_CXX_FLAGS=-O0"]
    subprocess.run([tool("cmake"), "-S", tmp_path, "-B", build, *given], check=True, capture_output=True)
    subprocess.run([tool("cmake"), "--build", build], check=True, capture_output=True)
    assert subprocess.run([build / "program"], capture_output=True, text=True, check=True).stdout == "6\n"


@needs_compiler
def test_flags(tmp_path: Path) -> None:
    (tmp_path / "program.cpp").write_text(PROGRAM)
    asked = [sys.executable, "-m", "taeda", "config", "--cflags", "--libs"]
    said = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    assert said.strip() == f"{config.cflags()} {config.libs()}"
    command = [places.compiler(), "-O0", str(tmp_path / "program.cpp"), *said.split(), "-o", str(tmp_path / "program")]
    subprocess.run(command, check=True)
    assert subprocess.run([tmp_path / "program"], capture_output=True, text=True, check=True).stdout == "6\n"


def test_pkg_config() -> None:
    text = (Path(config.pkgconfig()) / "taeda.pc").read_text()
    assert all(folder in text for folder in places.library_folders()) and "-ltaeda_torch -ltaeda" in text
    if shutil.which("pkg-config"):
        asked = ["pkg-config", "--cflags", "--libs", "taeda"]
        said = subprocess.run(asked, env={"PKG_CONFIG_PATH": config.pkgconfig()}, capture_output=True, text=True)
        told = {Path(word[2:]).resolve() for word in said.stdout.split() if word.startswith("-I")}
        assert told >= {Path(folder).resolve() for folder in places.include_folders()}


def test_nothing_asked() -> None:
    ran = subprocess.run([sys.executable, "-m", "taeda", "config"], capture_output=True, text=True)
    assert ran.returncode == 2 and "--cflags" in ran.stderr


def test_an_environment_with_the_name(tmp_path: Path) -> None:
    venv.create(tmp_path, with_pip=False, symlinks=True)
    python = tmp_path / "bin" / "python"
    site = next((tmp_path / "lib").glob("python*/site-packages"))
    (site / "taeda-here.pth").write_text(f"{Path(taeda.__path__[0]).parent}\n")

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([python, *words], capture_output=True, text=True, cwd=tmp_path)

    asks = "import torch.nn, taeda, importlib.metadata as m; print(torch is taeda, m.version('torch').split('+')[0])"
    assert "No module named 'torch'" in run("-c", asks).stderr
    assert run("-m", "taeda", "torch-name").returncode == 0
    assert run("-c", asks).stdout.split() == ["True", taeda._version.TORCH_VERSION]
    assert run("-m", "taeda", "torch-name").returncode == 0, "twice does no harm"
    assert run("-m", "taeda", "torch-name", "--remove").stdout == "removed\n"
    assert "No module named 'torch'" in run("-c", asks).stderr
    assert sorted(site.glob("torch*")) == [] and run("-m", "taeda", "torch-name", "--remove").returncode == 1
    (site / "torch").mkdir()
    refused = run("-m", "taeda", "torch-name")
    assert refused.returncode == 1 and "something named torch" in refused.stderr


def test_the_record_has_every_file(tmp_path: Path) -> None:
    name.install(str(tmp_path))
    files = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    record = next(tmp_path.glob("*.dist-info/RECORD")).read_text()
    assert {line.split(",")[0] for line in record.splitlines()} == files
    assert name.remove(str(tmp_path)) and list(tmp_path.iterdir()) == []
