// What loaders share: threads that make batches, and the order in which these come.
#pragma once
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include <torch/data/dataloader_options.h>
#include <torch/data/iterator.h>
#include <torch/data/worker_exception.h>

namespace torch::data {

template <class Dataset, class Batch, class BatchRequest>
class DataLoaderBase {
 public:
  using BatchType = Batch;
  using BatchRequestType = BatchRequest;

  DataLoaderBase(DataLoaderOptions options, std::unique_ptr<Dataset> main_thread_dataset = nullptr)
      : options_(options), main_thread_dataset_(std::move(main_thread_dataset)) {}
  DataLoaderBase(const DataLoaderBase&) = delete;
  virtual ~DataLoaderBase() { join(); }

  // Starts over. An error while batches of an earlier iterator are outstanding.
  Iterator<Batch> begin() {
    TORCH_CHECK(in_flight_ == 0,
                "Attempted to get a new DataLoader iterator while another iterator is not yet "
                "exhausted");
    reset();
    return Iterator<Batch>([this] { return next(); });
  }
  Iterator<Batch> end() { return {}; }
  // Ends the threads; the loader gives no batches after that.
  void join() {
    if (joined_) return;
    joined_ = true;
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    jobs_changed_.notify_all();
    for (std::thread& worker : workers_) worker.join();
    workers_.clear();
    in_flight_ = 0;
  }
  const FullDataLoaderOptions& options() const noexcept { return options_; }

 protected:
  virtual std::optional<BatchRequestType> get_batch_request() = 0;
  virtual void reset() {
    next_number_ = wanted_number_ = 0;
    for (size_t i = 0; i < options_.max_jobs && options_.workers > 0; ++i) push_job();
  }
  void start_workers(const Dataset& dataset) {
    for (size_t w = 0; w < options_.workers; ++w)
      workers_.emplace_back([this, copy = std::make_shared<Dataset>(dataset)] { work(*copy); });
  }

  const FullDataLoaderOptions options_;
  std::unique_ptr<Dataset> main_thread_dataset_;
  bool joined_ = false;

 private:
  struct Job {
    size_t number;
    BatchRequestType request;
  };
  struct Result {
    size_t number;
    std::optional<Batch> batch;
    std::exception_ptr error;
  };

  std::optional<Batch> next() {
    if (options_.workers == 0) {
      std::optional<BatchRequestType> request = get_batch_request();
      if (!request) return std::nullopt;
      return main_thread_dataset_->get_batch(std::move(*request));
    }
    while (in_flight_ > 0) {
      Result result = take();
      --in_flight_;
      if (result.error) throw WorkerException(result.error);
      if (result.batch) {
        push_job();
        return std::move(result.batch);
      }
    }
    return std::nullopt;
  }
  void push_job() {
    std::optional<BatchRequestType> request = get_batch_request();
    if (!request) return;
    {
      std::lock_guard lock(mutex_);
      jobs_.push_back({next_number_++, std::move(*request)});
    }
    ++in_flight_;
    jobs_changed_.notify_one();
  }
  // The next result: in the order of requests if that is asked for.
  Result take() {
    std::unique_lock lock(mutex_);
    auto is_there = [&] {
      return !results_.empty() && (!options_.enforce_ordering || results_.begin()->first == wanted_number_);
    };
    if (options_.timeout) {
      TORCH_CHECK(results_changed_.wait_for(lock, *options_.timeout, is_there),
                  "Timeout in DataLoader queue while waiting for next batch (timeout was ", options_.timeout->count(),
                  " ms)");
    } else {
      results_changed_.wait(lock, is_there);
    }
    Result result = std::move(results_.begin()->second);
    results_.erase(results_.begin());
    ++wanted_number_;
    return result;
  }
  void work(Dataset& dataset) {
    while (true) {
      std::optional<Job> job;
      {
        std::unique_lock lock(mutex_);
        jobs_changed_.wait(lock, [&] { return stopping_ || !jobs_.empty(); });
        if (stopping_) return;
        job = std::move(jobs_.front());
        jobs_.pop_front();
      }
      Result result{job->number, std::nullopt, nullptr};
      try {
        result.batch = dataset.get_batch(std::move(job->request));
      } catch (...) {
        result.error = std::current_exception();
      }
      {
        std::lock_guard lock(mutex_);
        results_.emplace(result.number, std::move(result));
      }
      results_changed_.notify_one();
    }
  }

  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable jobs_changed_, results_changed_;
  std::deque<Job> jobs_;
  std::map<size_t, Result> results_;
  size_t next_number_ = 0, wanted_number_ = 0, in_flight_ = 0;
  bool stopping_ = false;
};

}  // namespace torch::data
