// Searching, histograms, membership and classes over other ops.
#include <limits>

#include "composite/ops/search.h"
#include "core/elements.h"
#include "shape/elementwise.h"
#include "shape/view_rules.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/compare.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"
#include "taeda/ops/index.h"
#include "taeda/ops/join.h"
#include "taeda/ops/mask.h"
#include "taeda/ops/ranges.h"
#include "taeda/ops/reduce.h"
#include "taeda/ops/reshape.h"
#include "taeda/ops/scan.h"
#include "taeda/ops/scatter.h"
#include "taeda/ops/search.h"
#include "taeda/ops/sort.h"
#include "taeda/ops/view.h"

namespace taeda::composite {

namespace {

// A number as a tensor without dimensions, of the dtype it has beside `like`.
Tensor number_beside(const Scalar& number, const Tensor& like) {
  const shape::Operand both[] = {like, number};
  return ops::full(IntList(), number, shape::result_type(both), std::nullopt, like.device());
}

void check_boundaries(const Tensor& boundaries) {
  TAEDA_CHECK(boundaries.dim() == 1, "boundaries must be a vector; got shape ", boundaries.sizes());
}

}  // namespace

Tensor searchsorted(const Tensor& sorted_sequence, const Scalar& self, bool out_int32, bool right,
                    std::optional<std::string_view> side, const Tensor& sorter) {
  TAEDA_CHECK(sorted_sequence.dim() == 1, "one number can be searched in a vector only; got shape ",
              sorted_sequence.sizes());
  return ops::searchsorted(sorted_sequence, number_beside(self, sorted_sequence), out_int32, right, side, sorter);
}

Tensor bucketize(const Tensor& self, const Tensor& boundaries, bool out_int32, bool right) {
  check_boundaries(boundaries);
  return ops::searchsorted(boundaries, self, out_int32, right);
}

Tensor bucketize(const Scalar& self, const Tensor& boundaries, bool out_int32, bool right) {
  check_boundaries(boundaries);
  return ops::searchsorted(boundaries, number_beside(self, boundaries), out_int32, right);
}

namespace {

std::tuple<Tensor, Tensor> histogram_between(const Tensor& self, const Tensor& edges, const Tensor& weight,
                                             bool density) {
  const int64_t flat[] = {-1};
  TAEDA_CHECK(is_floating(self.dtype()), "is for floating-point tensors; got ", self.dtype());
  TAEDA_CHECK(edges.dim() == 1 && edges.numel() > 0, "bins must be a vector of edges; got shape ", edges.sizes());
  TAEDA_CHECK(edges.dtype() == self.dtype(), "the edges must have the dtype of the tensor (", self.dtype(), "); got ",
              edges.dtype());
  if (weight.defined()) {
    TAEDA_CHECK(std::ranges::equal(weight.sizes(), self.sizes()), "weight must have the shape of the tensor ",
                self.sizes(), "; got ", weight.sizes());
    TAEDA_CHECK(weight.dtype() == self.dtype(), "weight must have the dtype of the tensor (", self.dtype(), "); got ",
                weight.dtype());
  }
  int64_t bins = edges.numel() - 1;
  Tensor values = ops::reshape(self, flat);
  Tensor first = ops::select(edges, 0, 0), last = ops::select(edges, 0, bins);
  Tensor place = ops::sub(ops::searchsorted(edges, values, false, true), Scalar(1));
  place =
      ops::where(ops::eq(values, last), ops::full_like(place, Scalar(bins - 1)), place);  // the last bin has both edges
  Tensor inside = ops::logical_and(ops::ge(values, first), ops::le(values, last));
  Tensor amounts = weight.defined() ? ops::reshape(weight, flat) : ops::ones_like(values);
  amounts = ops::masked_fill(amounts, ops::logical_not(inside), Scalar(0));
  const int64_t size[] = {bins};
  Tensor hist = ops::zeros(size, self.dtype(), std::nullopt, self.device());
  if (bins > 0) hist = ops::index_add(hist, 0, ops::clamp(place, Scalar(0), Scalar(bins - 1)), amounts);
  if (density) hist = ops::div(ops::div(hist, ops::sum(hist)), ops::diff(edges));
  return {hist, ops::clone(edges, MemoryFormat::Contiguous)};
}

}  // namespace

std::tuple<Tensor, Tensor> histogram(const Tensor& self, const Tensor& bins, const Tensor& weight, bool density) {
  return histogram_between(self, ops::clone(bins, MemoryFormat::Contiguous), weight, density);
}

std::tuple<Tensor, Tensor> histogram(const Tensor& self, int64_t bins, std::optional<std::span<const double>> range,
                                     const Tensor& weight, bool density) {
  TAEDA_CHECK(bins > 0 && bins < std::numeric_limits<int64_t>::max(), "bins must be positive; got ", bins);
  double low = 0, high = 1;
  if (range) {
    TAEDA_CHECK(range->size() == 2, "range must have a lower and an upper end; got ", range->size(), " numbers");
    low = (*range)[0], high = (*range)[1];
  } else if (self.numel() > 0) {
    auto end_of = [](const Tensor& t) {
      return *elements<double>(ops::_to_copy(t, DType::Float64, std::nullopt, Device()));
    };
    low = end_of(ops::amin(self)), high = end_of(ops::amax(self));
  }
  TAEDA_CHECK(std::isfinite(low) && std::isfinite(high), "the range from ", low, " to ", high, " is not finite");
  TAEDA_CHECK(low <= high, "the upper end of the range must not be below the lower; got ", low, " and ", high);
  if (low == high) low -= 0.5, high += 0.5;
  Tensor edges = ops::linspace(Scalar(low), Scalar(high), bins + 1, self.dtype(), std::nullopt, self.device());
  return histogram_between(self, edges, weight, density);
}

namespace {
void check_comparable(DType dtype) {
  TAEDA_CHECK(dtype != DType::Bool && !is_complex(dtype), "is for real numbers; got ", dtype);
}
}  // namespace

Tensor isin(const Tensor& elements, const Tensor& test_elements, bool, bool invert) {
  const shape::Operand both[] = {elements, test_elements};
  DType common = shape::result_type(both);
  check_comparable(elements.dtype());
  check_comparable(test_elements.dtype());
  auto as = [&](const Tensor& t) { return t.dtype() == common ? t : ops::_to_copy(t, common); };
  const int64_t flat[] = {-1};
  Tensor values = as(elements), among = ops::reshape(as(test_elements), flat);
  if (is_floating(common)) among = ops::masked_select(among, ops::eq(among, among));  // NaN equals nothing
  if (among.numel() == 0) return ops::full_like(elements, Scalar(invert), DType::Bool);
  Tensor sorted = std::get<0>(ops::sort(among, 0));
  Tensor place = ops::clamp_max(ops::searchsorted(sorted, values), Scalar(sorted.numel() - 1));
  Tensor found = ops::eq(ops::take(sorted, place), values);
  return invert ? ops::logical_not(found) : found;
}

Tensor isin(const Tensor& elements, const Scalar& test_element, bool, bool invert) {
  check_comparable(elements.dtype());
  check_comparable(test_element.natural_dtype());
  return ops::contiguous(invert ? ops::ne(elements, test_element) : ops::eq(elements, test_element));
}

Tensor isin(const Scalar& element, const Tensor& test_elements, bool assume_unique, bool invert) {
  return ops::isin(number_beside(element, test_elements), test_elements, assume_unique, invert);
}

std::tuple<Tensor, Tensor> _unique(const Tensor& self, bool sorted, bool return_inverse) {
  auto found = ops::_unique2(self, sorted, return_inverse, false);
  return {std::get<0>(found), std::get<1>(found)};
}

std::tuple<Tensor, Tensor, Tensor> unique_dim_consecutive(const Tensor& self, int64_t dim, bool return_inverse,
                                                          bool return_counts) {
  return ops::unique_consecutive(self, return_inverse, return_counts, dim);
}

Tensor one_hot(const Tensor& self, int64_t num_classes) {
  TAEDA_CHECK(self.dtype() == DType::Int64, "classes must be int64; got ", self.dtype());
  TAEDA_CHECK(num_classes != 0 && num_classes >= -1, "num_classes must be positive, or -1 to infer it; got ",
              num_classes);
  std::vector<int64_t> sizes(self.sizes().begin(), self.sizes().end());
  if (self.numel() == 0) {
    TAEDA_CHECK(num_classes > 0, "num_classes cannot be inferred from an empty tensor");
    sizes.push_back(num_classes);
    return ops::zeros(sizes, DType::Int64, std::nullopt, self.device());
  }
  bool readable = self.device().type != DeviceType::Meta && !self.keys().has(Functionality::Memoryless);
  if (num_classes < 0 || readable) {  // scattering checks, too, but says less
    int64_t smallest = shape::integers_of(ops::amin(self))[0], largest = shape::integers_of(ops::amax(self))[0];
    TAEDA_CHECK(smallest >= 0, "classes must not be negative; got ", smallest);
    TAEDA_CHECK(num_classes < 0 || largest < num_classes, "class ", largest, " is outside the ", num_classes,
                " classes");
    if (num_classes < 0) num_classes = largest + 1;
  }
  sizes.push_back(num_classes);
  return ops::scatter(ops::new_zeros(self, sizes), -1, ops::unsqueeze(self, -1), Scalar(1));
}

namespace {

void check_positions(const Tensor& t, std::string_view name) {
  if (!is_integral(t.dtype())) TAEDA_FAIL(NotImplemented, name, " must hold integers; got ", t.dtype());
  TAEDA_CHECK(t.dim() == 1, name, " must have one dimension; got shape ", t.sizes());
}

}  // namespace

Tensor _convert_indices_from_coo_to_csr(const Tensor& self, int64_t size, bool out_int32) {
  check_positions(self, "self");
  TAEDA_CHECK(size >= 0 && size < std::numeric_limits<int64_t>::max(), "size is no number of rows; got ", size);
  Tensor rows = ops::arange(Scalar(size + 1), self.dtype(), std::nullopt, self.device());
  return ops::searchsorted(self, rows, out_int32);
}

Tensor _convert_indices_from_csr_to_coo(const Tensor& crow_indices, const Tensor& col_indices, bool out_int32,
                                        bool transpose) {
  check_positions(crow_indices, "crow_indices");
  check_positions(col_indices, "col_indices");
  TAEDA_CHECK(crow_indices.numel() > 0, "crow_indices must not be empty");
  Tensor ends = ops::narrow(crow_indices, 0, 1, crow_indices.numel() - 1);
  Tensor places = ops::arange(Scalar(col_indices.numel()), ends.dtype(), std::nullopt, ends.device());
  Tensor rows = ops::searchsorted(ends, places, out_int32, true), columns = ops::to(col_indices, rows.dtype());
  return transpose ? ops::stack(std::array{columns, rows}) : ops::stack(std::array{rows, columns});
}

}  // namespace taeda::composite
