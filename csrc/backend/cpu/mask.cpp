// Choosing elements by truth values.
#include <cstring>

#include "backend/cpu/engine/strided_copy.h"
#include "backend/cpu/engine/tensor_iterator.h"
#include "backend/cpu/ops/mask.h"
#include "shape/elementwise.h"
#include "shape/index_rules.h"
#include "taeda/core/overlap.h"
#include "taeda/ops/compare.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/view.h"

namespace taeda::cpu {

namespace {

constexpr int64_t kBlock = kGrain;  // elements that are counted together

void check_mask(const Tensor& mask) {
  TAEDA_CHECK(mask.dtype() == DType::Bool, "mask must be bool; got ", mask.dtype());
}

void check_fits(const Tensor& self, const Tensor& mask) {
  bool fits = mask.dim() <= self.dim();
  for (int64_t d = 1; fits && d <= mask.dim(); ++d) {
    int64_t size = mask.sizes()[mask.dim() - d];
    fits = size == 1 || size == self.sizes()[self.dim() - d];
  }
  TAEDA_CHECK(fits, "a mask of shape ", mask.sizes(), " does not broadcast to the tensor of shape ", self.sizes());
}

// Not as bools, which are 0 or 1: views of other dtypes and memory from elsewhere hold other bytes, which are true.
const uint8_t* truth_bytes(const Tensor& mask) { return reinterpret_cast<const uint8_t*>(mask.data<bool>()); }

// Where each block's elements begin among those that hold; the last entry is their number.
std::vector<int64_t> block_starts(const uint8_t* holds, int64_t n) {
  int64_t blocks = (n + kBlock - 1) / kBlock;
  std::vector<int64_t> starts(static_cast<size_t>(blocks) + 1, 0);
  parallel_for(0, blocks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      int64_t count = 0;
      for (int64_t i = b * kBlock, last = std::min(n, i + kBlock); i < last; ++i) count += holds[i] != 0;
      starts[b + 1] = count;
    }
  });
  for (int64_t b = 0; b < blocks; ++b) starts[b + 1] += starts[b];
  return starts;
}

// found(ordinal, element) for every element that holds, in parallel over blocks.
template <class F>
void each_that_holds(const uint8_t* holds, int64_t n, const std::vector<int64_t>& starts, const F& found) {
  parallel_for(0, static_cast<int64_t>(starts.size()) - 1, 1, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      int64_t ordinal = starts[b];
      for (int64_t i = b * kBlock, last = std::min(n, i + kBlock); i < last; ++i)
        if (holds[i]) found(ordinal++, i);
    }
  });
}

// Byte offsets of elements by their row-major count.
struct Offsets {
  explicit Offsets(const Tensor& t) : tensor(t), dense(t.is_contiguous()), item(t.itemsize()) {}
  int64_t operator()(int64_t flat) const {
    if (dense) return flat * item;
    int64_t offset = 0;
    for (int64_t d = tensor.dim(); d-- > 0; flat /= tensor.sizes()[d])
      offset += flat % tensor.sizes()[d] * tensor.strides()[d];
    return offset * item;
  }
  const Tensor& tensor;
  bool dense;
  int64_t item;
};

Tensor as_bool(const Tensor& t) {
  Tensor mask = t.dtype() == DType::Bool ? t : ops::ne(t, Scalar(0));
  return ops::contiguous(mask);
}

void fill_masked(const Tensor& self, const Tensor& mask, const char* element) {
  check_mask(mask);
  check_fits(self, mask);
  shape::warn_of_expanded(self);
  check_overlap(self, mask);
  Tensor whole = ops::expand(mask, self.sizes());
  TensorIterator<2> iterator;
  for (int64_t d = 0; d < self.dim(); ++d)
    iterator.add(self.sizes()[d], {self.strides()[d] * self.itemsize(), whole.strides()[d]});
  iterator.prepare();
  auto [step, mask_step] = iterator.steps();
  by_size(self.itemsize(), [&, step = step, mask_step = mask_step]<class T>() {
    T value;
    std::memcpy(&value, element, sizeof(T));
    iterator.run({self.data<char>(), whole.data<char>()}, kGrain, [&](const auto& at, int64_t n) {
      char* to = at[0];
      const auto* holds = reinterpret_cast<const uint8_t*>(at[1]);
      if (step == sizeof(T) && mask_step == 1) {
        T* target = reinterpret_cast<T*>(to);
        for (int64_t i = 0; i < n; ++i) target[i] = holds[i] ? value : target[i];
      } else {
        for (int64_t i = 0; i < n; ++i)
          if (holds[i * mask_step]) std::memcpy(to + i * step, &value, sizeof(T));
      }
    });
  });
}

}  // namespace

