"""Event files, read back by a reader of their own: records, checksums, protocol buffers, pictures."""

from __future__ import annotations

import gc
import io
import os
import struct
import subprocess
import sys
import wave
import zlib
from pathlib import Path

import numpy as np
import pytest

import taeda
from taeda.utils.tensorboard import FileWriter, SummaryWriter, summary
from taeda.utils.tensorboard._wire import crc32c


def crc_bit_by_bit(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for bit in (byte >> k & 1 for byte in data for k in range(8)):
        crc = crc >> 1 ^ (0x82F63B78 if (crc ^ bit) & 1 else 0)
    return crc ^ 0xFFFFFFFF


def records(path: Path):
    data = path.read_bytes()
    while data:
        (length,) = struct.unpack("<Q", data[:8])
        body, rest = data[12 : 12 + length], data[12 + length :]
        for part, stored in ((data[:8], data[8:12]), (body, rest[:4])):
            crc = crc_bit_by_bit(part)
            assert struct.unpack("<I", stored)[0] == ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
        assert len(body) == length
        yield body
        data = rest[4:]


def fields(data: bytes) -> dict[int, list]:
    """The fields of a message: varints as int, fixed ones as bytes of 4 or 8, the others as bytes."""
    found: dict[int, list] = {}
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        key = varint()
        kind = key & 7
        if kind == 0:
            value = varint()
        else:
            length = {1: 8, 5: 4}[kind] if kind != 2 else varint()
            value, at = data[at : at + length], at + length
        found.setdefault(key >> 3, []).append(value)
    assert at == len(data)
    return found


def double(data: bytes) -> float:
    return struct.unpack("<d", data)[0]


def doubles(data: bytes) -> list[float]:
    return list(struct.unpack(f"<{len(data) // 8}d", data))


def events(folder: Path) -> list[dict[int, list]]:
    return [fields(body) for path in sorted(folder.glob("events.out.tfevents.*")) for body in records(path)]


def values(folder: Path) -> list[tuple[str, int, dict[int, list]]]:
    """Tag, step and fields of each summary."""
    found = []
    for event in events(folder):
        for body in event.get(5, []):
            value = fields(fields(body)[1][0])
            found.append((value[1][0].decode(), event.get(2, [0])[0], value))
    return found


def only(folder: Path) -> dict[int, list]:
    ((_, _, value),) = values(folder)
    return value


def pixels(png: bytes) -> np.ndarray:
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    at, parts = 8, {}
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        kind, body = png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        assert struct.unpack(">I", png[at + 8 + length : at + 12 + length])[0] == zlib.crc32(kind + body)
        parts[kind] = body
        at += 12 + length
    width, height, depth, color = struct.unpack(">IIBB", parts[b"IHDR"][:10])
    channels = {0: 1, 2: 3, 6: 4}[color]
    rows = np.frombuffer(zlib.decompress(parts[b"IDAT"]), np.uint8).reshape(height, 1 + width * channels)
    assert depth == 8 and not rows[:, 0].any()
    return rows[:, 1:].reshape(height, width, channels)


@pytest.mark.parametrize("data", [b"", b"a", b"123456789", bytes(range(256)) * 3])
def test_crc(data):
    assert crc32c(data) == crc_bit_by_bit(data)
    assert crc32c(b"123456789") == 0xE3069283  # the check value that the polynomial's catalogue gives


def test_the_first_event_names_the_format_and_files_differ(tmp_path):
    with SummaryWriter(tmp_path, filename_suffix=".x") as one, SummaryWriter(tmp_path) as two:
        assert one.get_logdir() == two.get_logdir() == str(tmp_path)
    (first, second) = events(tmp_path)
    assert first[3] == second[3] == [b"brain.Event:2"] and double(first[1][0]) > 1e9
    assert sum(path.name.endswith(".x") for path in tmp_path.iterdir()) == 1


@pytest.mark.parametrize(
    "value",
    [
        2, 2.5, True, taeda.tensor(2.5), taeda.tensor([[3]]), np.float64(0.1), taeda.ones(1, requires_grad=True),
        taeda.tensor(1.5, dtype=taeda.bfloat16),
    ],
)  # fmt: skip
def test_scalar(tmp_path, value):
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalar("loss/train", value, 7, walltime=12.5)
    event = events(tmp_path)[1]
    assert double(event[1][0]) == 12.5 and event[2] == [7]
    stored = fields(fields(event[5][0])[1][0])
    assert stored[1] == [b"loss/train"] and stored[2] == [struct.pack("<f", float(value))]


@pytest.mark.parametrize(("options", "number", "code"), [({}, 5, "<f"), ({"double_precision": True}, 6, "<d")])
def test_scalar_in_the_new_style(tmp_path, options, number, code):
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalar("a", 0.1, new_style=True, **options)
    value = only(tmp_path)
    assert fields(value[8][0])[number] == [struct.pack(code, 0.1)]
    assert fields(fields(value[9][0])[1][0])[1] == [b"scalars"]


def test_steps_need_not_be(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        for step in (None, -1, 2**40, taeda.tensor(3)):
            writer.add_scalar("a", 1, step)
    assert [step for _, step, _ in values(tmp_path)] == [0, 2**64 - 1, 2**40, 3]


def test_scalars_lie_in_folders_of_their_own(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        for step in range(3):
            writer.add_scalars("loss/all", {"train": step, "test": 2 * step}, step)
    for name, factor in (("train", 1), ("test", 2)):
        found = values(tmp_path / f"loss_all_{name}")
        assert [(tag, step, value[2][0]) for tag, step, value in found] == [
            ("loss/all", step, struct.pack("<f", factor * step)) for step in range(3)
        ]


@pytest.mark.parametrize("bins", ["tensorflow", "auto", 10, [-10.0, -1.0, 0.0, 0.5, 1.0, 10.0]])
def test_histogram(tmp_path, bins):
    data = np.random.default_rng(0).normal(size=500)
    with SummaryWriter(tmp_path) as writer:
        writer.add_histogram("h", taeda.from_numpy(data), 1, bins=bins)
    stored = fields(only(tmp_path)[5][0])
    low, high, count, total, squares = (double(stored[k][0]) for k in range(1, 6))
    assert (low, high, count) == (data.min(), data.max(), 500)
    np.testing.assert_allclose([total, squares], [data.sum(), (data**2).sum()])
    limits, counts = doubles(stored[6][0]), doubles(stored[7][0])
    assert len(limits) == len(counts) and sum(counts) == 500 and counts[0] == 0 and counts[1] and counts[-1]
    inside = [np.sum((data > a) & (data <= b)) for a, b in zip(limits[:-1], limits[1:])]
    assert bins != "tensorflow" or np.array_equal(inside, counts[1:])


def test_histogram_of_few_values(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_histogram("zeros", taeda.zeros(4))
        writer.add_histogram("few", np.arange(100), bins=50, max_bins=5)
        writer.add_histogram_raw("raw", 0, 3, 2, 3, 9, [1, 4], [1, 1])
        with pytest.raises(ValueError, match="no values"):
            writer.add_histogram("none", [])
        with pytest.raises(ValueError, match="limits"):
            writer.add_histogram_raw("raw", 0, 3, 2, 3, 9, [1, 4], [1])
    zeros, few, raw = (fields(value[5][0]) for _, _, value in values(tmp_path))
    assert doubles(zeros[7][0]) == [0, 4] and doubles(zeros[6][0]) == [0.0, pytest.approx(1e-12)]
    assert doubles(few[7][0]) == [0, 20, 20, 20, 20, 20]
    assert [double(raw[k][0]) for k in range(1, 6)] == [0, 3, 2, 3, 9] and doubles(raw[6][0]) == [1, 4]


PICTURE = np.random.default_rng(1).random((3, 4, 5), np.float32)  # channels, height, width
BYTES = (PICTURE * 255).astype(np.uint8)
RGB = BYTES.transpose(1, 2, 0)


@pytest.mark.parametrize(
    ("picture", "dataformats", "wanted"),
    [
        (PICTURE, "CHW", RGB), (BYTES, "CHW", RGB), (PICTURE.transpose(1, 2, 0), "HWC", RGB),
        (PICTURE * 3 - 1, "CHW", None),
        (PICTURE[0], "HW", RGB[:, :, :1].repeat(3, 2)), (PICTURE[:1], "CHW", RGB[:, :, :1].repeat(3, 2)),
        (np.concatenate([BYTES, BYTES[:1]]), "CHW", np.concatenate([RGB, RGB[:, :, :1]], 2)),
    ],
)  # fmt: skip
def test_image(tmp_path, picture, dataformats, wanted):
    with SummaryWriter(tmp_path) as writer:
        writer.add_image("i", taeda.from_numpy(np.ascontiguousarray(picture)), 1, dataformats=dataformats)
    stored = fields(only(tmp_path)[4][0])
    found = pixels(stored[4][0])
    assert (stored[1][0], stored[2][0], stored[3][0]) == found.shape
    if wanted is None:
        wanted = (np.clip(picture * np.float32(255), 0, 255)).astype(np.uint8).transpose(1, 2, 0)
    assert np.array_equal(found, wanted)


def test_images_make_a_grid(tmp_path):
    pictures = np.arange(11, dtype=np.uint8)[:, None, None, None] * np.ones((1, 3, 2, 5), np.uint8)
    with SummaryWriter(tmp_path) as writer:
        writer.add_images("i", pictures)
        writer.add_images("i", [taeda.from_numpy(picture) for picture in pictures])
        for mistake in ("CHW", "NNHW", "NCHX"):
            with pytest.raises(AssertionError, match="dataformats"):
                writer.add_images("i", pictures, dataformats=mistake)
        with pytest.raises(ValueError, match="channels"):
            writer.add_image("i", np.ones((5, 2, 2)))
    one, two = (pixels(fields(value[4][0])[4][0]) for _, _, value in values(tmp_path))
    assert one.shape == (4, 40, 3) and np.array_equal(one, two)
    assert one[::2, ::5, 0].tolist() == [[0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 0, 0, 0, 0, 0]]


def test_figure(tmp_path):
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot

    figures = [pyplot.figure(figsize=(2, 1), dpi=50) for _ in range(2)]
    with SummaryWriter(tmp_path) as writer:
        writer.add_figure("f", figures[0], close=False)
        assert pyplot.fignum_exists(figures[0].number)
        writer.add_figure("f", figures)
    assert not pyplot.fignum_exists(figures[0].number)
    shapes = [pixels(fields(value[4][0])[4][0]).shape for _, _, value in values(tmp_path)]
    assert shapes == [(50, 100, 3), (50, 200, 3)]


def test_text_audio_tensor(tmp_path):
    sound = taeda.linspace(-1, 1, 50)
    with SummaryWriter(tmp_path) as writer:
        writer.add_text("t", "**é**\n", 2)
        writer.add_audio("s", sound, sample_rate=8000)
        writer.add_tensor("x", taeda.arange(6.0).reshape(2, 3))
    text, audio, tensor = values(tmp_path)
    assert text[0] == "t/text_summary" and fields(text[2][8][0])[8] == ["**é**\n".encode()]
    assert fields(fields(text[2][9][0])[1][0])[1] == [b"text"]
    stored = fields(audio[2][6][0])
    with wave.open(io.BytesIO(stored[4][0])) as file:
        frames = np.frombuffer(file.readframes(100), "<i2")
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth(), len(frames)) == (8000, 1, 2, 50)
    assert np.array_equal(frames, (sound.numpy() * 32767).astype(np.int16)) and stored[3] == [50]
    stored = fields(tensor[2][8][0])
    assert stored[5] == [struct.pack("<6f", *range(6))]
    assert [fields(size)[1][0] for size in fields(stored[2][0])[2]] == [2, 3]


def test_precision_and_recall(tmp_path):
    labels, scores = np.array([0, 1, 1, 0, 1]), np.array([0.1, 0.4, 0.6, 0.7, 1.0])
    with SummaryWriter(tmp_path) as writer:
        writer.add_pr_curve("pr", taeda.from_numpy(labels), taeda.from_numpy(scores), num_thresholds=5)
    tensor = fields(only(tmp_path)[8][0])
    tp, fp, tn, fn, precision, recall = np.frombuffer(tensor[5][0], "<f4").reshape(6, 5)
    for k, threshold in enumerate((0, 0.25, 0.5, 0.75, 1)):
        said = scores >= threshold
        assert (tp[k], fp[k], tn[k], fn[k]) == (
            (said & (labels == 1)).sum(), (said & (labels == 0)).sum(), (~said & (labels == 0)).sum(),
            (~said & (labels == 1)).sum(),
        )  # fmt: skip
    np.testing.assert_allclose(precision, tp / (tp + fp))
    np.testing.assert_allclose(recall, tp / (tp + fn))


def test_hyperparameters(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_hparams(
            {"lr": 0.5, "layers": 3, "name": "sgd", "fast": True, "unset": None}, {"accuracy": 0.75}, run_name="run",
            hparam_domain_discrete={"name": ["sgd", "adam"]}, global_step=4,
        )  # fmt: skip
        with pytest.raises(TypeError, match="hparam_dict"):
            writer.add_hparams([1], {})
        with pytest.raises(ValueError, match="hyperparameter"):
            writer.add_hparams({"a": [1]}, {})
        with pytest.raises(TypeError, match="hparam_domain_discrete"):
            writer.add_hparams({"a": 1}, {}, {"a": ["b"]})
        with pytest.raises(TypeError, match="hparam_domain_discrete must be a dict; got bytes"):
            writer.add_hparams({"a": 1}, {}, b"x")
    found = values(tmp_path / "run")
    assert [tag.removeprefix("_hparams_/") for tag, _, _ in found] == [
        "experiment", "session_start_info", "session_end_info", "accuracy",
    ]  # fmt: skip
    assert found[3][1] == 4 and found[3][2][2] == [struct.pack("<f", 0.75)]
    contents = [fields(fields(fields(value[9][0])[1][0])[2][0]) for _, _, value in found[:3]]
    infos = [fields(info) for info in fields(contents[0][2][0])[4]]
    assert [(info[1][0], info[4][0]) for info in infos] == [(b"lr", 3), (b"layers", 3), (b"name", 1), (b"fast", 2)]
    session = {fields(entry)[1][0]: fields(fields(entry)[2][0]) for entry in fields(contents[1][3][0])[1]}
    assert session[b"name"] == {3: [b"sgd"]} and session[b"fast"] == {4: [1]} and double(session[b"lr"][2][0]) == 0.5
    assert fields(contents[2][4][0])[1] == [1]
    assert all(isinstance(one, bytes) for one in summary.hparams({}, {}))


def test_embedding(tmp_path):
    points = taeda.arange(10.0).reshape(5, 2)
    with SummaryWriter(tmp_path) as writer:
        writer.add_embedding(points, ["a", "b\nb", "c", 1, 2], taeda.rand(5, 3, 4, 6), 3, "a/b")
        writer.add_embedding(points, [("a", 1)] * 5, metadata_header=["letter", "number"])
        for mistake in ({"metadata": ["a"]}, {"label_img": taeda.rand(4, 3, 2, 2)}):
            with pytest.raises(ValueError, match="5 points"):
                writer.add_embedding(points, **mistake)
    folder = tmp_path / "00003" / "a_b"
    assert np.array_equal(np.loadtxt(folder / "tensors.tsv"), points.numpy())
    assert (folder / "metadata.tsv").read_text().split("\n") == ["a", "b\\nb", "c", "1", "2", ""]
    assert pixels((folder / "sprite.png").read_bytes()).shape == (12, 18, 3)
    config = (tmp_path / "projector_config.pbtxt").read_text()
    assert config.count("embeddings {") == 2 and "single_image_dim: 6 single_image_dim: 4" in config
    header = (tmp_path / "00000" / "default" / "metadata.tsv").read_text().split("\n")[0]
    assert header == "letter\tnumber"


def test_when_events_reach_the_disk(tmp_path):
    writer = SummaryWriter(tmp_path, max_queue=3, flush_secs=1000)
    writer.add_scalar("a", 1)
    writer.add_scalar("a", 1)
    assert values(tmp_path) == []
    writer.add_scalar("a", 1)
    assert len(values(tmp_path)) == 3
    writer.add_scalar("a", 1)
    writer.flush()
    assert len(values(tmp_path)) == 4
    writer.add_scalar("a", 1)
    writer.close()
    writer.close()
    assert len(values(tmp_path)) == 5
    writer.add_scalar("a", 1)  # opens a new file
    del writer
    gc.collect()
    assert len(values(tmp_path)) == 6 and len(list(tmp_path.iterdir())) == 2
    eager = FileWriter(tmp_path / "eager", flush_secs=0)
    eager.add_summary(summary.scalar("a", 1), 1)
    assert len(values(tmp_path / "eager")) == 1 and eager.get_logdir() == str(tmp_path / "eager")


def test_purge_step(tmp_path):
    SummaryWriter(tmp_path, purge_step=12).close()
    session = events(tmp_path)[1]
    assert session[2] == [12] and fields(session[7][0]) == {1: [1]}


def test_a_program_that_never_closes(tmp_path):
    program = """
from taeda.utils.tensorboard import SummaryWriter
import os
writer = SummaryWriter(comment="-mine")
writer.add_scalar("a", 1)
if os.fork():
    os.wait()
"""
    root = Path(__file__).parents[2]
    path = os.pathsep.join([str(root), os.environ.get("PYTHONPATH", "")])
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True, env={**os.environ, "PYTHONPATH": path})
    (folder,) = (tmp_path / "runs").iterdir()
    assert folder.name.endswith("-mine") and len(values(folder)) == 1


def test_mistakes(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        with pytest.raises(RuntimeError, match="add_graph"):
            writer.add_graph(taeda.nn.Linear(1, 1), taeda.ones(1))
        with pytest.raises(AssertionError, match="one number"):
            writer.add_scalar("a", taeda.ones(2))
        with pytest.raises(NotImplementedError, match="wants real numbers"):
            writer.add_scalar("a", "five")
        with pytest.raises(TypeError, match="wants text; got NoneType"):
            writer.add_text("a", None)
        with pytest.raises(NotImplementedError, match="real numbers; got Tensor of complex64"):
            writer.add_scalar("a", taeda.tensor(1j))
        with pytest.raises(TypeError, match="wants a dictionary"):
            writer.add_scalars("a", [1])
        writer.add_text("lone \ud800", "lone \udfff")


def test_tensorboard_reads_it(tmp_path):
    accumulators = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    with SummaryWriter(tmp_path) as writer:
        for step in range(3):
            writer.add_scalar("loss", step / 2, step)
        writer.add_histogram("h", taeda.randn(10))
        writer.add_image("i", PICTURE)
        writer.add_text("t", "text")
    read = accumulators.EventAccumulator(str(tmp_path))
    read.Reload()
    assert [(event.step, event.value) for event in read.Scalars("loss")] == [(0, 0.0), (1, 0.5), (2, 1.0)]
    tags = read.Tags()
    assert (tags["histograms"], tags["images"], tags["tensors"]) == (["h"], ["i"], ["t/text_summary"])
    assert read.Histograms("h")[0].histogram_value.num == 10
