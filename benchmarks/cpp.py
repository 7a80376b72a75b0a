"""What C++ costs: compiling against the headers, and calls, beside libtorch; both built and run in turn."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import time
from pathlib import Path

from benchmarks.timing import Budget, Row
from tools.cpp_examples import flags

GROUP = "cpp"
ROOT = Path(__file__).resolve().parent.parent
BUDGETS = {"cpp calls": Budget(mean=0.5, worst=1.0), "cpp compile": Budget(mean=0.35, worst=0.35)}
MOST_HEADERS, MOST_MEGABYTES = 300, 6.0

PROGRAMS = {
    "torch/extension.h": "#include <torch/extension.h>\ntorch::Tensor twice(torch::Tensor x) { return x * 2; }\n"
    'PYBIND11_MODULE(bench, m) { m.def("twice", &twice); }\n',
    "torch/torch.h": "#include <torch/torch.h>\n"
    "int main() { return (torch::ones({2, 2}) * 2).sum().item<int>() != 8; }\n",
}

# Each line is timed alone: nanoseconds of the least of many rounds.
CALLS = r"""
#include <torch/torch.h>
#include <chrono>
#include <cstdio>
template <class F>
void bench(const char* name, const F& f) {
  double least = 1e30;
  for (int round = 0; round < 60; ++round) {
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 500; ++i) f();
    std::chrono::duration<double, std::nano> passed = std::chrono::steady_clock::now() - start;
    least = std::min(least, passed.count() / 500);
  }
  std::printf("%s|%.1f\n", name, least);
}
int main() {
  torch::set_num_threads(1);
  torch::Tensor a = torch::ones({4, 4}), b = torch::ones({4, 4}), out = torch::empty({4, 4});
  torch::Tensor w = torch::ones({4, 4}, torch::requires_grad());
  torch::nn::Linear linear(4, 4);
  torch::nn::Sequential net(torch::nn::Linear(4, 4), torch::nn::ReLU(), torch::nn::Linear(4, 1));
  torch::optim::SGD sgd(net->parameters(), torch::optim::SGDOptions(0.001));
  auto add = c10::Dispatcher::singleton().findSchemaOrThrow("aten::add", "Tensor")
      .typed<at::Tensor(const at::Tensor&, const at::Tensor&, const at::Scalar&)>();
  bench("a + b", [&] { return a + b; });
  bench("a + 1", [&] { return a + 1; });
  bench("a[0]", [&] { return a[0]; });
  bench("view", [&] { return a.view({16}); });
  bench("sum", [&] { return a.sum(); });
  bench("mm", [&] { return a.mm(b); });
  bench("relu", [&] { return torch::relu(a); });
  bench("add_out", [&] { at::add_out(out, a, b); });
  bench("add_", [&] { out.add_(b); });
  bench("index", [&] { return a.index({torch::indexing::Slice(1, 3), 0}); });
  bench("typed dispatcher call", [&] { return add.call(a, b, 1); });
  bench("a * w, recorded", [&] { return a * w; });
  bench("nn::Linear", [&] { return linear(a); });
  bench("SGD step of two layers", [&] {
    sgd.zero_grad();
    net->forward(a).sum().backward();
    sgd.step();
  });
}
"""


def compile_one(library: str, source: Path, made: Path, *more: str) -> tuple[float, float, int]:
    """Processor seconds, megabytes at most, and headers of the library's own that are read."""
    compiler, wheel = os.environ.get("CXX", "g++"), []
    if "extension" in source.read_text():
        import sysconfig

        import pybind11

        wheel = [f"-I{pybind11.get_include()}", f"-I{sysconfig.get_paths()['include']}", "-fPIC", "-shared"]
    given = [f for f in flags(library, ROOT / "build" / "dev") if f.startswith("-I")]
    command = [compiler, "-std=c++20", *more, str(source), *given, *wheel, "-c", "-o", str(made), "-MD"]
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError(f"{source.name} does not compile against {library}")
    own = re.compile(r"(include|generated)/(?:torch|ATen|c10|taeda|caffe2)/")
    headers = [h for h in made.with_suffix(".d").read_text().split() if own.search(h) and "pybind11" not in h]
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, len(headers)


def call_times(library: str, folder: Path) -> dict[str, float]:
    source, program = folder / "calls.cpp", folder / f"calls_{library}"
    source.write_text(CALLS)
    command = [os.environ.get("CXX", "g++"), "-std=c++20", "-O2", str(source),
               *flags(library, ROOT / "build" / "dev"), "-o", str(program)]  # fmt: skip
    subprocess.run(command, check=True)
    said = subprocess.run([program], check=True, capture_output=True, text=True,
                          env=dict(os.environ, OMP_NUM_THREADS="1")).stdout  # fmt: skip
    return {name: float(value) for name, value in (line.split("|") for line in said.splitlines())}


def installed_megabytes() -> float:
    folders = [ROOT / "include", ROOT / "build" / "dev" / "generated" / "include"]
    return sum(p.stat().st_size for folder in folders for p in folder.rglob("*") if p.is_file()) / 1e6


def rows(quick: bool) -> list[Row]:
    found = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for header, text in PROGRAMS.items():
            source = folder / (header.replace("/", "_") + ".cpp")
            source.write_text(text)
            ours = compile_one("taeda", source, folder / "ours.o", "-O2")
            theirs = compile_one("torch", source, folder / "theirs.o", "-O2")
            found += [
                Row("cpp compile", f"{header}, processor time", ours[0], theirs[0], "s"),
                Row("cpp compile", f"{header}, memory", ours[1], theirs[1], "MB"),
                Row("cpp", f"{header}, our headers read", ours[2], theirs[2], "", MOST_HEADERS, absolute=True),
            ]
        found.append(Row("cpp", "headers installed", installed_megabytes(), None, "MB", MOST_MEGABYTES, absolute=True))
        best: dict[str, dict[str, float]] = {}
        for _ in range(1 if quick else 3):
            for library in ("taeda", "torch"):
                for call, value in call_times(library, folder).items():
                    kept = best.setdefault(call, {})
                    kept[library] = min(value, kept.get(library, value))
                time.sleep(0.1)
        found += [Row("cpp calls", call, t["taeda"], t["torch"], "ns") for call, t in best.items()]
    return found
