// How elements lie: the core's layouts and memory formats.
#pragma once
#include <ostream>

#include <c10/util/ArrayRef.h>
#include <taeda/core/tensor.h>

namespace c10 {

using Layout = ::taeda::Layout;
constexpr Layout kStrided = Layout::Strided, kSparse = Layout::Sparse, kSparseCsr = Layout::SparseCsr,
                 kSparseCsc = Layout::SparseCsc, kSparseBsr = Layout::SparseBsr, kSparseBsc = Layout::SparseBsc;
inline std::ostream& operator<<(std::ostream& out, Layout layout) {
  constexpr const char* kNames[] = {"Strided", "Sparse", "SparseCsr", "SparseCsc", "SparseBsr", "SparseBsc"};
  return out << kNames[static_cast<int>(layout)];
}

using MemoryFormat = ::taeda::MemoryFormat;
inline MemoryFormat get_contiguous_memory_format() { return MemoryFormat::Contiguous; }
inline std::ostream& operator<<(std::ostream& out, MemoryFormat format) {
  constexpr const char* kNames[] = {"Contiguous", "Preserve", "ChannelsLast", "ChannelsLast3d"};
  return out << kNames[static_cast<int>(format)];
}

}  // namespace c10

namespace at::Reduction {
enum Reduction { None, Mean, Sum, END };
}  // namespace at::Reduction
