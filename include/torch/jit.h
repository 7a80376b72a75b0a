// torch::jit: programs that Python saved, run without Python.
#pragma once
#include <torch/csrc/jit/api/module.h>
