// The ops over random_kernels.h: their arguments checked, their elements brought into the order of memory.
#include <algorithm>
#include <numeric>

#include "backend/cpu/engine/strided_copy.h"
#include "backend/cpu/ops/random.h"
#include "backend/cpu/random/random_kernels.h"
#include "core/insertion_sort.h"
#include "shape/elementwise.h"
#include "shape/random_rules.h"
#include "shape/view_rules.h"
#include "taeda/core/overlap.h"
#include "taeda/core/warn.h"
#include "taeda/ops/copy.h"

namespace taeda::cpu {
namespace {

Generator& chosen(const Ref<Generator>& generator) {
  if (!generator) return *default_cpu_generator();
  TAEDA_CHECK(generator->device().is_cpu(), "needs a generator of the CPU; got one of ", generator->device());
  return *generator;
}

// visit for every dtype but the complex ones, and without the wide unsigned ones or bool where they are not `allowed`.
enum Allowed { kNumbers = 0, kBool = 1, kUnsigned = 2 };
template <class F>
void visit_real(DType dtype, int allowed, const F& body) {
  bool is_wide_unsigned = dtype == DType::UInt16 || dtype == DType::UInt32 || dtype == DType::UInt64;
  bool refused =
      is_complex(dtype) || (dtype == DType::Bool && !(allowed & kBool)) || (is_wide_unsigned && !(allowed & kUnsigned));
  TAEDA_CHECK_KIND(NotImplemented, !refused, "there is no such distribution over ", dtype);
  visit(dtype, [&]<class T>() {
    if constexpr (!std::is_same_v<T, complex64> && !std::is_same_v<T, complex128>) body.template operator()<T>();
  });
}

// A view with the dimensions from the outermost to the innermost in memory.
Tensor in_memory_order(const Tensor& t, const Tensor& like) {
  std::vector<size_t> order(static_cast<size_t>(t.dim()));
  std::iota(order.begin(), order.end(), size_t{0});
  insertion_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return like.strides()[a] > like.strides()[b]; });
  shape::Dims sizes, strides;
  for (size_t d : order) {
    sizes.push_back(t.sizes()[d]);
    strides.push_back(t.strides()[d]);
  }
  return new_alias(t, sizes, strides, t.storage_offset());
}

bool is_dense(const Tensor& t) { return t.is_contiguous() || t->is_non_overlapping_and_dense(); }

// fill(elements, n) gets the elements of `self` in the order of memory.
template <class T, class Fill>
void fill_in_order(const Tensor& self, const Fill& fill) {
  if (is_dense(self)) return fill(self.data<T>(), self.numel());
  check_no_internal_overlap(self);
  Tensor target = in_memory_order(self, self), filled = new_tensor(target.sizes(), self.dtype());
  fill(filled.data<T>(), self.numel());
  strided_copy(target, filled);
}

// Complex numbers as pairs of real ones.
Tensor real_parts(const Tensor& self) {
  shape::Dims sizes(self.sizes()), strides;
  for (int64_t s : self.strides()) strides.push_back(2 * s);
  sizes.push_back(2);
  strides.push_back(1);
  return from_storage(self->storage(), to_real(self.dtype()), sizes, strides, 2 * self.storage_offset());
}

template <class T>
double largest_integer() {
  if constexpr (std::is_same_v<T, bool>) return 1;
  if constexpr (std::is_same_v<T, Half>) return 65504;
  if constexpr (std::is_same_v<T, BFloat16>) return 0x1.fep127;
  if constexpr (!std::is_same_v<T, Half> && !std::is_same_v<T, BFloat16>)
    return static_cast<double>(std::numeric_limits<T>::max());
}
template <class T>
double smallest_integer() {
  if constexpr (std::is_integral_v<T>) return static_cast<double>(std::numeric_limits<T>::min());
  return -largest_integer<T>();
}

