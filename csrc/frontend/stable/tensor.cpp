// Handles of tensors: what they tell, and how they are made.
#include <iostream>

#include "frontend/stable/guarded.h"

namespace taeda::stable {

namespace {

struct Blob {
  void* data;
  std::span<const int64_t> sizes, strides;
  int64_t offset;
  int32_t dtype, device_type, device_index, layout;
};

at::Tensor from_memory(const Blob& blob, std::function<void(void*)> deleter) {
  TORCH_CHECK(layout_numbered(blob.layout) == Layout::Strided, "memory of the caller's makes strided tensors only");
  auto options = at::TensorOptions()
                     .dtype(c10::to_scalar_type(dtype_numbered(blob.dtype)))
                     .device(device_numbered(blob.device_type, blob.device_index));
  return at::from_blob(blob.data, {blob.sizes.data(), blob.sizes.size()}, {blob.strides.data(), blob.strides.size()},
                       blob.offset, std::move(deleter), options, options.device());
}

std::span<const int64_t> span(const int64_t* values, int64_t count) { return {values, static_cast<size_t>(count)}; }

// Pointers that calls give out are writable for the sake of C; nobody writes through them.
int64_t* borrowed(at::IntArrayRef values) { return const_cast<int64_t*>(values.data()); }

}  // namespace

}  // namespace taeda::stable

using namespace taeda::stable;

extern "C" {

AOTITorchError aoti_torch_delete_tensor_object(AtenTensorHandle tensor) {
  return guarded([&] { delete reinterpret_cast<at::Tensor*>(tensor); });
}
AOTITorchError aoti_torch_new_tensor_handle(AtenTensorHandle orig_handle, AtenTensorHandle* made) {
  return guarded([&] { *made = new_handle(tensor_of(orig_handle)); });
}
AOTITorchError aoti_torch_new_uninitialized_tensor(AtenTensorHandle* ret) {
  return guarded([&] { *ret = new_handle(at::Tensor()); });
}

// --- what a tensor is
AOTITorchError aoti_torch_get_data_ptr(AtenTensorHandle tensor, void** ret) {
  return guarded([&] { *ret = tensor_of(tensor).data_ptr(); });
}
AOTITorchError torch_get_mutable_data_ptr(AtenTensorHandle tensor, void** ret) {
  return aoti_torch_get_data_ptr(tensor, ret);
}
AOTITorchError torch_get_const_data_ptr(AtenTensorHandle tensor, const void** ret) {
  return guarded([&] { *ret = tensor_of(tensor).const_data_ptr(); });
}
AOTITorchError aoti_torch_get_storage_size(AtenTensorHandle tensor, int64_t* ret) {
  return guarded([&] { *ret = static_cast<int64_t>(tensor_of(tensor).storage().nbytes()); });
}
AOTITorchError aoti_torch_get_storage_numel(AtenTensorHandle tensor, int64_t* ret) {
  return guarded([&] {
    const at::Tensor& t = tensor_of(tensor);
    *ret = static_cast<int64_t>(t.storage().nbytes() / t.itemsize());
  });
}
AOTITorchError aoti_torch_get_dim(AtenTensorHandle tensor, int64_t* ret) {
  return guarded([&] { *ret = tensor_of(tensor).dim(); });
}
AOTITorchError aoti_torch_get_numel(AtenTensorHandle tensor, int64_t* ret) {
  return guarded([&] { *ret = tensor_of(tensor).numel(); });
}
AOTITorchError aoti_torch_get_sizes(AtenTensorHandle tensor, int64_t** ret) {
  return guarded([&] { *ret = borrowed(tensor_of(tensor).sizes()); });
}
AOTITorchError aoti_torch_get_size(AtenTensorHandle tensor, int64_t d, int64_t* ret) {
  return guarded([&] { *ret = tensor_of(tensor).size(d); });
}
AOTITorchError aoti_torch_get_strides(AtenTensorHandle tensor, int64_t** ret) {
  return guarded([&] { *ret = borrowed(tensor_of(tensor).strides()); });
}
AOTITorchError aoti_torch_get_stride(AtenTensorHandle tensor, int64_t d, int64_t* ret) {
  return guarded([&] { *ret = tensor_of(tensor).stride(d); });
}
AOTITorchError aoti_torch_get_dtype(AtenTensorHandle tensor, int32_t* ret) {
  return guarded([&] { *ret = static_cast<int32_t>(tensor_of(tensor).scalar_type()); });
}
AOTITorchError aoti_torch_get_device_type(AtenTensorHandle tensor, int32_t* ret) {
  return guarded([&] { *ret = number_of(tensor_of(tensor).device().type()); });
}
AOTITorchError aoti_torch_get_device_index(AtenTensorHandle tensor, int32_t* ret) {
  return guarded([&] { *ret = tensor_of(tensor).device().index(); });
}
AOTITorchError aoti_torch_get_layout(AtenTensorHandle tensor, int32_t* ret) {
  return guarded([&] { *ret = number_of(tensor_of(tensor).layout()); });
}
AOTITorchError aoti_torch_get_storage_offset(AtenTensorHandle tensor, int64_t* ret) {
  return guarded([&] { *ret = tensor_of(tensor).storage_offset(); });
}
AOTITorchError aoti_torch_is_contiguous(AtenTensorHandle tensor, bool* ret) {
  return guarded([&] { *ret = tensor_of(tensor).is_contiguous(); });
}
AOTITorchError aoti_torch_is_defined(AtenTensorHandle tensor, bool* ret) {
  return guarded([&] { *ret = tensor_of(tensor).defined(); });
}
AOTITorchError torch_set_requires_grad(AtenTensorHandle tensor, bool requires_grad) {
  return guarded([&] { tensor_of(tensor).set_requires_grad(requires_grad); });
}

#define TAEDA_SHIM_NUMBER(type, name)                                                                            \
  AOTITorchError aoti_torch_item_##name(AtenTensorHandle tensor, type* ret) {                                    \
    return guarded([&] { *ret = tensor_of(tensor).item().to<type>(); });                                         \
  }                                                                                                              \
  AOTITorchError aoti_torch_scalar_to_tensor_##name(type value, AtenTensorHandle* ret) {                         \
    return guarded([&] { *ret = new_handle(at::scalar_tensor(value, c10::CppTypeToScalarType<type>::value)); }); \
  }
