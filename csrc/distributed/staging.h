// Tensors as memory without gaps: that of the tensor, or a copy for the time of a collective.
#pragma once
#include "distributed/algorithms.h"

namespace taeda::distributed {

class Staged {
 public:
  // Value and Type errors for what has no such memory (another device or layout) or cannot be written (elements that
  // share it).
  Staged(const Tensor& tensor, bool written);
  Part part() const { return {memory_.data<char>(), memory_.numel(), memory_.dtype()}; }
  // Fills the copy, where there is one; empties it into the tensor.
  void load() const;
  void store() const;
  const Tensor& tensor() const { return tensor_; }

 private:
  Tensor tensor_, memory_;
};

}  // namespace taeda::distributed
