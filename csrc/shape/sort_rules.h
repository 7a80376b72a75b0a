// Rules of ordering, searching and running totals.
#pragma once
#include <string_view>
#include <tuple>

#include "shape/spec.h"

namespace taeda::shape {

using ValuesAndIndices = std::tuple<Spec, Spec>;

ValuesAndIndices sort(const Tensor& self, std::optional<bool> stable, int64_t dim, bool descending);
ValuesAndIndices topk(const Tensor& self, int64_t k, int64_t dim, bool largest, bool sorted);
ValuesAndIndices kthvalue(const Tensor& self, int64_t k, int64_t dim, bool keepdim);
ValuesAndIndices select_along(const Tensor& self, int64_t dim, bool keepdim);
ValuesAndIndices running_extreme(const Tensor& self, int64_t dim);
Spec running_total(const Tensor& self, int64_t dim, std::optional<DType> dtype);
Spec logcumsumexp(const Tensor& self, int64_t dim);
Spec searchsorted(const Tensor& sorted_sequence, const Tensor& self, bool out_int32, bool right,
                  std::optional<std::string_view> side, const Tensor& sorter);
Spec histc(const Tensor& self, int64_t bins, const Scalar& min, const Scalar& max);

}  // namespace taeda::shape
