// Numbers of dtypes, devices, layouts and memory formats.
#include "frontend/stable/guarded.h"

namespace taeda::stable {

namespace {

// PyTorch's numbers, in the order of our enumerations.
constexpr int32_t kDevices[kDeviceNames] = {
    0,  1,  12, 13, 14, 20, -1, -1,  // CPU CUDA XPU MPS Meta PrivateUse1, and two that it lacks
    2,  3,  4,  5,  6,  7,  8,  9,
    10, 11, 15, 16, 17,  // MKLDNN OPENGL OPENCL IDEEP HIP FPGA MAIA XLA Vulkan Metal HPU VE
    18, 19};             // Lazy IPU MTIA
constexpr int32_t kLayouts[] = {0, 1, 2, 4, 5, 6, 7};  // Strided Sparse SparseCsr SparseCsc SparseBsr SparseBsc Jagged
constexpr int32_t kMkldnn = 3;
static_assert(static_cast<int>(DeviceType::PrivateUse1) == 5 && static_cast<int>(Layout::Jagged) == 6);

template <size_t N>
int find_number(const int32_t (&numbers)[N], int32_t number, const char* what) {
  for (size_t i = 0; i < N; ++i)
    if (numbers[i] == number && number >= 0) return static_cast<int>(i);
  TORCH_CHECK(false, "the stable interface has no ", what, " of the number ", number);
}

}  // namespace

int32_t number_of(DType dtype) { return static_cast<int32_t>(c10::to_scalar_type(dtype)); }
int32_t number_of(DeviceType type) { return kDevices[static_cast<int>(type)]; }
int32_t number_of(Layout layout) { return kLayouts[static_cast<int>(layout)]; }
int32_t number_of(MemoryFormat format) { return static_cast<int32_t>(format); }
DType dtype_numbered(int32_t number) {
  bool is_known = number >= 0 && number < static_cast<int32_t>(c10::ScalarType::NumOptions);
  DType dtype = is_known ? c10::to_dtype(static_cast<c10::ScalarType>(number)) : DType::Undefined;
  TORCH_CHECK(dtype != DType::Undefined, "the stable interface has no dtype of the number ", number);
  return dtype;
}
DeviceType device_type_numbered(int32_t number) {
  return static_cast<DeviceType>(find_number(kDevices, number, "device"));
}
Layout layout_numbered(int32_t number) {
  TORCH_CHECK(number != kMkldnn, "the layout _mkldnn, oneDNN's own, does not exist here");
  return static_cast<Layout>(find_number(kLayouts, number, "layout"));
}
MemoryFormat memory_format_numbered(int32_t number) {
  TORCH_CHECK(number >= 0 && number <= static_cast<int32_t>(MemoryFormat::ChannelsLast3d),
              "the stable interface has no memory format of the number ", number);
  return static_cast<MemoryFormat>(number);
}

}  // namespace taeda::stable

using namespace taeda::stable;
using at::DeviceType, at::Layout, at::MemoryFormat, at::ScalarType;

