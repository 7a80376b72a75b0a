"""Archives both ways: what PyTorch saved runs here with the same results, and what is saved here runs there."""

import io
import pathlib

import pytest
from archive_programs import MAKERS

import taeda
from taeda import jit, nn

try:
    import torch
except ImportError:
    torch = None


def plain(value, library):
    """Tensors as nested lists, so that results of two libraries compare."""
    if isinstance(value, library.Tensor):
        return [str(value.dtype), list(value.shape), value.detach().to(library.float64).flatten().tolist()]
    if isinstance(value, (list, tuple)):
        return [plain(item, library) for item in value]
    if isinstance(value, dict):
        return {key: plain(item, library) for key, item in value.items()}
    return value


def same(a, b):
    if isinstance(a, float) and isinstance(b, float):
        return a == pytest.approx(b, abs=1e-6, rel=1e-5, nan_ok=True)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    return a == b


def converted(args, library):
    return [library.tensor(a.tolist()) if hasattr(a, "tolist") else a for a in args]


def results(program, calls, library):
    return [plain(program(*converted(args, library)), library) for args in calls]


def archive(library, program) -> io.BytesIO:
    buffer = io.BytesIO()
    library.jit.save(program, buffer)
    buffer.seek(0)
    return buffer


@pytest.mark.parametrize("kind", MAKERS)
def test_our_archives_run_here(kind):
    program, calls = MAKERS[kind](taeda)
    saved = archive(taeda, program)
    again = archive(taeda, jit.load(saved))
    expected = results(program, calls, taeda)
    for buffer in (saved, again):
        buffer.seek(0)
        assert same(results(jit.load(buffer), calls, taeda), expected)


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.torch
@pytest.mark.skipif(torch is None, reason="needs torch==2.13")
def test_archives_of_pytorch_run_here(kind):
    program, calls = MAKERS[kind](torch)
    saved = archive(torch, program)
    expected = results(program, calls, torch)
    loaded = jit.load(saved)
    assert same(results(loaded, calls, taeda), expected)
    again = archive(taeda, jit.load(io.BytesIO(saved.getvalue())))
    assert same(results(jit.load(again), calls, taeda), expected)
    again.seek(0)
    assert same(results(torch.jit.load(again), calls, torch), expected)


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.torch
@pytest.mark.skipif(torch is None, reason="needs torch==2.13")
def test_our_archives_run_in_pytorch(kind):
    program, calls = MAKERS[kind](taeda)
    saved = archive(taeda, program)
    assert same(results(torch.jit.load(saved), calls, torch), results(program, calls, taeda))


@pytest.mark.torch
@pytest.mark.skipif(torch is None, reason="needs torch==2.13")
def test_traced_and_frozen_archives_of_pytorch():
    model = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.BatchNorm2d(2), torch.nn.ReLU()).eval()
    x = torch.linspace(-1, 1, 25).reshape(1, 1, 5, 5)
    traced = torch.jit.trace(model, x)
    for program in (traced, torch.jit.freeze(torch.jit.script(model)), torch.jit.freeze(traced)):
        loaded = jit.load(archive(torch, program))
        assert same(results(loaded, [(x,)], taeda), results(program, [(x,)], torch))


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.tied = nn.Linear(3, 3)
        self.tied.weight = self.layer.weight

    def forward(self, x: taeda.Tensor) -> taeda.Tensor:
        return self.tied(self.layer(x))


def test_tensors_without_elements_stay_so_wherever_others_go():
    module = nn.Sequential(nn.Linear(2, 3, device="meta"), nn.Linear(3, 4))
    file = io.BytesIO()
    jit.save(jit.script(module), file)
    for place in (None, "cpu"):
        file.seek(0)
        assert [p.is_meta for p in jit.load(file, map_location=place).parameters()] == [True, True, False, False]


def test_paths_extra_files_and_map_location(tmp_path):
    path = pathlib.Path(tmp_path) / "net.pt"
    net = jit.script(Net())
    jit.save(net, path, _extra_files={"note.txt": "hello", "data.bin": b"\x00\x01"})
    extra = {"note.txt": "", "absent": "as it was"}
    loaded = jit.load(str(path), map_location="cpu", _extra_files=extra)
    assert extra == {"note.txt": b"hello", "absent": "as it was"}
    assert loaded.layer.weight.data_ptr() == loaded.tied.weight.data_ptr()  # a shared storage stays one
    assert [n for n, _ in loaded.named_parameters()] == [n for n, _ in net.named_parameters()]
    assert all(p.requires_grad for p in loaded.parameters()) and loaded.training
    x = taeda.ones(2, 3)
    loaded(x).sum().backward()
    net(x).sum().backward()
    assert taeda.equal(loaded.layer.bias.grad, net.layer.bias.grad)
    assert jit.load(path, map_location="meta").layer.weight.is_meta
    assert not jit.load(path).eval().training


def test_what_is_no_program():
    with pytest.raises(RuntimeError, match="mobile"):
        jit.script(Net())._save_for_lite_interpreter("net.ptl")
    with pytest.raises(TypeError, match=r"taeda\.jit\.save: wants what"):
        jit.save(Net(), io.BytesIO())
    with pytest.raises(ValueError, match="there is no file"):
        jit.load("/nowhere/at/all.pt")
    buffer = io.BytesIO()
    taeda.save({"a": 1}, buffer)
    buffer.seek(0)
    with pytest.raises(RuntimeError, match=r"open it with taeda\.load"):
        jit.load(buffer)


class Steps(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(taeda.ones(2))

    def forward(self, x: taeda.Tensor):
        return x * self.weight + 1


def test_another_save_sees_what_has_changed():
    module, x = jit.script(Steps()), taeda.ones(2)
    result = lambda: jit.load(archive(taeda, module))(x).tolist()
    assert result() == result() == [2.0, 2.0]
    with taeda.no_grad():
        module.weight.fill_(3.0)
    assert result() == [4.0, 4.0]
    graph = module.graph
    product = graph.findNode("aten::mul")
    with graph.insert_point_guard(product):
        twice = graph.insert("aten::mul", [product.inputsAt(0), 2])
    product.replaceInput(0, twice)
    assert result() == [7.0, 7.0]
    graph.findAllNodes("aten::add")[-1].replaceInput(0, twice)
    assert result() == [3.0, 3.0]


class OtherSteps(Steps):
    pass


def test_programs_of_one_class_are_saved_apart():
    first, second = jit.script(OtherSteps()), jit.script(OtherSteps())
    with taeda.no_grad():
        second.weight.fill_(5.0)
    for module, wanted in ((first, 2.0), (second, 6.0), (first, 2.0)):
        assert jit.load(archive(taeda, module))(taeda.ones(2)).tolist() == [wanted, wanted]


def scaled(x: taeda.Tensor, times: int = 3, *, more: int, most: int = 2) -> taeda.Tensor:
    return x * times + more + most


def test_parameters_by_keyword_alone_are_plain_ones_in_archives():
    def twice(x: taeda.Tensor, more: int) -> taeda.Tensor:
        return scaled(x, more=more) + scaled(x, 1, more=more, most=4)

    program, x = jit.script(twice), taeda.ones(2)
    file = io.BytesIO()
    jit.save(program, file)
    file.seek(0)
    assert taeda.equal(jit.load(file)(x, 5), twice(x, 5))
    assert "times: int,\n" in jit.script(scaled).code
