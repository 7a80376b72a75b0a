"""ONNX models as modules: `load`, and how each of ONNX's ops is said in those of this library."""

from taeda.onnx.reader.model import OnnxModule as OnnxModule
from taeda.onnx.reader.model import load as load
