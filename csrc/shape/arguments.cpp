#include "shape/arguments.h"

#include "taeda/ops/copy.h"

namespace taeda::shape {

void check_on_meta(const Tensor& t, bool is_written) {
  if (!t.defined() || t.device().type == DeviceType::Meta || (t.dim() == 0 && !is_written)) return;
  TAEDA_FAIL(Runtime, "all tensors must be on one device; got meta and ", t.device());
}

void check_on_meta(TensorList list, bool is_written) {
  for (const Tensor& t : list) check_on_meta(t, is_written);
}

void check_out_dtype(const Tensor& out, DType result, bool same, ErrorKind kind) {
  if (same ? out.dtype() == result : can_cast(result, out.dtype())) return;
  fail(kind, str("the result has dtype ", result,
                 same ? ", so that out must have it too; got " : ", which out cannot hold: it has ", out.dtype()));
}

namespace {

struct Extent {
  const char* begin;
  const char* end;
};
Extent extent_of(const Tensor& t) {
  int64_t last = 0;
  for (int i = 0; i < t.dim(); ++i) last += (t.sizes()[i] - 1) * t.strides()[i];
  const char* begin = t.data<char>();
  return {begin, begin + (last + 1) * t.itemsize()};
}

// Undecided for tensors with gaps, whose elements may lie between each other's.
bool shares_elements(const Tensor& a, const Tensor& b) {
  if (a.is(b)) return true;
  if (!a->is_non_overlapping_and_dense() || !b->is_non_overlapping_and_dense()) return false;
  Extent x = extent_of(a), y = extent_of(b);
  return x.begin < y.end && y.begin < x.end;
}

}  // namespace

Tensor apart(const Tensor& in, std::initializer_list<const Tensor*> outs, bool refuse) {
  for (const Tensor* out : outs) {
    if (!in.defined() || !(in->storage() == (*out)->storage())) continue;
    if (!in.is(*out) && (in.numel() == 0 || out->numel() == 0)) continue;  // else `in` may be resized with `out`
    TAEDA_CHECK(!refuse || !shares_elements(in, *out),
                "out shares memory with a tensor that is read; clone one of them first");
    return ops::clone(in);
  }
  return in;
}

std::vector<Tensor> apart(TensorList in, std::initializer_list<const Tensor*> outs, bool refuse) {
  std::vector<Tensor> result;
  result.reserve(in.size());
  for (const Tensor& t : in) result.push_back(apart(t, outs, refuse));
  return result;
}

}  // namespace taeda::shape
