"""Data sets read from files as they are published, and the transforms that make them ready to train on."""

import gzip
import pickle
import random
import struct
import sys
import tarfile
import tracemalloc

import numpy as np
import pytest

import taeda
from taeda import datasets, nn, transforms
from taeda.transforms import functional as F
from taeda.utils.data import DataLoader

Image = pytest.importorskip("PIL.Image")
RNG = np.random.default_rng(0)
PIXELS = RNG.integers(0, 256, (7, 9, 3), np.uint8)


def write_idx(path, array, squeeze=False):
    code = {"uint8": 8, "int32": 12, "float64": 14}[array.dtype.name]
    content = (
        struct.pack(f">BBBB{array.ndim}I", 0, 0, code, array.ndim, *array.shape)
        + array.astype(array.dtype.newbyteorder(">")).tobytes()
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(content, mtime=0) if squeeze else content)


@pytest.fixture(scope="module")
def digits():
    return RNG.integers(0, 256, (12, 28, 28), np.uint8), np.arange(12, dtype=np.uint8) % 10


@pytest.mark.parametrize("kind", [datasets.MNIST, datasets.FashionMNIST, datasets.KMNIST])
@pytest.mark.parametrize("squeeze", [False, True])
@pytest.mark.parametrize("folder", ["raw", "..", "."])
def test_mnist(tmp_path, digits, kind, squeeze, folder):
    images, labels = digits
    for stem, count in (("train", 12), ("t10k", 5)):
        for name, values in (("images-idx3", images), ("labels-idx1", labels)):
            place = tmp_path / kind.__name__ / folder
            (tmp_path / kind.__name__).mkdir(exist_ok=True)
            write_idx(place / f"{stem}-{name}-ubyte{'.gz' * squeeze}", values[:count], squeeze)
    whole, test = kind(tmp_path), kind(str(tmp_path), train=False)
    assert (len(whole), len(test), len(whole.classes)) == (12, 5, 10) and whole.class_to_idx[whole.classes[3]] == 3
    assert (whole.data.numpy() == images).all() and whole.targets.dtype == taeda.int64
    image, target = whole[3]
    assert isinstance(image, Image.Image) and image.mode == "L" and (np.asarray(image) == images[3]).all()
    assert type(target) is int and target == 3 and "Split: Test" in repr(test)
    ready = kind(tmp_path, transform=transforms.ToTensor(), target_transform=lambda t: -t)
    image, target = ready[2]
    assert image.shape == (1, 28, 28) and image.dtype == taeda.float32 and target == -2
    assert taeda.equal(image[0], taeda.from_numpy(images[2]) / 255)


def test_idx_of_other_types(tmp_path):
    for values in (np.arange(6, dtype=np.int32).reshape(2, 3), np.array([0.5, -2]), np.zeros((0, 3), np.uint8)):
        write_idx(tmp_path / "x", values)
        read = datasets.mnist.read_idx(tmp_path / "x").numpy()
        assert read.dtype == values.dtype and (read == values).all() and read.shape == values.shape


@pytest.mark.parametrize(
    "content",
    [b"", b"\0\0\x08", b"\0\0\x08\x03\0\0", b"PK\3\4", b"\x1f\x8bxx", b"\0\0\x08\x01\0\0\0\x05abc",
     b"\0\0\x08\x01\xff\xff\xff\xffa", b"\0\0\x07\x01\0\0\0\x01a", gzip.compress(b"\0" * 99, mtime=0)[:-3],
     b"\0\0\x08\xff" + b"\xff" * 1020, b"\0\0\x08\x01\0\0\0\x02ab",
     b"\0\0\x08\x04" + b"\0" * 4 + b"\x7f\xff\xff\xff" * 3],
)  # fmt: skip
def test_damaged_idx(tmp_path, digits, content):
    write_idx(tmp_path / "train-labels-idx1-ubyte", digits[1])
    (tmp_path / "train-images-idx3-ubyte").write_bytes(content)
    with pytest.raises(RuntimeError, match="damaged"):
        datasets.MNIST(tmp_path)


