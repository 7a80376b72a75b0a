// Copies that read their source in another order.
#include "backend/cpu/ops/rearrange.h"
#include "backend/cpu/engine/strided_copy.h"
#include "shape/spec.h"
#include "taeda/ops/copy.h"

namespace taeda::cpu {

void repeat(const Tensor& self, IntList repeats, const Tensor& out) {
  // Each dimension of the result is one over repetitions, where the source stands still, and one over its elements.
  std::vector<int64_t> sizes, to, from;
  auto add = [&](int64_t size, int64_t to_stride, int64_t from_stride) {
    if (size == 1) return;
    sizes.push_back(size);
    to.push_back(to_stride * out.itemsize());
    from.push_back(from_stride * self.itemsize());
  };
  if (out.numel() == 0) return;
  int64_t lead = out.dim() - self.dim();
  for (int64_t d = 0; d < out.dim(); ++d) {
    int64_t size = d < lead ? 1 : self.sizes()[d - lead], stride = out.strides()[d];
    add(repeats[d], stride * size, 0);
    add(size, stride, d < lead ? 0 : self.strides()[d - lead]);
  }
  strided_copy(sizes, {out.data<char>(), to.data(), out.dtype()}, {self.data<char>(), from.data(), self.dtype()});
}

void flip(const Tensor& self, IntList dims, const Tensor& out) {
  if (self.numel() == 0) return;
  shape::Dims to, from;
  for (int64_t d = 0; d < self.dim(); ++d) {
    to.push_back(out.strides()[d] * out.itemsize());
    from.push_back(self.strides()[d] * self.itemsize());
  }
  char* last = self.data<char>();
  for (int64_t dim : dims) {
    if (self.dim() == 0) break;
    int64_t d = wrap_dim(dim, self.dim());
    last += (self.sizes()[d] - 1) * from[d];
    from[d] = -from[d];
  }
  strided_copy(self.sizes(), {out.data<char>(), to.data(), out.dtype()}, {last, from.data(), self.dtype()});
}

namespace {

struct Roll {
  shape::Dims sizes, to, from, shifts;
  DType dtype;

  // Along each dimension the part that stays in order and the part that comes in again are moved apart.
  void run(char* out, char* in, int64_t dim) {
    while (dim < static_cast<int64_t>(sizes.size()) && shifts[dim] == 0) ++dim;
    if (dim == static_cast<int64_t>(sizes.size()))
      return strided_copy(sizes, {out, to.data(), dtype}, {in, from.data(), dtype});
    int64_t size = sizes[dim], shift = shifts[dim];
    sizes[dim] = size - shift;
    run(out + shift * to[dim], in, dim + 1);
    sizes[dim] = shift;
    run(out, in + (size - shift) * from[dim], dim + 1);
    sizes[dim] = size;
  }
};

}  // namespace

void roll(const Tensor& self, IntList shifts, IntList dims, const Tensor& out) {
  if (self.numel() == 0) return;
  Tensor source = dims.empty() ? ops::contiguous(self) : self;
  Roll job;
  job.dtype = self.dtype();
  if (dims.empty()) {
    job.sizes = job.shifts = {self.numel()};
    job.to = job.from = {self.itemsize()};
  } else {
    job.sizes = job.shifts = self.sizes();
    for (int64_t d = 0; d < self.dim(); ++d) {
      job.to.push_back(out.strides()[d] * out.itemsize());
      job.from.push_back(self.strides()[d] * self.itemsize());
    }
  }
  std::ranges::fill(job.shifts, 0);
  for (size_t i = 0; i < shifts.size(); ++i) {
    size_t d = dims.empty() ? 0 : static_cast<size_t>(wrap_dim(dims[i], self.dim()));
    int64_t size = job.sizes[d], shift = shifts[i] % size;
    job.shifts[d] = (job.shifts[d] + shift + size) % size;
  }
  job.run(out.data<char>(), source.data<char>(), 0);
}

Tensor repeat_interleave(const Tensor& repeats, std::optional<int64_t> output_size) {
  TAEDA_CHECK(repeats.dim() == 1, "repeats must have one dimension; got shape ", repeats.sizes());
  TAEDA_CHECK_KIND(NotImplemented, repeats.dtype() == DType::Int64 || repeats.dtype() == DType::Int32,
                   "repeats must be int64 or int32; got ", repeats.dtype());
  Tensor counts = ops::contiguous(ops::_to_copy(repeats, DType::Int64));
  const int64_t* count = counts.data<int64_t>();
  int64_t total = 0;
  for (int64_t i = 0; i < counts.numel(); ++i) {
    TAEDA_CHECK(count[i] >= 0, "repeats must not be negative; got ", count[i], " at position ", i);
    TAEDA_CHECK(!__builtin_add_overflow(total, count[i], &total), "repeats add up to more than an int64 counts");
  }
  TAEDA_CHECK(output_size.value_or(total) == total, "output_size is ", *output_size, ", but repeats add up to ", total);
  Tensor result = new_tensor(IntList(&total, 1), DType::Int64);
  int64_t* out = result.data<int64_t>();
  for (int64_t i = 0; i < counts.numel(); ++i) out = std::fill_n(out, count[i], i);
  return repeats.dtype() == DType::Int64 ? result : ops::_to_copy(result, repeats.dtype());
}

}  // namespace taeda::cpu
