// Shapes and dtypes of reductions: the same for every backend.
#pragma once
#include <optional>

#include "shape/ops/limits.h"
#include "shape/spec.h"

namespace taeda::shape {

// What a result's dtype is, given that of the input (or the dtype= argument).
enum class ReducedType : uint8_t {
  Same,   // real inputs and complex ones alike
  Long,   // integers and bool become int64 (sum, prod)
  Float,  // floating and complex only (mean, var)
  Real,   // likewise, a complex input giving real results (norms)
  Bool,   // bool; uint8 for a uint8 input (any, all)
  Index,  // int64
};
enum class StateKind : uint8_t { Value, Index, Moments };

struct ReductionRule {
  StateKind kind;
  uint8_t results;
  uint8_t scalars = 0;  // numbers that the formulas take
  ReducedType result[kMaxReductionResults];
  bool through_bool = false;  // elements are read as truth values
  bool has_identity = false;  // an empty reduction has a value
  bool out_widens = false;    // out= may have a wider dtype than the result
  uint16_t dtypes;            // bit per DType: which inputs (after dtype=) there are loops for
};
// Fails the build for a rule with more than the engines have room for.
consteval ReductionRule reduction(ReductionRule rule) {
  if (rule.results > kMaxReductionResults || rule.scalars > kMaxReductionScalars)
    throw "more results or numbers than kMaxReductionResults and kMaxReductionScalars";
  return rule;
}

struct Reduce {
  const Tensor& self;
  IntList dims{};  // empty: all
  bool keepdim = false;
  std::optional<DType> dtype{};  // converts the input first
  std::span<const Scalar> scalars{};
};

// Bit per dimension; RuntimeError for one that stands twice, IndexError out of range.
uint64_t reduced_dims(const Reduce& call);
// Of more dimensions than there are bits either all are reduced or none of the rest.
inline bool is_reduced(uint64_t dims, int64_t d) { return dims >> std::min<int64_t>(d, 63) & 1; }
Dims reduced_sizes(const Reduce& call, uint64_t dims);
// The dtype that elements are read as; NotImplementedError or RuntimeError where there is none.
DType reduction_input(const ReductionRule& rule, const Reduce& call);
DType reduction_result(const ReductionRule& rule, int result, DType input);
// What an out= call computes: sums and products take their dtype from `out`, which must be the one asked for.
Reduce into(const ReductionRule& rule, const Reduce& call, const Tensor& out);
// RuntimeError unless `out` may hold a result of dtype `made`.
void check_reduction_out(const ReductionRule& rule, int result, DType made, const Tensor& out);
// Checks an empty reduction without an identity, argument by argument.
void check_reduction(const ReductionRule& rule, const Reduce& call, uint64_t dims);

void reduce_meta(const ReductionRule& rule, const Reduce& call, Tensor* results);
void reduce_meta_out(const ReductionRule& rule, const Reduce& call, std::initializer_list<const Tensor*> outs);

}  // namespace taeda::shape
