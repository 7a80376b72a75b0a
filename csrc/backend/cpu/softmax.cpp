// Softmax along any dimension: along the last one row by row, along others in tiles of neighbouring columns.
#include "backend/cpu/ops/softmax.h"
#include "backend/cpu/engine/row_kernels.h"
#include "taeda/core/parallel.h"
#include "taeda/ops/copy.h"

namespace taeda::cpu {

namespace {

// A contiguous tensor as (outer, n, inner) with the dimension in the middle.
struct Lines {
  int64_t outer = 1, n = 1, inner = 1;
  Lines(const Tensor& t, int64_t dim) {
    if (t.dim() == 0) return;
    dim = wrap_dim(dim, t.dim());
    for (int64_t d = 0; d < dim; ++d) outer *= t.sizes()[d];
    n = t.sizes()[dim];
    for (int64_t d = dim + 1; d < t.dim(); ++d) inner *= t.sizes()[d];
  }
};

constexpr int64_t kTile = 64;  // columns

// run(inputs, output, width, step) for tiles of columns of (n, inner): in place, or copied from and to half types.
template <class T, class F>
void by_columns(const Lines& lines, std::initializer_list<Tensor> inputs, const Tensor& out, const F& run) {
  int64_t tiles = (lines.inner + kTile - 1) / kTile;
  DType dtype = dtype_of<T>;
  bool direct = out.dtype() == dtype;
  for (const Tensor& t : inputs) direct &= t.dtype() == dtype;
  int64_t grain = std::max<int64_t>(1, kGrain / 4 / std::max<int64_t>(lines.n * std::min(lines.inner, kTile), 1));
  parallel_for(0, lines.outer * tiles, grain, [&](int64_t begin, int64_t end) {
    std::unique_ptr<T[]> scratch(direct ? nullptr : new T[3 * lines.n * kTile]);
    for (int64_t k = begin; k < end; ++k) {
      int64_t from = k % tiles * kTile, width = std::min(kTile, lines.inner - from);
      int64_t start = k / tiles * lines.n * lines.inner + from;
      const T* in[2];
      int i = 0;
      for (const Tensor& t : inputs) {
        const char* source = t.data<char>() + start * t.itemsize();
        T* buffer = scratch.get() + i * lines.n * kTile;
        if (!direct)
          for (int64_t r = 0; r < lines.n; ++r)
            converter(t.dtype(), dtype)(reinterpret_cast<char*>(buffer + r * width), sizeof(T),
                                        source + r * lines.inner * t.itemsize(), t.itemsize(), width);
        in[i++] = direct ? reinterpret_cast<const T*>(source) : buffer;
      }
      char* target = out.data<char>() + start * out.itemsize();
      T* to = direct ? reinterpret_cast<T*>(target) : scratch.get() + 2 * lines.n * kTile;
      run(in, to, width, direct ? lines.inner : width);
      if (!direct)
        for (int64_t r = 0; r < lines.n; ++r)
          converter(dtype, out.dtype())(target + r * lines.inner * out.itemsize(), out.itemsize(),
                                        reinterpret_cast<char*>(to + r * width), sizeof(T), width);
    }
  });
}

int64_t row_grain(int64_t n) { return std::max<int64_t>(1, kGrain / 4 / std::max<int64_t>(n, 1)); }

template <bool kLog>
void forward(const Tensor& self, int64_t dim, const Tensor& out) {
  Tensor x = ops::contiguous(self);
  Lines lines(x, dim);
  if (x.numel() == 0) return;
  visit_compute(x.dtype(), [&]<class T>() {
    const RowKernels<T>& rows = row_kernels<T>();
    if (lines.inner > 1)
      return by_columns<T>(lines, {x}, out, [&](const T* const* in, T* to, int64_t width, int64_t step) {
        rows.softmax_columns(in[0], to, lines.n, width, step, kLog);
      });
    auto run = kLog ? rows.log_softmax : rows.softmax;
    parallel_for(0, lines.outer, row_grain(lines.n), [&](int64_t begin, int64_t end) {
      RowReader<T> in(x, lines.n);
      RowWriter<T> to(out, lines.n);
      for (int64_t r = begin; r < end; ++r) {
        run(in(r * lines.n, lines.n), to.at(r * lines.n), lines.n);
        to.done(r * lines.n, lines.n);
      }
    });
  });
}

template <bool kLog>
void backward(const Tensor& grad_output, const Tensor& output, int64_t dim, const Tensor& out) {
  Tensor g = ops::contiguous(grad_output), y = ops::contiguous(output);
  Lines lines(y, dim);
  if (y.numel() == 0) return;
  visit_compute(y.dtype(), [&]<class T>() {
    const RowKernels<T>& rows = row_kernels<T>();
    if (lines.inner > 1)
      return by_columns<T>(lines, {g, y}, out, [&](const T* const* in, T* to, int64_t width, int64_t step) {
        rows.softmax_columns_backward(in[0], in[1], to, lines.n, width, step, kLog);
      });
    auto run = kLog ? rows.log_softmax_backward : rows.softmax_backward;
    parallel_for(0, lines.outer, row_grain(lines.n), [&](int64_t begin, int64_t end) {
      RowReader<T> from_g(g, lines.n), from_y(y, lines.n);
      RowWriter<T> to(out, lines.n);
      for (int64_t r = begin; r < end; ++r) {
        int64_t at = r * lines.n;
        run(from_g(at, lines.n), from_y(at, lines.n), to.at(at), lines.n);
        to.done(at, lines.n);
      }
    });
  });
}

}  // namespace

void _softmax(const Tensor& self, int64_t dim, bool, const Tensor& out) { forward<false>(self, dim, out); }
void _log_softmax(const Tensor& self, int64_t dim, bool, const Tensor& out) { forward<true>(self, dim, out); }
void _softmax_backward_data(const Tensor& grad_output, const Tensor& output, int64_t dim, DType, const Tensor& out) {
  backward<false>(grad_output, output, dim, out);
}
void _log_softmax_backward_data(const Tensor& grad_output, const Tensor& output, int64_t dim, DType,
                                const Tensor& out) {
  backward<true>(grad_output, output, dim, out);
}

}  // namespace taeda::cpu
