// Reading and writing at positions along dimensions.
#include <algorithm>
#include <functional>
#include <numeric>

#include "backend/cpu/engine/index_offsets.h"
#include "backend/cpu/engine/strided_copy.h"
#include "backend/cpu/ops/index.h"
#include "core/insertion_sort.h"
#include "shape/elementwise.h"
#include "taeda/core/determinism.h"
#include "taeda/core/overlap.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/compare.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"
#include "taeda/ops/index.h"
#include "taeda/ops/reshape.h"
#include "taeda/ops/view.h"

namespace taeda::cpu {

namespace {

// The stride, in elements, from one place to the next in dimensions first ... of `t`, `order` from the outermost; none
// where no single stride leads through all.
std::optional<int64_t> one_step(const Tensor& t, size_t first, const std::vector<int64_t>& order) {
  int64_t expected = -1, step = 1;
  for (size_t i = order.size(); i-- > 0;) {
    size_t d = first + static_cast<size_t>(order[i]);
    if (t.sizes()[d] == 1) continue;
    if (expected < 0)
      step = t.strides()[d];
    else if (t.strides()[d] != expected)
      return std::nullopt;
    expected = t.strides()[d] * t.sizes()[d];
  }
  return step;
}

std::vector<int64_t> in_order(size_t count) {
  std::vector<int64_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

// `values` as the result of an index would be laid out: with one stride for all places.
struct Values {
  Tensor tensor;
  std::vector<int64_t> kept_steps;
  int64_t step = 0;
};

Values values_for(const Tensor& values, const shape::Indexed& indexed) {
  size_t first = indexed.at, count = indexed.positions.size();
  TAEDA_CHECK(values.dim() <= static_cast<int64_t>(indexed.sizes.size()), "values of shape ", values.sizes(),
              " do not broadcast to the ", IntList(indexed.sizes), " elements that are indexed");
  for (int64_t d = 1; d <= values.dim(); ++d) {
    int64_t size = values.sizes()[values.dim() - d];
    TAEDA_CHECK(size == 1 || size == indexed.sizes[indexed.sizes.size() - d], "values of shape ", values.sizes(),
                " do not broadcast to the ", IntList(indexed.sizes), " elements that are indexed");
  }
  Values result{ops::expand(values, indexed.sizes), {}, 0};
  std::optional<int64_t> step = one_step(result.tensor, first, in_order(count));
  if (!step) {
    result.tensor = ops::contiguous(result.tensor);
    step = one_step(result.tensor, first, in_order(count));
  }
  int64_t item = values.itemsize();
  result.step = *step * item;
  for (size_t i = 0; i < indexed.kept.size(); ++i)
    result.kept_steps.push_back(result.tensor.strides()[i < first ? i : i + count] * item);
  return result;
}

std::vector<int64_t> others(const Tensor& self, int64_t dim) {
  std::vector<int64_t> result;
  for (int64_t d = 0; d < self.dim(); ++d)
    if (d != dim) result.push_back(d);
  return result;
}

// Writes slices of `source` at positions along a dimension.
void write_along(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, Combine combine,
                 Negative negative, ErrorKind kind) {
  std::vector<int64_t> kept = others(self, dim), steps;
  int64_t item = self.itemsize();
  for (int64_t d : kept) steps.push_back(source.strides()[d] * item);
  int64_t step = source.strides()[dim] * item;
  write_at_offsets(self, source.data<char>(), offsets_along(self, dim, index, negative, kind), {kept, steps, step},
                   combine);
}

Tensor apart_from(const Tensor& source, const Tensor& self) {
  return share_storage(source, self) ? ops::clone(source) : source;
}

// The positions with their dimensions in `order`, which `indexed` follows.
TensorList in_places_order(TensorList positions, shape::Indexed& indexed, const std::vector<int64_t>& order,
                           std::vector<Tensor>& ordered) {
  if (std::ranges::is_sorted(order)) return positions;
  for (const Tensor& t : positions)
    ordered.push_back(t.defined() ? ops::permute(ops::expand(t, indexed.positions), order) : t);
  shape::Dims sizes;
  for (int64_t d : order) sizes.push_back(indexed.positions[d]);
  indexed.positions = sizes;
  return ordered;
}

}  // namespace

void _index_at(const Tensor& self, TensorList positions, const Tensor& out) {
  shape::Indexed indexed = shape::indexed(self, positions);
  if (out.numel() == 0) {
    for (size_t d = 0; d < positions.size(); ++d)
      if (positions[d].defined() && positions[d].numel() && numel_of(indexed.positions))
        offsets_at(self, positions, indexed);
    return;
  }
  size_t first = indexed.at, count = indexed.positions.size();
  std::vector<int64_t> order = in_order(count);
  insertion_sort(order.begin(), order.end(),
                 [own = out.strides().subspan(first)](int64_t a, int64_t b) { return own[a] > own[b]; });
  std::optional<int64_t> step = one_step(out, first, order);
  if (!step) {  // the places lie between other dimensions
    Tensor plain = new_tensor(out.sizes(), out.dtype());
    _index_at(self, positions, plain);
    return strided_copy(out, plain);
  }
  std::vector<Tensor> ordered;
  IndexOffsets places = offsets_at(self, in_places_order(positions, indexed, order, ordered), indexed);
  std::vector<int64_t> steps;
  int64_t item = out.itemsize();
  for (size_t i = 0; i < indexed.kept.size(); ++i) steps.push_back(out.strides()[i < first ? i : i + count] * item);
  read_at_offsets(out.data<char>(), self, places, {indexed.kept, steps, *step * item});
}

void index_put_(const Tensor& self, TensorList indices, const Tensor& values, bool accumulate) {
  TAEDA_CHECK(self.dtype() == values.dtype(), "self and values must have one dtype; got ", self.dtype(), " and ",
              values.dtype());
  shape::warn_of_expanded(self);
  shape::check_apart(self, {&values});
  shape::check_apart(self, indices);
  std::vector<Tensor> positions = shape::positions_of(self, indices);
  shape::Indexed indexed = shape::indexed(self, positions);
  Values source = values_for(apart_from(values, self), indexed);
  IndexOffsets places = offsets_at(self, positions, indexed);
  if (numel_of(indexed.sizes) == 0) return;
  write_at_offsets(self, source.tensor.data<char>(), places, {indexed.kept, source.kept_steps, source.step},
                   accumulate ? Combine::Sum : Combine::Put);
}

void index_select(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& out) {
  dim = wrap_dim(dim, self.dim());
  IndexOffsets places =
      offsets_along(self, dim, index, Negative::Raises, self.numel() == 0 ? ErrorKind::Runtime : ErrorKind::Index);
  if (out.numel() == 0) return;
  std::vector<int64_t> kept = others(self, dim), steps;
  for (int64_t d : kept) steps.push_back(out.strides()[d] * out.itemsize());
  int64_t step = (out.dim() ? out.strides()[dim] : 1) * out.itemsize();
  read_at_offsets(out.data<char>(), self, places, {kept, steps, step});
}

namespace {

Tensor flat_number(const Tensor& t) { return t.dim() ? t : ops::unsqueeze(t, 0); }

// Where slices go and which, numbers as vectors of one: checked to have one shape but along `dim`, where each position
// has its slice.
struct Slices {
  Tensor target, source;
  Slices(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& given, ErrorKind count_error)
      : target(flat_number(self)), source(flat_number(given)) {
    TAEDA_CHECK(self.dtype() == given.dtype(), "self and source must have one dtype; got ", self.dtype(), " and ",
                given.dtype());
    TAEDA_CHECK_INDEX(index.dim() <= 1, "index must be a vector; got shape ", index.sizes());
    TAEDA_CHECK(source.dim() == target.dim(), "source must have as many dimensions as self; got shapes ", given.sizes(),
                " and ", self.sizes());
    for (int64_t d = 0; d < target.dim(); ++d)
      TAEDA_CHECK(d == dim || target.sizes()[d] == source.sizes()[d], "slices of source (shape ", given.sizes(),
                  ") must have the shape of those of self (", self.sizes(), ") along dimension ", d);
    if (index.numel() != source.sizes()[dim])
      fail(count_error, str("there are ", index.numel(), " positions for ", source.sizes()[dim], " slices of source"));
    source = apart_from(source, self);
  }
};

void check_target(const Tensor& self, const Tensor& index, const Tensor& source) {
  check_no_internal_overlap(self);
  shape::check_apart(self, {&index, &source});
}

// PyTorch tells numbers and vectors of one apart where slices are combined.
void check_rank(const Tensor& self, const Tensor& source) {
  TAEDA_CHECK(source.dim() == self.dim(), "source must have as many dimensions as self; got shapes ", source.sizes(),
              " and ", self.sizes());
}

}  // namespace

void index_add_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha) {
  dim = wrap_dim(dim, self.dim());
  shape::check_index_dtype(index);
  check_rank(self, source);
  check_target(self, index, source);
  Tensor scaled = alpha.equals(1) ? source : ops::mul(source, alpha);
  if (scaled.dtype() != source.dtype()) scaled = ops::_to_copy(scaled, source.dtype());  // a float's share of integers
  Slices slices(self, dim, index, scaled, ErrorKind::Runtime);
  write_along(slices.target, dim, index, slices.source, Combine::Sum, Negative::Raises, ErrorKind::Runtime);
}

void index_copy_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  dim = wrap_dim(dim, self.dim());
  TAEDA_CHECK(index.dtype() == DType::Int64, "index must be int64; got ", index.dtype());
  check_target(self, index, source);
  Slices slices(self, dim, index, source, ErrorKind::Index);
  write_along(slices.target, dim, index, slices.source, Combine::Put, Negative::Raises, ErrorKind::Index);
}

