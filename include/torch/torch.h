// Everything that a C++ program needs.
#pragma once
#include <torch/all.h>

#ifdef TORCH_API_INCLUDE_EXTENSION_H  // older extensions bind with no other header; cpp_extension defines it
#include <torch/python.h>
#endif
