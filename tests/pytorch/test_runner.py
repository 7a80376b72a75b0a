"""The runner itself: what it makes of a file, whatever the file's tests do."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytorch import record, sources
from pytorch.runner import Options, run_file

FILE = """
import os, time, torch
from torch.testing._internal.common_utils import TestCase, parametrize, instantiate_parametrized_tests, skipIfNo
from torch.testing._internal.common_device_type import instantiate_device_type_tests, dtypes
from torch._private_part import absent_helper
import torch._other_part

class TestPlain(TestCase):
    def test_a_crash(self): os._exit(7)
    def test_b_hang(self): time.sleep(60)
    def test_c_pass(self): self.assertEqual(torch.ones(2), torch.ones(2))
    def test_d_fail(self): self.assertEqual(torch.ones(2), torch.zeros(2))
    def test_e_absent(self): absent_helper()
    def test_f_lacks(self): torch._no_such_name(1)
    def test_g_words(self):
        with self.assertRaisesRegex(RuntimeError, "words of another project"):
            torch.ones(2) @ torch.ones(3)
    def test_h_default(self): torch.set_default_dtype(torch.float64)
    def test_i_default_is_back(self): self.assertIs(torch.ones(1).dtype, torch.float32)
    @parametrize("n", [1, 2])
    def test_j(self, n): self.assertGreater(n, 0)

class TestDevice(TestCase):
    @dtypes(torch.float32, torch.int64)
    def test_zeros(self, device, dtype): self.assertEqual(torch.zeros(2, device=device, dtype=dtype).dtype, dtype)

instantiate_parametrized_tests(TestPlain)
instantiate_device_type_tests(TestDevice, globals())
"""
ENDS = {
    "TestDeviceCPU.test_zeros_cpu_float32": "passed", "TestDeviceCPU.test_zeros_cpu_int64": "passed",
    "TestPlain.test_a_crash": "crash", "TestPlain.test_b_hang": "timeout", "TestPlain.test_c_pass": "passed",
    "TestPlain.test_d_fail": "failed", "TestPlain.test_e_absent": "skipped", "TestPlain.test_f_lacks": "error",
    "TestPlain.test_g_words": "passed", "TestPlain.test_h_default": "passed",
    "TestPlain.test_i_default_is_back": "passed", "TestPlain.test_j_n_1": "passed", "TestPlain.test_j_n_2": "passed",
}  # fmt: skip


def test_each_test_of_a_file_ends_as_it_does(tmp_path: Path) -> None:
    (tmp_path / "test").mkdir()
    (tmp_path / "test" / "test_some.py").write_text(FILE)
    outcome = run_file("test_some.py", tmp_path, Options(timeout=2))
    assert outcome.fatal == "" and {name: test["status"] for name, test in outcome.tests.items()} == ENDS
    strict = run_file("test_some.py", tmp_path, Options(match="words", strict_messages=True))
    assert strict.tests["TestPlain.test_g_words"]["status"] == "failed"
    assert run_file("no.py", tmp_path, Options()).fatal.startswith("there is no")


def test_the_record_is_whole() -> None:
    for file, entry in record.read().items():
        names = set(entry["torch"])
        assert set(entry["taeda"]) <= names and names - set(entry["taeda"]) == set(entry["why"]), file


def test_results_are_taken_over() -> None:
    known = {"f": {"torch": ["T.a", "T.b", "T.c"]}}
    record.update("f", {"T.a": {"status": "passed", "message": ""},
                        "T.b": {"status": "error", "message": "no attribute 'to_sparse'"}}, known)  # fmt: skip
    assert known["f"]["taeda"] == ["T.a"]
    assert known["f"]["why"] == {"T.b": "sparse tensors", "T.c": record.OTHER}


def test_without_apt_it_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAEDA_PYTORCH_TESTS", str(tmp_path))
    monkeypatch.setattr(sources.shutil, "which", lambda name: None)
    with pytest.raises(sources.NotThere, match=f"{tmp_path}.*apt"):
        sources.fetch()
