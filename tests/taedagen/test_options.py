"""The generator's options, its determinism, and how it tells mistakes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from taedagen.emit.table import read_table

sys.path.insert(0, str(Path(__file__).parent))
from generator import ROOT, TINY, generate, tree


def make(out: Path, *options: str, **settings: str) -> dict[str, str]:
    run = generate(out, *options, **settings)  # type: ignore[arg-type]
    assert run.returncode == 0, run.stderr
    return tree(out)


CORE = {"mul.Tensor", "mul.Scalar"}  # of the ops in ``tiny`` those that the core itself calls


def select(folder: Path, *lines: str) -> str:
    path = folder / "select.txt"
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def test_same_bytes_whatever_the_hash_seed(tmp_path: Path) -> None:
    assert make(tmp_path / "a", hash_seed="1") == make(tmp_path / "b", hash_seed="2")


def test_unchanged_files_are_not_touched(tmp_path: Path) -> None:
    make(tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    assert "0 changed" in generate(tmp_path).stdout
    assert before == {path: path.stat().st_mtime_ns for path in before}


def test_what_is_no_longer_made_is_deleted(tmp_path: Path) -> None:
    own = tmp_path / "csrc" / "notes.txt"
    everything = set(make(tmp_path))
    own.write_text("not the generator's")
    make(tmp_path, "--subset", "python")
    assert set(tree(tmp_path)) == everything | {"csrc/notes.txt"}
    fewer = make(tmp_path, "--no-autograd")
    assert "csrc/backend/cpu/ops/second_gradients.cpp" in everything - set(fewer) and own.exists()


@pytest.mark.parametrize("lines, kept", [
    (["twice"], {"twice", "twice.out", "twice_"}),
    (["twice.out  # one schema"], {"twice.out"}),
    (["aten::turned", "", "# nothing else"], {"turned"}),
    (["four_times"], {"four_times", "twice"}),  # what its body calls
])  # fmt: skip
def test_select_ops(tmp_path: Path, lines: list[str], kept: set[str]) -> None:
    files = make(tmp_path / "out", "--select-ops", select(tmp_path, *lines))
    assert set(json.loads(files["taeda/generated/ops.json"])) == kept | CORE


def test_what_is_left_out_links_and_says_so(tmp_path: Path) -> None:
    run = generate(tmp_path / "out", "--select-ops", select(tmp_path, "twice"))
    files = tree(tmp_path / "out")
    assert "skipped turned: not among the selected ops" in run.stdout
    assert (
        'Tensor turned(const Tensor&, int64_t, int64_t) { left_out("turned"); }' in files["csrc/dispatch/left_out.cpp"]
    )
    assert "csrc/dispatch/left_out.cpp" in files["library.txt"]
    assert "Tensor turned(" in files["include/taeda/ops/first.h"], "hand-written C++ may call it"
    assert "void stretch(" in files["csrc/backend/cpu/ops/first.h"], "hand-written C++ defines it"
    assert "turned" not in files["csrc/dispatch/ops/first.inc"] + files["csrc/python/ops/first.cpp"]
    assert files["taeda/generated/left_out.txt"].split() == [
        "counted", "cubed", "cubed_", "four_times", "smooth", "stretch", "turned", "weighed", "widen",
    ]  # fmt: skip


def test_nothing_left_out_needs_no_file(tmp_path: Path) -> None:
    files = make(tmp_path)
    assert "csrc/dispatch/left_out.cpp" not in files and files["taeda/generated/left_out.txt"] == ""


def test_force_schemas(tmp_path: Path) -> None:
    files = make(tmp_path / "out", "--select-ops", select(tmp_path, "twice"), "--force-schemas")
    table = read_table(files["taeda/generated/ops.json"])
    assert table["turned"]["kernels"] == {} and table["twice"]["kernels"]["CPU"] == "cpu::twice"
    assert '"aten::turned(Tensor(a) self, int dim0, int dim1) -> Tensor(a)"' in files["csrc/dispatch/ops/first.inc"]
    assert 'left_out("turned")' in files["csrc/dispatch/left_out.cpp"]
    assert '"turned"' not in files["csrc/python/ops/first.cpp"]


def test_no_autograd(tmp_path: Path) -> None:
    files = make(tmp_path, "--no-autograd")
    assert "Backward0" not in "".join(files.values())
    assert all("Autograd" not in entry["kernels"] for entry in read_table(files["taeda/generated/ops.json"]).values())


@pytest.mark.parametrize("subset, has, lacks", [
    ("library", "csrc/dispatch/families.cpp", "csrc/python/bound.cpp"),
    ("bindings", "csrc/python/bound.cpp", "include/taeda/ops.h"),
    ("python", "taeda/generated/ops.json", "include/taeda/ops.h"),
])  # fmt: skip
def test_subset(tmp_path: Path, subset: str, has: str, lacks: str) -> None:
    files = make(tmp_path, "--subset", subset)
    assert has in files and lacks not in files


GOOD = """@pointwise("{schema}"{options})
def {name}({parameters}):
    {body}
