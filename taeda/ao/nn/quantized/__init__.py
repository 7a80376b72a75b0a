"""Operations as modules. In a float model they compute in float."""

from taeda.ao.nn.quantized.functional_modules import FloatFunctional as FloatFunctional

__all__ = ["FloatFunctional"]
