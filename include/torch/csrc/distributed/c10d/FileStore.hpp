#pragma once
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace c10d {

// In a file that processes share; the last of `workers` to leave removes it, nobody without that number.
class FileStore : public NativeStore {
 public:
  explicit FileStore(std::string path, int workers = -1)
      : NativeStore(::taeda::distributed::make_file_store(path, workers)), path_(std::move(path)) {}
  const std::string& getPath() const noexcept { return path_; }

 private:
  std::string path_;
};

}  // namespace c10d
