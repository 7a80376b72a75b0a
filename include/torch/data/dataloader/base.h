// What loaders share: threads that make batches, and the order in which these come.
#pragma once
#include <thread>

#include <torch/data/dataloader_options.h>
#include <torch/data/detail/data_shuttle.h>
#include <torch/data/detail/sequencers.h>
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
    TORCH_CHECK(shuttle_.in_flight_jobs() == 0,
                "DataLoader: an iterator is under way; begin() again when it is at its end");
    reset();
    return Iterator<Batch>([this] { return next(); });
  }
  Iterator<Batch> end() { return {}; }
  // Ends the threads; the loader gives no batches after that.
  void join() {
    if (joined_) return;
    joined_ = true;
    shuttle_.drain();
    for (size_t w = 0; w < workers_.size(); ++w) shuttle_.push_job({0, std::nullopt});
    for (std::thread& worker : workers_) worker.join();
    workers_.clear();
  }
  const FullDataLoaderOptions& options() const noexcept { return options_; }

 protected:
  virtual std::optional<BatchRequestType> get_batch_request() = 0;
  virtual void reset() {
    sequence_number_ = 0;
    if (options_.workers == 0) return;
    if (options_.enforce_ordering)
      sequencer_ = std::make_unique<detail::sequencers::OrderedSequencer<Result>>(options_.max_jobs);
    else
      sequencer_ = std::make_unique<detail::sequencers::NoSequencer<Result>>();
    for (size_t i = 0; i < options_.max_jobs; ++i) push_job();
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
    size_t sequence_number;
    std::optional<BatchRequestType> request;  // none: the thread ends
  };
  struct Result {
    size_t sequence_number;
    std::optional<Batch> batch;
    std::exception_ptr error;
  };

  std::optional<Batch> next() {
    if (options_.workers == 0) {
      std::optional<BatchRequestType> request = get_batch_request();
      if (!request) return std::nullopt;
      return main_thread_dataset_->get_batch(std::move(*request));
    }
    while (auto result = sequencer_->next([this] { return shuttle_.pop_result(options_.timeout); })) {
      if (result->error) throw WorkerException(result->error);
      if (result->batch) {
        push_job();
        return std::move(result->batch);
      }
    }
    return std::nullopt;
  }
  void push_job() {
    if (std::optional<BatchRequestType> request = get_batch_request())
      shuttle_.push_job({sequence_number_++, std::move(request)});
  }
  void work(Dataset& dataset) {
    while (true) {
      Job job = shuttle_.pop_job();
      if (!job.request) return;
      Result result{job.sequence_number, std::nullopt, nullptr};
      try {
        result.batch = dataset.get_batch(std::move(*job.request));
      } catch (...) {
        result.error = std::current_exception();
      }
      shuttle_.push_result(std::move(result));
    }
  }

  std::vector<std::thread> workers_;
  detail::DataShuttle<Job, Result> shuttle_;
  std::unique_ptr<detail::sequencers::Sequencer<Result>> sequencer_;
  size_t sequence_number_ = 0;
};

}  // namespace torch::data
