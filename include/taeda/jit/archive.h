// The files that torch.save and torch.jit.save write: records in a zip file, some of which are pickles of values.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "taeda/dispatch/class_type.h"
#include "taeda/dispatch/collections.h"

namespace taeda::jit {

// A class as a program's source declares it, without what its methods do.
struct DeclaredClass {
  struct Member {
    std::string name, type;
    Attribute::Kind kind = Attribute::Kind::Plain;
    std::string value;  // of a constant
  };
  std::string name;  // with the module's before it
  bool is_module = true;
  std::vector<Member> attributes, constants;
  std::vector<std::string> methods;
};

// Reads records and values. RuntimeError, which says what is wrong, of what is damaged.
class TAEDA_API ArchiveReader {
 public:
  // `what` stands for the bytes in messages.
  ArchiveReader(std::string bytes, std::string what);
  static ArchiveReader of_file(const std::string& path);
  ~ArchiveReader();
  ArchiveReader(ArchiveReader&&) noexcept;

  bool has(std::string_view record) const;
  std::string_view record(std::string_view record) const;
  std::vector<std::string> records() const;  // their names, in order
  // The value of the pickle `name`.pkl, whose tensors' elements are records in the folder `name`. An object of a class
  // comes as a dict of its attributes.
  Value value(const std::string& name) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// An object as a pickle holds it: a class's name, and attributes. What ArchiveWriter writes of a Dict that it is told
// is one.
using ClassNames = std::function<std::string(const Dict&)>;  // empty of a plain dict

// Collects records; `folder` is the name that they all stand under.
class TAEDA_API ArchiveWriter {
 public:
  explicit ArchiveWriter(std::string folder);
  ~ArchiveWriter();

  void write(std::string_view record, std::string_view bytes);
  // The pickle `name`.pkl and its tensors. Types of lists are written along where `typed`, as programs need them.
  void write_value(const std::string& name, const Value& value, const ClassNames& class_of = nullptr,
                   bool typed = false);
  // The source of classes that have no methods.
  void write_classes(std::span<const DeclaredClass> classes);
  std::string finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace taeda::jit
