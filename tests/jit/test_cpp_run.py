"""A C++ program that is linked with the library alone runs what ``jit.save`` wrote."""

from __future__ import annotations

import enum
import importlib.util
import shutil
import subprocess
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
