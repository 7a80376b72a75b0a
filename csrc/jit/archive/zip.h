// The records of an archive: a zip file whose records are stored as they are, or compressed.
#pragma once
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace taeda::jit {

class ZipFile {
 public:
  explicit ZipFile(const std::string& path);     // RuntimeError if it is none
  ZipFile(std::string bytes, std::string name);  // which stands for the bytes in messages
  // Without the folder that all records stand in; the archive must outlive it.
  std::string_view record(std::string_view name) const;  // RuntimeError if there is none, or it is damaged
  bool has(std::string_view name) const { return entries_.contains(std::string(name)); }
  std::vector<std::string> names() const;

 private:
  struct Entry {
    uint64_t offset = 0, packed = 0, size = 0;
    uint32_t sum = 0;
    uint16_t method = 0;
  };
  void read_directory();
  uint64_t number(size_t at, int bytes) const;
  std::string path_, bytes_;
  std::unordered_map<std::string, Entry> entries_;
  mutable std::unordered_map<std::string, std::string> unpacked_;  // of the compressed records that were read
};

// Writes one, its records at multiples of 64 bytes, so that they can be mapped.
class ZipWriter {
 public:
  explicit ZipWriter(std::string folder) : folder_(std::move(folder)) {}
  void write(std::string_view name, std::string_view bytes);
  std::string finish();

 private:
  void number(std::string& to, uint64_t value, int bytes);
  std::string folder_, bytes_, directory_;
  uint64_t count_ = 0;
};

}  // namespace taeda::jit
