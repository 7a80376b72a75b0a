"""Ready-made data sets, read from files on disk in the formats they are published in. Nothing is downloaded."""

from __future__ import annotations

from .cifar import CIFAR10, CIFAR100
from .digits import Digits
from .mnist import KMNIST, MNIST, FashionMNIST
from .vision import VisionDataset

__all__ = ["CIFAR10", "CIFAR100", "KMNIST", "MNIST", "Digits", "FashionMNIST", "VisionDataset"]
