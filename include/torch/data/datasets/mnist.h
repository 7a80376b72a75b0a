// Handwritten digits (LeCun et al.) from the four files of a folder, not compressed: images (1, 28, 28) in 0..1,
// digits.
#pragma once
#include <torch/data/datasets/base.h>

namespace torch::data::datasets {

class TORCH_API MNIST : public Dataset<MNIST> {
 public:
  enum class Mode { kTrain, kTest };
  // RuntimeError if the files are not in the folder, or are others.
  explicit MNIST(const std::string& root, Mode mode = Mode::kTrain);
  Example<> get(size_t index) override;
  std::optional<size_t> size() const override;
  bool is_train() const noexcept { return is_train_; }
  const Tensor& images() const { return images_; }
  const Tensor& targets() const { return targets_; }

 private:
  Tensor images_, targets_;
  bool is_train_;
};

}  // namespace torch::data::datasets