// The last integer that random_ draws when no end is given: of floating types, the last before gaps appear.
template <class T>
int64_t last_drawn() {
  if constexpr (std::is_same_v<T, bool>)
    return 1;
  else if constexpr (std::is_same_v<T, Half>)
    return int64_t{1} << 11;
  else if constexpr (std::is_same_v<T, BFloat16>)
    return int64_t{1} << 8;
  else if constexpr (std::is_floating_point_v<T>)
    return int64_t{1} << std::numeric_limits<T>::digits;
  else
    return static_cast<int64_t>(std::min<uint64_t>(std::numeric_limits<T>::max(), INT64_MAX));
}

template <class T>
void check_fits(int64_t value, const char* what) {
  double number = static_cast<double>(value);
  bool fits =
      std::is_same_v<T, uint64_t> ? value >= 0 : number >= smallest_integer<T>() && number <= largest_integer<T>();
  TAEDA_CHECK(fits, what, " (", value, ") does not fit ", dtype_of<T>);
}

// Beyond the integers that a floating type counts one by one, some are never drawn.
template <class T>
void warn_of_gaps(int64_t value, const char* what) {
  if constexpr (!std::is_integral_v<T>) {
    const int64_t limit = last_drawn<T>();
    if (value < -limit || value > limit)
      warn(str(what, " (", value, ") is beyond ", limit, ", up to which ", dtype_of<T>,
               " holds every integer: some will not be drawn"));
  }
}

template <class Fill>
void fill_floating(const Tensor& self, const Fill& fill) {
  visit_floating(self.dtype(), [&]<class T>() { fill_in_order<T>(self, [&](T* out, int64_t n) { fill(out, n); }); });
}

void check_floating(const Tensor& self) {
  TAEDA_CHECK(is_floating(self.dtype()), "a continuous distribution needs a floating-point dtype; got ", self.dtype());
}

}  // namespace

void uniform_(const Tensor& self, double from, double to, const Ref<Generator>& generator) {
  if (is_complex(self.dtype())) return uniform_(real_parts(self), from, to, generator);
  TAEDA_CHECK(from <= to, "from must not exceed to; got from=", from, " and to=", to);
  visit_floating(self.dtype(), [&]<class T>() {
    double largest = largest_integer<T>();
    TAEDA_CHECK(from >= -largest && to <= largest && to - from <= largest, "the interval from ", from, " to ", to,
                " does not fit ", self.dtype());
    fill_in_order<T>(self, [&](T* out, int64_t n) { random::uniform(chosen(generator), out, n, from, to); });
  });
}

void normal_(const Tensor& self, double mean, double std, const Ref<Generator>& generator) {
  TAEDA_CHECK(std >= 0, "std must not be negative; got ", std);
  if (self.numel() == 0) return;  // of any dtype
  if (is_complex(self.dtype())) return normal_(real_parts(self), mean, std * std::sqrt(0.5), generator);
  bool blocks = self.is_contiguous();
  fill_floating(self, [&](auto* out, int64_t n) {
    if (blocks)
      random::normal(chosen(generator), out, n, mean, std);
    else
      random::normal_sequential(chosen(generator), out, n, mean, std);
  });
}

void random_(const Tensor& self, int64_t from, std::optional<int64_t> to, const Ref<Generator>& generator) {
  visit_real(self.dtype(), kBool | kUnsigned, [&]<class T>() {
    bool is_full = !to && from == INT64_MIN;
    uint64_t range = 0;
    if (to) {
      TAEDA_CHECK(from < *to, "from must be below to; got from=", from, " and to=", *to);
      check_fits<T>(from, "from");
      check_fits<T>(*to - 1, "to - 1");
      warn_of_gaps<T>(from, "from");
      warn_of_gaps<T>(*to - 1, "to - 1");
      range = static_cast<uint64_t>(*to) - static_cast<uint64_t>(from);
    } else if (!is_full) {
      check_fits<T>(from, "from");
      TAEDA_CHECK(from <= last_drawn<T>(), "from (", from, ") is beyond the last integer of ", self.dtype());
      range = static_cast<uint64_t>(last_drawn<T>()) - static_cast<uint64_t>(from) + 1;
    } else {
      bool holds = sizeof(T) == 8 || std::is_same_v<T, float> || std::is_same_v<T, BFloat16>;
      TAEDA_CHECK_KIND(NotImplemented, holds, "all 64 bits do not fit ", self.dtype());
    }
    fill_in_order<T>(self, [&](T* out, int64_t n) {
      if (is_full)
        random::random_full_range(chosen(generator), out, n);
      else
        random::random_from_to(chosen(generator), out, n, range, from);
    });
  });
}

