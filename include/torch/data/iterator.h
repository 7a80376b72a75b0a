// for (auto& batch : *loader).
#pragma once
#include <functional>
#include <iterator>
#include <memory>
#include <optional>

#include <c10/util/Exception.h>

namespace torch::data {

template <class Batch>
class Iterator {
 public:
  using difference_type = std::ptrdiff_t;
  using value_type = Batch;
  using pointer = Batch*;
  using reference = Batch&;
  using iterator_category = std::input_iterator_tag;

  Iterator() = default;  // the end
  explicit Iterator(std::function<std::optional<Batch>()> next)
      : state_(std::make_shared<State>(State{std::move(next), {}})) {
    advance();
  }
  Iterator& operator++() {
    TORCH_CHECK(state_, "Incrementing the DataLoader's past-the-end iterator is not allowed");
    advance();
    return *this;
  }
  Batch& operator*() {
    TORCH_CHECK(state_, "Dereferencing the DataLoader's past-the-end iterator is not allowed");
    return *state_->batch;
  }
  Batch* operator->() { return &**this; }
  bool operator==(const Iterator& other) const { return state_ == other.state_; }

 private:
  struct State {
    std::function<std::optional<Batch>()> next;
    std::optional<Batch> batch;
  };
  void advance() {
    state_->batch = state_->next();
    if (!state_->batch) state_ = nullptr;
  }
  std::shared_ptr<State> state_;
};

}  // namespace torch::data
