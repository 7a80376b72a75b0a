// Values as pickles of protocol 2, with the instructions that PyTorch's readers know.
#pragma once
#include <string>
#include <vector>

#include "taeda/jit/archive.h"

namespace taeda::jit {

// The pickle; tensors' elements are appended to `storages`, whose places are their keys.
std::string pickle(const Value& value, std::vector<Tensor>& storages, const ClassNames& class_of, bool typed);

}  // namespace taeda::jit
