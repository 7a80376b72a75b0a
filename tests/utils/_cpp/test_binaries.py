"""Binaries of the stable C interface: they are built once, against these headers or PyTorch's, and load into both."""

from __future__ import annotations

import ctypes
import importlib.util
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest

import taeda as torch
from taeda.utils._cpp import binaries, config, places

if shutil.which(places.compiler()) is None:
    pytest.skip("there is no C++ compiler", allow_module_level=True)
SOURCE = Path(__file__).parents[2] / "cpp" / "extensions" / "stable.cpp"


def compile_library(text: str, path: Path, *flags: str) -> Path:
    source = path.with_suffix(".cpp")
    source.write_text(text)
    subprocess.run([places.compiler(), "-shared", "-fPIC", str(source), "-o", str(path), *flags], check=True)
    return path


@pytest.fixture(scope="module")
def ops(tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("stable") / "stable.so"
    flags = [*config.cflags().split(), "-O0", *config.libs().split()]
    compile_library(SOURCE.read_text(), path, "-Wl,--no-as-needed", *flags)
    torch.ops.load_library(str(path))
    return torch.ops.taeda_test_stable


@pytest.fixture(scope="module")
def as_published(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The linker's flags of a wheel's builder, who had libraries by PyTorch's names."""
    folder = tmp_path_factory.mktemp("names")
    names = ("torch", "torch_cpu", "c10")
    for name in names:
        compile_library("", folder / f"lib{name}.so", f"-Wl,-soname,lib{name}.so")
    return [f"-L{folder}", "-Wl,--no-as-needed,--unresolved-symbols=ignore-all", *(f"-l{name}" for name in names)]


def run_as_torch(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "taeda", "run", "-c", code], capture_output=True, text=True)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_kernel_over_elements(ops: Any, dtype: torch.dtype) -> None:
    x = torch.arange(4000).to(dtype)
    assert torch.equal(ops.scaled(x, 0.5), x * 0.5) and torch.equal(ops.scaled(x), x * 2)


def test_values_of_all_kinds(ops: Any) -> None:
    x = torch.ones(2, 3)
    made, total, name = ops.described(x, [1, 2], "n", 0.5, True, x, torch.float64, torch.device("cpu"), [x, x], ["a"])
    assert made.dtype == torch.float64 and (total, name) == (17, "n+a+0.500000")
    assert ops.described(x, [], "", None, False, None, torch.int32, "cpu", [], [])[1:] == (0, "")
    assert ops.owned(3).tolist() == [0.5] * 3
    assert ops.ops_of_all_kinds(torch.arange(6.0).reshape(2, 3)).tolist() == [20.0, 18.0, 23.0, 13.0]
    assert ops.undefined_or(None) is None and torch.equal(ops.undefined_or(x), x)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda ops: ops.scaled(torch.ones(2, dtype=torch.int32)), "\"scaled\" is not for 'Int' tensors"),
        (lambda ops: ops.fails_inside(torch.ones(2)), "dimension 9 is out of range"),
        (
            lambda ops: ops.described(torch.ones(2), [], "", None, True, None, torch.int32, "meta", [], []),
            "another device",
        ),
    ],
)
def test_errors(ops: Any, call: Any, text: str) -> None:
    with pytest.raises(RuntimeError) as caught:
        call(ops)
    assert str(caught.value).count(text) == 1


def test_a_binary_that_is_loaded_twice_names_the_clash(ops: Any, tmp_path: Path) -> None:
    path = tmp_path / "again.so"
    compile_library(
        '#include <torch/csrc/stable/library.h>\nSTABLE_TORCH_LIBRARY(taeda_test_stable, m) { m.def("f() -> ()"); }\n',
        path, *config.cflags().split(), "-O0", "-Wl,--no-as-needed", *config.libs().split(),
    )  # fmt: skip
    with pytest.raises(
        RuntimeError, match="'taeda_test_stable' is defined at .*stable.cpp:.* and again at .*again.cpp"
    ):
        torch.ops.load_library(str(path))


