"""A C++ program that is linked with the library alone runs what ``jit.save`` wrote."""

from __future__ import annotations

import enum
import importlib.util
import inspect
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

import taeda as torch
from taeda import nn

ROOT = Path(__file__).parent.parent.parent
COMPILER = shutil.which("g++")


def find_library() -> Path | None:
    """libtaeda of this build: beside the package, or in the developer's build."""
    folders = [Path(torch.__file__).parent / "lib", Path(torch._C.__file__).resolve().parent]
    return next((folder for folder in folders if (folder / "libtaeda.so").exists()), None)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(3, 4), nn.Linear(4, 2)
        self.norm = nn.BatchNorm1d(4)
        self.sizes, self.names, self.rate = [1, 2], {"x": 1.5}, 0.5

    def forward(self, x, rounds: int = 3):
        y = self.norm(self.first(x))
        for i in range(rounds):
            if bool(y.sum() > 0):
                y = torch.relu(y) * self.rate - i
        return self.second(y) + self.sizes[1] + self.names["x"]


# Loads, gives weights and a title other values, saves.
SAVES = """#include <torch/script.h>
int main(int, char** words) {
  torch::jit::Module net = torch::jit::load(words[1]);
  torch::NoGradGuard no_grad;
  for (torch::Tensor weight : net.parameters()) weight.fill_(0.5);
  net.setattr("title", "halved");
  net.save(words[2], {{"note", "from C++"}});
}
"""


def build(source: Path, out: Path, *libraries: str) -> Path:
    library = find_library()
    if COMPILER is None or library is None:
        pytest.skip("needs g++ and libtaeda")
    include = [f"-I{folder}" for folder in (ROOT / "include", library / "generated" / "include")]
    subprocess.run([COMPILER, "-std=c++20", source, *include, f"-L{library}", *libraries, f"-Wl,-rpath,{library}", "-o",
                    out], check=True)  # fmt: skip
    return out


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT / "examples/cpp_run/main.cpp", tmp_path_factory.mktemp("cpp") / "cpp_run", "-ltaeda")


# A module of data alone, made here; and what it reads of one of another's.
DATA = """#include <torch/script.h>
#include <iostream>
int main(int, char** words) {
  torch::jit::Module net("Made"), part("Part");
  part.register_attribute("names", c10::ListType::create(c10::StringType::get()), c10::List<std::string>({"a", "b"}));
  part.register_attribute("counts", c10::DictType::create(c10::StringType::get(), c10::IntType::get()),
                          c10::Dict<std::string, int64_t>());
  net.register_parameter("weight", torch::ones({2}), false);
  net.register_buffer("steps", torch::arange(3));
  net.register_module("part", part);
  net.save(words[1]);
  torch::jit::Module held = torch::jit::load(words[2]);
  for (const auto& each : held.named_parameters()) std::cout << each.name << " ";
  std::cout << held.attr("title") << " " << held.attr("words") << " " << held.attr("pairs").toGenericDict().at("x");
  try {
    held.forward({torch::ones(3)});
  } catch (const c10::Error& error) {
    std::cout << " " << error.what_without_backtrace();
  }
}
"""


