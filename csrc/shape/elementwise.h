// Shapes, dtypes and strides of elementwise results: the same for every backend.
#pragma once
#include "shape/ops/limits.h"
#include "shape/spec.h"

namespace taeda::shape {

// What an elementwise op reads: a tensor, or a number that takes part in promotion by its category only.
class Operand {
 public:
  Operand() = default;
  Operand(const Tensor& tensor) : tensor_(&tensor) {}
  Operand(const Scalar& number) : number_(&number) {}
  const Tensor* tensor() const { return tensor_; }
  const Scalar& number() const { return *number_; }

 private:
  const Tensor* tensor_ = nullptr;
  const Scalar* number_ = nullptr;
};
using Operands = std::span<const Operand>;

enum class Promotion : uint8_t {
  ResultType,  // the common dtype of all operands
  Float,       // likewise, but integers and bool become the default dtype
  Same,        // all operands must have one dtype
};
enum class Element : uint8_t { Common, Bool, Real, Complex };  // what a result holds, relative to the common dtype

struct ElementwiseRule {
  Promotion promotion = Promotion::ResultType;
  uint8_t mask_inputs = 0;  // bit i: operand i is a condition (bool or uint8) and takes no part in promotion
  uint8_t operands;         // at most: those that are optional count
  uint8_t scalars = 0;      // numbers that the formula takes beside them, likewise
  uint8_t results;
  Element result[kMaxResults];
  uint16_t dtypes;  // bit per DType: which common dtypes there is a formula for
  // New results are laid out in the order of dimensions: never (0), always (1), where the first operand is a number
  // (2).
  uint8_t contiguous = 0;
  bool exact_out = false;  // out= must have the result's dtype
};
// Fails the build for a rule with more than the engines have room for.
consteval ElementwiseRule elementwise(ElementwiseRule rule) {
  if (rule.operands + rule.results > kMaxOperands || rule.results > kMaxResults || rule.scalars > kMaxScalars)
    throw "more operands, results or numbers than kMaxOperands, kMaxResults and kMaxScalars";
  return rule;
}

// The dtype that the operands convert to. Tensors with dimensions decide, then 0-d tensors, then numbers; a lower rank
// counts only where its category is higher.
TAEDA_API DType result_type(Operands operands, unsigned skipped = 0);
// The same with the rule applied; NotImplementedError if there is no formula for it.
DType common_dtype(const ElementwiseRule& rule, Operands operands);
DType element_dtype(Element element, DType common);

// The sizes that all tensors expand to; RuntimeError naming the two that do not fit.
Dims broadcast_sizes(Operands operands);
TAEDA_API Dims broadcast_sizes(IntList a, IntList b);
// The dimensions from innermost to outermost in which walking the operands is cheapest, and in which a new result is
// laid out: by rising strides of the first operand that tells two dimensions apart.
Dims iteration_order(Operands operands, IntList sizes);
// Strides of a new result: those of the operands where they agree, so that layouts such as channels-last survive.
// Empty: contiguous.
Dims result_strides(Operands operands, IntList sizes);
// The same with the rule applied.
Dims result_strides(const ElementwiseRule& rule, Operands operands, IntList sizes);

// The results of an elementwise op on the meta device; `outs` as for a real one.
void elementwise_meta(const ElementwiseRule& rule, Operands operands, Tensor* results);
void elementwise_meta_out(const ElementwiseRule& rule, Operands operands, const Tensor* const* outs, bool in_place);
// Checks that results of the common dtype and sizes may go to `outs`, and resizes those of an out= call.
void prepare_outs(const ElementwiseRule& rule, Operands operands, DType common, IntList sizes,
                  const Tensor* const* outs, bool in_place);

}  // namespace taeda::shape
