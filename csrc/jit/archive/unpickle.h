// What an archive's pickles hold, read without running anything: tensors, numbers, texts, collections of these, and
// objects of classes that the program declares.
#pragma once
#include <functional>

#include "jit/archive/zip.h"
#include "taeda/dispatch/collections.h"

namespace taeda::jit {

// By which name this process knows a class of the archive's.
using OwnNames = std::function<std::string(const std::string&)>;

// The record `name`.pkl, whose tensors' elements are in the records `name`/...; RuntimeError if it is damaged.
Value unpickle(const ZipFile& archive, const std::string& name, const OwnNames& own = nullptr);
// The same of any program's: an object of a class that nobody declared comes as a dict of its attributes.
Value unpickle_loosely(const ZipFile& archive, const std::string& name);

}  // namespace taeda::jit