def test_bombs_are_not_unpacked(tmp_path):
    """A small file of which hundreds of megabytes come is refused before they have come."""
    zeros = gzip.compress(bytes(1 << 28), mtime=0)
    large = b"\0\0\x08\x03" + b"\x7f\xff\xff\xff" * 3
    files = {"idx": zeros, "claims": gzip.compress(large + bytes(100), mtime=0), "digits.csv.gz": zeros}
    files["more"] = gzip.compress(b"\0\0\x08\x01\0\0\0\x02" + bytes(1 << 28), mtime=0)
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    tracemalloc.start()
    try:
        for name in ("idx", "claims", "more"):
            with pytest.raises(RuntimeError, match="damaged"):
                datasets.mnist.read_idx(tmp_path / name)
        with pytest.raises(RuntimeError, match="unpacks to more"):
            datasets.Digits(tmp_path)
        assert tracemalloc.get_traced_memory()[1] < 1 << 26
    finally:
        tracemalloc.stop()


def test_what_is_not_there(tmp_path):
    for kind, args, name in [
        (datasets.MNIST, (), "train-images-idx3-ubyte.*MNIST/raw"),
        (datasets.CIFAR10, (), "cifar-10-python.tar.gz"),
        (datasets.CIFAR100, (False,), "cifar-100-python"),
        (datasets.Digits, (), "digits.csv.gz"),
    ]:
        for download, word in ((False, "not found"), (True, "nothing is downloaded")):
            with pytest.raises(RuntimeError, match=f"(?s){word}.*{name}"):
                kind(tmp_path, *args, download=download)
    (tmp_path / "cifar-10-batches-py").mkdir()
    with pytest.raises(RuntimeError, match="data_batch_1.*batches.meta"):
        datasets.CIFAR10(tmp_path)


class OldNumpy:
    """Pickles an array as Python 2's NumPy did."""

    def __init__(self, array):
        self.array = array

    def __reduce__(self):
        return self.array.__reduce__()


CIFAR = [(datasets.CIFAR10, "cifar-10", 10), (datasets.CIFAR100, "cifar-100", 100)]


def write_cifar(root, kind, stem, binary):
    """Files with 2 images each; returns all images and labels of the training part."""
    folder = root / (f"{stem}-binary" if kind is datasets.CIFAR100 else f"{stem}-batches-bin") if binary else root
    folder = folder if binary else root / kind.base_folder
    folder.mkdir()
    images, labels = [], []
    for part in [*kind._parts[True], *kind._parts[False]]:
        pixels, numbers = RNG.integers(0, 256, (2, 3072), np.uint8), RNG.integers(0, 10, 2).tolist()
        if part in kind._parts[True]:
            images.append(pixels)
            labels += numbers
        if binary:
            coarse = [bytes([7])] * 2 if kind is datasets.CIFAR100 else [b""] * 2
            rows = [c + bytes([n]) + p.tobytes() for c, n, p in zip(coarse, numbers, pixels, strict=True)]
            (folder / f"{part}.bin").write_bytes(b"".join(rows))
        else:
            found = {b"data": OldNumpy(pixels), kind._label_key.encode(): numbers, b"filenames": [b"a", b"b"]}
            (folder / part).write_bytes(pickle.dumps(found, 2))
    names = [f"c{i}" for i in range(100 if kind is datasets.CIFAR100 else 10)]
    if binary:
        (folder / kind._names[2]).write_text("\n".join(names) + "\n")
    else:
        (folder / kind._names[0]).write_bytes(pickle.dumps({kind._names[1]: names}, 2))
    return folder, np.concatenate(images).reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1), labels


@pytest.mark.parametrize(("kind", "stem", "classes"), CIFAR)
@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("packed", [False, True])
def test_cifar(tmp_path, kind, stem, classes, binary, packed):
    folder, images, labels = write_cifar(tmp_path, kind, stem, binary)
    root = tmp_path
    if packed:
        root = tmp_path / "packed"
        root.mkdir()
        with tarfile.open(root / f"{stem}-{'binary' if binary else 'python'}.tar.gz", "w:gz") as tar:
            tar.add(folder, folder.name)
    train, test = kind(root), kind(root, train=False, transform=transforms.ToTensor())
    assert (train.data == images).all() and train.targets == labels and len(train.classes) == classes
    image, label = train[1]
    assert image.mode == "RGB" and (np.asarray(image) == images[1]).all() and label == labels[1]
    assert len(test) == 2 and test[0][0].shape == (3, 32, 32)
    batch, targets = next(iter(DataLoader(test, 2)))
    assert batch.shape == (2, 3, 32, 32) and targets.dtype == taeda.int64


