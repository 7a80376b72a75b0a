#include <caffe2/serialize/inline_container.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace caffe2::serialize {

namespace {

std::string stem(const std::string& file_name) {
  std::string name = std::filesystem::path(file_name).stem().string();
  return name.empty() ? "archive" : name;
}

PyTorchStreamWriter::Write to_file(const std::string& file_name) {
  auto file = std::make_shared<std::ofstream>(file_name, std::ios::binary);
  TORCH_CHECK(*file, "the file ", file_name, " could not be written");
  return [file](const void* data, size_t size) {
    file->write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
    file->close();
    return file->fail() ? 0 : size;
  };
}

}  // namespace

// --- reading
PyTorchStreamReader::PyTorchStreamReader(const std::string& file_name)
    : archive_(::taeda::jit::ArchiveReader::of_file(file_name)) {}
PyTorchStreamReader::PyTorchStreamReader(std::istream* in)
    : archive_(std::string(std::istreambuf_iterator<char>(*in), {}), "the stream") {}

std::tuple<at::DataPtr, size_t> PyTorchStreamReader::getRecord(const std::string& name,
                                                               std::optional<at::Allocator*> allocator) const {
  const std::string_view bytes = archive_.record(name);
  at::DataPtr data;
  if (allocator && *allocator) {
    data = (*allocator)->allocate(bytes.size());
  } else {
    char* block = new char[bytes.size() + 1];
    data = at::DataPtr(block, block, [](void* context) { delete[] static_cast<char*>(context); }, at::kCPU);
  }
  std::memcpy(data.get(), bytes.data(), bytes.size());
  return {std::move(data), bytes.size()};
}
size_t PyTorchStreamReader::getRecord(const std::string& name, void* dst, size_t n) const {
  const std::string_view bytes = archive_.record(name);
  TORCH_CHECK(bytes.size() == n, "the record ", name, " has ", bytes.size(), " bytes; ", n, " are asked for");
  std::memcpy(dst, bytes.data(), n);
  return n;
}
uint64_t PyTorchStreamReader::version() const {
  const std::string_view text = archive_.record(archive_.has("version") ? "version" : ".data/version");
  uint64_t number = 0;
  TORCH_CHECK(std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc(),
              "the archive has no version of its format");
  return number;
}

// --- writing
PyTorchStreamWriter::PyTorchStreamWriter(const std::string& archive_name)
    : name_(stem(archive_name)), write_(to_file(archive_name)), archive_(name_) {}
PyTorchStreamWriter::PyTorchStreamWriter(const Write& writer_func)
    : name_("archive"), write_(writer_func), archive_(name_) {}
PyTorchStreamWriter::~PyTorchStreamWriter() {
  try {
    if (!finalized_) writeEndOfFile();
  } catch (const std::exception& error) {
    TORCH_WARN("the archive ", name_, " was not written: ", error.what());
  }
}

void PyTorchStreamWriter::writeRecord(const std::string& name, const void* data, size_t size, bool) {
  TORCH_CHECK(!finalized_, "the archive ", name_, " has ended");
  TORCH_CHECK(std::ranges::count(written_, name) == 0, "the archive has a record of the name '", name, "' already");
  archive_.write(name, {static_cast<const char*>(data), size});
  written_.push_back(name);
}
void PyTorchStreamWriter::writeEndOfFile() {
  TORCH_CHECK(!finalized_, "the archive ", name_, " has ended");
  finalized_ = true;
  const std::string bytes = archive_.finish();
  TORCH_CHECK(write_(bytes.data(), bytes.size()) == bytes.size(), "the archive ", name_, " could not be written");
}

}  // namespace caffe2::serialize
