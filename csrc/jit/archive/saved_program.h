// Programs that archives brought. One that says the same as another is that one; the objects of its classes are saved
// with the records that they came with.
#pragma once
#include <map>
#include <memory>

#include "jit/archive/zip.h"
#include "jit/code.h"

namespace taeda::jit {

struct SavedProgram {
  std::map<std::string, std::string> records;  // source, constants and instructions
  std::string version;                         // of the format
  Ref<Unit> unit;
  const ClassType* function = nullptr;  // the module that stands for a function that was saved by itself
  // Classes by the archive's name and, as that may have been taken, this process's.
  std::map<std::string, std::string> own_names, saved_names;

  void name(const std::string& saved, const std::string& own);
  std::string own_name(const std::string& saved) const;
  // A text in which classes have the archive's names in place of this process's.
  std::string saved_text(const std::string& own) const;
};

// The program of an archive. Where it has source alone, its classes have attributes and the names of their methods;
// null if the source has more than modules and plain classes.
std::shared_ptr<const SavedProgram> program_of(const ZipFile& archive);
// The program that an object is saved with: what its class came with, or what declares its classes if they hold data
// alone. RuntimeError if they were neither loaded nor are such.
std::shared_ptr<const SavedProgram> program_of(const Instance& object);

}  // namespace taeda::jit
