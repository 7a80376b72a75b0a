#include "shape/reduction.h"

#include "shape/arguments.h"
#include "shape/complex_half.h"

namespace taeda::shape {

uint64_t reduced_dims(const Reduce& call) {
  int64_t rank = call.self.dim();
  if (call.dims.empty()) return rank > 0 ? ~uint64_t{0} >> (64 - std::min<int64_t>(rank, 64)) : 0;
  TAEDA_CHECK(rank <= 64, "dim chooses among at most 64 dimensions; got ", rank,
              ". Without dim, all of them are reduced; squeeze() and flatten() leave fewer");
  uint64_t dims = 0;
  for (int64_t dim : call.dims) {
    int64_t wrapped = wrap_dim(dim, rank);
    TAEDA_CHECK(!(dims >> wrapped & 1), "dimension ", dim, " stands twice in dim");
    dims |= uint64_t{1} << wrapped;
  }
  return dims;
}

Dims reduced_sizes(const Reduce& call, uint64_t dims) {
  Dims sizes;
  for (int64_t d = 0; d < call.self.dim(); ++d) {
    if (!is_reduced(dims, d))
      sizes.push_back(call.self.sizes()[d]);
    else if (call.keepdim)
      sizes.push_back(1);
  }
  return sizes;
}

DType reduction_input(const ReductionRule& rule, const Reduce& call) {
  DType input = call.dtype.value_or(call.self.dtype());
  ReducedType result = rule.result[rule.kind == StateKind::Index ? rule.results - 1 : 0];
  if (result == ReducedType::Long && !call.dtype && category(input) <= Category::Integral) input = DType::Int64;
  if (result == ReducedType::Float || result == ReducedType::Real)
    TAEDA_CHECK(is_differentiable(input), "it takes a floating or complex tensor (or dtype=); got ", input);
  TAEDA_CHECK_KIND(NotImplemented, has_formula(rule.dtypes, input), "it is not for ", input, " tensors");
  return input;
}

DType reduction_result(const ReductionRule& rule, int result, DType input) {
  switch (rule.result[result]) {
    case ReducedType::Real:
      return to_real(input);
    case ReducedType::Bool:
      return input == DType::UInt8 ? DType::UInt8 : DType::Bool;
    case ReducedType::Index:
      return DType::Int64;
    default:
      return input;
  }
}

Reduce into(const ReductionRule& rule, const Reduce& call, const Tensor& out) {
  Reduce result = call;
  if (rule.result[0] != ReducedType::Long) return result;
  TAEDA_CHECK(call.dtype.value_or(out.dtype()) == out.dtype(), "out has dtype ", out.dtype(),
              ", but dtype=", call.dtype.value_or(out.dtype()), " is asked for");
  result.dtype = out.dtype();
  return result;
}

void check_reduction_out(const ReductionRule& rule, int result, DType made, const Tensor& out) {
  bool is_truth = rule.result[result] == ReducedType::Bool && out.dtype() == DType::UInt8;
  TAEDA_CHECK(made == out.dtype() || is_truth || (rule.out_widens && can_cast(made, out.dtype())),
              "the result has dtype ", made, ", which out of dtype ", out.dtype(), " does not take");
}

void check_reduction(const ReductionRule& rule, const Reduce& call, uint64_t dims) {
  if (rule.has_identity) return;
  int64_t outputs = 1;
  bool empty = false;
  for (int64_t d = 0; d < call.self.dim(); ++d) {
    int64_t size = call.self.sizes()[d];
    if (is_reduced(dims, d))
      empty |= size == 0;
    else
      outputs *= size;
  }
  if (!empty) return;
  // PyTorch's type: an index that does not exist, or a value.
  if (call.dims.empty())
    fail(rule.kind == StateKind::Index ? ErrorKind::Index : ErrorKind::Runtime,
         str("an empty tensor (shape ", call.self.sizes(), ") has no such element; give a dim of another size"));
  TAEDA_CHECK_INDEX(outputs == 0, "a dimension of size 0 has no such element; the shape is ", call.self.sizes(),
                    ", dim ", call.dims);
}

void reduce_meta(const ReductionRule& rule, const Reduce& call, Tensor* results) {
  uint64_t dims = reduced_dims(call);
  DType input = reduction_input(rule, call);
  check_reduction(rule, call, dims);
  Dims sizes = reduced_sizes(call, dims);
  for (int i = 0; i < rule.results; ++i)
    results[i] = new_tensor(sizes, reduction_result(rule, i, input), Device{DeviceType::Meta});
}

void reduce_meta_out(const ReductionRule& rule, const Reduce& given, std::initializer_list<const Tensor*> outs) {
  check_on_meta(given.self, false);
  Reduce call = into(rule, given, **outs.begin());
  uint64_t dims = reduced_dims(call);
  DType input = reduction_input(rule, call);
  check_reduction(rule, call, dims);
  Dims sizes = reduced_sizes(call, dims);
  int i = 0;
  for (const Tensor* out : outs) {
    check_on_meta(*out, true);
    check_reduction_out(rule, i, reduction_result(rule, i, input), *out);
    resize_out(*out, sizes);
    ++i;
  }
}

}  // namespace taeda::shape
