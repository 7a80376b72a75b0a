// Functions of the stable interface in C throw nothing: they say that they failed, and keep why.
#pragma once
#include <ATen/Functions.h>
#include <torch/csrc/stable/c/shim.h>

#include <utility>

namespace taeda::stable {

// Of this thread's last failure; empty if there was none since it was cleared.
std::string& last_error();
// Keeps what the exception that is being handled says.
void keep_error() noexcept;

template <class F>
AOTITorchError guarded(F&& body) noexcept {
  try {
    body();
    return AOTI_TORCH_SUCCESS;
  } catch (...) {
    keep_error();
    return AOTI_TORCH_FAILURE;
  }
}

// --- handles are C++ objects
inline at::Tensor& tensor_of(AtenTensorHandle handle) {
  TORCH_CHECK(handle, "the handle of a tensor is null");
  return *reinterpret_cast<at::Tensor*>(handle);
}
inline AtenTensorHandle new_handle(at::Tensor tensor) {
  return reinterpret_cast<AtenTensorHandle>(new at::Tensor(std::move(tensor)));
}
inline at::IntArrayRef ints(const int64_t* values, int64_t count) { return {values, static_cast<size_t>(count)}; }
inline at::Generator& generator_of(AtenGeneratorHandle handle) {
  TORCH_CHECK(handle, "the handle of a generator is null");
  return *reinterpret_cast<at::Generator*>(handle);
}
struct StableList {
  std::vector<StableIValue> items;
};
inline StableList& list_of(StableListHandle handle) { return *reinterpret_cast<StableList*>(handle); }
inline std::string& string_of(StringHandle handle) { return *reinterpret_cast<std::string*>(handle); }

// --- numbers of what describes tensors, and back; RuntimeError for a number that stands for nothing
int32_t number_of(DType dtype);
int32_t number_of(DeviceType type);
int32_t number_of(Layout layout);
int32_t number_of(MemoryFormat format);
DType dtype_numbered(int32_t number);
DeviceType device_type_numbered(int32_t number);
Layout layout_numbered(int32_t number);
MemoryFormat memory_format_numbered(int32_t number);
inline Device device_numbered(int32_t type, int32_t index) {
  return {device_type_numbered(type), static_cast<int8_t>(index)};
}

}  // namespace taeda::stable
