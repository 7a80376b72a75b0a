// How batches are loaded.
#pragma once
#include <chrono>

#include <torch/arg.h>
#include <torch/types.h>

namespace torch::data {

struct DataLoaderOptions {
  DataLoaderOptions() = default;
  DataLoaderOptions(size_t batch_size) : batch_size_(batch_size) {}
  TORCH_ARG(size_t, batch_size) = 1;
  TORCH_ARG(size_t, workers) = 0;                   // threads; 0 loads where batches are asked for
  TORCH_ARG(std::optional<size_t>, max_jobs) = {};  // batches loaded ahead; twice the workers by default
  TORCH_ARG(std::optional<std::chrono::milliseconds>, timeout) = {};
  TORCH_ARG(bool, enforce_ordering) = true;  // batches come in the order of the sampler
  TORCH_ARG(bool, drop_last) = false;        // leaves out a last batch that is smaller
};
struct FullDataLoaderOptions {
  explicit FullDataLoaderOptions(DataLoaderOptions options)
      : batch_size(options.batch_size()),
        workers(options.workers()),
        max_jobs(options.max_jobs().value_or(2 * workers)),
        timeout(options.timeout()),
        enforce_ordering(options.enforce_ordering()),
        drop_last(options.drop_last()) {}
  size_t batch_size, workers, max_jobs;
  std::optional<std::chrono::milliseconds> timeout;
  bool enforce_ordering, drop_last;
};

}  // namespace torch::data
