"""``import torch`` that gives Taeda. Each program runs in a process of its own; PyTorch may be installed beside it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(folder: Path, *arguments: str, python: tuple[str, ...] = (), env: dict[str, str] | None = None):
    """``python -m taeda run`` with the arguments, from ``folder``."""
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, *python, "-m", "taeda", "run", *arguments], cwd=folder, capture_output=True, text=True,
        timeout=300, env={**os.environ, "PYTHONPATH": path, **(env or {})},
    )  # fmt: skip


def output(folder: Path, program: str, *arguments: str) -> list[str]:
    """The lines that a program printed; it must succeed."""
    (folder / "program.py").write_text(textwrap.dedent(program))
    done = run(folder, "program.py", *arguments)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.splitlines()


def test_modules_are_taedas_own(tmp_path):
    output(tmp_path, """
        import sys
        import torch
        import torch.nn as nn
        import torch.nn.functional as F
        import torch.nn.modules.linear
        import torch.utils.data
        from torch import Tensor, optim
        from torch.nn import functional, init
        from torch.optim.lr_scheduler import StepLR
        from torch.utils.data import DataLoader
        from torch.utils.data.dataset import TensorDataset
        import torch._C, torch.version, torch.linalg, torch.autograd.function
        from torch.nn.parameter import Parameter

        import taeda
        assert torch is taeda and nn is taeda.nn and F is functional is taeda.nn.functional and optim is taeda.optim
        assert torch.nn.modules.linear.Linear is nn.Linear is taeda.nn.Linear and Tensor is taeda.Tensor
        assert DataLoader is taeda.utils.data.DataLoader and Parameter is nn.Parameter and init is taeda.nn.init
        assert StepLR is taeda.optim.lr_scheduler.StepLR and torch.autograd.function is taeda.autograd.function
        for name in [name for name in sys.modules if name.split(".")[0] in ("taeda", "torch")]:
            mine, theirs = (root + name[5:] for root in ("taeda", "torch"))
            assert sys.modules[mine] is sys.modules[theirs], name
        assert torch.__name__ == "torch" and torch.nn.__name__ == "taeda.nn" and torch.nn.__spec__.name == "taeda.nn"
        del sys.modules["torch"], sys.modules["torch.nn"]
        import torch.nn
        assert sys.modules["torch"] is taeda and torch.nn is taeda.nn
    """)  # fmt: skip


def test_classes_and_functions_go_by_torchs_names(tmp_path):
    assert output(tmp_path, """
        import pickle
        import torch
        from torch import nn
        print(torch.Tensor, nn.Parameter, nn.Linear, torch.optim.Adam, torch.Size, torch.dtype, torch.device)
        print(nn.functional.relu.__module__, nn.init.normal_.__module__, torch.finfo, type(torch.ones(1).storage()))
        import torch.utils.tensorboard
        print(torch.utils.tensorboard.SummaryWriter)
        things = torch.ones(2), nn.Linear(2, 2), torch.float32, torch.Size([2]), nn.functional.relu
        print(b"taeda" in pickle.dumps(things))
    """) == [
        "<class 'torch.Tensor'> <class 'torch.nn.parameter.Parameter'> <class 'torch.nn.modules.linear.Linear'> "
        "<class 'torch.optim.adam.Adam'> <class 'torch.Size'> <class 'torch.dtype'> <class 'torch.device'>",
        "torch.nn.functional torch.nn.init <class 'torch.finfo'> <class 'torch.storage.TypedStorage'>",
        "<class 'torch.utils.tensorboard.writer.SummaryWriter'>",
        "False",
    ]  # fmt: skip


def test_loaded_rooms_are_known_under_both_names(tmp_path):
    output(tmp_path, """
        import sys
        import torch
        torch.special, torch.fft if hasattr(torch, "fft") else None
        assert sys.modules["torch.special"] is torch.special
        import taeda.nn.utils.rnn
        assert sys.modules["torch.nn.utils.rnn"] is taeda.nn.utils.rnn
    """)  # fmt: skip


def test_versions(tmp_path):
    output(tmp_path, """
        import importlib.metadata as metadata
        import torch
        from torch.torch_version import TorchVersion
        assert metadata.version("torch") == metadata.version("Torch") == "2.13.0"
        distribution = metadata.distribution("torch")
        assert distribution.metadata["Name"] == "torch" and not distribution.requires and not distribution.files
        assert [d.metadata["Name"] for d in metadata.distributions(name="torch")][0] == "torch"
        assert any(d.metadata["Name"] == "torch" for d in metadata.distributions())
        assert "torch" in metadata.packages_distributions()
        assert torch.__version__ == torch.version.__version__ and isinstance(torch.__version__, TorchVersion)
        assert torch.__version__.startswith("2.13.0+taeda") and torch.__version__.split("+")[0] == "2.13.0"
        assert "2.9" < torch.__version__ < "2.14" and (2, 9, 1) < torch.__version__ and torch.__version__ >= "2.13"
        try:
            metadata.version("no-such-distribution")
        except metadata.PackageNotFoundError:
            pass
        else:
            raise AssertionError
    """)  # fmt: skip


def test_finding(tmp_path):
    output(tmp_path, """
        import importlib.util, pkgutil
        for name in ("torch", "torch.nn", "torch.nn.functional", "torch.optim.adam", "torch._C"):
            for _ in range(2):
                assert importlib.util.find_spec(name) is not None, name
        for name in ("torch.no_such", "torch.nn.no_such"):
            assert importlib.util.find_spec(name) is None, name
        import torch
        assert importlib.util.find_spec("torch").name == "taeda"
        assert "nn" in {found.name for found in pkgutil.iter_modules(torch.__path__)}
        assert importlib.import_module("torch.nn").Linear is torch.nn.Linear
        assert not hasattr(torch, "no_such") and getattr(torch.nn, "no_such", 3) == 3
        assert __import__("torch.nn", fromlist=["no_such"]) is torch.nn
    """)  # fmt: skip


@pytest.mark.parametrize(
    ("statement", "error", "named"),
    [
        ("import torch; torch.no_such", "AttributeError", "module 'torch' has no attribute 'no_such'"),
        ("import torch; torch.nn.NoSuch", "AttributeError", "module 'torch.nn' has no attribute 'NoSuch'"),
        ("import torch.nn.functional as F; F.no_such", "AttributeError", "'torch.nn.functional' has no attribute"),
        ("import torch.special; torch.special.no_such", "AttributeError", "'torch.special' has no attribute 'no_such'"),
        ("import torch.no_such", "ModuleNotFoundError", "No module named 'torch.no_such'"),
        ("import torch.nn.no_such.deep", "ModuleNotFoundError", "No module named 'torch.nn.no_such'"),
        ("from torch.no_such import thing", "ModuleNotFoundError", "No module named 'torch.no_such'"),
        ("from torch import no_such", "ImportError", "cannot import name 'no_such' from 'torch'"),
        ("from torch.nn import Linear, NoSuch", "ImportError", "cannot import name 'NoSuch' from 'torch.nn'"),
        ("import importlib; importlib.import_module('torch.no_such')", "ModuleNotFoundError", "'torch.no_such'"),
    ],
)
def test_what_is_not_there(tmp_path, statement, error, named):
    done = run(tmp_path, "-c", statement)
    last = done.stderr.splitlines()[-1]
    assert done.returncode == 1 and last.startswith(f"{error}: ") and named in last and "docs/coverage.md" in last


def test_pytorch_beside_it_is_not_touched(tmp_path):
    """A package named torch that says when it is imported, found on the path before anything else."""
    fake = tmp_path / "torch"
    fake.mkdir()
    (fake / "__init__.py").write_text("raise SystemExit('the other torch was imported')")
    (fake / "only_there.py").write_text("")
    (tmp_path / "torch-9.9.dist-info").mkdir()
    (tmp_path / "torch-9.9.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: torch\nVersion: 9.9\n")
    output(tmp_path, """
        import importlib.metadata, sys
        import torch.nn
        assert torch.nn.__file__.endswith("taeda/nn/__init__.py") and importlib.metadata.version("torch") == "2.13.0"
        try:
            import torch.only_there
        except ModuleNotFoundError:
            pass
        else:
            raise AssertionError
    """)  # fmt: skip


@pytest.mark.parametrize("module", ["torch", "torch.nn"])
def test_too_late(tmp_path, module):
    program = f"""
