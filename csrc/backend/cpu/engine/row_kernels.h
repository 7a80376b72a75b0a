// Loops over contiguous numbers that softmax, losses, normalisation, pooling and attention are made of, compiled once
// per instruction set. `float` serves the half types: their rows are converted on the way (RowReader, RowWriter).
#pragma once
#include <memory>

#include "backend/cpu/engine/convert.h"
#include "taeda/core/tensor.h"

namespace taeda::cpu {

template <class T>
struct Pair {
  T first, second;
};

template <class T>
struct RowKernels {
  // --- softmax; the last form works on `width` neighbouring columns of n numbers, `step` apart
  void (*softmax)(const T* x, T* y, int64_t n);
  void (*log_softmax)(const T* x, T* y, int64_t n);
  void (*softmax_backward)(const T* grad, const T* y, T* out, int64_t n);
  void (*log_softmax_backward)(const T* grad, const T* y, T* out, int64_t n);
  void (*softmax_columns)(const T* x, T* y, int64_t n, int64_t width, int64_t step, bool log);
  void (*softmax_columns_backward)(const T* grad, const T* y, T* out, int64_t n, int64_t width, int64_t step, bool log);
  T (*log_sum_exp)(const T* x, int64_t n);
  void (*exp_shifted)(const T* x, T* y, int64_t n, T shift, T scale);  // scale * exp(x - shift)
  T (*maximum)(const T* x, int64_t n);                                 // -inf for none; NaN if there is one
  T (*exp_sum)(T* x, int64_t n, T shift);                              // x = exp(x - shift), and its sum

  // --- sums
  T (*sum)(const T* x, int64_t n);
  T (*dot)(const T* x, const T* y, int64_t n);
  Pair<T> (*moments)(const T* x, int64_t n);                   // mean, sum of squared deviations from it
  Pair<T> (*dots)(const T* g, const T* x, int64_t n, T mean);  // sum of g, sum of g * (x - mean)

  // --- y = x * a + b and its relatives
  void (*affine)(const T* x, T* y, int64_t n, T a, T b);
  void (*affine_each)(const T* x, const T* a, const T* b, T* y, int64_t n);
  void (*combine)(const T* g, const T* x, T* y, int64_t n, T a, T b, T c);  // a * g + b * x + c
  void (*combine_each)(const T* g, const T* x, T* y, int64_t n, const T* a, const T* b, const T* c);
  void (*scale_add)(const T* x, T* y, int64_t n, T a);                     // y += a * x
  void (*accumulate)(const T* x, T* y, int64_t n);                         // y += x
  void (*multiply)(const T* x, T* y, int64_t n);                           // y *= x
  void (*accumulate_squares)(const T* x, const T* mean, T* y, int64_t n);  // y += (x - mean)^2
  void (*accumulate_dots)(const T* g, const T* x, const T* mean, T* to_g, T* to_gx, int64_t n);

  // --- a normalised row: y = (x - mean) * rstd * w + b; w and b may be null
  void (*normalise)(const T* x, const T* w, const T* b, T* y, int64_t n, T mean, T rstd);
  // Its gradient for x, for w and b added to what is there (unless null). Not centred: mean is 0 and no function of x.
  void (*normalise_backward)(const T* g, const T* x, const T* w, T* dx, T* dw, T* db, int64_t n, T mean, T rstd,
                             bool centred);

  // --- windows: element i of a row of results sees from[i * step], whose place is first + i * index_step
  void (*begin_max)(const T* from, int64_t step, T* best, int32_t* index, int64_t n, int32_t first, int32_t index_step);
  void (*take_max)(const T* from, int64_t step, T* best, int32_t* index, int64_t n, int32_t first, int32_t index_step);
  void (*take_sum)(const T* from, int64_t step, T* sum, int64_t n);
  void (*give_sum)(const T* from, T* to, int64_t step, int64_t n);  // to[i * step] += from[i]

  // --- over `count` rows of n numbers, for each place of a row
  // The largest (or NaN) and the place of its row; -inf and `first` where no row is above that.
  void (*max_of)(const T* const* rows, const int32_t* places, int64_t count, int32_t first, T* best, int64_t* index,
                 int64_t n);
  void (*sum_of)(const T* const* rows, const T* weights, int64_t count, T scale, T* sum,
                 int64_t n);  // weights: or null
};

template <class T>
const RowKernels<T>& row_kernels();

// Rows of any floating dtype as rows of T: in place where that is their type, else converted into a buffer.
template <class T>
class RowReader {
 public:
  RowReader(const void* data, DType dtype, int64_t longest)
      : data_(static_cast<const char*>(data)),
        size_(itemsize(dtype)),
        convert_(dtype == dtype_of<T> ? nullptr : converter(dtype, dtype_of<T>)) {
    if (convert_ && data) buffer_.reset(new T[longest]);
  }
  RowReader(const Tensor& t, int64_t longest)
      : RowReader(t.defined() ? t.data() : nullptr, t.defined() ? t.dtype() : dtype_of<T>, longest) {}
  const T* operator()(int64_t offset, int64_t n) {
    if (!data_) return nullptr;
    const char* from = data_ + offset * size_;
    if (!convert_) return reinterpret_cast<const T*>(from);
    convert_(reinterpret_cast<char*>(buffer_.get()), sizeof(T), from, size_, n);
    return buffer_.get();
  }

 private:
  const char* data_;
  int64_t size_;
  Convert convert_;
  std::unique_ptr<T[]> buffer_;
};

template <class T>
class RowWriter {
 public:
  RowWriter(const Tensor& t, int64_t longest)
      : data_(t.data<char>()),
        size_(t.itemsize()),
        convert_(t.dtype() == dtype_of<T> ? nullptr : converter(dtype_of<T>, t.dtype())) {
    if (convert_) buffer_.reset(new T[longest]);
  }
  T* at(int64_t offset) { return convert_ ? buffer_.get() : reinterpret_cast<T*>(data_ + offset * size_); }
  // Once the row at `offset` is full.
  void done(int64_t offset, int64_t n) {
    if (convert_) convert_(data_ + offset * size_, size_, reinterpret_cast<const char*>(buffer_.get()), sizeof(T), n);
  }

 private:
  char* data_;
  int64_t size_;
  Convert convert_;
  std::unique_ptr<T[]> buffer_;
};

// Runs body.operator()<T>() with the type that a floating dtype is computed in.
template <class F>
decltype(auto) visit_compute(DType dtype, F&& body) {
  if (!is_floating(dtype)) TAEDA_FAIL(NotImplemented, "is for floating-point tensors; got ", dtype);
  return dtype == DType::Float64 ? body.template operator()<double>() : body.template operator()<float>();
}

}  // namespace taeda::cpu
