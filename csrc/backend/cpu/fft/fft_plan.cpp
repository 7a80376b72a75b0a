#include "backend/cpu/fft/fft_plan.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "backend/cpu/fft/fft_run.h"
#include "taeda/core/error.h"
#include "taeda/core/fork.h"

namespace taeda::cpu::fft {

// The angle is brought into the first eighth of a turn by whole numbers, so that only there sin and cos are asked.
Root root(int64_t k, int64_t n) {
  int64_t eighths = 8 * (k % n), octant = eighths / n, rest = eighths % n;
  const bool from_end = octant & 1;
  if (from_end) rest = n - rest;
  const long double angle = std::numbers::pi_v<long double> / 4 * static_cast<long double>(rest) / n;
  double near = static_cast<double>(std::cos(angle)), far = static_cast<double>(std::sin(angle));
  if (octant == 1 || octant == 2 || octant == 5 || octant == 6) std::swap(near, far);
  const bool left = octant >= 2 && octant < 6, below = octant >= 4;
  return {left ? -near : near, below ? far : -far};
}

namespace {

constexpr int64_t kLongest = int64_t{1} << 58;  // 8 n must fit
constexpr int64_t kMatrixFrom = 1 << 16;        // from here on a line is taken as a matrix

// Prime factors in rising order; empty if one of them is beyond kMaxRadix.
std::vector<int> small_factors(int64_t n) {
  std::vector<int> factors;
  for (int p = 2; p <= kMaxRadix; ++p)
    for (; n % p == 0; n /= p) factors.push_back(p);
  if (n != 1) factors.clear();
  return factors;
}

// Eights first: as they are powers of two, their results can be spread by shuffles while strides are narrow.
std::vector<int> radices_of(const std::vector<int>& factors) {
  int64_t twos = std::ranges::count(factors, 2);
  std::vector<int> radices(static_cast<size_t>(twos / 3), 8);
  if (twos % 3 == 1 && twos > 1) radices.back() = 4;
  if (twos % 3 == 1) radices.push_back(twos > 1 ? 4 : 2);
  if (twos % 3 == 2) radices.push_back(4);
  for (int p : factors)
    if (p != 2) radices.push_back(p);
  return radices;
}

// exp(-2 pi i k / n) for all k < n; the second half mirrors the first.
std::vector<Root> roots_of(int64_t n) {
  std::vector<Root> roots(static_cast<size_t>(n));
  for (int64_t k = 0; k <= n / 2; ++k) {
    const Root w = root(k, n);
    roots[k] = w;
    if (k) roots[n - k] = {w.re, -w.im};
  }
  return roots;
}

// `roots` are those of the whole length. Products of p and k stay below radix * count, which divides it.
template <class T>
void add_twiddles(Direct<T>& plan, Pass& pass, const std::vector<Root>& roots) {
  pass.twiddles = plan.table.size();
  for (int64_t p = 0; p < pass.count; ++p)
    for (int64_t k = 1; k < pass.radix; ++k) {
      const Root w = roots[p * k * pass.stride];
      plan.table.push_back(static_cast<T>(w.re)), plan.table.push_back(static_cast<T>(w.im));
    }
}
template <class T>
void add_wide(Direct<T>& plan, Pass& pass, int64_t lanes, const std::vector<Root>& roots) {
  const int64_t total = pass.count * pass.stride, row = std::max(total, lanes);
  pass.wide = plan.table.size();
  plan.table.resize(pass.wide + 2 * (pass.radix - 1) * row, T(0));
  for (int64_t k = 1; k < pass.radix; ++k) {
    T* at = plan.table.data() + pass.wide + 2 * (k - 1) * row;
    for (int64_t i = 0; i < total; ++i) {
      const Root w = roots[i / pass.stride * k * pass.stride];
      at[i] = static_cast<T>(w.re), at[row + i] = static_cast<T>(w.im);
    }
  }
}

template <class T>
Direct<T> direct_of(int64_t n, const std::vector<int>& factors) {
  const int64_t lanes = loops<T>().lanes;
  const std::vector<Root> roots = roots_of(n);
  Direct<T> plan{n, {}, {}};
  int64_t left = n;
  for (int radix : radices_of(factors)) {
    left /= radix;
    Pass pass{radix, left, n / left / radix, 0, 0, 0};
    add_twiddles(plan, pass, roots);
    if (2 * pass.stride <= lanes && radix <= 8) add_wide(plan, pass, lanes, roots);
    if (radix > 8) {
      pass.roots = plan.table.size();
      for (int j = 0; j < radix; ++j) plan.table.push_back(static_cast<T>(roots[j * (n / radix)].re));
      for (int j = 0; j < radix; ++j) plan.table.push_back(static_cast<T>(-roots[j * (n / radix)].im));
    }
    plan.passes.push_back(pass);
  }
  return plan;
}

template <class T>
void put(Table<T>& table, int64_t at, Root w) {
  table.re[at] = static_cast<T>(w.re), table.im[at] = static_cast<T>(w.im);
}

// Null where the factors do not divide into two numbers of a fair size each.
template <class T>
std::unique_ptr<const Matrix<T>> matrix_of(int64_t n, const std::vector<int>& factors) {
  const int64_t lanes = loops<T>().lanes;
  std::vector<int> high, wide;
  int64_t height = 1, width = 1;
  for (auto p = factors.rbegin(); p != factors.rend(); ++p)
    height <= width ? (high.push_back(*p), height *= *p) : (wide.push_back(*p), width *= *p);
  if (std::min(height, width) < 4 * lanes) return nullptr;
  std::ranges::sort(high), std::ranges::sort(wide);
  auto m = std::make_unique<Matrix<T>>();
  m->columns = direct_of<T>(height, high), m->rows = direct_of<T>(width, wide);
  m->height = height, m->width = width;
  m->turns.resize(height * lanes);
  for (int64_t k = 0; k < height; ++k)
    for (int64_t l = 0; l < lanes; ++l) put(m->turns, k * lanes + l, root(k * l, n));
  m->shift = std::bit_width(static_cast<uint64_t>(n)) / 2;
  m->fine.resize(int64_t{1} << m->shift), m->coarse.resize((n >> m->shift) + 1);
  for (int64_t k = 0; k < int64_t{1} << m->shift; ++k) put(m->fine, k, root(k, n));
  for (int64_t k = 0; k <= n >> m->shift; ++k) put(m->coarse, k, root((k << m->shift) % n, n));
  return m;
}

// The shortest length from n on that has the factors 2, 3 and 5 alone, and 16 among them.
int64_t good_length(int64_t n) {
  int64_t best = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(n, 16))));
  for (int64_t fives = 16; fives < best; fives *= 5)
    for (int64_t odd = fives; odd < best; odd *= 3) {
      int64_t length = odd;
      while (length < n) length *= 2;
      best = std::min(best, length);
    }
  return best;
}