import sys, types
sys.modules["{module}"] = types.ModuleType("{module}")
import taeda
try:
    taeda.install_as_torch()
except RuntimeError as error:
    assert "imported already" in str(error) and "{module}" in str(error)
else:
    raise AssertionError
assert taeda.__version__ == taeda._version.__version__
"""
    subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT)


def test_from_within_a_program():
    program = """
import sys
import taeda
before = taeda.__version__
taeda.install_as_torch()
hooks = len(sys.meta_path)
taeda.install_as_torch()
assert len(sys.meta_path) == hooks
import torch
assert torch is taeda and taeda.__version__ != before == taeda._version.__version__
"""
    subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT)


PICKLES = """
    import copy, io, pickle, sys
    import torch
    from torch import nn
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    if __name__ == "__main__":
        net = Net()
        for again in (pickle.loads(pickle.dumps(net)), copy.deepcopy(net)):
            assert type(again) is Net and type(again.body[0]) is nn.Linear
            assert torch.equal(again.body[0].weight, net.body[0].weight)
        for thing in (torch.float32, torch.device("cpu"), torch.Size([1]), torch.nn.functional.relu, torch.add,
                      torch.strided, nn.Linear, torch.optim.SGD):
            assert pickle.loads(pickle.dumps(thing)) == thing
        buffer = io.BytesIO()
        torch.save(net.state_dict(), buffer)
        buffer.seek(0)
        assert torch.load(buffer)["body.0.bias"].shape == (2,)
        by_torchs_name = b"ctorch.nn.modules.linear\\nLinear\\n."
        assert pickle.loads(by_torchs_name) is nn.Linear
