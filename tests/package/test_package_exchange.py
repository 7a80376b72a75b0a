"""Packages go between PyTorch and Taeda."""

import io

import pytest

import taeda
from taeda import package as ours

torch = pytest.importorskip("torch")
theirs = pytest.importorskip("torch.package")
pytestmark = pytest.mark.torch

NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU())

    def forward(self, x):
        return self.layers(x) + 1
"""


class Two(torch.nn.Module):
    def __init__(self, weight):
        super().__init__()
        self.weight = weight

    def forward(self, x):
        return self.weight * x + 1


class OurTwo(taeda.nn.Module):
    def __init__(self, weight):
        super().__init__()
        self.weight = weight

    def forward(self, x):
        return self.weight * x + 1


WAYS = [(torch, theirs, taeda, ours), (taeda, ours, torch, theirs)]


@pytest.mark.parametrize(("here", "writer", "there", "reader"), WAYS, ids=["read", "written"])
def test_exchange(here, writer, there, reader, monkeypatch):
    monkeypatch.setattr(theirs.package_exporter, "_gate_torchscript_serialization", False)
    weight = here.arange(3.0)
    two = (Two if here is torch else OurTwo)(weight)
    program, graph = here.jit.script(two), here.fx.symbolic_trace(here.nn.Sequential(here.nn.Linear(3, 2)))
    values = [weight, here.ones(2, dtype=here.bfloat16), here.ones(2, dtype=here.uint16), here.float16,
              here.nn.Parameter(weight), here.Size([1, 2]), {"a": (1, "b")}]  # fmt: skip
    file = io.BytesIO()
    with writer.PackageExporter(file) as exporter:
        exporter.mock("json")
        exporter.save_source_string("net", NET)
        exporter.save_source_string("m", "import wave as w, xml.sax.handler")
        exporter.save_pickle("o", "values", values)
        exporter.save_pickle("o", "programs", [program, graph, program, weight])
        exporter.save_pickle("o", "four", [here.nn.Linear(2, 2), here.float64], pickle_protocol=4)
        exporter.save_text("o", "text", "é")
    file.seek(0)
    package = reader.PackageImporter(file)
    read = package.load_pickle("o", "values")
    assert [v.tolist() for v in read[:3]] == [v.tolist() for v in values[:3]]
    assert read[3] is there.float16 and isinstance(read[4], there.nn.Parameter)
    assert read[5] == (1, 2) and read[6] == values[6] and read[1].dtype is there.bfloat16
    script, traced, same, shared = package.load_pickle("o", "programs")
    assert script is same and script.weight.data_ptr() == shared.data_ptr()
    assert script(there.ones(3)).tolist() == program(here.ones(3)).tolist()
    assert traced(there.ones(3)).tolist() == pytest.approx(graph(here.ones(3)).tolist())
    linear, dtype = package.load_pickle("o", "four")
    assert type(linear) is there.nn.Linear and dtype is there.float64
    net = package.import_module("net").Net()
    assert isinstance(net, there.nn.Module) and net(there.ones(2, 3)).shape == (2, 4)
    assert package.import_module("m").w is __import__("wave") and package.load_text("o", "text") == "é"