void random_(const Tensor& self, const Ref<Generator>& generator) {
  visit_real(self.dtype(), kBool, [&]<class T>() {
    fill_in_order<T>(self, [&](T* out, int64_t n) { random::random_default(chosen(generator), out, n); });
  });
}

void bernoulli_(const Tensor& self, const Tensor& p, const Ref<Generator>& generator) {
  check_no_internal_overlap(self);
  shape::Dims expanded = shape::broadcast_sizes(self.sizes(), p.sizes());
  TAEDA_CHECK(std::ranges::equal(IntList(expanded), self.sizes()), "p of shape ", p.sizes(), " does not expand to ",
              self.sizes());
  shape::View view = shape::expand(p, self.sizes(), false);
  Tensor like = new_alias(p, view.sizes, view.strides, view.offset);
  Tensor odds = ops::contiguous(in_memory_order(like, self));
  visit_floating(p.dtype(), [&]<class P>() {
    const P* probabilities = odds.data<P>();
    bool valid = std::all_of(probabilities, probabilities + odds.numel(),
                             [](P v) { return convert<double>(v) >= 0 && convert<double>(v) <= 1; });
    TAEDA_CHECK(valid, "all probabilities must be from 0 to 1");
    visit_real(self.dtype(), kBool, [&]<class T>() {
      fill_in_order<T>(self, [&](T* out, int64_t n) { random::bernoulli(chosen(generator), out, n, probabilities); });
    });
  });
}

void bernoulli_(const Tensor& self, double p, const Ref<Generator>& generator) {
  TAEDA_CHECK(p >= 0 && p <= 1, "the probability must be from 0 to 1; got p=", p);
  visit_real(self.dtype(), kBool, [&]<class T>() {
    fill_in_order<T>(self, [&](T* out, int64_t n) { random::bernoulli(chosen(generator), out, n, p); });
  });
}

void exponential_(const Tensor& self, double lambd, const Ref<Generator>& generator) {
  TAEDA_CHECK(lambd > 0, "the rate must be above 0; got lambd=", lambd);
  check_floating(self);
  fill_floating(self, [&](auto* out, int64_t n) { random::exponential(chosen(generator), out, n, lambd); });
}

void geometric_(const Tensor& self, double p, const Ref<Generator>& generator) {
  TAEDA_CHECK(p > 0 && p < 1, "the probability must lie between 0 and 1; got p=", p);
  visit_real(self.dtype(), kNumbers, [&]<class T>() {
    if constexpr (!std::is_same_v<T, bool>)
      fill_in_order<T>(self, [&](T* out, int64_t n) { random::geometric(chosen(generator), out, n, p); });
  });
}

void cauchy_(const Tensor& self, double median, double sigma, const Ref<Generator>& generator) {
  TAEDA_CHECK(sigma > 0, "sigma must be above 0; got ", sigma);
  check_floating(self);
  fill_floating(self, [&](auto* out, int64_t n) { random::cauchy(chosen(generator), out, n, median, sigma); });
}

void log_normal_(const Tensor& self, double mean, double std, const Ref<Generator>& generator) {
  TAEDA_CHECK(std > 0, "std must be above 0; got ", std);
  check_floating(self);
  fill_floating(self, [&](auto* out, int64_t n) { random::log_normal(chosen(generator), out, n, mean, std); });
}

void randperm(int64_t n, const Ref<Generator>& generator, std::optional<DType>, std::optional<Layout>,
              std::optional<Device>, std::optional<bool>, const Tensor& out) {
  visit_real(out.dtype(), kNumbers | kUnsigned, [&]<class T>() {
    if constexpr (!std::is_same_v<T, bool>) random::randperm(chosen(generator), out.data<T>(), n);
  });
}
void randperm(int64_t n, std::optional<DType> dtype, std::optional<Layout> layout, std::optional<Device> device,
              std::optional<bool> pin_memory, const Tensor& out) {
  randperm(n, {}, dtype, layout, device, pin_memory, out);
}

