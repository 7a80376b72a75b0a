// A list of examples to one.
#pragma once
#include <torch/data/example.h>
#include <torch/data/transforms/lambda.h>

namespace torch::data::transforms {
template <class T = Example<>, class BatchType = std::vector<T>>
using Collation = BatchTransform<BatchType, T>;
template <class T = Example<>, class BatchType = std::vector<T>>
using Collate = BatchLambda<BatchType, T>;
}  // namespace torch::data::transforms