class Evil:
    def __reduce__(self):
        return print, ("ran",)


class EvilDtype:
    def __reduce__(self):
        return np.dtype, ("O",)


def nested():
    """What takes for ever to be shown or hashed: tuples that share their parts."""
    made = (1,)
    for _ in range(60):
        made = (made, made)
    return made


class NestedDtype:
    def __reduce__(self):
        return np.dtype, (nested(),)


def with_array(shape, content):
    class Odd:
        def __reduce__(self):
            return (*np.zeros(0).__reduce__()[:2], (1, shape, np.dtype("u1"), False, content))

    return Odd()


@pytest.mark.parametrize(
    "content",
    [
        pickle.dumps({"data": Evil(), "labels": [1]}, 2),
        pickle.dumps({"data": EvilDtype(), "labels": [1]}, 2),
        pickle.dumps({"data": np.zeros((1, 3072)), "labels": [1]}, 2),
        pickle.dumps({"data": np.zeros((2, 3072), np.uint8), "labels": [1]}, 2),
        pickle.dumps({"data": np.zeros((1, 3072), np.uint8), "labels": ["1"]}, 2),
        pickle.dumps({"data": np.zeros((1, 3072), np.uint8), "labels": [11]}, 2),
        pickle.dumps({"data": np.zeros((1, 3072), np.uint8), "labels": [-1]}, 2),
        pickle.dumps({"data": 3, "labels": [1]}, 2),
        pickle.dumps({"data": with_array((1, 3072), b"x"), "labels": [1]}, 2),
        pickle.dumps({"data": with_array((-1, -3072), b"x" * 3072), "labels": [1]}, 2),
        pickle.dumps({"data": with_array((1, 3072), ["x"] * 3072), "labels": [1]}, 2),
        pickle.dumps([1], 2),
        pickle.dumps({"data": NestedDtype(), "labels": [1]}, 2),
        pickle.dumps({"data": 3, "labels": nested()}, 2),
        b"\x80\x02}" + pickle.dumps(nested(), 2)[2:-1] + b"K\x01s.",
        b"cos\nsystem\n(S'true'\ntR.",
        b"",
        b"\x80\x02",
        bytes(range(256)),
    ],
)
def test_pickles_that_are_no_batches_run_nothing(tmp_path, capsys, content):
    folder, _, _ = write_cifar(tmp_path, datasets.CIFAR10, "cifar-10", False)
    (folder / "test_batch").write_bytes(content)
    with pytest.raises(RuntimeError, match="damaged"):
        datasets.CIFAR10(tmp_path, train=False)
    assert capsys.readouterr().out == ""


def test_damaged_archives(tmp_path):
    path = tmp_path / "cifar-10-python.tar.gz"
    noise = bytearray(gzip.compress(random.Random(0).randbytes(3000), mtime=0))
    noise[10] ^= 6  # another kind of block
    for content in (b"", b"x" * 100, gzip.compress(b"x" * 2000, mtime=0), noise):
        path.write_bytes(content)
        with pytest.raises(RuntimeError, match="damaged"):
            datasets.CIFAR10(tmp_path)
    with tarfile.open(path, "w:gz") as tar:
        tar.add(__file__, "../../data_batch_1")
    with pytest.raises(RuntimeError, match="damaged"):
        datasets.CIFAR10(tmp_path)
    (tmp_path / "cifar-10-batches-bin").mkdir()
    for name in ("test_batch.bin", "batches.meta.txt"):
        (tmp_path / "cifar-10-batches-bin" / name).write_bytes(b"x" * 99)
    with pytest.raises(RuntimeError, match="records"):
        datasets.CIFAR10(tmp_path, train=False)


