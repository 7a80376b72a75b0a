"""All files of translations, loaded."""

from taeda.onnx.writer import index as index
from taeda.onnx.writer import layers as layers
from taeda.onnx.writer import named as named
from taeda.onnx.writer import pointwise as pointwise
from taeda.onnx.writer import quantized as quantized
from taeda.onnx.writer import reductions as reductions
from taeda.onnx.writer import shapes as shapes
