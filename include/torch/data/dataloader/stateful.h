// Loads what a dataset that remembers where it is gives.
#pragma once
#include <torch/data/dataloader/base.h>

namespace torch::data {

template <class Dataset>
class StatefulDataLoader
    : public DataLoaderBase<Dataset, typename Dataset::BatchType::value_type, typename Dataset::BatchRequestType> {
  using Base = DataLoaderBase<Dataset, typename Dataset::BatchType::value_type, typename Dataset::BatchRequestType>;

 public:
  using typename Base::BatchRequestType;
  StatefulDataLoader(Dataset dataset, DataLoaderOptions options)
      : Base(options, std::make_unique<Dataset>(std::move(dataset))) {
    this->start_workers(*this->main_thread_dataset_);
  }
  ~StatefulDataLoader() override { this->join(); }

 private:
  void reset() override {
    this->main_thread_dataset_->reset();
    Base::reset();
  }
  std::optional<BatchRequestType> get_batch_request() override { return this->options_.batch_size; }
};

}  // namespace torch::data
