// One position per element along a dimension: gather and the scatter family.
#include "backend/cpu/ops/scatter.h"
#include "backend/cpu/engine/index_offsets.h"
#include "backend/cpu/engine/strided_copy.h"
#include "shape/elementwise.h"
#include "shape/index_rules.h"
#include "taeda/core/overlap.h"
#include "taeda/ops/compare.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"
#include "taeda/ops/view.h"

namespace taeda::cpu {

namespace {

constexpr int64_t kPick = kGrain / 4;

int64_t size_of(const Tensor& t, int64_t dim) { return t.dim() ? t.sizes()[dim] : 1; }

// Writes `from` (a tensor, or an element that stands for all) at the positions of `index` along `dim`. The elements
// that can meet in one place are those along `dim`: one thread writes them, in order.
void scatter(const Tensor& self, int64_t dim, const Tensor& given, const Tensor& src, const char* element,
             Combine combine) {
  shape::check_scatter(self, dim, given, src);
  if (given.numel() == 0) return;
  dim = wrap_dim(dim, self.dim());
  Tensor index = given.dtype() == DType::Int64 ? given : ops::_to_copy(given, DType::Int64);
  check_no_internal_overlap(self);
  shape::check_apart(self, {&given, &src});
  if (share_storage(index, self)) index = ops::clone(index);
  Tensor source = src.defined() && share_storage(src, self) ? ops::clone(src) : src;
  auto source_step = [&](int64_t d) { return source.defined() ? stride_of(source, d) : 0; };
  TensorIterator<3> iterator;  // self, index, source
  for (int64_t d = 0; d < index.dim(); ++d)
    if (d != dim) iterator.add(index.sizes()[d], {stride_of(self, d), stride_of(index, d), source_step(d)});
  iterator.prepare();
  int64_t length = size_of(index, dim), index_along = stride_of(index, dim), source_along = source_step(dim);
  int64_t size = size_of(self, dim), stride = stride_of(self, dim);
  RowOps ops = row_ops(combine, self.dtype());
  auto [self_step, index_step, from_step] = iterator.steps();
  // The inner loop runs where the index is read in order.
  bool across = length == 1 || (iterator.row_size() > 1 && std::abs(index_step) < std::abs(index_along));
  std::atomic<bool> inside = true;
  const char* from = source.defined() ? source.data<char>() : element;
  iterator.run({self.data<char>(), index.data<char>(), const_cast<char*>(from)}, std::max<int64_t>(1, kPick / length),
               [&, self_step = self_step, index_step = index_step, from_step = from_step](const auto& at, int64_t n) {
                 if (across) {
                   for (int64_t k = 0; k < length; ++k)
                     if (ops.at(at[0], self_step, at[1] + k * index_along, index_step, size, stride,
                                at[2] + k * source_along, from_step, n) < n)
                       inside = false;
                 } else {
                   for (int64_t i = 0; i < n; ++i)
                     if (ops.at(at[0] + i * self_step, 0, at[1] + i * index_step, index_along, size, stride,
                                at[2] + i * from_step, source_along, length) < length)
                       inside = false;
                 }
               });
  if (!inside) fail_index(index, size, dim, ErrorKind::Runtime);
}

void scatter_number(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value, Combine combine) {
  TAEDA_CHECK(value.category() != Category::Complex || is_complex(self.dtype()),
              "a complex number cannot be stored in a ", self.dtype(), " tensor");
  alignas(16) char element[sizeof(complex128)];
  store_number(self.dtype(), value, element);
  scatter(self, dim, index, Tensor(), element, combine);
}

Combine arithmetic_named(std::string_view reduce) {
  if (reduce == "add") return Combine::Sum;
  if (reduce == "multiply") return Combine::Prod;
  TAEDA_FAIL(Runtime, "reduce must be add or multiply; got ", reduce);
}

Combine reduction_named(std::string_view reduce) {
  if (reduce == "sum" || reduce == "mean") return Combine::Sum;
  if (reduce == "prod") return Combine::Prod;
  if (reduce == "amax") return Combine::Max;
  if (reduce == "amin") return Combine::Min;
  TAEDA_FAIL(Runtime, "reduce must be sum, prod, mean, amax or amin; got ", reduce);
}

}  // namespace

void gather(const Tensor& self, int64_t dim, const Tensor& given, bool, const Tensor& out) {
  if (out.numel() == 0) return;
  dim = wrap_dim(dim, self.dim());
  Tensor index = given.dtype() == DType::Int64 ? given : ops::_to_copy(given, DType::Int64);
  TensorIterator<3> iterator;  // out, index, self
  for (int64_t d = 0; d < index.dim(); ++d)
    iterator.add(index.sizes()[d], {stride_of(out, d), stride_of(index, d), d == dim ? 0 : stride_of(self, d)});
  iterator.prepare();
  int64_t size = size_of(self, dim), stride = stride_of(self, dim);
  Pick pick = pick_of(self.itemsize());
  auto [to_step, index_step, from_step] = iterator.steps();
  std::atomic<bool> inside = true;
  iterator.run({out.data<char>(), index.data<char>(), self.data<char>()}, kPick,
               [&, to_step = to_step, index_step = index_step, from_step = from_step](const auto& at, int64_t n) {
                 if (pick(at[0], to_step, at[2], from_step, at[1], index_step, size, stride, n) < n) inside = false;
               });
  if (!inside) fail_index(index, size, dim, ErrorKind::Runtime);
}

void scatter_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  scatter(self, dim, index, src, nullptr, Combine::Put);
}

void scatter_(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  scatter_number(self, dim, index, value, Combine::Put);
}

void scatter_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce) {
  scatter(self, dim, index, src, nullptr, arithmetic_named(reduce));
}

void scatter_(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value, std::string_view reduce) {
  scatter_number(self, dim, index, value, arithmetic_named(reduce));
}

void scatter_add_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  scatter(self, dim, index, src, nullptr, Combine::Sum);
}

void scatter_reduce_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce,
                     bool include_self) {
  Combine combine = reduction_named(reduce);
  row_ops(combine, self.dtype());  // raises before anything is written
  alignas(16) char element[sizeof(complex128)];
  neutral_element(combine, self.dtype(), element);
  if (!include_self) {
    shape::check_scatter(self, dim, index, src);
    scatter(self, dim, index, Tensor(), element, Combine::Put);
  }
  scatter(self, dim, index, src, nullptr, combine);
  if (reduce != "mean" || index.numel() == 0) return;
  Tensor count = ops::zeros(self.sizes(), DType::Int64);
  if (include_self) ops::fill_(count, Scalar(1));
  Tensor ones =
      ops::expand(ops::ones(std::vector<int64_t>(static_cast<size_t>(index.dim()), 1), DType::Int64), index.sizes());
  scatter(count, dim, index, ones, nullptr, Combine::Sum);
  divide_mean(self, ops::clamp_min(count, Scalar(1)));
}

}  // namespace taeda::cpu