def test_digits():
    pytest.importorskip("sklearn")
    from sklearn.datasets import load_digits

    known = load_digits()
    whole, train, test = datasets.Digits(), datasets.Digits(train=True), datasets.Digits(train=False)
    assert (len(whole), len(train), len(test)) == (1797, 1438, 359)
    assert np.abs(whole.data.numpy() / (255 / 16) - known.images).max() < 0.05 and whole.data.max() == 255
    assert (whole.targets.numpy() == known.target).all()
    assert train[5][1] == whole[5][1] and test[0][1] == whole[1438][1]


def test_training_on_digits():
    pytest.importorskip("sklearn")
    taeda.manual_seed(0)
    ready = transforms.Compose([transforms.ToTensor(), transforms.Normalize([0.3], [0.35])])
    train, test = (datasets.Digits(train=part, transform=ready) for part in (True, False))
    model = nn.Sequential(nn.Flatten(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    optimizer = taeda.optim.Adam(model.parameters(), 0.01)
    for _ in range(3):
        for images, labels in DataLoader(train, 64, shuffle=True):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(images), labels).backward()
            optimizer.step()
    images, labels = next(iter(DataLoader(test, len(test))))
    assert (model(images).argmax(1) == labels).float().mean() > 0.85


def kinds(pixels):
    """One image as a tensor, an array and a Pillow image."""
    channels_first = taeda.from_numpy(np.ascontiguousarray(pixels.transpose(2, 0, 1)))
    return channels_first, pixels, Image.fromarray(pixels)


def as_array(image):
    return image.permute(1, 2, 0).numpy() if isinstance(image, taeda.Tensor) else np.asarray(image)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda i: F.hflip(i), PIXELS[:, ::-1]),
        (lambda i: F.vflip(i), PIXELS[::-1]),
        (lambda i: F.crop(i, 1, 2, 3, 4), PIXELS[1:4, 2:6]),
        (lambda i: F.crop(i, -1, 5, 3, 6), np.pad(PIXELS, ((1, 0), (0, 2), (0, 0)))[0:3, 5:11]),
        (lambda i: F.crop(i, 20, -20, 2, 3), np.zeros((2, 3, 3), np.uint8)),
        (transforms.CenterCrop(4), PIXELS[2:6, 2:6]),
        (transforms.CenterCrop((3, 12)), np.pad(PIXELS, ((0, 0), (1, 2), (0, 0)))[2:5]),
        (transforms.Pad(2), np.pad(PIXELS, ((2, 2), (2, 2), (0, 0)))),
        (transforms.Pad((1, 2), fill=9), np.pad(PIXELS, ((2, 2), (1, 1), (0, 0)), constant_values=9)),
        (transforms.Pad((1, 2, 3, 0), padding_mode="edge"), np.pad(PIXELS, ((2, 0), (1, 3), (0, 0)), "edge")),
        (transforms.Pad([3], padding_mode="reflect"), np.pad(PIXELS, ((3, 3), (3, 3), (0, 0)), "reflect")),
        (transforms.Pad(12, padding_mode="symmetric"), np.pad(PIXELS, ((12, 12), (12, 12), (0, 0)), "symmetric")),
        (transforms.RandomCrop((7, 9)), PIXELS),
        (transforms.RandomHorizontalFlip(1.0), PIXELS[:, ::-1]),
        (transforms.RandomVerticalFlip(0.0), PIXELS),
        (transforms.Compose([transforms.Lambda(lambda i: i), transforms.RandomApply([F.vflip], p=1)]), PIXELS[::-1]),
        (transforms.RandomChoice([F.hflip]), PIXELS[:, ::-1]),
        (transforms.RandomOrder([F.hflip, F.vflip]), PIXELS[::-1, ::-1]),
        (transforms.Resize((7, 9)), PIXELS),
    ],
)
def test_transforms_of_each_kind_of_image(change, expected):
    for image in kinds(PIXELS):
        result = change(image)
        assert type(result) is type(image) or isinstance(result, Image.Image)
        assert (as_array(result) == expected).all()


