// The device of own_device.h as a library:
//
//   torch.ops.load_library("libown_device.so")
//   x = torch.ones(2, 3).to("toy")
//
// Built by torch.utils.cpp_extension.load("own_device", ["own_device.cpp"], is_python_module=False), or with CMake.
#include "own_device.h"

TORCH_LIBRARY(toy, m) {
  m.def("calls(str name) -> int", [](std::string name) { return toy::calls(name); });
  m.def("live_blocks() -> int", [] { return toy::live_blocks(); });
}
