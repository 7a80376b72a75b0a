"""What calls from C++ cost, beside libtorch; both built and run in turn."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from pathlib import Path

from benchmarks.timing import Budget, Row
from tools.cpp_examples import flags

GROUP = "cpp calls"
ROOT = Path(__file__).resolve().parent.parent
BUDGETS = {GROUP: Budget(mean=0.5, worst=1.0)}

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


def call_times(library: str, folder: Path) -> dict[str, float]:
    source, program = folder / "calls.cpp", folder / f"calls_{library}"
    source.write_text(CALLS)
    command = [os.environ.get("CXX", "g++"), "-std=c++20", "-O2", str(source),
               *flags(library, ROOT / "build" / "dev"), "-o", str(program)]  # fmt: skip
    subprocess.run(command, check=True)
    said = subprocess.run([program], check=True, capture_output=True, text=True,
                          env=dict(os.environ, OMP_NUM_THREADS="1")).stdout  # fmt: skip
    return {name: float(value) for name, value in (line.split("|") for line in said.splitlines())}


def rows(quick: bool) -> list[Row]:
    best: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as name:
        for _ in range(1 if quick else 3):
            for library in ("taeda", "torch"):
                for call, value in call_times(library, Path(name)).items():
                    kept = best.setdefault(call, {})
                    kept[library] = min(value, kept.get(library, value))
                time.sleep(0.1)
    return [Row(GROUP, call, t["taeda"], t["torch"], "ns") for call, t in best.items()]
