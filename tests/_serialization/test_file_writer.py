"""Checkpoints written record by record, tensors without memory in files, and what Python 2 left undecoded."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

import taeda
from taeda import Tensor
from taeda.utils._pytree import tree_map


def test_records_go_into_a_checkpoint_and_come_back(tmp_path: Path) -> None:
    saved = io.BytesIO()
    taeda.save({"w": taeda.arange(3.0)}, saved)
    reader = taeda.PyTorchFileReader(saved)
    path = tmp_path / "copy.pt"
    writer = taeda._C.PyTorchFileWriter(path)
    for name in ("data.pkl", "byteorder", "data/0"):
        record = reader.get_record(name)
        writer.write_record(name, record, len(record))
    with pytest.raises(RuntimeError, match="already"):
        writer.write_record("data.pkl", b"", 0)
    writer.write_end_of_file()
    assert writer.archive_name() == "copy" and writer.get_all_written_records() == {"data.pkl", "byteorder", "data/0"}
    assert taeda.load(path)["w"].tolist() == [0, 1, 2]
    with taeda.serialization._open_zipfile_reader(path) as again:
        assert again.get_record_size("data/0") == 12
    with taeda.serialization._open_file_like(path, "rb") as file:
        assert taeda.serialization._is_zipfile(file) and file.tell() == 0
    with pytest.raises(RuntimeError):
        taeda._C.PyTorchFileWriter(tmp_path / "no" / "such.pt")


class Doubled(Tensor):
    """Wraps half of what it shows."""

    half: Tensor

    @staticmethod
    def __new__(cls, half: Tensor) -> Doubled:
        made = Tensor._make_wrapper_subclass(cls, half.size(), dtype=half.dtype)
        made.half = half
        return made

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*tree_map(lambda x: x.half * 2 if isinstance(x, cls) else x, args), **(kwargs or {}))


def test_a_tensor_without_memory_is_saved_with_what_it_wraps() -> None:
    file = io.BytesIO()
    taeda.save(Doubled(taeda.ones(2, 3)), file)
    file.seek(0)
    loaded = taeda.load(file, weights_only=False)
    assert type(loaded) is Doubled and loaded.half.equal(taeda.ones(2, 3)) and (loaded + 1).tolist()[0] == [3, 3, 3]


def test_texts_of_python_2_may_stay_bytes() -> None:
    from taeda._serialization.storages import as_text

    assert as_text((b"storage", int, b"7", b"cpu", 3, (b"0", 1, 2))) == ("storage", int, "7", "cpu", 3, ("0", 1, 2))
    assert as_text("plain") == "plain"
