"""Builds the C++ examples and runs them; where torch is installed, the same sources against libtorch, too.

    python tools/cpp_examples.py [--folder build/dev] [--only regression ...] [--no-torch]

Both must print the same words, and numbers that agree to some digits. Checkpoints go from Python to C++ and back.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "examples" / "cpp"
EXAMPLES = {
    "regression": [],
    "custom_dataset": [],
    "autograd": [],
    "sparse": [],
    "dcgan": ["5"],
    "digits": ["digits", "2"],
    "data_parallel": [],
}
RANKS = {"data_parallel": 2}  # started as so many processes
ALONE = {
    "digits": "libtorch reads MNIST's own 60,000 images of 28 x 28 only",
    "data_parallel": "libtorch's wheel lacks the headers of gloo",
}
MOST_STATIC = 10e6  # bytes of a program with the ops of one network in it
_NUMBER = re.compile(r"-?\d+\.?\d*(?:e[-+]?\d+)?")
_SINGLE = dict(os.environ, OMP_NUM_THREADS="1", VIRTUAL_ENV=sys.prefix)  # where MPI is, for several processes


def flags(library: str, folder: Path) -> list[str]:
    """What the compiler is told to build against Taeda's build ``folder``, or against libtorch's wheel."""
    if library == "taeda":
        includes, libs, names = [ROOT / "include", folder / "generated" / "include"], folder, ["taeda_torch", "taeda"]
    else:
        spec = importlib.util.find_spec("torch")
        assert spec and spec.origin
        torch = Path(spec.origin).parent
        includes, libs = [torch / "include", torch / "include/torch/csrc/api/include"], torch / "lib"
        names = ["torch", "torch_cpu", "c10"]
    return [*(f"-I{p}" for p in includes), f"-L{libs}", *(f"-l{n}" for n in names), f"-Wl,-rpath,{libs}"]


def build(name: str, library: str, folder: Path, into: Path) -> Path:
    """The program made of one example."""
    made = into / f"{name}_{library}"
    source = str(SOURCES / f"{name}.cpp")
    command = [os.environ.get("CXX", "g++"), "-std=c++20", "-O1", source, *flags(library, folder), "-o", str(made)]
    subprocess.run(command, check=True)
    return made


def output(program: Path, arguments: list[str], where: Path, ranks: int = 1) -> str:
    """What it prints, as one process or as so many, which find each other by the launcher's variables."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        meeting = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(listening.getsockname()[1]), "WORLD_SIZE": str(ranks)}
    running = [
        subprocess.Popen([program, *arguments], cwd=where, env={**_SINGLE, **meeting, "RANK": str(rank)},
                         stdout=subprocess.PIPE, text=True)
        for rank in range(ranks)
    ]  # fmt: skip
    said = [process.communicate()[0] for process in running]
    if any(process.returncode for process in running):
        sys.exit(f"{program.name} failed")
    return "".join(said)


def run(example: str, library: str, folder: Path, where: Path) -> str:
    """What an example prints with that library."""
    return output(build(example, library, folder, where), EXAMPLES[example], where, RANKS.get(example, 1))


def same(a: str, b: str) -> bool:
    """The same words, and numbers that agree to 1 % or 0.001: training drifts apart by the last bits."""
    if _NUMBER.sub("#", a).split() != _NUMBER.sub("#", b).split():
        return False
    pairs = zip(map(float, _NUMBER.findall(a)), map(float, _NUMBER.findall(b)), strict=True)
    return all(abs(x - y) <= 1e-3 + 1e-2 * abs(y) for x, y in pairs)


def check_checkpoints(program: Path, where: Path) -> None:
    """Python's weights give the same results in C++, and what C++ trained is read in Python, both ways."""
    import taeda as torch

    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.ReLU(),
                              torch.nn.Linear(4, 2, bias=False))  # fmt: skip
    net(torch.randn(5, 3))
    torch.save(net.state_dict(), where / "python.pt")
    said = [float(text) for text in output(program, ["python.pt", "cpp.pt"], where).split()]
    with torch.no_grad():
        torch.testing.assert_close(torch.tensor([said]), net.eval()(torch.ones(1, 3)), atol=1e-5, rtol=1e-4)
    net.train()(torch.eye(3)).sum().backward()
    torch.optim.SGD(net.parameters(), lr=0.1).step()
    state, plain = torch.jit.load(where / "cpp.pt").state_dict(), torch.load(where / "cpp.pt.dict")
    for name, wanted in net.state_dict().items():
        torch.testing.assert_close(state[name], wanted)
        torch.testing.assert_close(plain[name], wanted)
    again = output(program, ["cpp.pt", "cpp2.pt"], where)  # what C++ wrote is read in C++
    assert again.split() != said
    print("checkpoints: Python -> C++ -> Python agree")


def check_static(program: Path, where: Path) -> None:
    """A program that holds the library runs a saved network, and is small."""
    import taeda as torch
    from taeda import nn

    net = nn.Sequential(nn.Linear(3, 64), nn.ReLU(), nn.Linear(64, 4), nn.Softmax(-1)).eval()
    torch.jit.save(torch.jit.script(net), where / "small.pt")
    said = output(program, ["small.pt", "5", "3"], where).split("result (5, 4)")[1].split()
    wanted = net(torch.arange(15.0).reshape(5, 3)).detach().flatten()
    torch.testing.assert_close(torch.tensor([float(text) for text in said]), wanted, atol=1e-5, rtol=1e-4)
    size = program.stat().st_size
    if size > MOST_STATIC:
        sys.exit(f"{program.name} has {size / 1e6:.1f} MB; it may have {MOST_STATIC / 1e6:.0f}")
    print(f"{program.name}, linked with libtaeda.a: runs, {size / 1e6:.1f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "dev")
    parser.add_argument("--only", nargs="*", default=list(EXAMPLES))
    parser.add_argument("--no-torch", action="store_true")
    parser.add_argument("--static", type=Path, help="examples/cpp_run, linked with libtaeda.a")
    options = parser.parse_args()
    with_torch = not options.no_torch and importlib.util.find_spec("torch") is not None
    with tempfile.TemporaryDirectory() as name:
        where = Path(name)
        if importlib.util.find_spec("sklearn") is None:
            options.only = [each for each in options.only if each != "digits"]
        elif "digits" in options.only:
            subprocess.run([sys.executable, SOURCES / "make_digits.py", where / "digits"], check=True)
        for example in options.only:
            ours = run(example, "taeda", options.folder, where)
            assert ours, f"{example} printed nothing"
            beside = with_torch and example not in ALONE
            if beside:
                theirs = run(example, "torch", options.folder, where)
                if not same(ours, theirs):
                    sys.exit(f"{example} differs from libtorch:\n{ours}\n--- libtorch\n{theirs}")
            note = ", as with libtorch" if beside else f" ({ALONE[example]})" if example in ALONE else ""
            print(f"{example}: runs{note}")
        if options.static:
            check_static(options.static, where)
        check_checkpoints(build("checkpoint", "taeda", options.folder, where), where)


if __name__ == "__main__":
    main()