def test_resize():
    smooth = np.add.outer(np.arange(40) * 3, np.arange(30) * 4)[:, :, None].repeat(3, 2).astype(np.uint8)
    for size, expected in ((20, (26, 20)), ((10, 50), (10, 50)), ([15], (20, 15))):
        results = [as_array(transforms.Resize(size)(image)) for image in kinds(smooth)]
        assert all(r.shape == (*expected, 3) for r in results)
        assert (np.abs(results[0].astype(int) - results[2]) <= 1).all(), "as Pillow does"
        assert (results[0] == results[1]).all()
    assert transforms.Resize(20, max_size=24)(kinds(smooth)[0]).shape == (3, 24, 18)
    nearest = transforms.Resize((20, 15), transforms.InterpolationMode.NEAREST)(kinds(smooth)[0])
    assert (as_array(nearest) == smooth[::2, ::2]).all()
    assert F.resize(taeda.rand(2, 5, 3, 8, 8), [4, 4]).shape == (2, 5, 3, 4, 4)
    assert transforms.RandomResizedCrop(6)(kinds(smooth)[2]).size == (6, 6)


def test_to_tensor_and_back():
    for image in kinds(PIXELS)[1:]:
        tensor = F.to_tensor(image)
        assert tensor.dtype == taeda.float32 and tensor.is_contiguous()
        assert (as_array(F.to_pil_image(tensor)) == PIXELS).all()
    assert F.to_tensor(PIXELS[:, :, 0]).shape == (1, 7, 9)
    assert F.to_tensor(PIXELS[::-1].astype(np.float64)).dtype == taeda.float64
    assert F.pil_to_tensor(Image.fromarray(PIXELS)).dtype == taeda.uint8
    for mode, dtype in (("1", taeda.float32), ("L", taeda.float32), ("I", taeda.int32), ("F", taeda.float32),
                        ("RGBA", taeda.float32)):  # fmt: skip
        image = Image.fromarray(PIXELS).convert(mode)
        assert F.to_tensor(image).dtype == dtype
        again = F.pad(F.hflip(F.hflip(image)), 1, padding_mode="edge")
        assert again.mode == mode and again.size == (11, 9)
    assert F.to_pil_image(taeda.ones(4, 4, dtype=taeda.int32)).mode == "I"
    assert transforms.ToPILImage("HSV")(PIXELS).mode == "HSV"


def test_normalize_and_dtypes():
    image = taeda.rand(3, 4, 5)
    normal = transforms.Normalize([0.5, 0.4, 0.3], [0.1, 0.2, 0.3])(image)
    taeda.testing.assert_close(normal[1], (image[1] - 0.4) / 0.2)
    same = F.normalize(image, [0.5], [2.0], inplace=True)
    assert same is image
    assert F.convert_image_dtype(taeda.tensor([0, 255], dtype=taeda.uint8)).tolist() == [0, 1]
    assert F.convert_image_dtype(taeda.tensor([0.0, 1.0]), taeda.uint8).tolist() == [0, 255]
    assert F.convert_image_dtype(taeda.tensor([0, 32767], dtype=taeda.int16), taeda.uint8).tolist() == [0, 255]
    assert F.convert_image_dtype(taeda.tensor([1], dtype=taeda.uint8), taeda.int16).tolist() == [128]
    with pytest.raises(RuntimeError, match="coarse"):
        F.convert_image_dtype(image, taeda.int32)
    grey = transforms.Grayscale()(taeda.ones(3, 2, 2))
    taeda.testing.assert_close(grey, taeda.full((1, 2, 2), 0.9999))
    for kind in kinds(PIXELS):
        assert F.get_dimensions(transforms.Grayscale(3)(kind)) == [3, 7, 9] and F.get_image_size(kind) == [9, 7]


