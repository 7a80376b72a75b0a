// The collectives, over messages between two ranks. Each rank calls the same function with parts of the same sizes.
#pragma once
#include "distributed/flow.h"
#include "distributed/reduction.h"

namespace taeda::distributed {

// Elements in memory without gaps.
struct Part {
  char* data = nullptr;
  int64_t count = 0;
  DType dtype = DType::UInt8;
  size_t bytes() const { return static_cast<size_t>(count) * info(dtype).size; }
  Part slice(int64_t begin, int64_t end) const { return {data + begin * info(dtype).size, end - begin, dtype}; }
};
using Parts = std::vector<Part>;

void broadcast(Flow& flow, Part data, int root);
// All ranks get the same bits.
void all_reduce(Flow& flow, Part data, ReduceKind kind);
// Only the root's memory changes.
void reduce(Flow& flow, Part data, ReduceKind kind, int root);
void all_gather(Flow& flow, Part own, const Parts& parts);
void gather(Flow& flow, Part own, const Parts& parts, int root);
void scatter(Flow& flow, const Parts& parts, Part own, int root);
void reduce_scatter(Flow& flow, const Parts& parts, Part own, ReduceKind kind);
void all_to_all(Flow& flow, const Parts& inputs, const Parts& outputs);
void barrier(Flow& flow);

}  // namespace taeda::distributed
