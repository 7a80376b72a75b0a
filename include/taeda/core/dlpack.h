// DLPack: tensors handed to another library and taken from one without a copy. The structs are the standard's ABI,
// https://dmlc.github.io/dlpack/latest/c_api.html; a program that includes the standard's own header gets that one's.
#pragma once
#include <cstdint>

#include "taeda/core/tensor.h"

#ifndef DLPACK_DLPACK_H_
#define DLPACK_DLPACK_H_
#define DLPACK_MAJOR_VERSION 1
#define DLPACK_MINOR_VERSION 0
#define DLPACK_FLAG_BITMASK_READ_ONLY (1UL << 0UL)
#define DLPACK_FLAG_BITMASK_IS_COPIED (1UL << 1UL)

extern "C" {
typedef struct {
  uint32_t major, minor;
} DLPackVersion;

typedef enum : int32_t {
  kDLCPU = 1,
  kDLCUDA = 2,
  kDLCUDAHost = 3,
  kDLOpenCL = 4,
  kDLVulkan = 7,
  kDLMetal = 8,
  kDLVPI = 9,
  kDLROCM = 10,
  kDLROCMHost = 11,
  kDLExtDev = 12,
  kDLCUDAManaged = 13,
  kDLOneAPI = 14,
  kDLWebGPU = 15,
  kDLHexagon = 16,
  kDLMAIA = 17,
} DLDeviceType;

typedef struct {
  DLDeviceType device_type;
  int32_t device_id;
} DLDevice;

typedef enum {
  kDLInt = 0U,
  kDLUInt = 1U,
  kDLFloat = 2U,
  kDLOpaqueHandle = 3U,
  kDLBfloat = 4U,
  kDLComplex = 5U,
  kDLBool = 6U,
} DLDataTypeCode;

typedef struct {
  uint8_t code, bits;
  uint16_t lanes;
} DLDataType;

typedef struct {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; null when contiguous
  uint64_t byte_offset;
} DLTensor;

typedef struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(struct DLManagedTensor* self);
} DLManagedTensor;

typedef struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(struct DLManagedTensorVersioned* self);
  uint64_t flags;
  DLTensor dl_tensor;
} DLManagedTensorVersioned;
}
#endif  // DLPACK_DLPACK_H_

namespace taeda {

// RuntimeError, or ValueError for a device, for what the other side cannot say.
TAEDA_API DLDataType to_dlpack(DType dtype);
TAEDA_API DType from_dlpack(DLDataType dtype);
TAEDA_API DLDevice to_dlpack(Device device);
TAEDA_API Device from_dlpack(DLDevice device);

// Managed: DLManagedTensor or DLManagedTensorVersioned. The result keeps the memory until its deleter is called.
// RuntimeError for a tensor that is not strided, or whose memory does not hold what it shows.
template <class Managed>
TAEDA_API Managed* to_dlpack(const Tensor& t, uint64_t flags = 0);
// A tensor over the other's memory, with which `release` is called when nobody uses it any more. RuntimeError for one
// that no tensor can be; then it is still the caller's.
template <class Managed>
TAEDA_API Tensor from_dlpack(Managed* managed, void (*release)(void*));
template <class Managed>
void release_dlpack(void* managed) {
  auto* self = static_cast<Managed*>(managed);
  if (self->deleter) self->deleter(self);
}

}  // namespace taeda
