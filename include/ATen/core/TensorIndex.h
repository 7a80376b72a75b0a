// What stands between the brackets of an index: None, Ellipsis, Slice, a number, a truth value or a tensor.
#pragma once
#include <c10/core/SymInt.h>

namespace at {
class Tensor;
namespace indexing {

struct NoneType {};
constexpr std::nullopt_t None = std::nullopt;
struct EllipsisIndexType {};
constexpr EllipsisIndexType Ellipsis;
constexpr int64_t INDEX_MIN = INT64_MIN, INDEX_MAX = -(INDEX_MIN + 1);

class Slice {
 public:
  Slice(std::optional<c10::SymInt> start = std::nullopt, std::optional<c10::SymInt> stop = std::nullopt,
        std::optional<c10::SymInt> step = std::nullopt)
      : step_(step ? int64_t(*step) : 1) {
    TORCH_CHECK_VALUE(step_ != 0, "the step of a slice cannot be 0");
    start_ = start ? int64_t(*start) : step_ < 0 ? INDEX_MAX : 0;
    stop_ = stop ? int64_t(*stop) : step_ < 0 ? INDEX_MIN : INDEX_MAX;
  }
  int64_t start() const { return start_; }
  int64_t stop() const { return stop_; }
  int64_t step() const { return step_; }

 private:
  int64_t start_, stop_, step_;
};

struct TensorIndex;  // ATen/core/Tensor.h, as it holds a tensor

}  // namespace indexing
}  // namespace at
