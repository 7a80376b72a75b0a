// What a new tensor shall be like; what is not said is as by default.
#pragma once
#include <c10/core/Device.h>
#include <c10/core/Layout.h>
#include <c10/util/typeid.h>

namespace c10 {

class TensorOptions {
 public:
  TensorOptions() = default;
  TensorOptions(Layout layout) : layout_(layout) {}
  template <class T>
    requires std::is_convertible_v<T, Device>
  TensorOptions(T&& device) : device_(Device(std::forward<T>(device))) {}
  TensorOptions(DeviceType type, int index) : device_(Device(type, static_cast<DeviceIndex>(index))) {}
  TensorOptions(TypeMeta dtype) : dtype_(dtype.toScalarType()) {}
  TensorOptions(ScalarType dtype) : dtype_(dtype) {}
  TensorOptions(MemoryFormat format) : memory_format_(format) {}

  [[nodiscard]] TensorOptions device(std::optional<Device> device) const {
    return with(&TensorOptions::device_, device);
  }
  template <class... Args>
    requires std::is_constructible_v<Device, Args...>
  [[nodiscard]] TensorOptions device(Args&&... args) const {
    return with(&TensorOptions::device_, std::optional<Device>(Device(std::forward<Args>(args)...)));
  }
  [[nodiscard]] TensorOptions device_index(DeviceIndex index) const { return device(Device(DeviceType::CUDA, index)); }
  [[nodiscard]] TensorOptions dtype(std::optional<ScalarType> dtype) const {
    return with(&TensorOptions::dtype_, dtype);
  }
  [[nodiscard]] TensorOptions dtype(std::optional<TypeMeta> dtype) const {
    return with(&TensorOptions::dtype_, optTypeMetaToScalarType(dtype));
  }
  [[nodiscard]] TensorOptions dtype(ScalarType dtype) const { return this->dtype(std::optional<ScalarType>(dtype)); }
  [[nodiscard]] TensorOptions dtype(TypeMeta dtype) const { return this->dtype(dtype.toScalarType()); }
  template <class T>
  TensorOptions& dtype() {
    dtype_ = CppTypeToScalarType<T>::value;
    return *this;
  }
  [[nodiscard]] TensorOptions layout(std::optional<Layout> layout) const {
    return with(&TensorOptions::layout_, layout);
  }
  [[nodiscard]] TensorOptions requires_grad(std::optional<bool> value) const {
    return with(&TensorOptions::requires_grad_, value);
  }
  [[nodiscard]] TensorOptions pinned_memory(std::optional<bool> value) const {
    return with(&TensorOptions::pinned_memory_, value);
  }
  [[nodiscard]] TensorOptions memory_format(std::optional<MemoryFormat> format) const {
    return with(&TensorOptions::memory_format_, format);
  }

  Device device() const { return device_.value_or(Device(DeviceType::CPU)); }
  bool has_device() const { return device_.has_value(); }
  std::optional<Device> device_opt() const { return device_; }
  DeviceIndex device_index() const { return device().index(); }
  TypeMeta dtype() const { return dtype_ ? TypeMeta(*dtype_) : get_default_dtype(); }
  bool has_dtype() const { return dtype_.has_value(); }
  std::optional<TypeMeta> dtype_opt() const { return dtype_ ? std::optional<TypeMeta>(*dtype_) : std::nullopt; }
  std::optional<::taeda::DType> dtype_or_none() const { return to_dtype(dtype_); }
  Layout layout() const { return layout_.value_or(Layout::Strided); }
  bool has_layout() const { return layout_.has_value(); }
  std::optional<Layout> layout_opt() const { return layout_; }
  bool requires_grad() const { return requires_grad_.value_or(false); }
  bool has_requires_grad() const { return requires_grad_.has_value(); }
  std::optional<bool> requires_grad_opt() const { return requires_grad_; }
  bool pinned_memory() const { return pinned_memory_.value_or(false); }
  bool has_pinned_memory() const { return pinned_memory_.has_value(); }
  std::optional<bool> pinned_memory_opt() const { return pinned_memory_; }
  bool has_memory_format() const { return memory_format_.has_value(); }
  std::optional<MemoryFormat> memory_format_opt() const { return memory_format_; }
  bool is_sparse() const { return layout() == Layout::Sparse; }
  bool is_sparse_csr() const { return layout() == Layout::SparseCsr; }
  bool type_equal(const TensorOptions& other) const {
    return dtype() == other.dtype() && layout() == other.layout() && device().type() == other.device().type();
  }