def run(program: Path, *words: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([program, *map(str, words)], capture_output=True, text=True)


def test_an_archive_runs_without_python(program: Path, tmp_path: Path) -> None:
    torch.manual_seed(0)
    net = Net().eval()
    x = torch.arange(15.0).reshape(5, 3)

    def marked(y: torch.Tensor) -> torch.Tensor:
        with torch.autograd.profiler.record_function("marked"):
            return torch.relu(y @ y.t()) + y.size(0)

    for made in (torch.jit.script(net), torch.jit.trace(marked, x)):
        path = tmp_path / "net.pt"
        torch.jit.save(made, path)
        found = run(program, path, 5, 3)
        assert not found.returncode, found.stderr
        numbers = [float(line) for line in found.stdout.split("result")[1].splitlines()[1:]]
        assert torch.allclose(torch.tensor(numbers), made(x).detach().flatten(), rtol=1e-4)
    assert "first.weight (4, 3)" in run(program, _saved(net, tmp_path), 5, 3).stdout


def _saved(net: nn.Module, folder: Path) -> Path:
    torch.jit.save(torch.jit.script(net), folder / "again.pt")
    return folder / "again.pt"


def test_what_fails_is_told(program: Path, tmp_path: Path) -> None:
    path = _saved(Net().eval(), tmp_path)
    wrong = run(program, path, 5, 4)
    assert wrong.returncode == 1 and "HERE" in wrong.stderr
    data = path.read_bytes()
    for cut in (10, len(data) // 2, len(data) - 30):
        path.write_bytes(data[:cut])
        assert run(program, path, 5, 3).returncode == 1
    place = data.index(b"taeda-program") + 40
    path.write_bytes(data[:place] + b"?" + data[place + 1 :])
    assert "check sum" in run(program, path, 5, 3).stderr


def test_compressed_records(program: Path, tmp_path: Path) -> None:
    path, packed = _saved(Net().eval(), tmp_path), tmp_path / "packed.pt"
    with zipfile.ZipFile(path) as records, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as to:
        for record in records.infolist():
            to.writestr(record.filename, records.read(record))
    assert run(program, packed, 5, 3).stdout == run(program, path, 5, 3).stdout != ""


class Mood(enum.Enum):
    GOOD = 1
    BAD = 2


class Inner(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))

    def forward(self, x):
        return x * self.weight


class Held(nn.Module):
    """An attribute of each kind that archives hold."""

    mood: Mood

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([Inner(), Inner()])
        self.layers[1].weight = self.layers[0].weight
        self.title, self.words, self.pairs, self.mood = "plain", ["a", "b"], {"x": (1, 2.5)}, Mood.BAD
        self.phase, self.register = 1 + 2j, torch.arange(3)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        if self.title == "halved" and self.mood == Mood.BAD and self.words[1] == "b":
            x = x + self.pairs["x"][1]
        return x * abs(self.phase) + self.register


def test_a_module_that_cpp_saved(tmp_path: Path) -> None:
    source = tmp_path / "saves.cpp"
    source.write_text(SAVES)
    saves = build(source, tmp_path / "saves", "-ltaeda_torch", "-ltaeda", "-O0")
    x = torch.tensor([1.0, 2.0, 3.0])
    torch.jit.save(torch.jit.script(Held()), tmp_path / "net.pt")
    subprocess.run([saves, tmp_path / "net.pt", tmp_path / "saved.pt"], check=True)
    wanted = ((x * 0.25 + 2.5) * 5**0.5 + torch.arange(3)).tolist()  # both layers share the weight
    modules: list[Any] = [torch]
    if importlib.util.find_spec("torch") is not None:
        modules.append(importlib.import_module("torch"))
    for module in modules:
        files = {"note": ""}
        again = module.jit.load(str(tmp_path / "saved.pt"), _extra_files=files)
        assert again(module.tensor(x.tolist())).tolist() == pytest.approx(wanted)
        assert files == {"note": b"from C++"} and again.title == "halved" and again.pairs == {"x": (1, 2.5)}
        assert len(list(again.parameters())) == 1


class Data(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 1))
        self.title, self.words, self.pairs = "plain", ["a", "b"], {"x": (1, 2.5)}

    def forward(self, x):
        return x


def test_modules_of_data_alone(tmp_path: Path) -> None:
    source = tmp_path / "data.cpp"
    source.write_text(DATA)
    program = build(source, tmp_path / "data", "-ltaeda_torch", "-ltaeda", "-O0")
    torch.jit.script(Data()).save(tmp_path / "data.pt")
    with zipfile.ZipFile(tmp_path / "data.pt") as records, zipfile.ZipFile(tmp_path / "source.pt", "w") as to:
        for record in records.infolist():
            if "instructions" not in record.filename:
                to.writestr(record.filename, records.read(record))
    others = [tmp_path / "source.pt"]
    modules: list[Any] = [torch]
    if importlib.util.find_spec("torch") is not None:
        modules.append(importlib.import_module("torch"))
        script = (
            f"import torch\n{inspect.getsource(Data)}\ntorch.jit.script(Data()).save({str(tmp_path / 'theirs.pt')!r})"
        )
        (tmp_path / "saves.py").write_text("from torch import nn\n" + script)
        subprocess.run([sys.executable, tmp_path / "saves.py"], check=True)
        others.append(tmp_path / "theirs.pt")
    for path in others:
        found = run(program, tmp_path / "made.pt", path)
        assert found.stdout.startswith("net.0.weight net.0.bias plain [a, b] (1, 2.5) "), found
        assert "taeda jit compile" in found.stdout
    for module in modules:
        made = module.jit.load(str(tmp_path / "made.pt"))
        assert list(dict(made.named_parameters())) == ["weight"] and made.steps.tolist() == [0, 1, 2]
        assert made.part.names == ["a", "b"] and made.part.counts == {} and made.training
