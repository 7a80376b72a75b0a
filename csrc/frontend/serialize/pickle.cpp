#include <taeda/jit/archive.h>
#include <torch/serialize.h>

namespace torch {

std::vector<char> pickle_save(const torch::IValue& ivalue) {
  ::taeda::jit::ArchiveWriter to("archive");
  to.write_value("data", ivalue);
  std::string bytes = to.finish();
  return {bytes.begin(), bytes.end()};
}

torch::IValue pickle_load(const std::vector<char>& data) {
  return ::taeda::jit::ArchiveReader(std::string(data.begin(), data.end()), "the buffer").value("data");
}

}  // namespace torch
