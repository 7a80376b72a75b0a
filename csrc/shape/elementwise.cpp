#include "shape/elementwise.h"

#include <algorithm>

#include "shape/arguments.h"
#include "shape/complex_half.h"

namespace taeda::shape {

// --- dtypes

namespace {

// A higher rank keeps its dtype unless the lower one is of a higher category.
DType combine_ranks(DType higher, DType lower) {
  if (higher == DType::Undefined || lower == DType::Undefined) return higher == DType::Undefined ? lower : higher;
  if (category(higher) >= category(lower)) return higher;
  if (is_floating(higher) && is_complex(lower)) return with_imaginary(higher);
  return promote(higher, lower);
}

DType tensor_dtype_as_number(DType dtype) {
  if (is_complex(dtype)) return with_imaginary(default_dtype());
  return is_floating(dtype) ? default_dtype() : dtype;
}

}  // namespace

DType result_type(Operands operands, unsigned skipped) {
  DType with_dims = DType::Undefined, without_dims = DType::Undefined, numbers = DType::Undefined;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (skipped >> i & 1) continue;
    const Tensor* tensor = operands[i].tensor();
    if (!tensor)
      numbers = promote(numbers, operands[i].number().natural_dtype());
    else if ((*tensor)->is_wrapped_number())
      numbers = promote(numbers, tensor_dtype_as_number(tensor->dtype()));
    else if (tensor->dim() > 0)
      with_dims = promote(with_dims, tensor->dtype());
    else
      without_dims = promote(without_dims, tensor->dtype());
  }
  return combine_ranks(with_dims, combine_ranks(without_dims, numbers));
}

namespace {

DType one_dtype(const ElementwiseRule& rule, Operands operands) {
  DType common = DType::Undefined;
  for (size_t i = 0; i < operands.size(); ++i) {
    const Tensor* tensor = operands[i].tensor();
    if (!tensor || rule.mask_inputs >> i & 1) continue;
    if (common == DType::Undefined) common = tensor->dtype();
    TAEDA_CHECK(tensor->dtype() == common, "all tensors must have the same dtype; got ", common, " and ",
                tensor->dtype());
  }
  return common;
}

void check_conditions(const ElementwiseRule& rule, Operands operands) {
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!(rule.mask_inputs >> i & 1) || !operands[i].tensor()) continue;
    DType dtype = operands[i].tensor()->dtype();
    TAEDA_CHECK(dtype == DType::Bool || dtype == DType::UInt8, "the condition must be a bool tensor; got ", dtype);
  }
}

}  // namespace

DType common_dtype(const ElementwiseRule& rule, Operands operands) {
  if (rule.mask_inputs) check_conditions(rule, operands);
  DType common =
      rule.promotion == Promotion::Same ? one_dtype(rule, operands) : result_type(operands, rule.mask_inputs);
  if (rule.promotion == Promotion::Float && category(common) <= Category::Integral) common = default_dtype();
  if (!has_formula(rule.dtypes, common)) {
    std::string known;
    for (int i = 0; i < kComputedDTypes; ++i)
      if (rule.dtypes >> i & 1) known += str(known.empty() ? "" : ", ", static_cast<DType>(i));
    TAEDA_FAIL(NotImplemented, "it is not for ", common, " tensors; there is ", known);
  }
  return common;
}

DType element_dtype(Element element, DType common) {
  switch (element) {
    case Element::Bool:
      return DType::Bool;
    case Element::Real:
      return to_real(common);
    case Element::Complex:
      return to_complex(common);
    default:
      return common;
  }
}

// --- sizes