template <class T>
std::shared_ptr<const Plan<T>> make_plan(int64_t n);

// exp(-pi i k^2 / n)
Root chirp(int64_t k, int64_t n) { return root(static_cast<int64_t>(static_cast<__int128>(k) * k % (2 * n)), 2 * n); }

template <class T>
std::unique_ptr<const Chirp<T>> chirp_of(int64_t n) {
  auto c = std::make_unique<Chirp<T>>();
  const int64_t length = good_length(2 * n - 1);
  c->inner = make_plan<T>(length);
  c->factors.resize(n), c->spectrum.resize(length);
  auto exact = make_plan<double>(length);
  Buffer<double> a(length), b(length);
  std::fill_n(a.split().re, length, 0.0), std::fill_n(a.split().im, length, 0.0);
  for (int64_t k = 0; k < n; ++k) {
    const Root w = chirp(k, n);
    put(c->factors, k, w);
    const int64_t mirrored = k ? length - k : 0;
    a.split().re[k] = a.split().re[mirrored] = w.re / static_cast<double>(length);
    a.split().im[k] = a.split().im[mirrored] = -w.im / static_cast<double>(length);
  }
  Split<double> result = run(*exact, 1, a.split(), b.split());
  for (int64_t k = 0; k < length; ++k) put(c->spectrum, k, {result.re[k], result.im[k]});
  return c;
}

