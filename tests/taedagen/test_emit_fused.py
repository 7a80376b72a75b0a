"""Which derivatives become kernels, and what nodes make of them."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from generator import generate, tree

HEAD = "from taedagen.opdef import *\n\n"
# The ops that derivatives are written in; declared, as the op form needs them.
PARTS = """
@pointwise("{name}.Tensor(Tensor self, Tensor other) -> Tensor", scalar="other", dtypes=FLOATING,
           not_differentiable=True)
def {name}(self, other):
    \"\"\"Doc.\"\"\"
    return {name}(self, other)
"""
UNARY = """
@pointwise("{name}(Tensor self) -> Tensor", dtypes=FLOATING, not_differentiable=True)
def {name}(self):
    \"\"\"Doc.\"\"\"
    return {body}
"""
ONE = """
@pointwise("one({schema}) -> Tensor", {options})
def one({names}):
    \"\"\"Doc.\"\"\"
    return self * 2

@one.backward
def _({saved}):
    return {gradients}
"""


def kernels(folder: Path, gradients: str, schema: str = "Tensor self", saved: str = "grad, self",
            options: str = "dtypes=FLOATING") -> dict[str, list[str]]:  # fmt: skip
    """The kernels that come of a declaration, each with the operands and numbers of its formula."""
    parts = [PARTS.format(name=name) for name in ("mul", "div", "pow", "atan2", "lt")]
    parts += [UNARY.format(name="exp", body="exp(self)"), UNARY.format(name="logistic", body="1 / (1 + exp(-self))")]
    parts += [UNARY.format(name="neg", body="-self"), UNARY.format(name="conj", body="self")]
    names = ", ".join(re.findall(r"(\w+)(?:=[^,]*)?(?:,|$)", schema))
    (folder / "ops").mkdir()
    text = ONE.format(schema=schema, names=names, saved=saved, gradients=gradients, options=options)
    (folder / "ops" / "few.py").write_text(HEAD + "\n".join([*parts, text]))
    run = generate(folder / "out", ops=folder / "ops")
    assert run.returncode == 0, run.stderr
    files = tree(folder / "out")
    node = files["csrc/autograd/ops/few.cpp"]
    calls = re.findall(r"fused::run\(fused::one_(\w+), \{(.*?)\}, \{.*?\}(?:, \{(.*?)\})?\)", node)
    loops = files.get("csrc/backend/cpu/ops/few_gradients_loops.h", "")
    assert {name for name, *_ in calls} == set(re.findall(r"\bk_one_(\w+)_loops\[\] = ", loops))
    return {name: [*operands.split(", "), *filter(None, numbers.split(", "))] for name, operands, numbers in calls}


TWO = "Tensor self, Tensor other"


@pytest.mark.parametrize("gradients, wanted", [
    ("{'self': grad}", {}),
    ("{'self': grad * self}", {}),
    ("{'self': logistic(self)}", {}),
    ("{'self': grad * conj(self)}", {}),  # which is nothing for real tensors
    ("{'self': grad * 2 * self}", {"gradient_self": ["grad", "self_v"]}),
    ("{'self': grad * logistic(self)}", {"gradient_self": ["grad", "self_v"]}),
    ("{'self': grad * atan2(self < 0, exp(self))}", {"gradient_self": ["grad", "self_v"]}),
])  # fmt: skip
def test_what_one_op_does_is_no_kernel(tmp_path: Path, gradients: str, wanted: dict[str, list[str]]) -> None:
    assert kernels(tmp_path, gradients) == wanted


@pytest.mark.parametrize("gradients, wanted", [
    ("{'self': grad, 'other': grad * self}", {}),
    ("{'self': grad * 0, 'other': grad * 0}", {}),  # one op for both
    ("{'self': grad * other, 'other': grad * self}", {"gradients": ["grad", "self_v", "other_v"]}),
    ("{'self': grad * other, 'other': grad * self * other}",
     {"gradients": ["grad", "self_v", "other_v"], "gradient_other": ["grad", "self_v", "other_v"]}),
    ("{'self': grad * other * 2, 'other': grad * exp(self)}",
     {"gradients": ["grad", "self_v", "other_v"], "gradient_self": ["grad", "other_v"],
      "gradient_other": ["grad", "self_v"]}),
])  # fmt: skip
def test_all_at_once_and_each(tmp_path: Path, gradients: str, wanted: dict[str, list[str]]) -> None:
    assert kernels(tmp_path, gradients, TWO, "grad, self, other") == wanted


@pytest.mark.parametrize("schema, saved, gradient, wanted", [
    ("Tensor self", "grad, result", "grad * result * result", ["grad", "result_v"]),
    ("Tensor self, Scalar by", "grad, self, by", "grad * exp(self) * by", ["grad", "self_v", "by_"]),
    ("Tensor self, float by=1.0", "grad, self, by", "grad * (self * by) * self", ["grad", "self_v", "by_"]),
    ("Tensor self, Scalar by", "grad, self, by", "grad * self * by", None),  # mostly 1, which is no op
    ("Tensor self, float? by=None", "grad, self", "grad * exp(self)", ["grad", "self_v"]),
    ("Tensor self, Tensor? other=None", "grad, self, other", "grad * self * other", None),
    ("Tensor self, bool flip", "grad, self, flip", "grad * exp(self) * op.where(flip, 1, 2)", None),
    ("Tensor self", "grad, self", "grad * exp(self) * self.numel()", None),
])  # fmt: skip
def test_what_a_formula_can_say(tmp_path: Path, schema: str, saved: str, gradient: str, wanted: object) -> None:
    made = kernels(tmp_path, f"{{'self': {gradient}}}", schema, saved)
    assert made == ({} if wanted is None else {"gradient_self": wanted})


def test_more_than_a_loop_has_room_for_is_left_to_ops(tmp_path: Path) -> None:
    names = [*"abcde"]
    schema, gradients = ", ".join(f"Tensor {n}" for n in names), ", ".join(f"'{n}': grad * {n}" for n in names)
    text = f"{{{gradients}}}".replace("'a'", "'self'").replace("* a", "* self * self")
    made = kernels(tmp_path, text, schema.replace("Tensor a", "Tensor self"), "grad, self, b, c, d, e")
    assert made == {"gradient_self": ["grad", "self_v"]}


@pytest.mark.parametrize("dtypes, bits", [
    ("FLOATING", 0x8E0), ("('float32', 'float64')", 0xC0), ("(*FLOATING, *COMPLEX)", 0x8E0),
    ("('float64', 'int64')", 0x80), ("INTEGRAL", None),
])  # fmt: skip
def test_kernels_are_for_real_dtypes_of_the_declaration(tmp_path: Path, dtypes: str, bits: int | None) -> None:
    made = kernels(tmp_path, "{'self': grad * self * 2}", options=f"dtypes={dtypes}")
    assert bool(made) == (bits is not None)
    if made:
        rules = (tmp_path / "out/csrc/shape/ops/few.h").read_text()
        assert f".dtypes = {bits:#x}" in rules.partition(" one_gradient_self =")[2].partition(";")[0]


def test_without_autograd_there_are_none(tmp_path: Path) -> None:
    generate(tmp_path, "--no-autograd").check_returncode()
    assert not [name for name in tree(tmp_path) if "gradients" in name]
