#include "taeda/jit/archive.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "jit/archive/pickle.h"
#include "jit/archive/source.h"
#include "jit/archive/unpickle.h"

namespace taeda::jit {

struct ArchiveReader::Impl {
  ZipFile file;
};
ArchiveReader::ArchiveReader(std::string bytes, std::string what)
    : impl_(new Impl{ZipFile(std::move(bytes), std::move(what))}) {}
ArchiveReader ArchiveReader::of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  TAEDA_CHECK(file, "there is no file ", path, " that could be read");
  return {std::string(std::istreambuf_iterator<char>(file), {}), path};
}
ArchiveReader::~ArchiveReader() = default;
ArchiveReader::ArchiveReader(ArchiveReader&&) noexcept = default;

bool ArchiveReader::has(std::string_view record) const { return impl_->file.has(record); }
std::string_view ArchiveReader::record(std::string_view record) const { return impl_->file.record(record); }
std::vector<std::string> ArchiveReader::records() const {
  std::vector<std::string> names = impl_->file.names();
  std::ranges::sort(names);
  return names;
}
Value ArchiveReader::value(const std::string& name) const { return unpickle_loosely(impl_->file, name); }

struct ArchiveWriter::Impl {
  ZipWriter file;
};
ArchiveWriter::ArchiveWriter(std::string folder) : impl_(new Impl{ZipWriter(std::move(folder))}) {}
ArchiveWriter::~ArchiveWriter() = default;

void ArchiveWriter::write(std::string_view record, std::string_view bytes) { impl_->file.write(record, bytes); }

void ArchiveWriter::write_value(const std::string& name, const Value& value, const ClassNames& class_of, bool typed) {
  std::vector<Tensor> storages;
  write(name + ".pkl", pickle(value, storages, class_of, typed));
  for (size_t i = 0; i < storages.size(); ++i) {
    const Storage& storage = storages[i].impl()->storage();
    write(str(name, "/", i), {static_cast<const char*>(storage->data()), storage->nbytes()});
  }
}

void ArchiveWriter::write_classes(std::span<const DeclaredClass> classes) {
  for (const auto& [record, text] : write_source(classes)) write(record, text);
}

std::string ArchiveWriter::finish() {
  write("byteorder", "little");
  write("version", "3\n");
  return impl_->file.finish();
}

}  // namespace taeda::jit
