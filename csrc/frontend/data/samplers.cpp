#include <torch/data/samplers.h>

#include <numeric>
#include <random>

namespace torch::data::samplers {

namespace {

void write_number(serialize::OutputArchive& archive, const char* name, size_t value) {
  archive.write(name, torch::tensor(static_cast<int64_t>(value), torch::kInt64), true);
}
size_t read_number(serialize::InputArchive& archive, const char* name) {
  Tensor value;
  archive.read(name, value, true);
  return static_cast<size_t>(value.item<int64_t>());
}

}  // namespace

// --- random
RandomSampler::RandomSampler(int64_t size, Dtype index_dtype)
    : indices_(torch::randperm(size, torch::TensorOptions(index_dtype))) {}
void RandomSampler::reset(std::optional<size_t> new_size) {
  const int64_t size = new_size ? static_cast<int64_t>(*new_size) : indices_.numel();
  indices_ = torch::randperm(size, indices_.options());
  index_ = 0;
}
std::optional<std::vector<size_t>> RandomSampler::next(size_t batch_size) {
  const int64_t left = indices_.numel() - index_;
  if (left == 0) return std::nullopt;
  const int64_t count = std::min(left, static_cast<int64_t>(batch_size));
  Tensor slice = indices_.slice(0, index_, index_ + count).to(torch::kInt64);
  const int64_t* numbers = slice.const_data_ptr<int64_t>();
  index_ += count;
  return std::vector<size_t>(numbers, numbers + count);
}
void RandomSampler::save(serialize::OutputArchive& archive) const {
  write_number(archive, "index", index());
  archive.write("indices", indices_, true);
}
void RandomSampler::load(serialize::InputArchive& archive) {
  index_ = static_cast<int64_t>(read_number(archive, "index"));
  archive.read("indices", indices_, true);
}

// --- sequential
void SequentialSampler::reset(std::optional<size_t> new_size) {
  if (new_size) size_ = *new_size;
  index_ = 0;
}
std::optional<std::vector<size_t>> SequentialSampler::next(size_t batch_size) {
  if (index_ == size_) return std::nullopt;
  std::vector<size_t> batch(std::min(batch_size, size_ - index_));
  std::iota(batch.begin(), batch.end(), index_);
  index_ += batch.size();
  return batch;
}
void SequentialSampler::save(serialize::OutputArchive& archive) const { write_number(archive, "index", index_); }
void SequentialSampler::load(serialize::InputArchive& archive) { index_ = read_number(archive, "index"); }

// --- stream
void StreamSampler::reset(std::optional<size_t> new_size) {
  if (new_size) epoch_size_ = *new_size;
  examples_retrieved_so_far_ = 0;
}
std::optional<BatchSize> StreamSampler::next(size_t batch_size) {
  if (examples_retrieved_so_far_ >= epoch_size_) return std::nullopt;
  const size_t count = std::min(batch_size, epoch_size_ - examples_retrieved_so_far_);
  examples_retrieved_so_far_ += count;
  return BatchSize(count);
}
void StreamSampler::save(serialize::OutputArchive& archive) const {
  write_number(archive, "examples_retrieved_so_far", examples_retrieved_so_far_);
}
void StreamSampler::load(serialize::InputArchive& archive) {
  examples_retrieved_so_far_ = read_number(archive, "examples_retrieved_so_far");
}

// --- distributed
void DistributedListSampler::reset(std::optional<size_t> new_size) {
  TORCH_CHECK(rank_ < num_replicas_, "a distributed sampler's rank is below num_replicas (", num_replicas_, "); got ",
              rank_);
  if (new_size) size_ = *new_size;
  const size_t count = local_sample_count();
  std::vector<size_t> all(count * num_replicas_);
  for (size_t i = 0; i < all.size(); ++i) all[i] = i % size_;
  shuffle(all);
  auto first = all.begin() + static_cast<std::ptrdiff_t>(rank_ * count);
  mine_.assign(first, first + static_cast<std::ptrdiff_t>(count));
  sample_index_ = 0;
}
std::optional<std::vector<size_t>> DistributedListSampler::next(size_t batch_size) {
  if (sample_index_ == mine_.size()) return std::nullopt;
  const size_t end = std::min(sample_index_ + batch_size, mine_.size());
  std::vector<size_t> batch(mine_.begin() + static_cast<std::ptrdiff_t>(sample_index_),
                            mine_.begin() + static_cast<std::ptrdiff_t>(end));
  sample_index_ = end;
  return batch;
}
void DistributedListSampler::save(serialize::OutputArchive& archive) const {
  write_number(archive, "sample_index_", sample_index_);
  write_number(archive, "epoch_", epoch());
}
void DistributedListSampler::load(serialize::InputArchive& archive) {
  set_epoch(read_number(archive, "epoch_"));
  reset(size_);
  sample_index_ = std::min(read_number(archive, "sample_index_"), mine_.size());
}

DistributedRandomSampler::DistributedRandomSampler(size_t size, size_t num_replicas, size_t rank, bool allow_duplicates)
    : DistributedListSampler(size, num_replicas, rank, allow_duplicates) {
  reset(size_);
}
void DistributedRandomSampler::shuffle(std::vector<size_t>& all) const {
  std::mt19937 random(static_cast<uint32_t>(epoch_));
  std::shuffle(all.begin(), all.end(), random);
}
DistributedSequentialSampler::DistributedSequentialSampler(size_t size, size_t num_replicas, size_t rank,
                                                           bool allow_duplicates)
    : DistributedListSampler(size, num_replicas, rank, allow_duplicates) {
  reset(size_);
}

}  // namespace torch::data::samplers