TAEDA_FORALL_SHIM_NUMBERS(TAEDA_SHIM_NUMBER)
#undef TAEDA_SHIM_NUMBER

// --- making tensors
AOTITorchError aoti_torch_empty_strided(int64_t ndim, const int64_t* sizes, const int64_t* strides, int32_t dtype,
                                        int32_t device_type, int32_t device_index, AtenTensorHandle* ret) {
  return guarded([&] {
    auto options = at::TensorOptions()
                       .dtype(c10::to_scalar_type(dtype_numbered(dtype)))
                       .device(device_numbered(device_type, device_index));
    *ret = new_handle(at::empty_strided(ints(sizes, ndim), ints(strides, ndim), options));
  });
}
AOTITorchError aoti_torch__reinterpret_tensor(AtenTensorHandle self, int64_t ndim, const int64_t* sizes,
                                              const int64_t* strides, int64_t offset, AtenTensorHandle* ret) {
  return guarded([&] {
    const at::Tensor& t = tensor_of(self);
    *ret = new_handle(t.as_strided(ints(sizes, ndim), ints(strides, ndim), t.storage_offset() + offset));
  });
}
AOTITorchError aoti_torch_as_strided(AtenTensorHandle self, const int64_t* sizes, const int64_t* strides,
                                     AtenTensorHandle* ret) {
  return guarded([&] {
    const at::Tensor& t = tensor_of(self);
    *ret = new_handle(t.as_strided(ints(sizes, t.dim()), ints(strides, t.dim())));
  });
}
AOTITorchError torch_from_blob(void* data, int64_t ndim, const int64_t* sizes, const int64_t* strides, int64_t offset,
                               int32_t dtype, int32_t device_type, int32_t device_index, AtenTensorHandle* ret,
                               int32_t layout, const uint8_t*, int64_t, void (*deleter)(void*, void*), void* context) {
  return guarded([&] {
    std::function<void(void*)> release;
    if (deleter) release = [deleter, context](void* memory) { deleter(memory, context); };
    Blob blob{data, span(sizes, ndim), span(strides, ndim), offset, dtype, device_type, device_index, layout};
    *ret = new_handle(from_memory(blob, std::move(release)));
  });
}
AOTITorchError aoti_torch_create_tensor_from_blob_v2(void* data, int64_t ndim, const int64_t* sizes,
                                                     const int64_t* strides, int64_t offset, int32_t dtype,
                                                     int32_t device_type, int32_t device_index, AtenTensorHandle* ret,
                                                     int32_t layout, const uint8_t* metadata, int64_t metadata_size) {
  return torch_from_blob(data, ndim, sizes, strides, offset, dtype, device_type, device_index, ret, layout, metadata,
                         metadata_size, nullptr, nullptr);
}
AOTITorchError aoti_torch_create_tensor_from_blob(void* data, int64_t ndim, const int64_t* sizes,
                                                  const int64_t* strides, int64_t offset, int32_t dtype,
                                                  int32_t device_type, int32_t device_index, AtenTensorHandle* ret) {
  return aoti_torch_create_tensor_from_blob_v2(data, ndim, sizes, strides, offset, dtype, device_type, device_index,
                                               ret, number_of(taeda::Layout::Strided), nullptr, 0);
}
AOTITorchError aoti_torch_clone(AtenTensorHandle self, AtenTensorHandle* ret) {
  return guarded([&] { *ret = new_handle(tensor_of(self).clone()); });
}
AOTITorchError aoti_torch_clone_preserve_strides(AtenTensorHandle self, AtenTensorHandle* ret) {
  return guarded([&] {
    const at::Tensor& t = tensor_of(self);
    at::Tensor made = at::empty_strided(t.sizes(), t.strides(), t.options());
    made.copy_(t);
    *ret = new_handle(std::move(made));
  });
}
AOTITorchError aoti_torch_copy_(AtenTensorHandle self, AtenTensorHandle src, int32_t non_blocking) {
  return guarded([&] { tensor_of(self).copy_(tensor_of(src), non_blocking != 0); });
}
AOTITorchError aoti_torch_tensor_copy_(AtenTensorHandle src, AtenTensorHandle dst) {
  return aoti_torch_copy_(dst, src, 0);
}
AOTITorchError aoti_torch_assign_tensors(AtenTensorHandle src, AtenTensorHandle dst) {
  return guarded([&] {
    TORCH_CHECK(dst, "the handle of a tensor is null");
    *reinterpret_cast<at::Tensor*>(dst) = tensor_of(src);
  });
}
AOTITorchError aoti_torch_assign_tensors_out(AtenTensorHandle src, AtenTensorHandle* ret) {
  return aoti_torch_new_tensor_handle(src, ret);
}
AOTITorchError aoti_torch_zero_(AtenTensorHandle self) {
  return guarded([&] { tensor_of(self).zero_(); });
}
AOTITorchError aoti_torch_check_inf_and_nan(const char* name, AtenTensorHandle tensor) {
  return guarded([&] {
    TORCH_CHECK(at::isfinite(tensor_of(tensor)).all().item<bool>(), "the tensor ", name,
                " holds elements that are infinite or NaN");
  });
}
void aoti_torch_print_tensor_handle(AtenTensorHandle self, const char* message) {
  guarded([&] { std::cout << (message ? message : "") << "\n" << tensor_of(self) << std::endl; });
}
}