def test_random_transforms_draw_the_known_numbers():
    """The draws are those of the generator, in the order in which the documentation of each says."""
    image = taeda.arange(100.0).view(1, 10, 10)
    crop, flip = transforms.RandomCrop(4, padding=1), transforms.RandomHorizontalFlip()
    taeda.manual_seed(3)
    results = [(crop(image), flip(image)) for _ in range(4)]
    taeda.manual_seed(3)
    for cropped, flipped in results:
        top, left = (int(taeda.randint(0, 9, (1,))) for _ in range(2))
        assert taeda.equal(cropped, F.pad(image, 1)[:, top : top + 4, left : left + 4])
        assert taeda.equal(flipped, image.flip(-1) if taeda.rand(1) < 0.5 else image)
    random.seed(0)
    for _ in range(5):
        top, left, height, width = transforms.RandomResizedCrop.get_params(image, (0.1, 0.9), (0.5, 2.0))
        assert 0 <= top <= 10 - height and 0 <= left <= 10 - width and 0.05 <= height * width / 100 <= 1
    for value in (0, [1.0], "random"):
        erased = transforms.RandomErasing(p=1, value=value)(image)
        assert 0 < (erased != image).sum() < 40 and (image.view(-1) == taeda.arange(100.0)).all()


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: F.to_tensor(taeda.ones(1, 2, 2)), TypeError),
        (lambda: F.to_tensor([1]), TypeError),
        (lambda: F.to_tensor(np.zeros(3)), ValueError),
        (lambda: F.to_pil_image(taeda.ones(5, 2, 2)), ValueError),
        (lambda: F.to_pil_image(taeda.ones(2, 2, dtype=taeda.int64)), TypeError),
        (lambda: F.to_pil_image(PIXELS, "L"), ValueError),
        (lambda: F.to_pil_image("x"), TypeError),
        (lambda: F.pil_to_tensor(PIXELS), TypeError),
        (lambda: F.normalize(taeda.ones(3, 2, 2), [0], [0]), ValueError),
        (lambda: F.normalize(taeda.ones(2, 2), [0], [1]), ValueError),
        (lambda: F.normalize(taeda.ones(1, 2, 2, dtype=taeda.uint8), [0], [1]), TypeError),
        (lambda: F.pad(PIXELS, [1, 2, 3]), ValueError),
        (lambda: F.pad(PIXELS, "1"), TypeError),
        (lambda: F.pad(PIXELS, 1, padding_mode="x"), ValueError),
        (lambda: F.pad(PIXELS, 7, padding_mode="reflect"), ValueError),
        (lambda: F.hflip([1]), TypeError),
        (lambda: F.center_crop([1], 3), TypeError),
        (lambda: F.erase(PIXELS, 0, 0, 1, 1, 0), TypeError),
        (lambda: F.convert_image_dtype(PIXELS), TypeError),
        (lambda: transforms.Pad(1, padding_mode="x"), ValueError),
        (lambda: transforms.RandomCrop(8)(PIXELS), ValueError),
        (lambda: transforms.Resize([1, 2, 3]), ValueError),
        (lambda: transforms.Resize("3"), TypeError),
        (lambda: transforms.Resize(5, max_size=5)(PIXELS), ValueError),
        (lambda: transforms.Resize((5, 5), max_size=9)(PIXELS), ValueError),
        (lambda: transforms.RandomErasing(scale=(0, 2)), ValueError),
        (lambda: transforms.RandomErasing(value="x"), ValueError),
        (lambda: transforms.Lambda(3), TypeError),
        (lambda: transforms.RandomChoice(3), TypeError),
        (lambda: datasets.VisionDataset(".", transforms=print, transform=print), ValueError),
    ],
)
def test_refuses(call, error):
    with pytest.raises(error):
        call()


def test_without_pillow(tmp_path, digits, monkeypatch):
    write_idx(tmp_path / "train-images-idx3-ubyte", digits[0])
    write_idx(tmp_path / "train-labels-idx1-ubyte", digits[1])
    with_pillow = datasets.MNIST(tmp_path, transform=transforms.ToTensor())[1][0]
    monkeypatch.setitem(sys.modules, "PIL", None)
    image, _ = datasets.MNIST(tmp_path)[1]
    assert isinstance(image, np.ndarray) and taeda.equal(transforms.ToTensor()(image), with_pillow)


def test_transforms_show_themselves():
    shown = repr(transforms.Compose([transforms.ToTensor(), transforms.Normalize([0.5], [0.2]), transforms.Pad(1)]))
    assert shown.splitlines()[1:3] == ["    ToTensor()", "    Normalize(mean=[0.5], std=[0.2])"]
