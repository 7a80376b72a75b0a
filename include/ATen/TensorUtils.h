// Checks of arguments that say which argument of which function was wrong.
#pragma once
#include <ATen/Functions.h>
#include <c10/core/Backend.h>

namespace at {

using CheckedFrom = const char*;

// A tensor with its place among a function's arguments.
struct TensorArg {
  const Tensor& tensor;
  const char* name;
  int pos;
  TensorArg(const Tensor& tensor, const char* name, int pos) : tensor(tensor), name(name), pos(pos) {}
  TensorArg(Tensor&&, const char*, int) = delete;
  const Tensor* operator->() const { return &tensor; }
  const Tensor& operator*() const { return tensor; }
};
struct TensorGeometryArg : TensorArg {
  using TensorArg::TensorArg;
  TensorGeometryArg(const TensorArg& arg) : TensorArg(arg) {}
};
inline std::ostream& operator<<(std::ostream& out, const TensorArg& arg) {
  return arg.pos == 0 ? out << "'" << arg.name << "'" : out << "argument #" << arg.pos << " '" << arg.name << "'";
}

inline void checkDim(CheckedFrom c, const TensorArg& t, int64_t dim) {
  TORCH_CHECK(t->dim() == dim, c, ": ", t, " must have ", dim, " dimensions; it has ", t->dim());
}
inline void checkDim(CheckedFrom c, const Tensor& t, const char* name, int pos, int64_t dim) {
  checkDim(c, TensorArg(t, name, pos), dim);
}
inline void checkDimRange(CheckedFrom c, const TensorArg& t, int64_t begin, int64_t end) {
  TORCH_CHECK(t->dim() >= begin && t->dim() < end, c, ": ", t, " must have ", begin, " to ", end - 1,
              " dimensions; it has ", t->dim());
}
inline void checkSize(CheckedFrom c, const TensorArg& t, IntArrayRef sizes) {
  TORCH_CHECK(t->sizes().equals(sizes), c, ": ", t, " must have the sizes ", sizes, "; it has ", t->sizes());
}
inline void checkSize(CheckedFrom c, const TensorArg& t, int64_t dim, int64_t size) {
  TORCH_CHECK(t->size(dim) == size, c, ": ", t, " must have the size ", size, " at dimension ", dim, "; it has ",
              t->size(dim));
}
inline void checkNumel(CheckedFrom c, const TensorArg& t, int64_t numel) {
  TORCH_CHECK(t->numel() == numel, c, ": ", t, " must have ", numel, " elements; it has ", t->numel());
}
inline void checkContiguous(CheckedFrom c, const TensorArg& t) {
  TORCH_CHECK(t->is_contiguous(), c, ": ", t, " must be contiguous");
}
inline void checkScalarType(CheckedFrom c, const TensorArg& t, ScalarType type) {
  TORCH_CHECK(t->scalar_type() == type, c, ": ", t, " must be of type ", type, "; it is ", t->scalar_type());
}
inline void checkScalarTypes(CheckedFrom c, const TensorArg& t, ArrayRef<ScalarType> types) {
  for (ScalarType type : types)
    if (t->scalar_type() == type) return;
  TORCH_CHECK(false, c, ": ", t, " must be of one of the types ", types, "; it is ", t->scalar_type());
}
inline void checkDefined(CheckedFrom c, const TensorArg& t) {
  TORCH_CHECK(t->defined(), c, ": ", t, " must be a tensor; it is undefined");
}
inline void checkSameSize(CheckedFrom c, const TensorArg& a, const TensorArg& b) {
  TORCH_CHECK(a->sizes().equals(b->sizes()), c, ": ", a, " and ", b, " must have the same sizes; they have ",
              a->sizes(), " and ", b->sizes());
}
inline void checkSameDim(CheckedFrom c, const TensorArg& a, const TensorArg& b) { checkDim(c, b, a->dim()); }
inline void checkSameNumel(CheckedFrom c, const TensorArg& a, const TensorArg& b) { checkNumel(c, b, a->numel()); }
inline void checkSameType(CheckedFrom c, const TensorArg& a, const TensorArg& b) {
  TORCH_CHECK(a->scalar_type() == b->scalar_type() && a->device().type() == b->device().type(), c, ": ", a, " and ", b,
              " must be of one type; they are ", a->toString(), " and ", b->toString());
}
inline void checkSameGPU(CheckedFrom c, const TensorArg& a, const TensorArg& b) {
  TORCH_CHECK(a->device() == b->device(), c, ": ", a, " and ", b, " must lie on one device; they lie on ", a->device(),
              " and ", b->device());
}

#define TAEDA_CHECK_ALL(name, each)                           \
  inline void name(CheckedFrom c, ArrayRef<TensorArg> args) { \
    const TensorArg* first = nullptr;                         \
    for (const TensorArg& arg : args) {                       \
      if (!arg->defined()) continue;                          \
      if (first) each(c, *first, arg);                        \
      first = &arg;                                           \
    }                                                         \
  }
TAEDA_CHECK_ALL(checkAllSameSize, checkSameSize)
TAEDA_CHECK_ALL(checkAllSameNumel, checkSameNumel)
TAEDA_CHECK_ALL(checkAllSameType, checkSameType)
TAEDA_CHECK_ALL(checkAllSameGPU, checkSameGPU)
#undef TAEDA_CHECK_ALL
inline void checkAllContiguous(CheckedFrom c, ArrayRef<TensorArg> args) {
  for (const TensorArg& arg : args)
    if (arg->defined()) checkContiguous(c, arg);
}
inline void checkAllDefined(CheckedFrom c, ArrayRef<TensorArg> args) {
  for (const TensorArg& arg : args) checkDefined(c, arg);
}
inline void checkDeviceType(CheckedFrom c, ArrayRef<Tensor> tensors, c10::DeviceType type) {
  for (const Tensor& t : tensors)
    TORCH_CHECK(!t.defined() || t.device().type() == type, c, ": a tensor on ", type, " was expected; got one on ",
                t.device());
}
inline void checkLayout(CheckedFrom c, ArrayRef<Tensor> tensors, Layout layout) {
  for (const Tensor& t : tensors)
    TORCH_CHECK(!t.defined() || t.layout() == layout, c, ": a tensor of the layout ", layout,
                " was expected; got one of ", t.layout());
}
inline void checkBackend(CheckedFrom c, ArrayRef<Tensor> tensors, Backend backend) {
  checkDeviceType(c, tensors, c10::backendToDeviceType(backend));
  checkLayout(c, tensors, c10::layout_from_backend(backend));
}
inline void* maybe_data_ptr(const Tensor& tensor) { return tensor.defined() ? tensor.data_ptr() : nullptr; }
inline void* maybe_data_ptr(const TensorArg& tensor) { return maybe_data_ptr(*tensor); }

}  // namespace at