namespace {

void fill_along(const Tensor& self, int64_t dim, const Tensor& index, const char* element) {
  dim = wrap_dim(dim, self.dim());
  TAEDA_CHECK_INDEX(index.dtype() == DType::Int64, "index must be int64; got ", index.dtype());
  TAEDA_CHECK_INDEX(index.dim() <= 1, "index must be a vector; got shape ", index.sizes());
  shape::warn_of_expanded(self);
  shape::check_apart(self, {&index});
  Tensor target = flat_number(self);
  std::vector<int64_t> kept = others(target, dim), steps(kept.size(), 0);
  write_at_offsets(target, element, offsets_along(target, dim, index, Negative::Wraps, ErrorKind::Index),
                   {kept, steps, 0}, Combine::Put);
}

}  // namespace

void index_fill_(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  TAEDA_CHECK(value.category() != Category::Complex || is_complex(self.dtype()), "a complex number cannot fill a ",
              self.dtype(), " tensor");
  alignas(16) char element[sizeof(complex128)];
  store_number(self.dtype(), value, element);
  fill_along(self, dim, index, element);
}

void index_fill_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& value) {
  TAEDA_CHECK(value.dim() == 0, "value must be a number or a tensor without dimensions; got shape ", value.sizes());
  TAEDA_CHECK(!is_complex(value.dtype()) || is_complex(self.dtype()), "a complex number cannot fill a ", self.dtype(),
              " tensor");
  Tensor same = value.dtype() == self.dtype() ? value : ops::_to_copy(value, self.dtype());
  fill_along(self, dim, index, apart_from(same, self).data<char>());
}

