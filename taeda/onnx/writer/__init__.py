"""Modules as ONNX models: how each op is said in ONNX's."""
