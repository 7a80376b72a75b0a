// Jobs to threads, and results back; it knows how many are on the way. The thread that pushes jobs pops results.
#pragma once
#include <torch/data/detail/queue.h>

namespace torch::data::detail {

template <class Job, class Result>
class DataShuttle {
 public:
  void push_job(Job job) {
    jobs_.push(std::move(job));
    ++in_flight_;
  }
  void push_result(Result result) { results_.push(std::move(result)); }
  Job pop_job() { return jobs_.pop(); }
  // None where no job is on the way; an error if none ended in that time.
  std::optional<Result> pop_result(std::optional<std::chrono::milliseconds> timeout = std::nullopt) {
    if (in_flight_ == 0) return std::nullopt;
    Result result = results_.pop(timeout);
    --in_flight_;
    return result;
  }
  // Takes back the jobs that nobody began, and drops the results of the others.
  void drain() {
    in_flight_ -= jobs_.clear();
    while (in_flight_ > 0) pop_result();
  }
  size_t in_flight_jobs() const noexcept { return in_flight_; }

 private:
  Queue<Job> jobs_;
  Queue<Result> results_;
  size_t in_flight_ = 0;
};

}  // namespace torch::data::detail
