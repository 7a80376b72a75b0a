// A tensor of the stable interface: what describes it, and its memory. What ops do is in torch/csrc/stable/ops.h.
#pragma once
#include <memory>

#include <torch/csrc/stable/device.h>

namespace torch::stable {

using headeronly::IntHeaderOnlyArrayRef, headeronly::Layout, headeronly::ScalarType;

class Tensor {
 public:
  // Undefined.
  Tensor() {
    AtenTensorHandle made = nullptr;
    STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_new_uninitialized_tensor(&made));
    *this = Tensor(made);
  }
  // Takes the handle.
  explicit Tensor(AtenTensorHandle handle)
      : handle_(handle, [](AtenTensorHandle old) { aoti_torch_delete_tensor_object(old); }) {}
  // Borrowed.
  AtenTensorHandle get() const { return handle_.get(); }

  int64_t dim() const { return ask<int64_t>(aoti_torch_get_dim); }
  int64_t numel() const { return ask<int64_t>(aoti_torch_get_numel); }
  IntHeaderOnlyArrayRef sizes() const { return {ask<int64_t*>(aoti_torch_get_sizes), static_cast<size_t>(dim())}; }
  IntHeaderOnlyArrayRef strides() const { return {ask<int64_t*>(aoti_torch_get_strides), static_cast<size_t>(dim())}; }
  int64_t size(int64_t d) const {
    int64_t size = 0;
    STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_get_size(get(), d, &size));
    return size;
  }
  int64_t stride(int64_t d) const {
    int64_t stride = 0;
    STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_get_stride(get(), d, &stride));
    return stride;
  }
  int64_t storage_offset() const { return ask<int64_t>(aoti_torch_get_storage_offset); }
  bool is_contiguous() const { return ask<bool>(aoti_torch_is_contiguous); }
  bool defined() const { return ask<bool>(aoti_torch_is_defined); }
  size_t element_size() const { return aoti_torch_dtype_element_size(ask<int32_t>(aoti_torch_get_dtype)); }

  ScalarType scalar_type() const { return detail::enum_numbered<ScalarType>(ask<int32_t>(aoti_torch_get_dtype)); }
  Layout layout() const { return detail::enum_numbered<Layout>(ask<int32_t>(aoti_torch_get_layout)); }
  DeviceIndex get_device_index() const { return ask<int32_t>(aoti_torch_get_device_index); }
  int8_t get_device() const { return static_cast<int8_t>(get_device_index()); }
  Device device() const {
    auto type = detail::enum_numbered<DeviceType>(ask<int32_t>(aoti_torch_get_device_type));
    return Device(type, get_device_index());
  }
  bool is_cuda() const { return ask<int32_t>(aoti_torch_get_device_type) == aoti_torch_device_type_cuda(); }
  bool is_cpu() const { return ask<int32_t>(aoti_torch_get_device_type) == aoti_torch_device_type_cpu(); }

  void* data_ptr() const { return ask<void*>(aoti_torch_get_data_ptr); }
#if TORCH_FEATURE_VERSION >= TORCH_VERSION_2_10_0
  void* mutable_data_ptr() const { return ask<void*>(torch_get_mutable_data_ptr); }
  const void* const_data_ptr() const { return ask<const void*>(torch_get_const_data_ptr); }
  // RuntimeError where T is not the C++ type of the dtype.
  template <class T>
  T* mutable_data_ptr() const {
    check_type<std::remove_const_t<T>>();
    return static_cast<T*>(mutable_data_ptr());
  }
  template <class T>
    requires(!std::is_const_v<T>)
  const T* const_data_ptr() const {
    check_type<T>();
    return static_cast<const T*>(const_data_ptr());
  }
  const Tensor& set_requires_grad(bool requires_grad) const {
    STABLE_TORCH_ERROR_CODE_CHECK(torch_set_requires_grad(get(), requires_grad));
    return *this;
  }
#endif

 private:
  template <class T>
  T ask(AOTITorchError (*question)(AtenTensorHandle, T*)) const {
    T answer{};
    STABLE_TORCH_ERROR_CODE_CHECK(question(get(), &answer));
    return answer;
  }
  template <class T>
  void check_type() const {
    constexpr ScalarType wanted = headeronly::CppTypeToScalarType<T>::value;
    STD_TORCH_CHECK(scalar_type() == wanted, "expected scalar type ", headeronly::toString(wanted), " but found ",
                    headeronly::toString(scalar_type()));
  }
  std::shared_ptr<AtenTensorOpaque> handle_;
};

}  // namespace torch::stable
