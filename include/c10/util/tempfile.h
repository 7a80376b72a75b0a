// Files that are gone when their handle is.
#pragma once
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <utility>

#include <c10/util/Exception.h>
#include <c10/util/Optional.h>

namespace c10 {

struct TempFile {
  TempFile(std::string name, int fd) : name(std::move(name)), fd(fd) {}
  TempFile(TempFile&& other) noexcept : name(std::move(other.name)), fd(std::exchange(other.fd, -1)) {
    other.name.clear();
  }
  TempFile& operator=(TempFile&& other) noexcept {
    std::swap(name, other.name);
    std::swap(fd, other.fd);
    return *this;
  }
  ~TempFile() {
    if (!name.empty()) ::unlink(name.c_str());
    if (fd >= 0) ::close(fd);
  }
  std::string name;
  int fd;
};

inline std::optional<TempFile> try_make_tempfile(const std::string& prefix = "torch-file-") {
  const char* folder = std::getenv("TMPDIR");
  std::string name = std::string(folder ? folder : "/tmp") + "/" + prefix + "XXXXXX";
  int fd = ::mkstemp(name.data());
  return fd < 0 ? std::nullopt : std::optional<TempFile>(std::in_place, std::move(name), fd);
}
inline TempFile make_tempfile(const std::string& prefix = "torch-file-") {
  std::optional<TempFile> made = try_make_tempfile(prefix);
  TORCH_CHECK(made, "no temporary file could be made");
  return std::move(*made);
}

}  // namespace c10