"""


def test_pickles(tmp_path):
    output(tmp_path, PICKLES)


WORKERS = """
    import importlib.metadata
    import multiprocessing
    import os
    import sys
    import torch
    from torch import nn
    from torch.utils.data import DataLoader, Dataset

    class Squares(Dataset):
        def __len__(self):
            return 6

        def __getitem__(self, index):
            import torch.nn.functional
            assert sys.modules["torch"].__spec__.name == "taeda"
            return torch.tensor(float(index)) ** 2, os.getpid()

    def work(queue, model):
        queue.put((type(model) is nn.Linear, importlib.metadata.version("torch"), sys.argv[1:], __name__))

    if __name__ == "__main__":
        os.chdir("/")
        for method in ("fork", "spawn", "forkserver"):
            context = multiprocessing.get_context(method)
            queue = context.Queue()
            process = context.Process(target=work, args=(queue, nn.Linear(1, 1)))
            process.start()
            print(method, *queue.get(timeout=120))
            process.join()
            assert process.exitcode == 0
            loader = DataLoader(Squares(), batch_size=3, num_workers=1, multiprocessing_context=method)
            batches = [(squares.tolist(), pids[0].item() != os.getpid()) for squares, pids in loader]
            assert batches == [([0, 1, 4], True), ([9, 16, 25], True)]
            with context.Pool(1) as pool:
                assert pool.map(torch.tensor, [1, 2]) == [1, 2]
"""


def test_worker_processes(tmp_path):
    lines = output(tmp_path, WORKERS, "--flag", "value")
    assert lines == [
        f"{method} True 2.13.0 ['--flag', 'value'] {'__main__' if method == 'fork' else '__mp_main__'}"
        for method in ("fork", "spawn", "forkserver")
    ]


def test_worker_processes_of_a_package(tmp_path):
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("import torch")
    (package / "__main__.py").write_text("from package.train import main\nif __name__ == '__main__':\n    main()\n")
    (package / "train.py").write_text(
        textwrap.dedent("""
        import multiprocessing
        import torch

        def double(x):
            return 2 * x, torch.__spec__.name

        def main():
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                print(pool.map(double, [torch.ones(1)]))

        if __name__ == "__main__":
            main()
    """)
    )
    for name in ("package", "package.train"):
        done = run(tmp_path, "-m", name)
        assert done.stdout == "[(tensor([2.]), 'taeda')]\n", done.stderr[-2000:]


PLACE = """
    import inspect, sys
    print(__name__, __file__, __package__, __spec__ and __spec__.name, __doc__, sys.argv, sys.path[0])
    print(type(__loader__).__name__, __builtins__.__name__, sys.modules["__main__"].__file__, inspect.getsource(inner))
    print([name for name in globals() if not name.startswith("__")])
