#include "shape/arguments.h"

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

}  // namespace taeda::shape
