// Connectionist temporal classification by forward and backward sums over alignments, in log space. An alignment walks
// through the target with a blank before, between and after its labels: 2 S + 1 states.
#include <cmath>
#include <limits>
#include <vector>

#include "backend/cpu/engine/row_kernels.h"
#include "backend/cpu/ops/ctc.h"
#include "taeda/core/parallel.h"
#include "taeda/ops/copy.h"

namespace taeda::cpu {

namespace {

template <class T>
constexpr T kNever = -std::numeric_limits<T>::infinity();

template <class T>
T log_sum(T a, T b, T c = kNever<T>) {
  const T top = std::max({a, b, c});
  if (top == kNever<T>) return top;
  return top + std::log(std::exp(a - top) + std::exp(b - top) + std::exp(c - top));
}

struct Problem {
  Tensor log_probs;  // (T, N, C), contiguous
  int64_t time, batch, labels, blank;
  std::vector<std::vector<int64_t>> targets;

  Problem(const Tensor& probabilities, const Tensor& target, IntList lengths, int64_t blank_label)
      : log_probs(ops::contiguous(probabilities)),
        time(probabilities.sizes()[0]),
        batch(probabilities.sizes()[1]),
        labels(probabilities.sizes()[2]),
        blank(blank_label) {
    Tensor all = ops::contiguous(ops::to(target, DType::Int64));
    const int64_t* from = all.data<int64_t>();
    for (int64_t n = 0; n < batch; ++n) {
      targets.emplace_back(from, from + lengths[n]);
      for (int64_t label : targets.back())
        TAEDA_CHECK(label >= 0 && label < labels, "targets must be labels from 0 to ", labels - 1, "; got ", label);
      from += all.dim() == 2 ? all.sizes()[1] : lengths[n];
    }
  }
  int64_t states(int64_t n) const { return 2 * static_cast<int64_t>(targets[n].size()) + 1; }
  int64_t label(int64_t n, int64_t state) const { return state % 2 == 0 ? blank : targets[n][state / 2]; }
  // Whether the blank before `state` may be left out.
  bool may_skip(int64_t n, int64_t state) const {
    return state >= 2 && state % 2 == 1 && targets[n][state / 2] != targets[n][state / 2 - 1];
  }
  template <class T>
  const T* row(int64_t n, int64_t t) const {
    return log_probs.data<T>() + (t * batch + n) * labels;
  }
};

// alpha[t][s]: the log-probability of all alignments of the first t + 1 steps that end in state s.
template <class T>
void forward(const Problem& problem, int64_t n, int64_t length, T* alpha, int64_t stride) {
  const int64_t states = problem.states(n);
  for (int64_t t = 0; t < length; ++t, alpha += stride) {
    const T *row = problem.row<T>(n, t), *before = alpha - stride;
    for (int64_t s = 0; s < states; ++s) {
      T reached = kNever<T>;
      if (t == 0)
        reached = s < 2 ? T(0) : kNever<T>;
      else
        reached =
            log_sum(before[s], s >= 1 ? before[s - 1] : kNever<T>, problem.may_skip(n, s) ? before[s - 2] : kNever<T>);
      alpha[s] = reached + row[problem.label(n, s)];
    }
  }
}

// beta[s]: the same for the steps from t on that begin in state s; `after` is that of step t + 1, null at the last.
template <class T>
void backward_step(const Problem& problem, int64_t n, int64_t t, const T* after, T* beta) {
  const int64_t states = problem.states(n);
  const T* row = problem.row<T>(n, t);
  for (int64_t s = 0; s < states; ++s) {
    T reached = s + 2 >= states ? T(0) : kNever<T>;
    if (after)
      reached = log_sum(after[s], s + 1 < states ? after[s + 1] : kNever<T>,
                        s + 2 < states && problem.may_skip(n, s + 2) ? after[s + 2] : kNever<T>);
    beta[s] = reached + row[problem.label(n, s)];
  }
}

// The softmax's probabilities less those of the labels given that the target comes out.
template <class T>
void to_scores(const Problem& problem, int64_t n, int64_t t, const T* alpha, const T* beta, T loss, T grad, T* out) {
  const T* row = problem.row<T>(n, t);
  std::fill_n(out, problem.labels, kNever<T>);
  for (int64_t s = 0; s < problem.states(n); ++s) {
    T& through = out[problem.label(n, s)];
    through = log_sum(through, alpha[s] + beta[s]);
  }
  for (int64_t c = 0; c < problem.labels; ++c) out[c] = (std::exp(row[c]) - std::exp(out[c] + loss - row[c])) * grad;
}

}  // namespace

void _ctc_loss(const Tensor& log_probs, const Tensor& targets, IntList input_lengths, IntList target_lengths,
               int64_t blank, bool, const Tensor& out0, const Tensor& log_alpha) {
  const Problem problem(log_probs, targets, target_lengths, blank);
  const int64_t stride = log_alpha.sizes()[2];
  visit_compute(log_probs.dtype(), [&]<class T>() {
    std::fill_n(log_alpha.data<T>(), log_alpha.numel(), kNever<T>);
    parallel_for(0, problem.batch, std::max<int64_t>(1, kGrain / (16 * problem.time * stride)),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t n = begin; n < end; ++n) {
                     const int64_t length = input_lengths[n], states = problem.states(n);
                     T* alpha = log_alpha.data<T>() + n * problem.time * stride;
                     forward(problem, n, length, alpha, stride);
                     const T* last = alpha + (length - 1) * stride;
                     T total = states == 1 ? T(0) : kNever<T>;  // of no steps at all
                     if (length > 0) total = log_sum(last[states - 1], states > 1 ? last[states - 2] : kNever<T>);
                     out0.data<T>()[n] = -total;
                   }
                 });
  });
}

void _ctc_loss_backward(const Tensor& grad, const Tensor& log_probs, const Tensor& targets, IntList input_lengths,
                        IntList target_lengths, const Tensor& neg_log_likelihood, const Tensor& log_alpha,
                        int64_t blank, bool zero_infinity, const Tensor& out) {
  const Problem problem(log_probs, targets, target_lengths, blank);
  const int64_t stride = log_alpha.sizes()[2];
  Tensor grads = ops::contiguous(grad), losses = ops::contiguous(neg_log_likelihood),
         alphas = ops::contiguous(log_alpha);
  ops::zero_(out);
  visit_compute(log_probs.dtype(), [&]<class T>() {
    parallel_for(0, problem.batch, std::max<int64_t>(1, kGrain / (32 * problem.time * stride)),
                 [&](int64_t begin, int64_t end) {
                   std::vector<T> rows(2 * stride);
                   for (int64_t n = begin; n < end; ++n) {
                     const T loss = losses.data<T>()[n];
                     if (zero_infinity && std::isinf(loss)) continue;
                     T *after = nullptr, *beta = rows.data();
                     for (int64_t t = input_lengths[n] - 1; t >= 0; --t) {
                       backward_step<T>(problem, n, t, after, beta);
                       to_scores(problem, n, t, alphas.data<T>() + (n * problem.time + t) * stride, beta, loss,
                                 grads.data<T>()[n], out.data<T>() + (t * problem.batch + n) * problem.labels);
                       after = beta;
                       beta = after == rows.data() ? rows.data() + stride : rows.data();
                     }
                   }
                 });
  });
}

}  // namespace taeda::cpu
