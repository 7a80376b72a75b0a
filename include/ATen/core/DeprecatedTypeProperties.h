// What tensor.type() gives: device, layout and dtype in one. Older programs ask it what the tensor answers itself.
#pragma once
#include <c10/core/Backend.h>
#include <c10/core/TensorOptions.h>

namespace at {

class DeprecatedTypeProperties {
 public:
  constexpr DeprecatedTypeProperties() = default;
  constexpr DeprecatedTypeProperties(c10::Backend backend, ScalarType type) : backend_(backend), type_(type) {}

  c10::Backend backend() const { return backend_; }
  Layout layout() const { return c10::layout_from_backend(backend_); }
  c10::DeviceType device_type() const { return c10::backendToDeviceType(backend_); }
  bool is_cuda() const { return device_type() == c10::kCUDA; }
  bool is_sparse() const { return layout() == Layout::Sparse; }
  bool is_sparse_csr() const { return layout() == Layout::SparseCsr; }
  ScalarType scalarType() const { return type_; }
  caffe2::TypeMeta typeMeta() const { return type_; }
  std::string toString() const {
    if (backend_ == c10::Backend::Undefined || type_ == ScalarType::Undefined) return "UndefinedType";
    return c10::str(c10::toString(backend_), c10::toString(type_), "Type");
  }
  TensorOptions options(int16_t device_index = -1) const {
    return TensorOptions(typeMeta())
        .layout(layout())
        .device(device_type(), static_cast<c10::DeviceIndex>(device_index));
  }
  TensorOptions options(std::optional<Device> device) const {
    TORCH_CHECK(!device || device->type() == device_type(), "options: the type ", toString(), " is not one of ",
                device ? device->str() : "");
    return options(device ? device->index() : int16_t{-1});
  }
  operator TensorOptions() const { return options(); }
  friend bool operator==(const DeprecatedTypeProperties& a, const DeprecatedTypeProperties& b) = default;

  // Each of these is one object for the whole process.
  DeprecatedTypeProperties& toBackend(c10::Backend backend) const;
  DeprecatedTypeProperties& toScalarType(ScalarType type) const;
  DeprecatedTypeProperties& cpu() const { return toBackend(c10::Backend::CPU); }
  DeprecatedTypeProperties& cuda() const { return toBackend(c10::Backend::CUDA); }

 private:
  c10::Backend backend_ = c10::Backend::Undefined;
  ScalarType type_ = ScalarType::Undefined;
};
inline std::ostream& operator<<(std::ostream& out, const DeprecatedTypeProperties& type) {
  return out << type.toString();
}

TORCH_API DeprecatedTypeProperties& getDeprecatedTypeProperties(c10::Backend backend, ScalarType type);
inline DeprecatedTypeProperties& DeprecatedTypeProperties::toBackend(c10::Backend backend) const {
  return getDeprecatedTypeProperties(backend, type_);
}
inline DeprecatedTypeProperties& DeprecatedTypeProperties::toScalarType(ScalarType type) const {
  return getDeprecatedTypeProperties(backend_, type);
}
inline DeprecatedTypeProperties& CPU(ScalarType type) { return getDeprecatedTypeProperties(c10::Backend::CPU, type); }
inline DeprecatedTypeProperties& CUDA(ScalarType type) { return getDeprecatedTypeProperties(c10::Backend::CUDA, type); }

}  // namespace at
