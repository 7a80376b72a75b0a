"""Exported programs in files, as PyTorch 2.13 writes them: an archive of a JSON text and raw tensors.

`program` is the whole; `graphs` writes and `nodes` reads a graph; `expressions` and `sizes` are numbers that vary,
`codes` what the format writes as a number, `signature` what inputs and outputs are, `tensors` the values.
"""

from taeda.export.files.program import load, save

__all__ = ["load", "save"]
