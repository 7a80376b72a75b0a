// The records of an archive, as torch.save and torch.jit.save write it: read by name, and written.
#pragma once
#include <functional>
#include <istream>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <c10/core/Allocator.h>
#include <taeda/jit/archive.h>

namespace caffe2::serialize {

// An error of an archive that is damaged, or of a record that it does not have, is a RuntimeError that says so.
class TORCH_API PyTorchStreamReader final {
 public:
  explicit PyTorchStreamReader(const std::string& file_name);
  explicit PyTorchStreamReader(std::istream* in);

  bool hasRecord(const std::string& name) const { return archive_.has(name); }
  std::vector<std::string> getAllRecords() const { return archive_.records(); }
  std::tuple<at::DataPtr, size_t> getRecord(const std::string& name,
                                            std::optional<at::Allocator*> allocator = std::nullopt) const;
  // Into n bytes, which it must have.
  size_t getRecord(const std::string& name, void* dst, size_t n) const;
  size_t getRecordSize(const std::string& name) const { return archive_.record(name).size(); }
  uint64_t version() const;  // of the format

 private:
  ::taeda::jit::ArchiveReader archive_;
};

class TORCH_API PyTorchStreamWriter final {
 public:
  using Write = std::function<size_t(const void*, size_t)>;
  explicit PyTorchStreamWriter(const std::string& archive_name);  // a file, whose stem names the folder of the records
  explicit PyTorchStreamWriter(const Write& writer_func);
  ~PyTorchStreamWriter();  // ends the file, if nobody did
  PyTorchStreamWriter(const PyTorchStreamWriter&) = delete;

  // Records are stored as they are, whether or not compression is allowed.
  void writeRecord(const std::string& name, const void* data, size_t size, bool compress = false);
  void writeEndOfFile();
  const std::vector<std::string>& getAllWrittenRecords() const { return written_; }
  const std::string& archiveName() const { return name_; }
  bool finalized() const { return finalized_; }

 private:
  std::string name_;
  Write write_;
  ::taeda::jit::ArchiveWriter archive_;
  std::vector<std::string> written_;
  bool finalized_ = false;
};

}  // namespace caffe2::serialize
