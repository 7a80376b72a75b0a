#include <torch/data/datasets/mnist.h>

#include <fstream>
#include <iterator>

namespace torch::data::datasets {

namespace {

// Yann LeCun's format: numbers of 4 bytes, the highest first, then bytes.
struct File {
  explicit File(const std::string& path_) : path(path_) {
    std::ifstream file(path, std::ios::binary);
    TORCH_CHECK(file, "Error opening ", path, ": is the data set there, not compressed?");
    bytes.assign(std::istreambuf_iterator<char>(file), {});
  }
  int64_t number(size_t i) const {
    TORCH_CHECK(bytes.size() >= 4 * (i + 1), path, " is cut off");
    uint32_t value = 0;
    for (size_t b = 0; b < 4; ++b) value = value << 8 | static_cast<uint8_t>(bytes[4 * i + b]);
    return value;
  }
  Tensor elements(size_t head, IntArrayRef sizes) const {
    int64_t count = 1;
    for (int64_t size : sizes) count *= size;
    TORCH_CHECK(static_cast<int64_t>(bytes.size()) == static_cast<int64_t>(head) * 4 + count, path, " has ",
                bytes.size(), " bytes; expected ", static_cast<int64_t>(head) * 4 + count);
    return torch::from_blob(const_cast<char*>(bytes.data()) + 4 * head, sizes, torch::kByte).clone();
  }
  std::string path, bytes;
};

Tensor read_images(const std::string& path) {
  File file(path);
  TORCH_CHECK(file.number(0) == 2051, path, " holds no images: it begins with ", file.number(0));
  return file.elements(4, {file.number(1), 1, file.number(2), file.number(3)}).to(torch::kFloat32).div_(255);
}
Tensor read_targets(const std::string& path) {
  File file(path);
  TORCH_CHECK(file.number(0) == 2049, path, " holds no digits: it begins with ", file.number(0));
  return file.elements(2, {file.number(1)}).to(torch::kInt64);
}

}  // namespace

MNIST::MNIST(const std::string& root, Mode mode) : is_train_(mode == Mode::kTrain) {
  std::string start = root + (root.ends_with('/') ? "" : "/") + (is_train_ ? "train" : "t10k");
  images_ = read_images(start + "-images-idx3-ubyte");
  targets_ = read_targets(start + "-labels-idx1-ubyte");
}
Example<> MNIST::get(size_t index) {
  auto i = static_cast<int64_t>(index);
  return {images_[i], targets_[i]};
}
std::optional<size_t> MNIST::size() const { return static_cast<size_t>(images_.size(0)); }

}  // namespace torch::data::datasets
