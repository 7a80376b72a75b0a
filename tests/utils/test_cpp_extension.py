"""Extensions in C++: what people write compiles unchanged, and gives PyTorch's numbers."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import taeda as torch
from taeda.utils import cpp_extension

pytest.importorskip("pybind11", reason="extensions need pybind11")
if shutil.which(cpp_extension.get_cxx_compiler()) is None:
    pytest.skip("there is no C++ compiler", allow_module_level=True)
SOURCES = Path(__file__).parents[1] / "cpp" / "extensions"


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        made = tmp_path_factory.mktemp("extensions")
        patch.setenv("TORCH_EXTENSIONS_DIR", str(made))
        patch.setenv("CXXFLAGS", "-O0")
        yield made


@pytest.fixture(scope="module")
def basic(folder: Path) -> Any:
    return cpp_extension.load("taeda_test_basic_module", [str(SOURCES / "basic.cpp")])


@pytest.mark.parametrize("dtype", [torch.float32, torch.int16, torch.complex64, torch.float16, torch.bfloat16])
def test_dispatch_and_accessors(basic: Any, dtype: torch.dtype) -> None:
    x = torch.arange(12).reshape(3, 4).to(dtype)
    y = torch.arange(12).reshape(4, 3).t().to(dtype)
    assert torch.equal(basic.add_scaled(x, y, by=2), x + 2 * y)
    assert basic.add_scaled.__doc__.startswith("add_scaled(x: torch.Tensor, y: torch.Tensor")


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ((torch.ones(3), torch.ones(3)), IndexError, "x must have 2 dimensions; it has 1"),
        ((torch.ones(2, 3), torch.ones(3, 2)), ValueError, "sizes differ: [2, 3] and [3, 2]"),
        ((torch.ones(2, 3, device="meta"), torch.ones(2, 3)), RuntimeError, "x must lie on the CPU\n(raised in"),
        ((torch.ones(2, 2, dtype=torch.bool),) * 2, NotImplementedError, "\"add_scaled\" is not for 'Bool' tensors"),
        ((3, torch.ones(2)), TypeError, "incompatible function arguments"),
    ],
)
def test_errors(basic: Any, arguments: tuple[Any, ...], error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        basic.add_scaled(*arguments)
    assert text in str(caught.value)


def test_function_with_gradient(basic: Any) -> None:
    x, y = torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([3.0, 4.0], requires_grad=True)
    z = basic.product(x, y, [2])
    assert z.grad_fn.name() == "CppNode<(anonymous namespace)::Product>"
    z.sum().backward()
    assert x.grad.tolist() == [6.0, 8.0] and y.grad.tolist() == [1.0, 2.0]
    with pytest.raises(RuntimeError, match="were released by a first backward pass"):
        z.sum().backward()
    assert not basic.product(x.detach(), y.detach(), [2]).requires_grad
    z = torch.ops.taeda_test_basic.product(x, y, [1])
    y.data.add_(1)
    with torch.no_grad():
        x.add_(1)
    with pytest.raises(RuntimeError, match="version|written|modified|changed"):
        z.sum().backward()


def test_function_in_place(basic: Any) -> None:
    leaf = torch.zeros(3, requires_grad=True)
    x = leaf * 2
    out, positions = basic.add_one_(x)
    assert out is x and not positions.requires_grad
    out.sum().backward()
    assert leaf.grad.tolist() == [6.0] * 3


def test_tensors_of_all_kinds(basic: Any) -> None:
    assert basic.sum_in_parts(1000) == sum(range(1000)) and basic.sum_in_parts(0) == 0
    made = basic.indexed(torch.zeros(3, 4))
    x = np.zeros((3, 4))
    x[1:, 0], x[0] = 7, -1
    assert made.tolist() == [*x[::2].ravel(), *x[..., -2:].T.ravel(), *x[[2, 0], 1]]
    assert basic.over_memory(5).tolist() == [2.5] * 5
    torch.manual_seed(3)
    expected = torch.randn(2, 3)
    randn, zeros, ints, number, ones, truths, halves = basic.factories()
    assert torch.equal(randn, expected) and zeros.dtype == torch.float64 and zeros.requires_grad
    assert ints.tolist() == [[1, 2], [3, 4]] and ints.dtype == torch.int64 and number.dtype == torch.float32
    assert ones.dtype == torch.int32 and truths.dtype == torch.bool and halves.dtype == torch.float16


def test_casters(basic: Any) -> None:
    given = ([1, 2], None, torch.float16, 2.5, torch.device("cpu"), True)
    assert basic.echo((1, 2), None, torch.float16, 2.5, "cpu", torch.Generator()) == given
    sizes, tensor, dtype, number, device, has = basic.echo(3, torch.ones(1), torch.bool, 1j, torch.device("meta"), None)
    assert (sizes, tensor.tolist(), dtype, number, device.type, has) == ([3], [1.0], torch.bool, 1j, "meta", False)
    assert basic.stream(torch.Stream(device="cpu")) == torch.Stream(device="cpu")
    with pytest.raises(TypeError, match="torch.Stream"):
        basic.stream(torch.device("cpu"))


def test_ops_of_its_own(basic: Any) -> None:
    ops = torch.ops.taeda_test_basic
    doubled, count = ops.scale(torch.ones(2), sizes=[1, 2, 3])
    assert doubled.tolist() == [2.0, 2.0] and count == 3
    assert ops.scale(torch.ones(2, device="meta"))[0].device.type == "meta"
    assert ops.names({"a": torch.ones(1), "b": torch.ones(1)}, "c") == ["a", "b", "c"]
    assert str(ops.names.default._schema).endswith("names(Dict(str, Tensor) _0, str? _1) -> str[]")
    assert basic.dispatched(torch.ones(2), torch.ones(2)).tolist() == [3.0, 3.0]
    with pytest.raises(NotImplementedError if hasattr(ops, "zzz") else (AttributeError, RuntimeError)):
        ops.zzz(torch.ones(1))


def test_warnings_and_hooks(basic: Any) -> None:
    with pytest.warns(UserWarning, match="careful: 3"):
        basic.warned()
    with pytest.warns(DeprecationWarning, match="old: 3"):
        basic.warned_of_old()
    grad, other, reached = basic.backward(torch.tensor([1.0, 2.0], requires_grad=True))
    assert grad.tolist() == [20.0, 40.0] and other.tolist() == [2.0, 2.0] and not reached


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (torch.ones(2, 3), " 1  1  1\n 1  1  1\n[ CPUFloatType{2,3} ]"),
        (torch.tensor(2.5), "2.5\n[ CPUFloatType{} ]"),
        (torch.tensor([0.5, 100.25]), "   0.5000\n 100.2500\n[ CPUFloatType{2} ]"),
        (torch.zeros(0), "[ CPUFloatType{0} ]"),
        (torch.arange(4).reshape(2, 1, 2), "(1,.,.) = \n 0  1\n\n(2,.,.) = \n 2  3\n[ CPULongType{2,1,2} ]"),
    ],
)
def test_printing(basic: Any, values: torch.Tensor, text: str) -> None:
    assert basic.printed(values) == text


@pytest.fixture(scope="module")
def modules(folder: Path) -> Any:
    return cpp_extension.load("taeda_test_modules", [str(SOURCES / "modules.cpp")])


def test_modules_of_cpp_are_modules(modules: Any) -> None:
    net = modules.Net(3, out=2)
    assert isinstance(net, torch.nn.Module) and repr(net).endswith("Net") and modules.cpp.Net.__name__ == "Net"
    assert [name for name, _ in net.named_parameters()] == ["shift", "linear.weight", "linear.bias"]
    outer = torch.nn.Sequential(torch.nn.Linear(3, 3), net)
    assert [name for name, _ in outer.named_parameters()][2:] == ["1.shift", "1.linear.weight", "1.linear.bias"]
    optimizer = torch.optim.SGD(outer.parameters(), lr=0.1)
    before = [parameter.clone() for parameter in net.parameters()]
    outer(torch.ones(4, 3)).sum().backward()
    optimizer.step()
    assert all(not torch.equal(new, old) for new, old in zip(net.parameters(), before, strict=True))
    outer.eval()
    outer(torch.ones(4, 3))
    assert not net.training and net._buffers["calls"].item() == 1
    outer.double()
    assert net(torch.ones(1, 3, dtype=torch.float64)).dtype == torch.float64
    net.to(torch.float32)
    assert {parameter.dtype for parameter in net.parameters()} == {torch.float32}
    net.zero_grad()
    assert all(parameter.grad is None for parameter in net.parameters())


def test_dictionaries_of_modules_of_cpp(modules: Any) -> None:
    net = modules.Net(3, 2)
    net.add_parameter("more", torch.eye(2))
    parameters = net._parameters
    assert list(parameters.keys()) == ["shift", "more"] and len(parameters) == 2 and "linear.weight" not in parameters
    assert [name for name, _ in parameters] == [name for name, _ in parameters.items()] == ["shift", "more"]
    assert torch.equal(parameters["more"], torch.eye(2)) and torch.equal(parameters.values()[1], torch.eye(2))
    assert net.named_parameters()[1][0] == "more" and len(net.parameters(recurse=False)) == 2
    assert list(net._modules.keys()) == ["linear"] and [name for name, _ in net.named_modules()] == ["", "linear"]
    with pytest.raises(RuntimeError):
        parameters["none"]
    with pytest.raises(RuntimeError, match="index 7"):
        net.named_parameters()[7]
    scale = modules.Scale()  # its class has no forward
    assert scale.apply_to(torch.ones(2)).tolist() == [2.0, 2.0]
    with pytest.raises(NotImplementedError):
        scale(torch.ones(2))


def test_load_inline(folder: Path) -> None:
    source = "#include <torch/extension.h>\ntorch::Tensor {name}(torch::Tensor x) {{ return x.sin() + {number}; }}"
    first = cpp_extension.load_inline("taeda_inline", source.format(name="f", number=1), functions=["f"])
    assert torch.equal(first.f(torch.ones(2)), torch.ones(2).sin() + 1)
    assert len(list((folder / "precompiled").glob("*/torch/extension.h.gch"))) == 1
    made = (folder / "taeda_inline" / "taeda_inline.so").stat().st_mtime_ns
    again = cpp_extension.load_inline("taeda_inline", source.format(name="f", number=1), functions={"f": "sin"})
    assert again.__name__ == "taeda_inline_v1" and "sin" in again.f.__doc__
    assert (folder / "taeda_inline" / "taeda_inline.so").stat().st_mtime_ns == made
    with pytest.raises(RuntimeError, match="expected ';'|error"):
        cpp_extension.load_inline("taeda_wrong", "int f( { }", functions="f")


def test_a_lock_dies_with_its_holder(folder: Path, basic: Any) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", "import fcntl, sys, time; f = open(sys.argv[1], 'w'); fcntl.flock(f, fcntl.LOCK_EX); "
         "print(flush=True); time.sleep(60)", str(folder / "taeda_test_basic_module" / "lock")],
        stdout=subprocess.PIPE)  # fmt: skip
    assert holder.stdout is not None and holder.stdout.readline()
    results: list[Any] = []
    waiting = threading.Thread(
        target=lambda: results.append(
            cpp_extension.load("taeda_test_basic_module", [str(SOURCES / "basic.cpp")], is_standalone=False)
        )
    )
    holder.kill()
    holder.wait()
    waiting.start()
    waiting.join(60)
    assert len(results) == 1


def test_refused() -> None:
    with pytest.raises(RuntimeError, match="this build has no CUDA"):
        cpp_extension.CUDAExtension("x", ["x.cu"])
    with pytest.raises(RuntimeError, match="this build has no cuda"):
        cpp_extension.load("x", ["x.cu"])
    assert cpp_extension.CUDA_HOME is None and cpp_extension.include_paths()[0].endswith("include")


def test_a_program(folder: Path) -> None:
    source = folder / "program.cpp"
    source.write_text(
        "#include <torch/torch.h>\n#include <iostream>\n"
        "int main() { std::cout << (torch::eye(2) * 3).sum().item<float>() << std::endl; }\n"
    )
    program = cpp_extension.load("taeda_test_program", str(source), is_python_module=False, is_standalone=True)
    assert subprocess.run([program], capture_output=True, text=True, check=True).stdout == "6\n"
