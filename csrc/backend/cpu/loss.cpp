// Losses over class numbers.
#include <cmath>

#include "backend/cpu/engine/row_kernels.h"
#include "backend/cpu/ops/loss.h"
#include "taeda/core/parallel.h"
#include "taeda/ops/copy.h"

namespace taeda::cpu {

namespace {

enum Reduction : int64_t { kNone, kMean, kSum };

// Targets as class numbers in order, with a mark for those to ignore.
class Classes {
 public:
  static constexpr int64_t kIgnored = -1;
  Classes(const Tensor& target, int64_t classes, int64_t ignore_index)
      : target_(ops::contiguous(ops::to(target, DType::Int64))), classes_(classes), ignore_(ignore_index) {}
  int64_t count() const { return target_.numel(); }
  int64_t operator[](int64_t i) const {
    int64_t number = target_.data<int64_t>()[i];
    if (number == ignore_) return kIgnored;
    TAEDA_CHECK_INDEX(number >= 0 && number < classes_, "the class number ", number, " is not in the range from 0 to ",
                      classes_ - 1);
    return number;
  }

 private:
  Tensor target_;
  int64_t classes_, ignore_;
};

// (N, C, area) with strides in elements; (C) is one sample.
struct Scores {
  Tensor tensor;
  int64_t n, classes, area;
  explicit Scores(const Tensor& t)
      : tensor(ops::contiguous(t)),
        n(t.dim() == 1 ? 1 : t.sizes()[0]),
        classes(t.sizes()[t.dim() == 1 ? 0 : 1]),
        area(1) {
    for (int64_t d = 2; d < t.dim(); ++d) area *= t.sizes()[d];
  }
  // Of class 0 for the i-th target.
  int64_t place(int64_t i) const { return i / area * classes * area + i % area; }
};

// The sums are double: millions of targets must not be lost in a float.
void nll(const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction, int64_t ignore_index,
         const Tensor& output, const Tensor& total_weight) {
  Scores scores(self);
  Classes classes(target, scores.classes, ignore_index);
  Tensor weights = weight.defined() ? ops::contiguous(weight) : weight;
  visit_floating(self.dtype(), [&]<class T>() {
    const T* x = scores.tensor.data<T>();
    double loss = 0, total = 0;
    for (int64_t i = 0; i < classes.count(); ++i) {
      int64_t k = classes[i];
      double w = k == Classes::kIgnored ? 0 : weights.defined() ? convert<double>(weights.data<T>()[k]) : 1;
      double value = k == Classes::kIgnored ? 0 : -w * convert<double>(x[scores.place(i) + k * scores.area]);
      if (reduction == kNone) output.data<T>()[i] = convert<T>(value);
      loss += value;
      total += w;
    }
    if (reduction != kNone) *output.data<T>() = convert<T>(reduction == kMean ? loss / total : loss);
    *total_weight.data<T>() = convert<T>(reduction == kNone ? 0.0 : total);
  });
}

void nll_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target, const Tensor& weight,
                  int64_t reduction, int64_t ignore_index, const Tensor& total_weight, const Tensor& out) {
  Scores scores(self);
  Classes classes(target, scores.classes, ignore_index);
  Tensor weights = weight.defined() ? ops::contiguous(weight) : weight, grads = ops::contiguous(grad_output);
  ops::zero_(out);
  visit_floating(self.dtype(), [&]<class T>() {
    double scale = reduction == kMean ? 1 / convert<double>(*total_weight.data<T>()) : 1;
    parallel_for(0, classes.count(), kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        int64_t k = classes[i];
        if (k == Classes::kIgnored) continue;
        double g = convert<double>(grads.data<T>()[reduction == kNone ? i : 0]) * scale;
        if (weights.defined()) g *= convert<double>(weights.data<T>()[k]);
        out.data<T>()[scores.place(i) + k * scores.area] = convert<T>(-g);
      }
    });
  });
}

}  // namespace

void nll_loss_forward(const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction,
                      int64_t ignore_index, const Tensor& output, const Tensor& total_weight) {
  nll(self, target, weight, reduction, ignore_index, output, total_weight);
}
void nll_loss2d_forward(const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction,
                        int64_t ignore_index, const Tensor& output, const Tensor& total_weight) {
  nll(self, target, weight, reduction, ignore_index, output, total_weight);
}
void nll_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target, const Tensor& weight,
                       int64_t reduction, int64_t ignore_index, const Tensor& total_weight, const Tensor& out) {
  nll_backward(grad_output, self, target, weight, reduction, ignore_index, total_weight, out);
}
void nll_loss2d_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target, const Tensor& weight,
                         int64_t reduction, int64_t ignore_index, const Tensor& total_weight, const Tensor& out) {
  nll_backward(grad_output, self, target, weight, reduction, ignore_index, total_weight, out);
}

void cross_entropy_rows(const Tensor& self, const Tensor& target, int64_t reduction, int64_t ignore_index,
                        const Tensor& output, const Tensor& logsumexp, const Tensor& count) {
  Scores scores(self);
  Classes classes(target, scores.classes, ignore_index);
  const int64_t n = scores.classes;
  visit_compute(self.dtype(), [&]<class T>() {
    std::vector<T> losses(scores.n);
    T* totals = logsumexp.data<T>();
    parallel_for(0, scores.n, std::max<int64_t>(1, kGrain / 4 / std::max<int64_t>(n, 1)),
                 [&](int64_t begin, int64_t end) {
                   RowReader<T> in(scores.tensor, n);
                   for (int64_t r = begin; r < end; ++r) {
                     const T* row = in(r * n, n);
                     int64_t k = classes[r];
                     totals[r] = row_kernels<T>().log_sum_exp(row, n);
                     losses[r] = k == Classes::kIgnored ? T(0) : totals[r] - row[k];
                   }
                 });
    double sum = 0, counted = 0;
    for (int64_t r = 0; r < scores.n; ++r) sum += losses[r], counted += classes[r] != Classes::kIgnored;
    *count.data<T>() = static_cast<T>(counted);
    RowWriter<T> to(output, scores.n);
    if (reduction == kNone)
      std::copy(losses.begin(), losses.end(), to.at(0));
    else
      *to.at(0) = static_cast<T>(reduction == kMean ? sum / counted : sum);
    to.done(0, output.numel());
  });
}

void cross_entropy_rows_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                                 const Tensor& logsumexp, const Tensor& count, int64_t reduction, int64_t ignore_index,
                                 const Tensor& out) {
  Scores scores(self);
  Classes classes(target, scores.classes, ignore_index);
  const int64_t n = scores.classes;
  Tensor grads = ops::contiguous(grad_output);
  visit_compute(self.dtype(), [&]<class T>() {
    T scale = reduction == kMean ? 1 / *count.data<T>() : T(1);
    parallel_for(0, scores.n, std::max<int64_t>(1, kGrain / 4 / std::max<int64_t>(n, 1)),
                 [&](int64_t begin, int64_t end) {
                   RowReader<T> in(scores.tensor, n), from(grads, 1);
                   RowWriter<T> to(out, n);
                   for (int64_t r = begin; r < end; ++r) {
                     int64_t k = classes[r];
                     T g = *from(reduction == kNone ? r : 0, 1) * scale;
                     T* row = to.at(r * n);
                     if (k == Classes::kIgnored) {
                       std::fill_n(row, n, T(0));
                     } else {
                       row_kernels<T>().exp_shifted(in(r * n, n), row, n, logsumexp.data<T>()[r], g);
                       row[k] -= g;
                     }
                     to.done(r * n, n);
                   }
                 });
  });
}

}  // namespace taeda::cpu