template <class T>
std::shared_ptr<const Plan<T>> make_plan(int64_t n) {
  auto plan = std::make_shared<Plan<T>>();
  plan->n = plan->rows = n;
  const std::vector<int> factors = small_factors(n);
  if (factors.empty() && n > 1) {
    plan->chirp = chirp_of<T>(n);
    plan->rows = plan->chirp->inner->rows;
    plan->bytes = sizeof(T) * 2 * (n + plan->rows) + plan->chirp->inner->bytes;
    return plan;
  }
  if (n >= kMatrixFrom) plan->matrix = matrix_of<T>(n, factors);
  if (plan->matrix) {
    plan->bytes = sizeof(T) * (plan->matrix->columns.table.size() + plan->matrix->rows.table.size() +
                               2 * plan->matrix->turns.re.size()) +
                  sizeof(double) * 2 * (plan->matrix->coarse.re.size() + plan->matrix->fine.re.size());
  } else {
    plan->direct = std::make_unique<const Direct<T>>(direct_of<T>(n, factors));
    plan->bytes = sizeof(T) * plan->direct->table.size();
  }
  return plan;
}

template <class T>
std::shared_ptr<const RealPlan<T>> make_real_plan(int64_t n) {
  auto plan = std::make_shared<RealPlan<T>>();
  plan->n = n;
  const bool packed = n % 2 == 0;
  plan->plan = make_plan<T>(packed ? n / 2 : n);
  if (packed) {
    plan->turns.resize(n / 2);
    for (int64_t k = 0; k < n / 2; ++k) {
      const Root w = root(k, n);
      put(plan->turns, k, {w.re, -w.im});
    }
  }
  plan->bytes = plan->plan->bytes + sizeof(T) * 2 * plan->turns.re.size();
  return plan;
}

// What was used last stays, up to a number of plans and of bytes; who still uses another one keeps it alive.
template <class P>
class Cache {
 public:
  template <class Make>
  std::shared_ptr<const P> get(int64_t n, const Make& make) {
    if (auto found = find(n)) return found;
    auto plan = make(n);  // without the lock: it takes time, and the same twice does no harm
    Lock lock(mutex_);
    entries_.push_back({++clock_, plan});
    bytes_ += plan->bytes;
    while (entries_.size() > kPlans || (bytes_ > kBytes && entries_.size() > 1)) drop_oldest();
    return plan;
  }

 private:
  static constexpr size_t kPlans = 64, kBytes = size_t{32} << 20;
  struct Entry {
    uint64_t used;
    std::shared_ptr<const P> plan;
  };

  std::shared_ptr<const P> find(int64_t n) {
    Lock lock(mutex_);
    for (Entry& entry : entries_)
      if (entry.plan->n == n) {
        entry.used = ++clock_;
        return entry.plan;
      }
    return nullptr;
  }
  void drop_oldest() {
    auto oldest = std::ranges::min_element(entries_, {}, &Entry::used);
    bytes_ -= oldest->plan->bytes;
    entries_.erase(oldest);
  }

  Mutex mutex_;
  std::vector<Entry> entries_;
  uint64_t clock_ = 0;
  size_t bytes_ = 0;
};

template <class P>
Cache<P>& cache() {
  static Cache<P>& cache = *new Cache<P>;  // never destroyed: threads may outlive static objects
  return cache;
}

void check_length(int64_t n) {
  TAEDA_CHECK(n <= kLongest, "a transform of ", n, " numbers is beyond what can be computed, ", kLongest);
}

}  // namespace

template <class T>
std::shared_ptr<const Plan<T>> plan_of(int64_t n) {
  check_length(n);
  return cache<Plan<T>>().get(n, make_plan<T>);
}
template <class T>
std::shared_ptr<const RealPlan<T>> real_plan_of(int64_t n) {
  check_length(n);
  return cache<RealPlan<T>>().get(n, make_real_plan<T>);
}

template std::shared_ptr<const Plan<float>> plan_of(int64_t n);
template std::shared_ptr<const Plan<double>> plan_of(int64_t n);
template std::shared_ptr<const RealPlan<float>> real_plan_of(int64_t n);
template std::shared_ptr<const RealPlan<double>> real_plan_of(int64_t n);

}  // namespace taeda::cpu::fft