extern "C" {

#define TAEDA_NUMBER(name, value) \
  int32_t name() { return static_cast<int32_t>(value); }

TAEDA_NUMBER(aoti_torch_device_type_cpu, number_of(DeviceType::CPU))
TAEDA_NUMBER(aoti_torch_device_type_cuda, number_of(DeviceType::CUDA))
TAEDA_NUMBER(aoti_torch_device_type_meta, number_of(DeviceType::Meta))
TAEDA_NUMBER(aoti_torch_device_type_xpu, number_of(DeviceType::XPU))
TAEDA_NUMBER(aoti_torch_device_type_mps, number_of(DeviceType::MPS))
TAEDA_NUMBER(aoti_torch_device_type_privateuse1, number_of(DeviceType::PrivateUse1))

TAEDA_NUMBER(aoti_torch_dtype_float8_e5m2, ScalarType::Float8_e5m2)
TAEDA_NUMBER(aoti_torch_dtype_float8_e4m3fn, ScalarType::Float8_e4m3fn)
TAEDA_NUMBER(aoti_torch_dtype_float8_e5m2fnuz, ScalarType::Float8_e5m2fnuz)
TAEDA_NUMBER(aoti_torch_dtype_float8_e4m3fnuz, ScalarType::Float8_e4m3fnuz)
TAEDA_NUMBER(aoti_torch_dtype_float8_e8m0fnu, ScalarType::Float8_e8m0fnu)
TAEDA_NUMBER(aoti_torch_dtype_float4_e2m1fn_x2, ScalarType::Float4_e2m1fn_x2)
TAEDA_NUMBER(torch_dtype_float8_e8m0fnu, ScalarType::Float8_e8m0fnu)
TAEDA_NUMBER(torch_dtype_float4_e2m1fn_x2, ScalarType::Float4_e2m1fn_x2)
TAEDA_NUMBER(aoti_torch_dtype_bfloat16, ScalarType::BFloat16)
TAEDA_NUMBER(aoti_torch_dtype_float16, ScalarType::Half)
TAEDA_NUMBER(aoti_torch_dtype_float32, ScalarType::Float)
TAEDA_NUMBER(aoti_torch_dtype_float64, ScalarType::Double)
TAEDA_NUMBER(aoti_torch_dtype_uint8, ScalarType::Byte)
TAEDA_NUMBER(aoti_torch_dtype_uint16, ScalarType::UInt16)
TAEDA_NUMBER(aoti_torch_dtype_uint32, ScalarType::UInt32)
TAEDA_NUMBER(aoti_torch_dtype_uint64, ScalarType::UInt64)
TAEDA_NUMBER(aoti_torch_dtype_int8, ScalarType::Char)
TAEDA_NUMBER(aoti_torch_dtype_int16, ScalarType::Short)
TAEDA_NUMBER(aoti_torch_dtype_int32, ScalarType::Int)
TAEDA_NUMBER(aoti_torch_dtype_int64, ScalarType::Long)
TAEDA_NUMBER(aoti_torch_dtype_bool, ScalarType::Bool)
TAEDA_NUMBER(aoti_torch_dtype_complex32, ScalarType::ComplexHalf)
TAEDA_NUMBER(aoti_torch_dtype_complex64, ScalarType::ComplexFloat)
TAEDA_NUMBER(aoti_torch_dtype_complex128, ScalarType::ComplexDouble)

TAEDA_NUMBER(aoti_torch_layout_strided, number_of(Layout::Strided))
TAEDA_NUMBER(aoti_torch_layout_sparse_coo, number_of(Layout::Sparse))
TAEDA_NUMBER(aoti_torch_layout_sparse_csr, number_of(Layout::SparseCsr))
TAEDA_NUMBER(aoti_torch_layout_sparse_csc, number_of(Layout::SparseCsc))
TAEDA_NUMBER(aoti_torch_layout_sparse_bsr, number_of(Layout::SparseBsr))
TAEDA_NUMBER(aoti_torch_layout_sparse_bsc, number_of(Layout::SparseBsc))
TAEDA_NUMBER(aoti_torch_layout__mkldnn, kMkldnn)
TAEDA_NUMBER(aoti_torch_layout_jagged, number_of(Layout::Jagged))

TAEDA_NUMBER(aoti_torch_memory_format_contiguous_format, number_of(MemoryFormat::Contiguous))
TAEDA_NUMBER(aoti_torch_memory_format_channels_last, number_of(MemoryFormat::ChannelsLast))
TAEDA_NUMBER(aoti_torch_memory_format_channels_last_3d, number_of(MemoryFormat::ChannelsLast3d))
TAEDA_NUMBER(aoti_torch_memory_format_preserve_format, number_of(MemoryFormat::Preserve))

#define TAEDA_TAG(name, number) TAEDA_NUMBER(torch_tag_##name, number)
TAEDA_FORALL_SHIM_TAGS(TAEDA_TAG)

uint64_t aoti_torch_abi_version() { return TORCH_ABI_VERSION; }

size_t aoti_torch_dtype_element_size(int32_t dtype) {
  size_t size = 0;
  guarded([&] { size = static_cast<size_t>(taeda::itemsize(dtype_numbered(dtype))); });
  return size;
}
}