"""


@pytest.mark.parametrize("arguments", [["script.py", "-m", "run", "--help"], ["deep/script.py"], ["-m", "deep.script"],
                                       ["-m", "deep", "x"], ["folder", "a"], ["archive.zip"], ["link.py"]])  # fmt: skip
def test_a_script_sees_what_it_sees_under_python(tmp_path, arguments):
    text = textwrap.dedent(PLACE).replace("import inspect", "def inner():\n    return 1\n\nimport inspect", 1)
    for name in ("script.py", "deep/script.py", "deep/__main__.py", "folder/__main__.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f'"""Words."""\n{text}')
    (tmp_path / "link.py").symlink_to("deep/script.py")
    with zipfile.ZipFile(tmp_path / "archive.zip", "w") as archive:
        archive.write(tmp_path / "script.py", "__main__.py")
    mine = run(tmp_path, *arguments)
    theirs = subprocess.run([sys.executable, *arguments], cwd=tmp_path, capture_output=True, text=True)
    assert (mine.stdout, mine.stderr, mine.returncode) == (theirs.stdout, theirs.stderr, 0)


@pytest.mark.parametrize(
    "text",
    [
        "import sys; sys.exit(3)", "raise SystemExit('words')", "raise SystemExit", "1 / 0", "x = (", "import no_such",
        "import sys; sys.excepthook = lambda *a: print(a[0].__name__, a[2].tb_lineno)\n[][0]",
        "import atexit; atexit.register(print, 'bye')\nraise KeyError(3)",
        "def f():\n    raise ValueError('x')\ntry:\n    f()\nexcept ValueError as e:\n    raise KeyError from e",
        "raise KeyboardInterrupt", "import warnings; warnings.warn('w')", "raise ExceptionGroup('g', [ValueError()])",
        "import threading; threading.Thread(target=lambda: print('thread')).start()", "\ufeffprint('bom')",
        "# -*- coding: latin-1 -*-\nprint(len('\u00e9'))", "class A: pass\nprint(A, A.__module__)",
        "assert not __debug__",
    ],
)  # fmt: skip
def test_a_script_ends_as_under_python(tmp_path, text):
    encoding = "latin-1" if "latin-1" in text else "utf-8"
    (tmp_path / "script.py").write_bytes(text.encode(encoding))
    mine = run(tmp_path, "script.py")
    theirs = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True)
    assert (mine.stdout, mine.stderr, mine.returncode) == (theirs.stdout, theirs.stderr, theirs.returncode)
    assert mine.returncode == -signal.SIGINT or "KeyboardInterrupt" not in text


def test_options_of_python_itself(tmp_path):
    (tmp_path / "script.py").write_text("import sys; print(__debug__, sys.path[0], sys.flags.optimize)")
    assert run(tmp_path, "script.py", python=("-O",)).stdout.split() == ["False", str(tmp_path), "1"]
    safe = run(tmp_path, "script.py", env={"PYTHONSAFEPATH": "1"})
    assert safe.stdout.split()[1] != str(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        ([], 2, "usage"), (["-h"], 0, "usage"), (["absent.py"], 2, "can't open file"), (["-m"], 2, "-m wants"),
        (["-c"], 2, "-c wants"), (["-x", "a"], 2, "-x"), (["-m", "no_such_module"], 1, "No module named"),
        (["-m", "torch.no_such"], 1, "No module named torch.no_such"), (["empty"], 1, "__main__"),
    ],
)  # fmt: skip
def test_what_cannot_run(tmp_path, arguments, status, words):
    (tmp_path / "empty").mkdir()
    done = run(tmp_path, *arguments)
    assert (done.returncode, "Traceback" in done.stderr) == (status, False)
    assert words in done.stdout + done.stderr


def test_a_text(tmp_path):
    done = run(tmp_path, "-c", "import sys, torch; print(sys.argv, torch.ones(2).tolist(), __name__)", "a", "-b")
    assert done.stdout == "['-c', 'a', '-b'] [1.0, 1.0] __main__\n"


def test_the_standard_input(tmp_path):
    command = [sys.executable, "-m", "taeda", "run", "-", "a"]
    program = "import sys, torch; print(sys.argv, torch.ones(2).tolist())"
    done = subprocess.run(command, input=program, capture_output=True, text=True, cwd=ROOT)
    assert done.stdout == "['-', 'a'] [1.0, 1.0]\n", done.stderr


def test_training(tmp_path):
    """A program as people write them, from the arguments to the saved weights."""
    lines = output(tmp_path, """
        import argparse
        import torch
        import torch.nn as nn
        import torch.nn.functional as F
        import torch.optim as optim
        from torch.optim.lr_scheduler import StepLR
        from torch.utils.data import DataLoader, TensorDataset

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc1 = nn.Linear(2, 16)
                self.fc2 = nn.Linear(16, 2)

            def forward(self, x):
                return F.log_softmax(self.fc2(F.relu(self.fc1(x))), dim=1)

        def main():
            parser = argparse.ArgumentParser()
            parser.add_argument("--epochs", type=int, default=1)
            parser.add_argument("--save")
            args = parser.parse_args()
            torch.manual_seed(0)
            device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
            x = torch.randn(256, 2)
            loader = DataLoader(TensorDataset(x, (x[:, 0] > x[:, 1]).long()), batch_size=32, shuffle=True)
            model = Net().to(device)
            optimizer = optim.Adadelta(model.parameters(), lr=1.0)
            scheduler = StepLR(optimizer, step_size=1, gamma=0.9)
            for epoch in range(args.epochs):
                model.train()
                for data, target in loader:
                    data, target = data.to(device), target.to(device)
                    optimizer.zero_grad()
                    loss = F.nll_loss(model(data), target)
                    loss.backward()
                    optimizer.step()
                scheduler.step()
            model.eval()
            with torch.no_grad():
                right = sum((model(d).argmax(1) == t).sum().item() for d, t in loader)
            torch.save(model.state_dict(), args.save)
            print(right / 256 > 0.9, scheduler.get_last_lr()[0] < 1)

        if __name__ == "__main__":
            main()
    """, "--epochs", "8", "--save", "net.pt")  # fmt: skip
    assert lines == ["True True"] and (tmp_path / "net.pt").exists()


def test_process_groups_answer(tmp_path):
    output(tmp_path, """
        import torch
        import torch.distributed as dist
        assert dist.is_available() and not dist.is_initialized()
        assert torch.distributed is dist and torch.torch is torch and torch._C._log_api_usage_once("name") is None
    """)  # fmt: skip


def test_what_pytorch_has_of_process_groups_in_its_native_module(tmp_path):
    assert output(tmp_path, """
        import torch
        from torch._C._distributed_c10d import AllreduceOptions, ProcessGroup, ReduceOp, Store, TCPStore
        import torch.distributed as dist
        print(torch._C._distributed_c10d.ReduceOp is dist.ReduceOp, issubclass(TCPStore, Store))
    """) == ["True True"]  # fmt: skip


def test_info_and_version(capsys):
    import taeda
    from taeda.__main__ import main

    assert main(["info"]) == 0
    told = dict(line.split(None, 1) for line in capsys.readouterr().out.splitlines())
    assert told["Taeda"].startswith(taeda.__version__) and {"Python", "NumPy", "Kernels", "CUDA"} <= told.keys()
    assert main([]) == 0
    assert "explain" in capsys.readouterr().out
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0 and taeda.__version__ in capsys.readouterr().out


def test_a_reader_that_has_read_enough():
    """Nothing is said when the pipe's other end is gone."""
    explain = [sys.executable, "-m", "taeda", "explain", "relu"]
    with subprocess.Popen(explain, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        child.stdout.close()
        assert child.stderr.read() == "" and child.wait() == 0


def test_the_distribution_that_children_find_is_of_the_version_that_we_tell() -> None:
    from taeda._version import TORCH_VERSION

    metadata = (ROOT / "taeda" / "_stand_in" / "children" / "torch.dist-info" / "METADATA").read_text()
    assert f"\nVersion: {TORCH_VERSION}\n" in metadata
