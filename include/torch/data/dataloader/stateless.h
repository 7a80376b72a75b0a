// Loads what a sampler asks for.
#pragma once
#include <torch/data/dataloader/base.h>

namespace torch::data {

template <class Dataset, class Sampler>
class StatelessDataLoader
    : public DataLoaderBase<Dataset, typename Dataset::BatchType, typename Sampler::BatchRequestType> {
  using Base = DataLoaderBase<Dataset, typename Dataset::BatchType, typename Sampler::BatchRequestType>;

 public:
  using typename Base::BatchRequestType;
  StatelessDataLoader(Dataset dataset, Sampler sampler, DataLoaderOptions options)
      : Base(options), sampler_(std::move(sampler)) {
    if (this->options_.workers == 0)
      this->main_thread_dataset_ = std::make_unique<Dataset>(std::move(dataset));
    else
      this->start_workers(dataset);
  }
  ~StatelessDataLoader() override { this->join(); }

 private:
  void reset() override {
    sampler_.reset(std::nullopt);
    Base::reset();
  }
  std::optional<BatchRequestType> get_batch_request() override {
    auto indices = sampler_.next(this->options_.batch_size);
    if (!indices || (indices->size() < this->options_.batch_size && this->options_.drop_last)) return std::nullopt;
    return indices;
  }
  Sampler sampler_;
};

}  // namespace torch::data