namespace {

// Widens `sizes` to hold `other` too; false if they do not fit.
bool widen(Dims& sizes, IntList other) {
  while (sizes.size() < other.size()) sizes.insert(0, 1);
  size_t lead = sizes.size() - other.size();
  for (size_t i = 0; i < other.size(); ++i) {
    int64_t& size = sizes[lead + i];
    if (size == 1)
      size = other[i];
    else if (other[i] != 1 && other[i] != size)
      return false;
  }
  return true;
}

[[noreturn]] void fail_broadcast(IntList a, IntList b) {
  TAEDA_FAIL(Runtime, "shapes ", a, " and ", b, " do not broadcast: from the right, sizes must be equal or 1");
}

}  // namespace

Dims broadcast_sizes(IntList a, IntList b) {
  Dims sizes(a);
  if (!widen(sizes, b)) fail_broadcast(a, b);
  return sizes;
}

Dims broadcast_sizes(Operands operands) {
  Dims sizes;
  const Tensor* first = nullptr;
  for (const Operand& operand : operands) {
    const Tensor* tensor = operand.tensor();
    if (!tensor) continue;
    Dims before = sizes;
    if (!first)
      sizes.assign(tensor->sizes());
    else if (!widen(sizes, tensor->sizes()))
      fail_broadcast(before, tensor->sizes());
    first = tensor;
  }
  return sizes;
}

// --- order and strides

namespace {

// The stride of `tensor` along dimension `dim` of the broadcast `sizes`; 0 where it is repeated.
int64_t broadcast_stride(const Tensor& tensor, IntList sizes, int64_t dim) {
  int64_t own = dim - (static_cast<int64_t>(sizes.size()) - tensor.dim());
  if (own < 0 || (tensor.sizes()[own] == 1 && sizes[dim] != 1)) return 0;
  return tensor.strides()[own] * tensor.itemsize();
}

// Positive if dimension a should lie outside b, negative if inside, 0 if no operand tells.
int compare_dims(Operands operands, IntList sizes, int64_t a, int64_t b) {
  for (const Operand& operand : operands) {
    if (!operand.tensor()) continue;
    int64_t stride_a = broadcast_stride(*operand.tensor(), sizes, a),
            stride_b = broadcast_stride(*operand.tensor(), sizes, b);
    if (stride_a == 0 || stride_b == 0) continue;
    if (stride_a != stride_b) return stride_a < stride_b ? -1 : 1;
    if (sizes[a] > sizes[b]) return 1;
  }
  return 0;
}

bool all_contiguous(Operands operands, IntList sizes, MemoryFormat format) {
  for (const Operand& operand : operands) {
    const Tensor* t = operand.tensor();
    if (t && !(t->is_contiguous(format) && std::ranges::equal(t->sizes(), sizes))) return false;
  }
  return true;
}

const Tensor* common_layout(Operands operands, IntList sizes) {
  const Tensor* first = nullptr;
  for (const Operand& operand : operands) {
    const Tensor* t = operand.tensor();
    if (!t) continue;
    if (!std::ranges::equal(t->sizes(), sizes)) return nullptr;
    if (!first && !(*t)->is_non_overlapping_and_dense()) return nullptr;
    if (first && !std::ranges::equal(t->strides(), first->strides())) return nullptr;
    if (!first) first = t;
  }
  return first;
}

}  // namespace

Dims iteration_order(Operands operands, IntList sizes) {
  Dims order;
  for (size_t d = sizes.size(); d-- > 0;) order.push_back(static_cast<int64_t>(d));
  // Insertion by a partial order: where no operand tells two dimensions apart, the search goes on past them.
  for (size_t i = 1; i < order.size(); ++i) {
    size_t moving = i;
    for (size_t j = i; j-- > 0;) {
      int verdict = compare_dims(operands, sizes, order[j], order[moving]);
      if (verdict < 0) break;
      if (verdict > 0) {
        std::swap(order[j], order[moving]);
        moving = j;
      }
    }
  }
  return order;
}

