#include "shape/view_rules.h"

#include <algorithm>
#include <numeric>

namespace taeda::shape {

View as_strided(const Tensor& self, IntList size, IntList stride, std::optional<int64_t> storage_offset) {
  TAEDA_CHECK(size.size() == stride.size(), "size ", size, " and stride ", stride, " differ in length");
  for (int64_t s : stride) TAEDA_CHECK(s >= 0, "strides must not be negative; got ", stride);
  int64_t offset = storage_offset.value_or(self.storage_offset());
  TAEDA_CHECK(offset >= 0, "storage_offset must not be negative; got ", offset);
  return {size, stride, offset};
}

View transpose(const Tensor& self, int64_t dim0, int64_t dim1) {
  dim0 = wrap_dim(dim0, self.dim());
  dim1 = wrap_dim(dim1, self.dim());
  View result = same(self);
  if (self.dim() == 0) return result;
  std::swap(result.sizes[dim0], result.sizes[dim1]);
  std::swap(result.strides[dim0], result.strides[dim1]);
  return result;
}

View t(const Tensor& self) {
  TAEDA_CHECK(self.dim() <= 2, "takes a matrix, a vector or a number; got shape ", self.sizes(),
              " (transpose(dim0, dim1) and mT work for more dimensions)");
  return self.dim() < 2 ? same(self) : transpose(self, 0, 1);
}

View permute(const Tensor& self, IntList dims) {
  TAEDA_CHECK(static_cast<int64_t>(dims.size()) == self.dim(), "dims ", dims, " must name each of the ", self.dim(),
              " dimensions once");
  View result{{}, {}, self.storage_offset()};
  std::vector<bool> seen(dims.size());
  for (int64_t dim : dims) {
    int64_t d = wrap_dim(dim, self.dim());
    TAEDA_CHECK(!seen[d], "dims ", dims, " names dimension ", d, " twice");
    seen[d] = true;
    result.sizes.push_back(self.sizes()[d]);
    result.strides.push_back(self.strides()[d]);
  }
  return result;
}

View expand(const Tensor& self, IntList size, bool) {
  int64_t extra = static_cast<int64_t>(size.size()) - self.dim();
  TAEDA_CHECK(extra >= 0, "size ", size, " has fewer dimensions than the tensor of shape ", self.sizes());
  View result{size, {}, self.storage_offset()};
  for (int64_t i = 0; i < static_cast<int64_t>(size.size()); ++i) {
    int64_t old = i < extra ? 1 : self.sizes()[i - extra];
    if (size[i] == -1) {
      TAEDA_CHECK(i >= extra, "-1 keeps a size, but dimension ", i, " of ", size, " is a new one");
      result.sizes[i] = old;
    }
    TAEDA_CHECK(size[i] >= -1 && (result.sizes[i] == old || old == 1), "size ", size, " does not fit the tensor of shape ",
                self.sizes(), ": dimension ", i, " has size ", old, ", and only a size of 1 can grow");
    bool grows = i < extra || result.sizes[i] != old;
    result.strides.push_back(grows ? 0 : self.strides()[i - extra]);
  }
  return result;
}

Dims infer_size(IntList size, int64_t numel) {
  Dims result(size);
  int64_t known = 1, unknown = -1;
  for (size_t i = 0; i < size.size(); ++i) {
    if (size[i] == -1) {
      TAEDA_CHECK(unknown < 0, "only one size can be -1; got ", size);
      unknown = static_cast<int64_t>(i);
    } else {
      TAEDA_CHECK(size[i] >= 0, "sizes must not be negative; got ", size);
      TAEDA_CHECK(!__builtin_mul_overflow(known, size[i], &known), "shape ", size, " has more elements than an int64 counts");
    }
  }
  if (unknown >= 0) {
    TAEDA_CHECK(known != 0, "the -1 in shape ", size, " could stand for any size, as there are no elements");
    result[unknown] = numel / known;
    known *= result[unknown];
  }
  TAEDA_CHECK(known == numel, "shape ", size, " does not fit a tensor of ", numel, " elements");
  return result;
}

std::optional<Dims> view_strides(IntList old_sizes, IntList old_strides, IntList size) {
  Dims strides(size);
  int64_t numel = std::accumulate(old_sizes.begin(), old_sizes.end(), int64_t{1}, std::multiplies<>());
  if (numel == 0) {
    int64_t step = 1;
    for (size_t i = size.size(); i-- > 0; step *= std::max<int64_t>(size[i], 1)) strides[i] = step;
    return strides;
  }
  // Walks both shapes from the back, block by block of old dimensions that are contiguous with one another.
  int64_t d = static_cast<int64_t>(size.size()) - 1;
  int64_t block = 1, taken = 1;
  int64_t block_stride = old_strides.empty() ? 1 : old_strides.back();
  for (int64_t i = static_cast<int64_t>(old_sizes.size()) - 1; i >= 0; --i) {
    block *= old_sizes[i];
    bool ends = i == 0 || (old_sizes[i - 1] != 1 && old_strides[i - 1] != block * block_stride);
    if (!ends) continue;
    while (d >= 0 && (taken < block || size[d] == 1)) {
      strides[d] = taken * block_stride;
      taken *= size[d];
      --d;
    }
    if (taken != block) return std::nullopt;
    if (i > 0) block_stride = old_strides[i - 1];
    block = taken = 1;
  }
  for (; d >= 0; --d) strides[d] = 1;  // a number viewed with dimensions of size 1
  return strides;
}

View view(const Tensor& self, IntList size) {
  Dims sizes = infer_size(size, self.numel());
  auto strides = view_strides(self.sizes(), self.strides(), sizes);
  TAEDA_CHECK(strides, "shape ", size, " cannot be a view of a tensor of shape ", self.sizes(), " and strides ",
              self.strides(), "; use reshape, which copies where it must");
  return {sizes, *strides, self.storage_offset()};
}

View unsqueeze(const Tensor& self, int64_t dim) {
  dim = wrap_dim(dim, self.dim() + 1);
  View result = same(self);
  int64_t stride = dim < self.dim() ? self.sizes()[dim] * self.strides()[dim] : 1;
  result.sizes.insert(dim, 1);
  result.strides.insert(dim, stride);
  return result;
}

namespace {
template <class Drop>
View squeeze_where(const Tensor& self, Drop&& drop) {
  View result{{}, {}, self.storage_offset()};
  for (int64_t i = 0; i < self.dim(); ++i) {
    if (self.sizes()[i] == 1 && drop(i)) continue;
    result.sizes.push_back(self.sizes()[i]);
    result.strides.push_back(self.strides()[i]);
  }
  return result;
}
}  // namespace

View squeeze(const Tensor& self) {
  return squeeze_where(self, [](int64_t) { return true; });
}

View squeeze(const Tensor& self, int64_t dim) {
  dim = wrap_dim(dim, self.dim());
  return squeeze_where(self, [dim](int64_t i) { return i == dim; });
}

View squeeze(const Tensor& self, IntList dims) {
  std::vector<int64_t> wrapped;
  for (int64_t dim : dims) wrapped.push_back(wrap_dim(dim, self.dim()));
  return squeeze_where(self, [&](int64_t i) { return std::ranges::find(wrapped, i) != wrapped.end(); });
}

View select(const Tensor& self, int64_t dim, int64_t index) {
  TAEDA_CHECK_INDEX(self.dim() > 0, "a tensor without dimensions cannot be indexed by position");
  dim = wrap_dim(dim, self.dim());
  int64_t size = self.sizes()[dim];
  TAEDA_CHECK_INDEX(index >= -size && index < size, "index ", index, " is out of range for dimension ", dim, " of size ", size);
  if (index < 0) index += size;
  View result = same(self);
  result.offset += index * self.strides()[dim];
  result.sizes.erase(dim);
  result.strides.erase(dim);
  return result;
}

View slice(const Tensor& self, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) {
  TAEDA_CHECK(self.dim() > 0, "a tensor without dimensions cannot be sliced");
  dim = wrap_dim(dim, self.dim());
  TAEDA_CHECK_VALUE(step > 0, "the step of a slice must be positive; got ", step);
  int64_t size = self.sizes()[dim];
  auto clamp = [size](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + size : i, 0, size); };
  int64_t from = clamp(start.value_or(0));
  int64_t to = std::max(from, clamp(end.value_or(size)));
  View result = same(self);
  result.offset += from * self.strides()[dim];
  result.sizes[dim] = (to - from + step - 1) / step;
  result.strides[dim] *= step;
  return result;
}

Dims strides_for(const Tensor& like, MemoryFormat format) {
  if (format != MemoryFormat::Preserve) return contiguous_strides(like.sizes(), format);
  if (like.is_contiguous()) return contiguous_strides(like.sizes());
  if (like->is_non_overlapping_and_dense()) return like.strides();
  // Dense, in the order of the strides; equal strides keep the order of the dimensions.
  std::vector<int64_t> order(like.dim());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return like.strides()[a] > like.strides()[b]; });
  Dims strides(like.sizes());
  int64_t step = 1;
  for (auto d = order.rbegin(); d != order.rend(); ++d) {
    strides[*d] = step;
    step *= std::max<int64_t>(like.sizes()[*d], 1);
  }
  return strides;
}

Spec clone(const Tensor& self, std::optional<MemoryFormat> format) {
  return {self.sizes(), self.dtype(), strides_for(self, format.value_or(MemoryFormat::Preserve))};
}

}  // namespace taeda::shape
