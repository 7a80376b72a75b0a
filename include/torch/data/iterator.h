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
  explicit Iterator(std::function<std::optional<Batch>()> next) : state_(std::make_shared<State>(std::move(next))) {}
  Iterator& operator++() {
    TORCH_CHECK(!is_end(), "DataLoader: the iterator is at the end; it goes no further");
    state_->advance();
    return *this;
  }
  Batch& operator*() {
    TORCH_CHECK(!is_end(), "DataLoader: the iterator is at the end, where there is no batch");
    return *state_->batch;
  }
  Batch* operator->() { return &**this; }
  bool operator==(const Iterator& other) const { return state_ == other.state_ || (is_end() && other.is_end()); }

 private:
  // The first batch is asked for when somebody looks, so that a worker's exception meets whoever does.
  struct State {
    explicit State(std::function<std::optional<Batch>()> from) : next(std::move(from)) {}
    void advance() {
      is_started = true;
      batch = next();
    }
    std::function<std::optional<Batch>()> next;
    std::optional<Batch> batch;
    bool is_started = false;
  };
  bool is_end() const {
    if (state_ && !state_->is_started) state_->advance();
    return !state_ || !state_->batch;
  }
  std::shared_ptr<State> state_;
};

}  // namespace torch::data
