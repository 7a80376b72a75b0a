"""An extension as people write them for PyTorch. ``python -m taeda run setup.py build_ext --inplace``, or
``pip install --no-build-isolation .`` after ``python -m taeda torch-name``; with PyTorch it builds as well."""

from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension

setup(
    name="example_extension",
    ext_modules=[CppExtension("example_extension", ["bias_silu.cpp", "running_mean.cpp"])],
    cmdclass={"build_ext": BuildExtension},
)
