// What extensions ask of Python: casters, and bindings of modules of C++.
#pragma once
#include <torch/csrc/utils/pybind.h>
#include <torch/types.h>
