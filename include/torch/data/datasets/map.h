// A dataset with a transformation of its batches.
#pragma once
#include <torch/data/datasets/base.h>

namespace torch::data::datasets {
namespace detail {
template <bool is, class T>
using optional_if_t = std::conditional_t<is, std::optional<T>, T>;
}  // namespace detail

template <class SourceDataset, class AppliedTransform>
class MapDataset
    : public BatchDataset<MapDataset<SourceDataset, AppliedTransform>,
                          detail::optional_if_t<SourceDataset::is_stateful, typename AppliedTransform::OutputBatchType>,
                          typename SourceDataset::BatchRequestType> {
 public:
  using DatasetType = SourceDataset;
  using TransformType = AppliedTransform;
  using BatchRequestType = typename SourceDataset::BatchRequestType;
  using OutputBatchType = detail::optional_if_t<SourceDataset::is_stateful, typename AppliedTransform::OutputBatchType>;

  MapDataset(DatasetType dataset, TransformType transform)
      : dataset_(std::move(dataset)), transform_(std::move(transform)) {}
  OutputBatchType get_batch(BatchRequestType indices) override {
    auto batch = dataset_.get_batch(std::move(indices));
    if constexpr (SourceDataset::is_stateful)
      return batch ? OutputBatchType(transform_.apply_batch(std::move(*batch))) : std::nullopt;
    else
      return transform_.apply_batch(std::move(batch));
  }
  std::optional<size_t> size() const noexcept override { return dataset_.size(); }
  void reset() { dataset_.reset(); }
  const SourceDataset& dataset() noexcept { return dataset_; }
  const AppliedTransform& transform() noexcept { return transform_; }

 private:
  SourceDataset dataset_;
  AppliedTransform transform_;
};

template <class DatasetType, class TransformType>
MapDataset<DatasetType, TransformType> map(DatasetType dataset, TransformType transform) {
  using Batch = std::conditional_t<DatasetType::is_stateful, typename DatasetType::BatchType,
                                   std::optional<typename DatasetType::BatchType>>;
  static_assert(std::is_same_v<typename Batch::value_type, typename TransformType::InputBatchType>,
                "the transformation takes another type of batch than the dataset gives");
  return {std::move(dataset), std::move(transform)};
}

}  // namespace torch::data::datasets
