// Ops as functions of the stable interface. Any other is called by its name: torch::stable::call<Tensor>("aten::relu",
// "", x) takes the arguments of the op's schema, in order, all of them.
#pragma once
#include <torch/csrc/stable/conversions.h>

namespace torch::stable {

using headeronly::MemoryFormat;

namespace detail {
inline void dispatch(const char* name, const char* overload, StableIValue* stack) {
#if TORCH_FEATURE_VERSION >= TORCH_VERSION_2_10_0
  STABLE_TORCH_ERROR_CODE_CHECK(torch_call_dispatcher(name, overload, stack, TORCH_ABI_VERSION));
#else
  STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_call_dispatcher(name, overload, stack));
#endif
}
}  // namespace detail

template <class Result, class... Args>
Result call(const char* name, const char* overload, const Args&... args) {
  StableIValue stack[sizeof...(Args) + 1] = {detail::from(args)...};
  detail::dispatch(name, overload, stack);
  if constexpr (!std::is_void_v<Result>) return detail::to<Result>(stack[0]);
}

inline Tensor empty_like(const Tensor& self) {
  return call<Tensor>("aten::empty_like", "", self, std::nullopt, std::nullopt, std::nullopt, std::nullopt,
                      std::nullopt);
}
inline Tensor fill_(const Tensor& self, double value) {
  STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_aten_fill__Scalar(self.get(), value));
  return self;
}
inline Tensor zero_(const Tensor& self) { return call<Tensor>("aten::zero_", "", self); }
inline Tensor copy_(const Tensor& self, const Tensor& src, std::optional<bool> non_blocking = std::nullopt) {
  return call<Tensor>("aten::copy_", "", self, src, non_blocking.value_or(false));
}
inline Tensor clone(const Tensor& self) { return call<Tensor>("aten::clone", "", self, std::nullopt); }
inline Tensor narrow(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  AtenTensorHandle made = nullptr;
  STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_aten_narrow(self.get(), dim, start, length, &made));
  return Tensor(made);
}
inline Tensor pad(const Tensor& self, IntHeaderOnlyArrayRef pad, const std::string& mode = "constant",
                  double value = 0.0) {
  AtenTensorHandle made = nullptr;
  STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_aten_pad(self.get(), pad.data(), static_cast<int64_t>(pad.size()),
                                                    mode.c_str(), mode == "constant" ? &value : nullptr, &made));
  return Tensor(made);
}
inline Tensor amax(const Tensor& self, IntHeaderOnlyArrayRef dims, bool keepdim = false) {
  AtenTensorHandle made = nullptr;
  STABLE_TORCH_ERROR_CODE_CHECK(
      aoti_torch_aten_amax(self.get(), dims.data(), static_cast<int64_t>(dims.size()), keepdim, &made));
  return Tensor(made);
}
inline Tensor amax(const Tensor& self, int64_t dim, bool keepdim = false) {
  return amax(self, IntHeaderOnlyArrayRef(&dim, 1), keepdim);
}
inline Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1) {
  return call<Tensor>("aten::transpose", "int", self, dim0, dim1);
}
inline Tensor flatten(const Tensor& self, int64_t start_dim = 0, int64_t end_dim = -1) {
  return call<Tensor>("aten::flatten", "using_ints", self, start_dim, end_dim);
}
inline Tensor unsqueeze(const Tensor& self, int64_t dim) { return call<Tensor>("aten::unsqueeze", "", self, dim); }
inline Tensor squeeze(const Tensor& self, int64_t dim) { return call<Tensor>("aten::squeeze", "dim", self, dim); }
inline Tensor select(const Tensor& self, int64_t dim, int64_t index) {
  return call<Tensor>("aten::select", "int", self, dim, index);
}
inline Tensor matmul(const Tensor& self, const Tensor& other) { return call<Tensor>("aten::matmul", "", self, other); }

#if TORCH_FEATURE_VERSION >= TORCH_VERSION_2_10_0

// What new tensors are like; the parameters of most functions that make some.
#define TAEDA_STABLE_OPTIONS                                                                   \
  std::optional<ScalarType> dtype = std::nullopt, std::optional<Layout> layout = std::nullopt, \
                            std::optional<Device> device = std::nullopt, std::optional<bool> pin_memory = std::nullopt
