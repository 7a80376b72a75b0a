"""The class of the class: what is marked as a parameter or a buffer is one by ``isinstance``."""

from taeda.nn.parameter import Buffer, Parameter

__all__ = ["_BufferMeta", "_ParameterMeta"]

_ParameterMeta, _BufferMeta = type(Parameter), type(Buffer)
