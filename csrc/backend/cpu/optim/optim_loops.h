// The loops of one instruction set; included by optim.<instruction set>.cpp. The compiler makes vectors of them.
#pragma once
#include <type_traits>

#include "backend/cpu/optim/optim.h"

#if defined(__AVX512F__)
#define TAEDA_ISA avx512
#elif defined(__AVX2__)
#define TAEDA_ISA avx2
#else
#define TAEDA_ISA baseline
#endif

namespace taeda::cpu::TAEDA_ISA {
namespace {

using optim::Rule;
using optim::Step;

template <class T>
using Compute = std::conditional_t<std::is_same_v<T, double>, double, float>;

inline float root(float x) { return __builtin_sqrtf(x); }
inline double root(double x) { return __builtin_sqrt(x); }

template <Rule rule, class T>
void loop(const Step& step, void* const* operands, int64_t from, int64_t to) {
  using C = Compute<T>;
  T* __restrict p = static_cast<T*>(operands[0]);
  T* __restrict g = static_cast<T*>(operands[1]);
  T* __restrict first = static_cast<T*>(operands[2]);
  T* __restrict second = static_cast<T*>(operands[3]);
  T* __restrict largest = static_cast<T*>(operands[4]);
  C lr = C(step.lr), factor = C(step.factor), decay = C(step.decay), shrink = C(step.shrink), beta1 = C(step.beta1);
  C beta2 = C(step.beta2), rest1 = C(1 - step.beta1), rest2 = C(1 - step.beta2), eps = C(step.eps);
  C correction = C(step.root_correction), fresh = C(step.fresh), direct = C(step.direct), keep = C(step.keep_scaled);
  bool stores_gradient = step.keep_scaled != 1;
  if (stores_gradient)
    for (int64_t i = from; i < to; ++i) g[i] = static_cast<T>(static_cast<C>(g[i]) * keep);
  for (int64_t i = from; i < to; ++i) {
    C value = static_cast<C>(p[i]);
    C grad = static_cast<C>(g[i]) * factor + decay * value;
    C moved;
    if constexpr (rule == Rule::Sgd) {
      moved = value - lr * grad;
    } else if constexpr (rule == Rule::SgdFirst || rule == Rule::SgdMomentum) {
      C buffer = grad;
      if constexpr (rule == Rule::SgdMomentum) buffer = beta1 * static_cast<C>(first[i]) + fresh * grad;
      first[i] = static_cast<T>(buffer);
      moved = value - lr * (direct != 0 ? grad + beta1 * buffer : buffer);
    } else if constexpr (rule == Rule::Adagrad) {
      C sum = static_cast<C>(first[i]) + grad * grad;
      first[i] = static_cast<T>(sum);
      moved = value - lr * (grad / (root(sum) + eps));
    } else {
      C mean = static_cast<C>(first[i]);
      mean = mean + rest1 * (grad - mean);
      C square = beta2 * static_cast<C>(second[i]) + rest2 * (grad * grad);
      first[i] = static_cast<T>(mean);
      second[i] = static_cast<T>(square);
      if constexpr (rule == Rule::AdamMax) {
        C before = static_cast<C>(largest[i]);
        square = before > square ? before : square;
        largest[i] = static_cast<T>(square);
      }
      moved = shrink * value - lr * (mean / (root(square) * correction + eps));
    }
    p[i] = static_cast<T>(moved);
  }
}

}  // namespace

extern const optim::Loops kOptimLoops;
#define TAEDA_RULE(rule) {loop<rule, float>, loop<rule, double>, loop<rule, Half>, loop<rule, BFloat16>}
const optim::Loops kOptimLoops = {{TAEDA_RULE(Rule::Sgd), TAEDA_RULE(Rule::SgdFirst), TAEDA_RULE(Rule::SgdMomentum),
                                   TAEDA_RULE(Rule::Adam), TAEDA_RULE(Rule::AdamMax), TAEDA_RULE(Rule::Adagrad)}};
#undef TAEDA_RULE

}  // namespace taeda::cpu::TAEDA_ISA
