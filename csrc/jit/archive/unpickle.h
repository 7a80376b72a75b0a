// What an archive's pickles hold, read without running anything: tensors, numbers, texts, collections of these, and
// objects of classes that the program declares.
#pragma once
#include "jit/archive/zip.h"
#include "taeda/dispatch/collections.h"

namespace taeda::jit {

// The record `name`.pkl, whose tensors' elements are in the records `name`/...; RuntimeError if it is damaged.
Value unpickle(const ZipFile& archive, const std::string& name);
// The same of any program's: an object of a class that nobody declared comes as a dict of its attributes.
Value unpickle_loosely(const ZipFile& archive, const std::string& name);

}  // namespace taeda::jit
