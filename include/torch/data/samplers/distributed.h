// One process's part of all examples: as many in a row as its share, after those of the ranks before it.
#pragma once
#include <torch/data/samplers/base.h>

namespace torch::data::samplers {

template <class BatchRequest = std::vector<size_t>>
class DistributedSampler : public Sampler<BatchRequest> {
 public:
  DistributedSampler(size_t size, size_t num_replicas = 1, size_t rank = 0, bool allow_duplicates = true)
      : size_(size), num_replicas_(num_replicas), rank_(rank), allow_duplicates_(allow_duplicates) {}
  // Another number shuffles otherwise; it takes effect at the next reset().
  void set_epoch(size_t epoch) { epoch_ = epoch; }
  size_t epoch() const { return epoch_; }

 protected:
  // How many examples each process has: the first ones come twice to fill up the last part, or the last ones not at
  // all.
  size_t local_sample_count() const {
    return allow_duplicates_ ? (size_ + num_replicas_ - 1) / num_replicas_ : size_ / num_replicas_;
  }
  size_t size_, num_replicas_, rank_;
  size_t epoch_ = 0;
  bool allow_duplicates_;
};

// What both kinds share: a list of this process's indices, and how far it has been read.
class TORCH_API DistributedListSampler : public DistributedSampler<> {
 public:
  using DistributedSampler<>::DistributedSampler;
  void reset(std::optional<size_t> new_size = std::nullopt) override;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
  size_t index() const noexcept { return sample_index_; }

 protected:
  virtual void shuffle(std::vector<size_t>&) const {}

 private:
  std::vector<size_t> mine_;
  size_t sample_index_ = 0;
};
class TORCH_API DistributedRandomSampler : public DistributedListSampler {
 public:
  DistributedRandomSampler(size_t size, size_t num_replicas = 1, size_t rank = 0, bool allow_duplicates = true);

 private:
  void shuffle(std::vector<size_t>& all) const override;
};
class TORCH_API DistributedSequentialSampler : public DistributedListSampler {
 public:
  DistributedSequentialSampler(size_t size, size_t num_replicas = 1, size_t rank = 0, bool allow_duplicates = true);
};

}  // namespace torch::data::samplers
