// Files that are gone when their handle is.
#pragma once
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <utility>

#include <c10/util/Exception.h>
#include <c10/util/Optional.h>

namespace c10 {

namespace detail {
inline std::string temporary_name(const std::string& prefix) {
  const char* folder = std::getenv("TMPDIR");
  return std::string(folder ? folder : "/tmp") + "/" + prefix + "XXXXXX";
}
}  // namespace detail

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
  std::string name = detail::temporary_name(prefix);
  int fd = ::mkstemp(name.data());
  return fd < 0 ? std::nullopt : std::optional<TempFile>(std::in_place, std::move(name), fd);
}
inline TempFile make_tempfile(const std::string& prefix = "torch-file-") {
  std::optional<TempFile> made = try_make_tempfile(prefix);
  TORCH_CHECK(made, "no temporary file could be made");
  return std::move(*made);
}

// A folder that is removed when it is empty.
struct TempDir {
  explicit TempDir(std::string name) : name(std::move(name)) {}
  TempDir(TempDir&& other) noexcept : name(std::exchange(other.name, std::string())) {}
  TempDir& operator=(TempDir&& other) noexcept {
    std::swap(name, other.name);
    return *this;
  }
  ~TempDir() {
    if (!name.empty()) ::rmdir(name.c_str());
  }
  std::string name;
};

inline std::optional<TempDir> try_make_tempdir(const std::string& prefix = "torch-dir-") {
  std::string name = detail::temporary_name(prefix);
  return ::mkdtemp(name.data()) ? std::optional<TempDir>(std::in_place, std::move(name)) : std::nullopt;
}
inline TempDir make_tempdir(const std::string& prefix = "torch-dir-") {
  std::optional<TempDir> made = try_make_tempdir(prefix);
  TORCH_CHECK(made, "no temporary folder could be made");
  return std::move(*made);
}

}  // namespace c10
