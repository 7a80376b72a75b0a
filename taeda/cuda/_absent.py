"""CUDA, which this build does not have."""

from taeda._main.absent_devices import Absent

absent = Absent("cuda")