Dims result_strides(Operands operands, IntList sizes) {
  if (all_contiguous(operands, sizes, MemoryFormat::Contiguous)) return {};
  for (MemoryFormat format : {MemoryFormat::ChannelsLast, MemoryFormat::ChannelsLast3d})
    if (sizes.size() == (format == MemoryFormat::ChannelsLast ? 4 : 5) && all_contiguous(operands, sizes, format))
      return contiguous_strides(sizes, format);
  if (const Tensor* layout = common_layout(operands, sizes)) return layout->strides();
  Dims order = iteration_order(operands, sizes);
  Dims strides(sizes);
  int64_t next = 1;
  bool contiguous = true;
  for (size_t i = 0; i < order.size(); ++i) {
    strides[order[i]] = next;
    next *= std::max<int64_t>(sizes[order[i]], 1);
    contiguous &= order[i] == static_cast<int64_t>(order.size() - 1 - i);
  }
  return contiguous ? Dims() : strides;
}

Dims result_strides(const ElementwiseRule& rule, Operands operands, IntList sizes) {
  bool contiguous = rule.contiguous == 1 || (rule.contiguous == 2 && !operands[0].tensor());
  return contiguous ? Dims() : result_strides(operands, sizes);
}

// --- results that exist already

namespace {
// What is read must not get a new size.
void check_not_read(const Tensor& out, Operands operands, IntList sizes) {
  if (std::ranges::equal(out.sizes(), sizes)) return;
  for (const Operand& operand : operands)
    TAEDA_CHECK(!operand.tensor() || !out->storage() || out->storage() != (*operand.tensor())->storage(),
                "out has shape ", out.sizes(), ", the result ", sizes,
                ": it cannot be resized, as it shares its memory with a tensor that is read");
}
}  // namespace

void prepare_outs(const ElementwiseRule& rule, Operands operands, DType common, IntList sizes,
                  const Tensor* const* outs, bool in_place) {
  for (int i = 0; i < rule.results; ++i) {
    const Tensor& out = *outs[i];
    DType dtype = element_dtype(rule.result[i], common);
    TAEDA_CHECK(can_cast(dtype, out.dtype()), "the result has dtype ", dtype, ", which ", in_place ? "self" : "out",
                " (", out.dtype(), ") cannot hold");
    TAEDA_CHECK(!in_place || rule.result[i] != Element::Real || !is_complex(out.dtype()),
                "the results are real, self is complex; it has no in-place form for complex tensors");
    if (!in_place) {
      if (rule.exact_out) check_out_dtype(out, dtype, true, ErrorKind::Runtime);
      check_not_read(out, operands, sizes);
      if (std::ranges::equal(out.sizes(), sizes)) continue;
      resize_out(out, sizes);
      if (Dims strides = result_strides(rule, operands, sizes); !strides.empty())
        out->set_geometry(sizes, strides, out.storage_offset());
    } else {
      TAEDA_CHECK(std::ranges::equal(out.sizes(), sizes), "an in-place result keeps the shape of self ", out.sizes(),
                  "; with the other operands it would be ", sizes);
    }
  }
}

// --- the meta device

namespace {
void check_all_on_meta(Operands operands) {
  for (const Operand& operand : operands)
    if (operand.tensor()) check_on_meta(*operand.tensor(), false);
}
}  // namespace

void elementwise_meta(const ElementwiseRule& rule, Operands operands, Tensor* results) {
  check_all_on_meta(operands);
  DType common = common_dtype(rule, operands);
  Dims sizes = broadcast_sizes(operands), strides = result_strides(rule, operands, sizes);
  for (int i = 0; i < rule.results; ++i)
    results[i] = make({sizes, element_dtype(rule.result[i], common), strides}, Device{DeviceType::Meta});
}

void elementwise_meta_out(const ElementwiseRule& rule, Operands operands, const Tensor* const* outs, bool in_place) {
  check_all_on_meta(operands);
  for (int i = 0; i < rule.results; ++i) check_on_meta(*outs[i], true);
  prepare_outs(rule, operands, common_dtype(rule, operands), broadcast_sizes(operands), outs, in_place);
}

}  // namespace taeda::shape
