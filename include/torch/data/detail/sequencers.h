// The order in which results of threads are handed out.
#pragma once
#include <functional>
#include <optional>
#include <vector>

namespace torch::data::detail::sequencers {

template <class Result>
struct Sequencer {
  using ResultProducer = std::function<std::optional<Result>()>;
  virtual ~Sequencer() = default;
  virtual std::optional<Result> next(ResultProducer next_result) = 0;
};

// As they come.
template <class Result>
struct NoSequencer final : Sequencer<Result> {
  using typename Sequencer<Result>::ResultProducer;
  std::optional<Result> next(ResultProducer next_result) override { return next_result(); }
};

// By their sequence_number, of which at most max_jobs are on the way.
template <class Result>
struct OrderedSequencer final : Sequencer<Result> {
  using typename Sequencer<Result>::ResultProducer;
  explicit OrderedSequencer(size_t max_jobs) : buffer_(max_jobs > 0 ? max_jobs : 1) {}

  std::optional<Result> next(ResultProducer next_result) override {
    while (!slot(next_sequence_number_)) {
      std::optional<Result> result = next_result();
      if (!result) return std::nullopt;
      size_t number = result->sequence_number;
      slot(number) = std::move(result);
    }
    std::optional<Result> found = std::move(slot(next_sequence_number_));
    slot(next_sequence_number_++).reset();
    return found;
  }

  size_t next_sequence_number_ = 0;
  std::vector<std::optional<Result>> buffer_;

 private:
  std::optional<Result>& slot(size_t number) { return buffer_.at(number % buffer_.size()); }
};

}  // namespace torch::data::detail::sequencers
