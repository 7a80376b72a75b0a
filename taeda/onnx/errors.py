"""What the ONNX functions raise."""


class OnnxExporterError(RuntimeError):
    """A wrong description of a model in ONNX."""