void take(const Tensor& self, const Tensor& index, const Tensor& out) {
  IndexOffsets places = offsets_flat(self, index);
  if (out.numel()) read_at_offsets(out.data<char>(), self, places, {{}, {}, out.itemsize()});
}

void put_(const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
  TAEDA_CHECK(index.dtype() == DType::Int64, "index must be int64; got ", index.dtype());
  TAEDA_CHECK(self.dtype() == source.dtype(), "self and source must have one dtype; got ", self.dtype(), " and ",
              source.dtype());
  TAEDA_CHECK_INDEX(index.numel() == source.numel(), "index and source must have as many elements; got ", index.numel(),
                    " and ", source.numel());
  TAEDA_CHECK_INDEX(self.numel() > 0 || index.numel() == 0, "nothing can be put into an empty tensor");
  if (!accumulate) alert_open_result("which of several values for one place stays is left open");
  check_target(self, index, source);
  Tensor values = ops::contiguous(source);
  write_at_offsets(self, values.data<char>(), offsets_flat(self, index), {{}, {}, self.itemsize()},
                   accumulate ? Combine::Sum : Combine::Put);
}

namespace {

Combine combine_named(std::string_view reduce) {
  if (reduce == "prod") return Combine::Prod;
  if (reduce == "mean") return Combine::Sum;
  if (reduce == "amax") return Combine::Max;
  if (reduce == "amin") return Combine::Min;
  TAEDA_FAIL(Runtime, "reduce must be prod, mean, amax or amin; got ", reduce);
}

}  // namespace

void index_reduce_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, std::string_view reduce,
                   bool include_self) {
  dim = wrap_dim(dim, self.dim());
  shape::check_index_dtype(index);
  Combine combine = combine_named(reduce);
  check_rank(self, source);
  check_target(self, index, source);
  Slices slices(self, dim, index, source, ErrorKind::Runtime);
  const Tensor& target = slices.target;
  if (!include_self) {
    alignas(16) char element[sizeof(complex128)];
    neutral_element(combine, self.dtype(), element);
    std::vector<int64_t> kept = others(target, dim), steps(kept.size(), 0);
    write_at_offsets(target, element, offsets_along(target, dim, index, Negative::Raises, ErrorKind::Index),
                     {kept, steps, 0}, Combine::Put);
  }
  write_along(target, dim, index, slices.source, combine, Negative::Raises, ErrorKind::Index);
  if (reduce != "mean") return;
  const int64_t length[] = {target.sizes()[dim]};
  Tensor count = include_self ? ops::ones(length, DType::Int64) : ops::zeros(length, DType::Int64);
  ops::index_add_(count, 0, ops::reshape(index, {{-1}}), ops::ones({{index.numel()}}, DType::Int64));
  std::vector<int64_t> shape(static_cast<size_t>(target.dim()), 1);
  shape[dim] = length[0];
  divide_mean(target, ops::reshape(ops::clamp_min(count, Scalar(1)), shape));
}

}  // namespace taeda::cpu
