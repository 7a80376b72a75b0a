// Tensors to and from DLPack, without a copy.
#pragma once
#include <ATen/Functions.h>
#include <ATen/dlpack.h>

namespace at {

inline DLDataType getDLDataType(const Tensor& t) { return ::taeda::to_dlpack(t.impl()->dtype()); }
inline ScalarType toScalarType(const DLDataType& dtype) { return c10::to_scalar_type(::taeda::from_dlpack(dtype)); }
inline DLDevice torchDeviceToDLDevice(Device device) { return ::taeda::to_dlpack(device); }

// The result keeps the memory until its deleter is called.
inline DLManagedTensor* toDLPack(const Tensor& t) { return ::taeda::to_dlpack<DLManagedTensor>(t); }
inline DLManagedTensorVersioned* toDLPackVersioned(const Tensor& t) {
  return ::taeda::to_dlpack<DLManagedTensorVersioned>(t);
}
// A tensor over the other's memory, which is given back by its deleter when nobody uses it any more.
inline Tensor fromDLPack(DLManagedTensor* source) {
  return ::taeda::from_dlpack(source, ::taeda::release_dlpack<DLManagedTensor>);
}
inline Tensor fromDLPackVersioned(DLManagedTensorVersioned* source) {
  return ::taeda::from_dlpack(source, ::taeda::release_dlpack<DLManagedTensorVersioned>);
}

}  // namespace at
