// Data that is read in chunks, each of many examples: threads read chunks in a drawn order, examples are drawn from a
// cache of several.
#pragma once
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include <torch/arg.h>
#include <torch/data/datasets/stateful.h>
#include <torch/data/samplers/random.h>

namespace torch::data::datasets {

// Override these to read chunk i, and to say how many there are.
template <class ExampleType_, class ChunkType_ = std::vector<ExampleType_>>
class ChunkDataReader {
 public:
  using ChunkType = ChunkType_;
  using ExampleType = ExampleType_;
  virtual ~ChunkDataReader() = default;
  virtual ChunkType read_chunk(size_t chunk_index) = 0;
  virtual size_t chunk_count() = 0;
  virtual void reset() = 0;
};

struct ChunkDatasetOptions {
  ChunkDatasetOptions() = delete;
  ChunkDatasetOptions(size_t preloader_count, size_t batch_size, size_t cache_size = 2048,
                      size_t cross_chunk_shuffle_count = 1)
      : preloader_count_(preloader_count),
        batch_size_(batch_size),
        cache_size_(cache_size),
        cross_chunk_shuffle_count_(cross_chunk_shuffle_count) {
    TORCH_CHECK(preloader_count > 0, "ChunkDatasetOptions: preloader_count is at least 1; got 0");
    TORCH_CHECK(batch_size > 0, "ChunkDatasetOptions: batch_size is at least 1; got 0");
    TORCH_CHECK(cache_size >= batch_size, "ChunkDatasetOptions: cache_size holds a batch at least, of ", batch_size,
                "; got ", cache_size);
    TORCH_CHECK(cross_chunk_shuffle_count > 0, "ChunkDatasetOptions: cross_chunk_shuffle_count is at least 1; got 0");
  }
  TORCH_ARG(size_t, preloader_count);
  TORCH_ARG(size_t, batch_size);
  TORCH_ARG(size_t, cache_size) = 2048;
  TORCH_ARG(size_t, cross_chunk_shuffle_count) = 1;
};

template <class ChunkReader, class ChunkSampler = samplers::RandomSampler,
          class ExampleSampler = samplers::RandomSampler>
class ChunkDataset final : public StatefulDataset<ChunkDataset<ChunkReader, ChunkSampler, ExampleSampler>,
                                                  std::vector<typename ChunkReader::ExampleType>, size_t> {
 public:
  using ExampleType = typename ChunkReader::ExampleType;
  using UnwrappedBatchType = std::vector<ExampleType>;
  using BatchType = std::optional<UnwrappedBatchType>;
  using ChunkSamplerType = ChunkSampler;
  using ExampleSamplerType = ExampleSampler;

  ChunkDataset(ChunkReader chunk_reader, ChunkSampler chunk_sampler, ExampleSampler example_sampler,
               ChunkDatasetOptions options, std::function<void(UnwrappedBatchType&)> preprocessing_policy = {})
      : reader_(std::move(chunk_reader)),
        chunk_sampler_(std::move(chunk_sampler)),
        example_sampler_(std::move(example_sampler)),
        options_(std::move(options)),
        preprocess_(std::move(preprocessing_policy)) {}
  ~ChunkDataset() override { stop(); }

  // Of the options' size, which the request must be.
  BatchType get_batch(size_t batch_size) override {
    TORCH_CHECK(batch_size == options_.batch_size(), "ChunkDataset: batches are of ", options_.batch_size(),
                " as its options say; got ", batch_size);
    std::unique_lock lock(mutex_);
    TORCH_CHECK(started_, "ChunkDataset: reset() comes before the first get_batch()");
    UnwrappedBatchType batch;
    while (batch.size() < batch_size) {
      changed_.wait(lock, [&] { return error_ || !ready_.empty() || readers_left_ == 0; });
      if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
      if (ready_.empty()) break;
      batch.push_back(std::move(ready_.front()));
      ready_.pop_front();
      changed_.notify_all();
    }
    if (batch.empty()) return std::nullopt;
    return batch;
  }
  BatchType get_batch() { return get_batch(options_.batch_size()); }

  void reset() override {
    stop();
    reader_.reset();
    if (restored_)
      restored_ = false;
    else
      chunk_sampler_.reset(reader_.chunk_count());
    std::lock_guard lock(mutex_);
    ready_.clear();
    error_ = nullptr;
    stopping_ = false;
    started_ = true;
    readers_left_ = options_.preloader_count();
    for (size_t i = 0; i < options_.preloader_count(); ++i) threads_.emplace_back([this] { read_chunks(); });
  }
  std::optional<size_t> size() const override { return std::nullopt; }
  ChunkSamplerType& chunk_sampler() { return chunk_sampler_; }
  void save(serialize::OutputArchive& archive) const override {
    std::lock_guard lock(chunks_mutex_);
    chunk_sampler_.save(archive);
  }
  void load(serialize::InputArchive& archive) override {
    std::lock_guard lock(chunks_mutex_);
    chunk_sampler_.load(archive);
    restored_ = true;
  }

 private:
  void read_chunks() {
    try {
      while (read_some()) {
      }
    } catch (...) {
      std::lock_guard lock(mutex_);
      error_ = std::current_exception();
    }
    std::lock_guard lock(mutex_);
    --readers_left_;
    changed_.notify_all();
  }
  // Reads as many chunks as are shuffled together; false at the end.
  bool read_some() {
    std::optional<std::vector<size_t>> chunks;
    {
      std::lock_guard lock(chunks_mutex_);
      chunks = chunk_sampler_.next(options_.cross_chunk_shuffle_count());
    }
    if (!chunks) return false;
    UnwrappedBatchType data;
    for (size_t i : *chunks) {
      auto chunk = reader_.read_chunk(i);
      data.insert(data.end(), std::make_move_iterator(chunk.begin()), std::make_move_iterator(chunk.end()));
    }
    if (preprocess_) preprocess_(data);
    if (data.empty()) return true;
    std::unique_lock lock(mutex_);
    example_sampler_.reset(data.size());
    std::vector<size_t> order = *example_sampler_.next(data.size());
    for (size_t i : order) {
      changed_.wait(lock, [&] { return stopping_ || ready_.size() < options_.cache_size(); });
      if (stopping_) return false;
      ready_.push_back(std::move(data[i]));
      changed_.notify_all();
    }
    return true;
  }
  void stop() {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  ChunkReader reader_;
  ChunkSampler chunk_sampler_;
  ExampleSampler example_sampler_;
  const ChunkDatasetOptions options_;
  std::function<void(UnwrappedBatchType&)> preprocess_;
  mutable std::mutex chunks_mutex_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<ExampleType> ready_;
  std::vector<std::thread> threads_;
  std::exception_ptr error_;
  size_t readers_left_ = 0;
  bool started_ = false, stopping_ = false, restored_ = false;
};

}  // namespace torch::data::datasets
