"""Scikit-learn's digits (8 x 8 pixels) as the four files that MNIST's readers expect.

python examples/cpp/make_digits.py FOLDER
"""

from __future__ import annotations

import struct
import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits


def main(folder: Path) -> None:
    digits = load_digits()
    images, labels = (digits.images * 255 / 16).astype(np.uint8), digits.target.astype(np.uint8)
    folder.mkdir(parents=True, exist_ok=True)
    for name, part in (("train", slice(0, 1437)), ("t10k", slice(1437, None))):
        pixels, targets = images[part], labels[part]
        (folder / f"{name}-images-idx3-ubyte").write_bytes(struct.pack(">4I", 2051, *pixels.shape) + pixels.tobytes())
        (folder / f"{name}-labels-idx1-ubyte").write_bytes(struct.pack(">2I", 2049, len(targets)) + targets.tobytes())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
