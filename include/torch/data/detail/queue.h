// A queue that threads share; who takes from it waits for something to come.
#pragma once
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>

#include <c10/util/Exception.h>

namespace torch::data::detail {

template <class T>
class Queue {
 public:
  void push(T value) {
    {
      std::lock_guard lock(mutex_);
      values_.push_back(std::move(value));
    }
    changed_.notify_one();
  }
  // An error if nothing came in that time.
  T pop(std::optional<std::chrono::milliseconds> timeout = std::nullopt) {
    std::unique_lock lock(mutex_);
    auto is_there = [this] { return !values_.empty(); };
    if (timeout) {
      TORCH_CHECK(changed_.wait_for(lock, *timeout, is_there), "DataLoader: no batch came within the timeout of ",
                  timeout->count(), " ms");
    } else {
      changed_.wait(lock, is_there);
    }
    T value = std::move(values_.front());
    values_.pop_front();
    return value;
  }
  // How many there were.
  size_t clear() {
    std::lock_guard lock(mutex_);
    size_t count = values_.size();
    values_.clear();
    return count;
  }

 private:
  std::deque<T> values_;
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace torch::data::detail
