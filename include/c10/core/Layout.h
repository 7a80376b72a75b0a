// How elements lie: the core's layouts and memory formats.
#pragma once
#include <ostream>

#include <c10/util/ArrayRef.h>
#include <taeda/core/tensor.h>

namespace c10 {

using Layout = ::taeda::Layout;
constexpr Layout kStrided = Layout::Strided, kSparse = Layout::Sparse, kSparseCsr = Layout::SparseCsr,
                 kSparseCsc = Layout::SparseCsc, kSparseBsr = Layout::SparseBsr, kSparseBsc = Layout::SparseBsc,
                 kJagged = Layout::Jagged;
using MemoryFormat = ::taeda::MemoryFormat;
inline MemoryFormat get_contiguous_memory_format() { return MemoryFormat::Contiguous; }
}  // namespace c10

namespace taeda {  // where the enumerations are, so that they are found
inline std::ostream& operator<<(std::ostream& out, Layout layout) {
  constexpr const char* kNames[] = {"Strided", "Sparse", "SparseCsr", "SparseCsc", "SparseBsr", "SparseBsc", "Jagged"};
  return out << kNames[static_cast<int>(layout)];
}
inline std::ostream& operator<<(std::ostream& out, MemoryFormat format) {
  constexpr const char* kNames[] = {"Contiguous", "Preserve", "ChannelsLast", "ChannelsLast3d"};
  return out << kNames[static_cast<int>(format)];
}
}  // namespace taeda

namespace at::Reduction {
enum Reduction { None, Mean, Sum, END };
}  // namespace at::Reduction