inline Tensor empty(IntHeaderOnlyArrayRef size, TAEDA_STABLE_OPTIONS,
                    std::optional<MemoryFormat> memory_format = std::nullopt) {
  return call<Tensor>("aten::empty", "memory_format", size, dtype, layout, device, pin_memory, memory_format);
}
inline Tensor new_empty(const Tensor& self, IntHeaderOnlyArrayRef size, TAEDA_STABLE_OPTIONS) {
  return call<Tensor>("aten::new_empty", "", self, size, dtype, layout, device, pin_memory);
}
inline Tensor new_zeros(const Tensor& self, IntHeaderOnlyArrayRef size, TAEDA_STABLE_OPTIONS) {
  return call<Tensor>("aten::new_zeros", "", self, size, dtype, layout, device, pin_memory);
}
inline Tensor full(IntHeaderOnlyArrayRef size, double fill_value, TAEDA_STABLE_OPTIONS) {
  int32_t dtype_number = dtype ? detail::number_of(*dtype) : 0;
  int32_t layout_number = layout ? detail::number_of(*layout) : 0;
  int32_t device_number = device ? detail::number_of(device->type()) : 0;
  int32_t pinned = pin_memory.value_or(false);
  AtenTensorHandle made = nullptr;
  STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_aten_full(size.data(), static_cast<int64_t>(size.size()), fill_value,
                                                     dtype ? &dtype_number : nullptr, layout ? &layout_number : nullptr,
                                                     device ? &device_number : nullptr, device ? device->index() : -1,
                                                     pin_memory ? &pinned : nullptr, &made));
  return Tensor(made);
}
#undef TAEDA_STABLE_OPTIONS
inline Tensor to(const Tensor& self, std::optional<ScalarType> dtype = std::nullopt,
                 std::optional<Layout> layout = std::nullopt, std::optional<Device> device = std::nullopt,
                 std::optional<bool> pin_memory = std::nullopt, bool non_blocking = false, bool copy = false,
                 std::optional<MemoryFormat> memory_format = std::nullopt) {
  return call<Tensor>("aten::to", "dtype_layout", self, dtype, layout, device, pin_memory, non_blocking, copy,
                      memory_format);
}
inline Tensor to(const Tensor& self, Device device, bool non_blocking = false, bool copy = false) {
  return to(self, std::nullopt, std::nullopt, device, std::nullopt, non_blocking, copy);
}
inline Tensor contiguous(const Tensor& self, MemoryFormat memory_format = MemoryFormat::Contiguous) {
  return call<Tensor>("aten::contiguous", "", self, memory_format);
}
inline Tensor reshape(const Tensor& self, IntHeaderOnlyArrayRef shape) {
  return call<Tensor>("aten::reshape", "", self, shape);
}
inline Tensor view(const Tensor& self, IntHeaderOnlyArrayRef size) {
  return call<Tensor>("aten::view", "", self, size);
}
inline Tensor sum(const Tensor& self, std::optional<IntHeaderOnlyArrayRef> dim = std::nullopt, bool keepdim = false,
                  std::optional<ScalarType> dtype = std::nullopt) {
  return call<Tensor>("aten::sum", "dim_IntList", self, dim, keepdim, dtype);
}
inline Tensor& sum_out(Tensor& out, const Tensor& self, std::optional<IntHeaderOnlyArrayRef> dim = std::nullopt,
                       bool keepdim = false, std::optional<ScalarType> dtype = std::nullopt) {
  call<Tensor>("aten::sum", "IntList_out", self, dim, keepdim, dtype, out);
  return out;
}
inline Tensor subtract(const Tensor& self, const Tensor& other, double alpha = 1.0) {
  AtenTensorHandle made = nullptr;
  STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_aten_subtract_Tensor(self.get(), other.get(), alpha, &made));
  return Tensor(made);
}

// Over memory of the caller's, which must outlive the tensor.
inline Tensor from_blob(void* data, IntHeaderOnlyArrayRef sizes, IntHeaderOnlyArrayRef strides, Device device,
                        ScalarType dtype, int64_t storage_offset = 0, Layout layout = Layout::Strided) {
  AtenTensorHandle made = nullptr;
  STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_create_tensor_from_blob_v2(
      data, static_cast<int64_t>(sizes.size()), sizes.data(), strides.data(), storage_offset, detail::number_of(dtype),
      detail::number_of(device.type()), device.index(), &made, detail::number_of(layout), nullptr, 0));
  return Tensor(made);
}
#if TORCH_FEATURE_VERSION >= TORCH_VERSION_2_11_0
// As above; `deleter(data)` is called once nobody uses the memory any more.
template <class F>
  requires std::is_invocable_v<F, void*>
Tensor from_blob(void* data, IntHeaderOnlyArrayRef sizes, IntHeaderOnlyArrayRef strides, Device device,
                 ScalarType dtype, F deleter, int64_t storage_offset = 0, Layout layout = Layout::Strided) {
  auto release = [](void* memory, void* context) {
    std::unique_ptr<F> last(static_cast<F*>(context));
    (*last)(memory);
  };
  auto context = std::make_unique<F>(std::move(deleter));
  AtenTensorHandle made = nullptr;
  STABLE_TORCH_ERROR_CODE_CHECK(torch_from_blob(data, static_cast<int64_t>(sizes.size()), sizes.data(), strides.data(),
                                                storage_offset, detail::number_of(dtype),
                                                detail::number_of(device.type()), device.index(), &made,
                                                detail::number_of(layout), nullptr, 0, release, context.get()));
  context.release();
  return Tensor(made);
}
#endif

// Calls f(from, to) over [begin, end) in pieces of at least `grain_size`.
template <class F>
void parallel_for(int64_t begin, int64_t end, int64_t grain_size, const F& f) {
  auto run = [](int64_t from, int64_t to, void* context) { (*static_cast<const F*>(context))(from, to); };
  STABLE_TORCH_ERROR_CODE_CHECK(
      torch_parallel_for(begin, end, grain_size, run, const_cast<void*>(static_cast<const void*>(&f))));
}
inline uint32_t get_num_threads() {
  uint32_t count = 0;
  STABLE_TORCH_ERROR_CODE_CHECK(torch_get_num_threads(&count));
  return count;
}
#endif

}  // namespace torch::stable
