#include "jit/dtype_numbers.h"

#include <algorithm>
#include <iterator>

namespace taeda::jit {

namespace {

constexpr DType kByNumber[] = {
    DType::UInt8,          DType::Int8,           DType::Int16,    DType::Int32,      DType::Int64,
    DType::Float16,        DType::Float32,        DType::Float64,  DType::Complex32,  DType::Complex64,
    DType::Complex128,     DType::Bool,           DType::QInt8,    DType::QUInt8,     DType::QInt32,
    DType::BFloat16,       DType::QUInt4x2,       DType::QUInt2x4, DType::Bits1x8,    DType::Bits2x4,
    DType::Bits4x2,        DType::Bits8,          DType::Bits16,   DType::Float8E5M2, DType::Float8E4M3FN,
    DType::Float8E5M2FNUZ, DType::Float8E4M3FNUZ, DType::UInt16,   DType::UInt32,     DType::UInt64,
};
// Their third is of a library that we have not.
constexpr Layout kLayouts[] = {Layout::Strided,   Layout::Sparse,    Layout::SparseCsr, Layout::Strided,
                               Layout::SparseCsc, Layout::SparseBsr, Layout::SparseBsc, Layout::Jagged};

}  // namespace

int64_t number_of(DType dtype) {
  auto found = std::ranges::find(kByNumber, dtype);
  TAEDA_CHECK_VALUE(dtype != DType::Undefined && found != std::end(kByNumber), "the dtype ", name(dtype),
                    " has no number in programs");
  return found - std::begin(kByNumber);
}

DType dtype_numbered(int64_t number) {
  bool known = number >= 0 && number < static_cast<int64_t>(std::size(kByNumber));
  DType dtype = known ? kByNumber[number] : DType::Undefined;
  TAEDA_CHECK_VALUE(dtype != DType::Undefined, "no dtype has the number ", number);
  return dtype;
}

int64_t number_of(Layout layout) { return std::ranges::find(kLayouts, layout) - std::begin(kLayouts); }

Layout layout_numbered(int64_t number) {
  TAEDA_CHECK_VALUE(number >= 0 && number < static_cast<int64_t>(std::size(kLayouts)) && number != 3,
                    "no layout has the number ", number);
  return kLayouts[number];
}

MemoryFormat memory_format_numbered(int64_t number) {
  TAEDA_CHECK_VALUE(number >= 0 && number < 4, "no memory format has the number ", number);
  return static_cast<MemoryFormat>(number);
}

void to_argument(Value& value, ArgType type) {
  if (value.tag() != Value::Tag::Int) return;
  if (type == ArgType::DType)
    value = dtype_numbered(value.to_int());
  else if (type == ArgType::Layout)
    value = layout_numbered(value.to_int());
  else if (type == ArgType::MemoryFormat)
    value = memory_format_numbered(value.to_int());
}

void to_program(Value& value) {
  if (value.tag() == Value::Tag::DType)
    value = number_of(value.to_dtype());
  else if (value.tag() == Value::Tag::Layout)
    value = number_of(value.to_layout());
  else if (value.tag() == Value::Tag::MemoryFormat)
    value = number_of(value.to_memory_format());
}

}  // namespace taeda::jit