  // What `other` says goes before what this says.
  [[nodiscard]] TensorOptions merge_in(TensorOptions other) const {
    TensorOptions made = *this;
    if (other.dtype_) made.dtype_ = other.dtype_;
    if (other.device_) made.device_ = other.device_;
    if (other.layout_) made.layout_ = other.layout_;
    if (other.requires_grad_) made.requires_grad_ = other.requires_grad_;
    if (other.pinned_memory_) made.pinned_memory_ = other.pinned_memory_;
    if (other.memory_format_) made.memory_format_ = other.memory_format_;
    return made;
  }
  [[nodiscard]] TensorOptions merge_memory_format(std::optional<MemoryFormat> format) const {
    return format ? memory_format(format) : *this;
  }

 private:
  template <class T>
  TensorOptions with(std::optional<T> TensorOptions::* field, std::optional<T> value) const {
    TensorOptions made = *this;
    made.*field = value;
    return made;
  }
  std::optional<Device> device_;
  std::optional<ScalarType> dtype_;
  std::optional<Layout> layout_;
  std::optional<bool> requires_grad_, pinned_memory_;
  std::optional<MemoryFormat> memory_format_;
};

inline TensorOptions dtype(TypeMeta type) { return TensorOptions().dtype(type); }
inline TensorOptions dtype(ScalarType type) { return TensorOptions().dtype(type); }
template <class T>
TensorOptions dtype() {
  return dtype(CppTypeToScalarType<T>::value);
}
inline TensorOptions layout(Layout layout) { return TensorOptions().layout(layout); }
inline TensorOptions device(Device device) { return TensorOptions().device(device); }
inline TensorOptions device_index(DeviceIndex index) { return TensorOptions().device_index(index); }
inline TensorOptions requires_grad(bool value = true) { return TensorOptions().requires_grad(value); }
inline TensorOptions memory_format(MemoryFormat format) { return TensorOptions().memory_format(format); }
inline std::ostream& operator<<(std::ostream& out, const TensorOptions& options) {
  auto put = [&](const char* name, const auto& value, bool is_given) {
    out << name << value << (is_given ? "" : " (default)");
  };
  auto word = [](bool value) { return value ? "true" : "false"; };
  put("TensorOptions(dtype=", options.dtype(), options.has_dtype());
  put(", device=", options.device(), options.has_device());
  put(", layout=", options.layout(), options.has_layout());
  put(", requires_grad=", word(options.requires_grad()), options.has_requires_grad());
  put(", pinned_memory=", word(options.pinned_memory()), options.has_pinned_memory());
  out << ", memory_format=";
  if (options.has_memory_format()) return out << *options.memory_format_opt() << ')';
  return out << "(nullopt))";
}

}  // namespace c10

namespace at {
using c10::device, c10::device_index, c10::dtype, c10::layout, c10::memory_format, c10::requires_grad;
namespace detail {
inline std::optional<c10::MemoryFormat> memory_format_of(const c10::TensorOptions& options,
                                                         std::optional<c10::MemoryFormat> format) {
  TORCH_CHECK(!options.requires_grad(),
              "options that require grad are for functions of torch:: that make tensors; call requires_grad_() on the "
              "result of this one");
  TORCH_CHECK(!format || !options.has_memory_format(), "the memory format is given twice: with the options and alone");
  return format ? format : options.memory_format_opt();
}
}  // namespace detail
}  // namespace at
