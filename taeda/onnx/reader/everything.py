"""All files of functions, loaded; and what is forwarded by name."""

from taeda.onnx.reader import control as control
from taeda.onnx.reader import elementwise as elementwise
from taeda.onnx.reader import forwarding as forwarding
from taeda.onnx.reader import learned as learned
from taeda.onnx.reader import losses as losses
from taeda.onnx.reader import matrix as matrix
from taeda.onnx.reader import pool as pool
from taeda.onnx.reader import quantized as quantized
from taeda.onnx.reader import rearrange as rearrange
from taeda.onnx.reader import recurrent as recurrent
from taeda.onnx.reader import reduce as reduce
from taeda.onnx.reader import resize as resize
from taeda.onnx.reader import select as select
from taeda.onnx.reader import signal as signal
from taeda.onnx.reader import text as text
from taeda.onnx.reader import vision as vision

forwarding.fill()
