// Values as pickles of protocol 2, with the instructions that PyTorch's readers know.
#pragma once
#include <string>
#include <vector>

#include "taeda/jit/archive.h"

namespace taeda::jit {

// The name of a class, or the text of a type, as an archive has it.
using SavedNames = std::function<std::string(const std::string&)>;

// The pickle; tensors' elements are appended to `storages`, whose places are their keys.
std::string pickle(const Value& value, std::vector<Tensor>& storages, const ClassNames& class_of, bool typed,
                   const SavedNames& saved = nullptr);

}  // namespace taeda::jit
