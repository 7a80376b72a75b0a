// Elements by their indices, in torch::headeronly.
#pragma once
#include <ATen/core/TensorAccessor.h>

namespace torch::headeronly {
template <class T, size_t N, template <class U> class PtrTraits = at::DefaultPtrTraits, class index_t = int64_t>
using HeaderOnlyTensorAccessor = at::TensorAccessor<T, N, PtrTraits, index_t>;
using at::DefaultPtrTraits, at::RestrictPtrTraits;
}  // namespace torch::headeronly