void multinomial(const Tensor& self, int64_t num_samples, bool replacement, const Ref<Generator>& generator,
                 const Tensor& out) {
  Tensor weights = ops::contiguous(self);
  int64_t categories = self.size(-1), rows = categories ? self.numel() / categories : 0;
  TAEDA_CHECK(categories || out.numel() == 0, "there are no categories to draw from; got weights of shape ",
              self.sizes());
  visit_floating(self.dtype(), [&]<class T>() {
    const T* data = weights.data<T>();
    for (int64_t row = 0; row < rows; ++row) {
      double total = 0;
      for (int64_t i = 0; i < categories; ++i) {
        double weight = convert<double>(data[row * categories + i]);
        TAEDA_CHECK(weight >= 0 && weight <= std::numeric_limits<double>::max(),
                    "the weights must be finite and not negative; got ", weight);
        total += weight;
      }
      TAEDA_CHECK(total > 0, "the weights of a row must not all be zero");
    }
    bool is_one_by_one = replacement && num_samples > 1;
    auto draw = is_one_by_one ? random::multinomial_with_replacement<T> : random::multinomial_without_replacement<T>;
    draw(chosen(generator), data, rows, categories, num_samples, out.data<int64_t>());
  });
}

void poisson(const Tensor& self, const Ref<Generator>& generator, const Tensor& out) {
  Tensor rates = ops::contiguous(self);
  visit_floating(self.dtype(), [&]<class T>() {
    const T* rate = rates.data<T>();
    for (int64_t i = 0; i < rates.numel(); ++i) {
      double value = convert<double>(rate[i]);
      TAEDA_CHECK(value >= 0 && value <= std::numeric_limits<double>::max(),
                  "rates must be finite and not negative; got ", value);
    }
    random::poisson(chosen(generator), rate, out.data<T>(), out.numel());
  });
}

void binomial(const Tensor& count, const Tensor& prob, const Ref<Generator>& generator, const Tensor& out) {
  auto spread = [&](const Tensor& t) {
    Tensor same_type = t.dtype() == out.dtype() ? t : ops::_to_copy(t, out.dtype());
    shape::View view = shape::expand(same_type, out.sizes(), false);
    return ops::contiguous(new_alias(same_type, view.sizes, view.strides, view.offset));
  };
  Tensor counts = spread(count), probs = spread(prob);
  visit_floating(out.dtype(), [&]<class T>() {
    random::binomial(chosen(generator), counts.data<T>(), probs.data<T>(), out.data<T>(), out.numel());
  });
}

void _standard_gamma(const Tensor& self, const Ref<Generator>& generator, const Tensor& out) {
  Tensor concentration = ops::contiguous(self);
  visit_floating(self.dtype(), [&]<class T>() {
    random::standard_gamma(chosen(generator), concentration.data<T>(), out.data<T>(), out.numel());
  });
}

void _sample_dirichlet(const Tensor& self, const Ref<Generator>& generator, const Tensor& out) {
  Tensor concentration = ops::contiguous(self);
  if (self.numel() == 0) return;
  int64_t categories = self.dim() ? self.size(-1) : 1;
  visit_floating(self.dtype(), [&]<class T>() {
    random::dirichlet(chosen(generator), concentration.data<T>(), out.data<T>(), out.numel() / categories, categories);
  });
}

void _rrelu(const Tensor& self, const Scalar& lower, const Scalar& upper, const Ref<Generator>& generator,
            const Tensor& out, const Tensor& noise) {
  Tensor input = ops::contiguous(self);
  visit_floating(self.dtype(), [&]<class T>() {
    random::rrelu(chosen(generator), input.data<T>(), noise.data<T>(), out.data<T>(), out.numel(), lower.as_double(),
                  upper.as_double());
  });
}

}  // namespace taeda::cpu
