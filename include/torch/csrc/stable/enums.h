// Enumerations and the numbers that the stable interface has for their members: asked of the library, so that they may
// differ between the headers that an extension is built with and the library that loads it.
#pragma once
#include <torch/csrc/stable/c/shim.h>
#include <torch/headeronly/core/enum_tag.h>
#include <torch/headeronly/core/types.h>

namespace torch::stable::detail {

template <class E>
struct Numbered {
  E member;
  int32_t (*number)();
};

inline constexpr Numbered<headeronly::ScalarType> kDtypes[] = {
    {headeronly::ScalarType::Byte, aoti_torch_dtype_uint8},
    {headeronly::ScalarType::Char, aoti_torch_dtype_int8},
    {headeronly::ScalarType::Short, aoti_torch_dtype_int16},
    {headeronly::ScalarType::Int, aoti_torch_dtype_int32},
    {headeronly::ScalarType::Long, aoti_torch_dtype_int64},
    {headeronly::ScalarType::Half, aoti_torch_dtype_float16},
    {headeronly::ScalarType::Float, aoti_torch_dtype_float32},
    {headeronly::ScalarType::Double, aoti_torch_dtype_float64},
    {headeronly::ScalarType::ComplexHalf, aoti_torch_dtype_complex32},
    {headeronly::ScalarType::ComplexFloat, aoti_torch_dtype_complex64},
    {headeronly::ScalarType::ComplexDouble, aoti_torch_dtype_complex128},
    {headeronly::ScalarType::Bool, aoti_torch_dtype_bool},
    {headeronly::ScalarType::BFloat16, aoti_torch_dtype_bfloat16},
    {headeronly::ScalarType::Float8_e5m2, aoti_torch_dtype_float8_e5m2},
    {headeronly::ScalarType::Float8_e4m3fn, aoti_torch_dtype_float8_e4m3fn},
    {headeronly::ScalarType::Float8_e5m2fnuz, aoti_torch_dtype_float8_e5m2fnuz},
    {headeronly::ScalarType::Float8_e4m3fnuz, aoti_torch_dtype_float8_e4m3fnuz},
    {headeronly::ScalarType::UInt16, aoti_torch_dtype_uint16},
    {headeronly::ScalarType::UInt32, aoti_torch_dtype_uint32},
    {headeronly::ScalarType::UInt64, aoti_torch_dtype_uint64},
#if TORCH_FEATURE_VERSION >= TORCH_VERSION_2_11_0
    {headeronly::ScalarType::Float8_e8m0fnu, torch_dtype_float8_e8m0fnu},
    {headeronly::ScalarType::Float4_e2m1fn_x2, torch_dtype_float4_e2m1fn_x2},
#endif
};
inline constexpr Numbered<headeronly::DeviceType> kDeviceTypes[] = {
    {headeronly::DeviceType::CPU, aoti_torch_device_type_cpu},
    {headeronly::DeviceType::CUDA, aoti_torch_device_type_cuda},
    {headeronly::DeviceType::Meta, aoti_torch_device_type_meta},
    {headeronly::DeviceType::XPU, aoti_torch_device_type_xpu},
    {headeronly::DeviceType::MPS, aoti_torch_device_type_mps},
    {headeronly::DeviceType::PrivateUse1, aoti_torch_device_type_privateuse1},
};
inline constexpr Numbered<headeronly::Layout> kLayouts[] = {
    {headeronly::Layout::Strided, aoti_torch_layout_strided},
    {headeronly::Layout::Sparse, aoti_torch_layout_sparse_coo},
    {headeronly::Layout::SparseCsr, aoti_torch_layout_sparse_csr},
    {headeronly::Layout::SparseCsc, aoti_torch_layout_sparse_csc},
    {headeronly::Layout::SparseBsr, aoti_torch_layout_sparse_bsr},
    {headeronly::Layout::SparseBsc, aoti_torch_layout_sparse_bsc},
    {headeronly::Layout::Jagged, aoti_torch_layout_jagged},
};
inline constexpr Numbered<headeronly::MemoryFormat> kMemoryFormats[] = {
    {headeronly::MemoryFormat::Contiguous, aoti_torch_memory_format_contiguous_format},
    {headeronly::MemoryFormat::Preserve, aoti_torch_memory_format_preserve_format},
    {headeronly::MemoryFormat::ChannelsLast, aoti_torch_memory_format_channels_last},
    {headeronly::MemoryFormat::ChannelsLast3d, aoti_torch_memory_format_channels_last_3d},
};
#if TORCH_FEATURE_VERSION >= TORCH_VERSION_2_12_0
inline constexpr Numbered<headeronly::Tag> kTags[] = {
#define TAEDA_SHIM_TAG(name, number) {headeronly::Tag::name, torch_tag_##name},
    TAEDA_FORALL_SHIM_TAGS(TAEDA_SHIM_TAG)
#undef TAEDA_SHIM_TAG
};
#endif

// Which table lists an enumeration; false where none does.
template <class E>
constexpr const auto& members() {
  if constexpr (std::is_same_v<E, headeronly::ScalarType>)
    return kDtypes;
  else if constexpr (std::is_same_v<E, headeronly::DeviceType>)
    return kDeviceTypes;
  else if constexpr (std::is_same_v<E, headeronly::Layout>)
    return kLayouts;
  else if constexpr (std::is_same_v<E, headeronly::MemoryFormat>)
    return kMemoryFormats;
#if TORCH_FEATURE_VERSION >= TORCH_VERSION_2_12_0
  else if constexpr (std::is_same_v<E, headeronly::Tag>)
    return kTags;
#endif
}

template <class E>
int32_t number_of(E member) {
  for (const auto& entry : members<E>())
    if (entry.member == member) return entry.number();
  STD_TORCH_CHECK(false, "the stable interface has no number for member ", static_cast<int>(member),
                  " of an enumeration");
}
template <class E>
E enum_numbered(int32_t number) {
  for (const auto& entry : members<E>())
    if (entry.number() == number) return entry.member;
  STD_TORCH_CHECK(false, "the stable interface knows no member of an enumeration by the number ", number);
}

}  // namespace torch::stable::detail