"""


def declare(schema: str = "one(Tensor self) -> Tensor", options: str = "", name: str = "one", parameters: str = "self",
            body: str = '"""Doc."""\n    return self') -> str:  # fmt: skip
    return "from taedagen.opdef import *\n\n" + GOOD.format(
        schema=schema, options=options, name=name, parameters=parameters, body=body
    )


@pytest.mark.parametrize("text, line, words", [
    (declare(schema="one(Tenser self) -> Tensor"), 3, "'Tenser' is no type"),
    (declare(options=', variants="sideways"'), 3, "variant ['sideways'] is unknown"),
    (declare(options=', promote="upwards"'), 3, "promotion rule 'upwards' is unknown"),
    (declare(parameters="other"), 3, "the function takes ['other'] but the schema says ['self']"),
    (declare(parameters="*_"), 3, "the function takes ['_'] but the schema says ['self']"),
    (declare(body="return self"), 3, "no docstring"),
    (declare(options=", dtype=REAL"), 3, "the option 'dtype' is unknown; did you mean 'dtypes'?; a pointwise takes "),
    (declare(options=", shape='same'"), 3, "the option 'shape' is for view and kernel, not for a pointwise"),
    (declare().replace("pointwise", "view"), 3, "a view names its shape rule"),
    (declare(options=", shape='matmol'").replace("pointwise", "kernel"), 3, "the shape rule 'matmol' is no function"),
    (declare(body='"""Doc."""\n    return self if self > 0 else 0'), 6, "where(cond, a, b)"),
    (declare() + "\n\n" + declare().partition("\n\n")[2], 9, "declared already at"),
    (declare() + "\n\n@one.backward\ndef _(grad):\n    return {'other': grad}\n", 9, "other"),
    (declare() + "\n\n@one.backward\ndef _(grad):\n    return {'self': op.nothing(grad)}\n", 9, "nothing"),
    (declare(options=", dtypes=FLOATNG"), 3, "name 'FLOATNG' is not defined; did you mean 'FLOATING'?"),
    (declare(body='"""Doc."""\n    return sqroot(self)'), 6, "name 'sqroot' is not defined; did you mean 'sqrt'?"),
    ("import math\n" + declare(body='"""Doc."""\n    return math.sqrt(self)'), 7, "formulas use the functions of"),
    (declare().replace("(self):", "(self)"), 4, "expected ':'"),
    (declare(body='"""Doc."""\n    self + 1'), 3, "the formula returns None; is a 'return' missing?"),
    (declare() + "\n\n@one.backward\ndef _(grad):\n    return {}\n", 9, "gives no gradient"),
    (declare(options=", shape='zzzz'").replace("pointwise", "kernel"), 3, "it is written in csrc/shape/*_rules.cpp"),
])  # fmt: skip
def test_mistakes_tell_file_and_line(tmp_path: Path, text: str, line: int, words: str) -> None:
    (tmp_path / "ops").mkdir()
    (tmp_path / "ops" / "bad.py").write_text(text)
    run = generate(tmp_path / "out", ops=tmp_path / "ops")
    assert run.returncode == 1
    assert f"{tmp_path}/ops/bad.py:{line}: error: " in run.stderr and words in run.stderr
    assert "Traceback" not in run.stderr


def test_list_needs_no_folder(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "taedagen", "--ops", str(TINY)]
    run = subprocess.run([*command, "--list"], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0 and "csrc/dispatch/families.cpp" in run.stdout.split()
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 2 and "--out names the folder" in run.stderr


def test_unknown_op_in_the_selection(tmp_path: Path) -> None:
    run = generate(tmp_path / "out", "--select-ops", select(tmp_path, "thrice"))
    assert run.returncode == 1 and "there is no op 'thrice'" in run.stderr


def test_selected_ops_bring_the_loops_they_name(tmp_path: Path) -> None:
    chosen = ROOT / "examples" / "select_ops.txt"
    generate(tmp_path, "--subset", "library", "--select-ops", str(chosen), ops=ROOT / "taedagen" / "ops")
    text = "\n".join(tree(tmp_path).values())
    named = set(re.findall(r"TAEDA_ISA_TABLES\((\w+)\)", text))
    assert named and named <= set(re.findall(r"\b(k_\w+_loops)\[\] = ", text))