@pytest.mark.parametrize(
    ("message", "missing"),
    [
        ("libtorch_cpu.so: cannot open shared object file: No such file or directory", True),
        ("libcudart.so.13: cannot open shared object file: No such file or directory", True),
        ("libavutil.so.57: cannot open shared object file: No such file or directory", False),
        ("x.so: undefined symbol: libtorch.so", False),
    ],
)
def test_which_libraries_are_missing(message: str, missing: bool) -> None:
    assert binaries.is_missing(OSError(message)) is missing


def test_another_version_of_the_interface(tmp_path: Path) -> None:
    text = "extern int taeda_abi_0_differs_please_rebuild; int* p = &taeda_abi_0_differs_please_rebuild;"
    path, module = (compile_library(text, tmp_path / name) for name in ("old.so", "old_module.so"))
    with pytest.raises(OSError, match="old.so was built against version 0 of Taeda's C"):
        torch.ops.load_library(str(path))
    ran = run_as_torch(f"import sys; sys.path.insert(0, {str(module.parent)!r})\nimport old_module")
    assert "ImportError" in ran.stderr and "build it again" in ran.stderr


def test_what_was_published_finds_torchs_libraries(as_published: list[str], tmp_path: Path) -> None:
    module = """#include <Python.h>
extern "C" unsigned long long aoti_torch_abi_version();
static PyObject* version(PyObject*, PyObject*) { return PyLong_FromUnsignedLongLong(aoti_torch_abi_version() >> 48); }
static PyMethodDef methods[] = {{"version", version, METH_NOARGS, ""}, {}};
static PyModuleDef module = {PyModuleDef_HEAD_INIT, "asks", "", -1, methods};
PyMODINIT_FUNC PyInit_asks() { return PyModule_Create(&module); }
"""
    library = """#include <torch/csrc/stable/library.h>
STABLE_TORCH_LIBRARY(taeda_published, m) { m.def("one() -> int"); }
int64_t one() { return 1; }
STABLE_TORCH_LIBRARY_IMPL(taeda_published, CompositeExplicitAutograd, m) { m.impl("one", TORCH_BOX(&one)); }
"""
    compile_library(module, tmp_path / "asks.so", f"-I{sysconfig.get_paths()['include']}", *as_published)
    path = compile_library(library, tmp_path / "published.so", *config.cflags().split(), "-O0", *as_published)
    ran = run_as_torch(
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\nimport asks, torch\n"
        f"torch.ops.load_library({str(path)!r})\nprint(asks.version(), torch.ops.taeda_published.one())"
    )
    assert ran.stdout.split() == [str(2 << 8 | 13), "1"], ran.stderr


@pytest.mark.torch
def test_every_function_that_pytorch_has_is_there() -> None:
    spec = importlib.util.find_spec("torch")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("PyTorch is not installed")
    header = Path(spec.submodule_search_locations[0]) / "include" / "torch" / "csrc" / "stable" / "c" / "shim.h"
    names = re.findall(r"\b((?:aoti_torch|torch)_\w+)\(", header.read_text())
    listed = subprocess.run(["nm", "-D", "--defined-only", str(places.library("taeda_torch"))], capture_output=True,
                            text=True, check=True).stdout.split()  # fmt: skip
    assert len(names) > 40 and set(names) - set(listed) == set()


@pytest.mark.filterwarnings("ignore:'mkldnn' as a device")
def test_device_types_have_pytorchs_numbers() -> None:
    library = ctypes.CDLL(str(places.library("taeda_torch")))
    names = "cpu cuda mkldnn opengl opencl ideep hip fpga maia xla vulkan - xpu mps meta hpu ve lazy ipu mtia"
    for number, name in enumerate(f"{names} {torch._C._get_privateuse1_backend_name()}".split()):
        kind, index = ctypes.c_uint32(), ctypes.c_int32()
        if name != "-":  # Metal's, which no text stands for
            assert library.torch_parse_device_string(name.encode(), ctypes.byref(kind), ctypes.byref(index)) == 0
            assert kind.value == number, name