void masked_fill_(const Tensor& self, const Tensor& mask, const Scalar& value) {
  TAEDA_CHECK(value.category() != Category::Complex || is_complex(self.dtype()), "a complex number cannot fill a ",
              self.dtype(), " tensor");
  alignas(16) char element[sizeof(complex128)];
  store_number(self.dtype(), value, element);
  fill_masked(self, mask, element);
}

void masked_fill_(const Tensor& self, const Tensor& mask, const Tensor& value) {
  TAEDA_CHECK(value.dim() == 0, "value must be a number or a tensor without dimensions; got shape ", value.sizes());
  TAEDA_CHECK(!is_complex(value.dtype()) || is_complex(self.dtype()), "a complex number cannot fill a ", self.dtype(),
              " tensor");
  Tensor same = value.dtype() == self.dtype() && value.is_cpu()
                    ? value
                    : ops::_to_copy(value, self.dtype(), std::nullopt, self.device());
  fill_masked(self, mask, same.data<char>());
}

Tensor masked_select(const Tensor& self, const Tensor& mask) {
  check_mask(mask);
  shape::Dims sizes = shape::broadcast_sizes(self.sizes(), mask.sizes());
  Tensor source = ops::expand(self, sizes), holds = ops::contiguous(ops::expand(mask, sizes));
  std::vector<int64_t> starts = block_starts(truth_bytes(holds), holds.numel());
  Tensor result = new_tensor({{starts.back()}}, self.dtype());
  Offsets offsets(source);
  by_size(self.itemsize(), [&]<class T>() {
    const char* from = source.data<char>();
    T* to = result.data<T>();
    each_that_holds(truth_bytes(holds), holds.numel(), starts,
                    [&](int64_t ordinal, int64_t i) { std::memcpy(to + ordinal, from + offsets(i), sizeof(T)); });
  });
  return result;
}

void masked_scatter_(const Tensor& self, const Tensor& mask, const Tensor& source) {
  TAEDA_CHECK(self.dtype() == source.dtype(), "self and source must have one dtype; got ", self.dtype(), " and ",
              source.dtype());
  check_mask(mask);
  check_fits(self, mask);
  check_no_internal_overlap(self);
  Tensor holds = ops::contiguous(ops::expand(mask, self.sizes()));
  std::vector<int64_t> starts = block_starts(truth_bytes(holds), holds.numel());
  TAEDA_CHECK(starts.back() <= source.numel(), "mask holds for ", starts.back(), " elements, but source has only ",
              source.numel());
  Tensor values = ops::contiguous(share_storage(source, self) ? ops::clone(source) : source);
  Offsets offsets(self);
  by_size(self.itemsize(), [&]<class T>() {
    char* to = self.data<char>();
    const T* from = values.data<T>();
    each_that_holds(truth_bytes(holds), holds.numel(), starts,
                    [&](int64_t ordinal, int64_t i) { std::memcpy(to + offsets(i), from + ordinal, sizeof(T)); });
  });
}

Tensor nonzero(const Tensor& self) {
  Tensor holds = as_bool(self);
  int64_t n = holds.numel(), rank = self.dim();
  std::vector<int64_t> starts = block_starts(truth_bytes(holds), n);
  // A column is contiguous, as each is used on its own.
  int64_t count = starts.back();
  Tensor result = new_tensor_strided({{count, rank}}, {{1, std::max<int64_t>(count, 1)}}, DType::Int64);
  int64_t* to = result.data<int64_t>();
  if (rank == 0 || count == 0) return result;
  each_that_holds(truth_bytes(holds), n, starts, [&](int64_t ordinal, int64_t i) {
    for (int64_t d = rank; d-- > 1; i /= self.sizes()[d]) to[d * count + ordinal] = i % self.sizes()[d];
    to[ordinal] = i;
  });
  return result;
}

void nonzero_static(const Tensor& self, int64_t size, int64_t fill_value, const Tensor& out) {
  Tensor found = nonzero(self);
  int64_t used = std::min(size, found.sizes()[0]);
  ops::copy_(ops::slice(out, 0, 0, used), ops::slice(found, 0, 0, used));
  ops::fill_(ops::slice(out, 0, used, size), Scalar(fill_value));
}

}  // namespace taeda::cpu
