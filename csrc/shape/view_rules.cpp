#include "shape/view_rules.h"

#include <algorithm>
#include <numeric>

#include "core/elements.h"
#include "shape/complex_half.h"
#include "shape/elementwise.h"
#include "taeda/ops/copy.h"

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
  for (size_t i = 0; i < size.size(); ++i) result.strides.push_back(0);
  int64_t around = 1;  // the stride of a new dimension of size 1, as unsqueeze has it
  for (int64_t i = static_cast<int64_t>(size.size()) - 1; i >= 0; --i) {
    int64_t old = i < extra ? 1 : self.sizes()[i - extra];
    if (size[i] == -1) {
      TAEDA_CHECK(i >= extra, "-1 keeps a size, but dimension ", i, " of ", size, " is a new one");
      result.sizes[i] = old;
    }
    TAEDA_CHECK(size[i] >= -1 && (result.sizes[i] == old || old == 1), "size ", size,
                " does not fit the tensor of shape ", self.sizes(), ": dimension ", i, " has size ", old,
                ", and only a size of 1 can grow");
    if (result.sizes[i] == old && self.dim() > 0) result.strides[i] = i < extra ? around : self.strides()[i - extra];
    around = result.sizes[i] * result.strides[i];
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
      TAEDA_CHECK(!__builtin_mul_overflow(known, size[i], &known), "shape ", size,
                  " has more elements than an int64 counts");
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

namespace {
// Fills in the strides that show `numel` elements in the same order as `size`; false if they cannot.
bool lay_strides(IntList old_sizes, IntList old_strides, int64_t numel, IntList size, int64_t* strides) {
  if (numel == 0) {
    int64_t step = 1;
    for (size_t i = size.size(); i-- > 0; step *= std::max<int64_t>(size[i], 1)) strides[i] = step;
    return true;
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
    if (taken != block) return false;
    if (i > 0) block_stride = old_strides[i - 1];
    block = taken = 1;
  }
  for (; d >= 0; --d) strides[d] = 1;  // a number viewed with dimensions of size 1
  return true;
}
}  // namespace

std::optional<Dims> view_strides(IntList old_sizes, IntList old_strides, IntList size) {
  Dims strides(size);
  int64_t numel = std::accumulate(old_sizes.begin(), old_sizes.end(), int64_t{1}, std::multiplies<>());
  if (!lay_strides(old_sizes, old_strides, numel, size, strides.data())) return std::nullopt;
  return strides;
}

View view(const Tensor& self, IntList size) {
  Dims sizes = infer_size(size, self.numel());
  View result(sizes, sizes, self.storage_offset());
  TAEDA_CHECK(lay_strides(self.sizes(), self.strides(), self.numel(), sizes, result.strides.data()), "shape ", size,
              " cannot be a view of a tensor of shape ", self.sizes(), " and strides ", self.strides(),
              "; use reshape, which copies where it must");
  result.is_within = true;
  return result;
}

View reshape_alias(const Tensor& self, IntList size, IntList stride) { return {size, stride, self.storage_offset()}; }

namespace {
// `from` counts elements of the old size, the result elements of the new one.
int64_t rescaled(const Tensor& self, int64_t from, DType dtype, const char* what) {
  int64_t bytes = from * self.itemsize();
  TAEDA_CHECK(bytes % itemsize(dtype) == 0, what, " (", from, ") of a ", self.dtype(), " tensor is no whole number of ",
              dtype, " elements");
  return bytes / itemsize(dtype);
}
}  // namespace

View view(const Tensor& self, DType dtype) {
  TAEDA_CHECK(!self->is_lazy(), "a tensor that is lazily conjugated or negated cannot be viewed as ", dtype,
              "; use resolve_conj() or resolve_neg() first");
  View result = same(self);
  result.dtype = dtype;
  if (itemsize(dtype) == self.itemsize()) return result;
  TAEDA_CHECK(self.dim() > 0, "a tensor without dimensions cannot be viewed as ", dtype,
              ", whose elements are of another size than those of ", self.dtype());
  size_t last = self.dim() - 1;
  TAEDA_CHECK(self.strides()[last] == 1, "the last dimension must have stride 1 to be viewed as ", dtype,
              ", whose elements are of another size; got strides ", self.strides());
  result.sizes[last] = rescaled(self, self.sizes()[last], dtype, "the last dimension");
  result.offset = rescaled(self, self.storage_offset(), dtype, "the storage offset");
  for (size_t d = 0; d < last; ++d) result.strides[d] = rescaled(self, self.strides()[d], dtype, "a stride");
  return result;
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
  for (int64_t dim : dims) {
    wrapped.push_back(wrap_dim(dim, self.dim()));
    TAEDA_CHECK(std::ranges::count(wrapped, wrapped.back()) == 1, "dim ", dims, " names dimension ", wrapped.back(),
                " twice");
  }
  return squeeze_where(self, [&](int64_t i) { return std::ranges::find(wrapped, i) != wrapped.end(); });
}

View select(const Tensor& self, int64_t dim, int64_t index) {
  TAEDA_CHECK_INDEX(self.dim() > 0, "a tensor without dimensions cannot be indexed by position");
  dim = wrap_dim(dim, self.dim());
  int64_t size = self.sizes()[dim];
  TAEDA_CHECK_INDEX(index >= -size && index < size, "index ", index, " is out of range for dimension ", dim,
                    " of size ", size);
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
  result.sizes[dim] = to == from ? 0 : (to - from - 1) / step + 1;
  // A step so long that the stride does not fit leads nowhere: there is one element at most.
  int64_t stride;
  if (!__builtin_mul_overflow(result.strides[dim], step, &stride)) result.strides[dim] = stride;
  return result;
}

View diagonal(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  dim1 = wrap_dim(dim1, self.dim());
  dim2 = wrap_dim(dim2, self.dim());
  TAEDA_CHECK(dim1 != dim2, "the two dimensions of a diagonal must differ; got ", dim1, " twice");
  View result = same(self);
  int64_t rows = self.sizes()[dim1] + std::min<int64_t>(offset, 0);
  int64_t columns = self.sizes()[dim2] - std::max<int64_t>(offset, 0);
  int64_t length = std::max<int64_t>(std::min(rows, columns), 0);
  if (length > 0) result.offset += offset >= 0 ? offset * self.strides()[dim2] : -offset * self.strides()[dim1];
  int64_t step = self.strides()[dim1] + self.strides()[dim2];
  for (int64_t d : {std::max(dim1, dim2), std::min(dim1, dim2)}) {
    result.sizes.erase(d);
    result.strides.erase(d);
  }
  result.sizes.push_back(length);
  result.strides.push_back(step);
  return result;
}

View unfold(const Tensor& self, int64_t dim, int64_t size, int64_t step) {
  dim = wrap_dim(dim, self.dim());
  TAEDA_CHECK(size >= 0, "the size of a window must not be negative; got ", size);
  TAEDA_CHECK(step > 0, "the step between windows must be positive; got ", step);
  int64_t length = self.dim() == 0 ? 1 : self.sizes()[dim], stride = self.dim() == 0 ? 1 : self.strides()[dim];
  TAEDA_CHECK(size <= length, "a window of size ", size, " does not fit dimension ", dim, " of size ", length);
  View result = same(self);
  result.sizes.push_back(size);
  result.strides.push_back(stride);
  if (self.dim() > 0) {
    result.sizes[dim] = (length - size) / step + 1;
    bool fits = !__builtin_mul_overflow(stride, step, &result.strides[dim]);
    TAEDA_CHECK(fits || result.sizes[dim] == 1, "steps of ", step, " lead past all memory");
    if (!fits) result.strides[dim] = stride;  // of one window none leads anywhere
  }
  return result;
}

std::vector<View> unbind(const Tensor& self, int64_t dim) {
  dim = wrap_dim(dim, self.dim());
  TAEDA_CHECK_INDEX(self.dim() > 0, "a tensor without dimensions cannot be taken apart");
  std::vector<View> result;
  result.reserve(self.sizes()[dim]);
  for (int64_t i = 0; i < self.sizes()[dim]; ++i) result.push_back(select(self, dim, i));
  return result;
}

namespace {
View piece(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  View result = same(self);
  result.offset += start * self.strides()[dim];
  result.sizes[dim] = length;
  return result;
}
}  // namespace

std::vector<View> split(const Tensor& self, int64_t split_size, int64_t dim) {
  TAEDA_CHECK(self.dim() > 0, "a tensor without dimensions cannot be split");
  dim = wrap_dim(dim, self.dim());
  int64_t size = self.sizes()[dim];
  TAEDA_CHECK(split_size > 0 || (split_size == 0 && size == 0), "split_size must be positive; got ", split_size,
              " for dimension ", dim, " of size ", size);
  const int64_t count = size == 0 ? 1 : size / split_size + (size % split_size != 0);
  std::vector<View> result;
  result.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    result.push_back(piece(self, dim, i * split_size, std::min(split_size, size - i * split_size)));
  return result;
}

std::vector<View> split_with_sizes(const Tensor& self, IntList split_sizes, int64_t dim) {
  TAEDA_CHECK(self.dim() > 0, "a tensor without dimensions cannot be split");
  dim = wrap_dim(dim, self.dim());
  std::vector<View> result;
  int64_t start = 0, size = self.sizes()[dim];
  for (int64_t length : split_sizes) {
    TAEDA_CHECK(length >= 0, "split sizes must not be negative; got ", split_sizes);
    TAEDA_CHECK(length <= size - start, "split sizes ", split_sizes, " must add up to size ", size, " of dimension ",
                dim);
    result.push_back(piece(self, dim, start, length));
    start += length;
  }
  TAEDA_CHECK(start == size, "split sizes ", split_sizes, " must add up to size ", size, " of dimension ", dim);
  return result;
}

int64_t chunk_size(const Tensor& self, int64_t chunks, int64_t dim) {
  TAEDA_CHECK(self.dim() > 0, "a tensor without dimensions cannot be cut into chunks");
  TAEDA_CHECK(chunks > 0, "the number of chunks must be positive; got ", chunks);
  int64_t size = self.size(dim);
  return size / chunks + (size % chunks != 0);
}

View conjugated(const Tensor& self) {
  TAEDA_CHECK(is_complex(self.dtype()), "takes complex numbers; got ", self.dtype());
  View result = same(self);
  result.dtype = self.dtype();
  result.toggled = Functionality::Conjugate;
  return result;
}

View negated(const Tensor& self) {
  View result = same(self);
  result.dtype = self.dtype();
  result.toggled = Functionality::Negative;
  return result;
}

View view_as_real(const Tensor& self) {
  TAEDA_CHECK(is_complex(self.dtype()), "takes complex numbers; got ", self.dtype());
  TAEDA_CHECK(!self->is_conj(),
              "the tensor is lazily conjugated, so its memory holds no such pairs; use "
              "view_as_real(t.resolve_conj())");
  View result{self.sizes(), {}, 2 * self.storage_offset(), to_real(self.dtype())};
  for (int64_t stride : self.strides()) result.strides.push_back(2 * stride);
  result.sizes.push_back(2);
  result.strides.push_back(1);
  return result;
}

View view_as_complex(const Tensor& self) {
  TAEDA_CHECK(is_floating(self.dtype()) && self.dtype() != DType::BFloat16, "takes float32, float64 or float16; got ",
              self.dtype());
  TAEDA_CHECK(self.dim() > 0 && self.sizes().back() == 2,
              "the last dimension must have size 2: a real and an imaginary part; "
              "got shape ",
              self.sizes());
  TAEDA_CHECK(self.strides().back() == 1, "the last dimension must have stride 1; got strides ", self.strides());
  TAEDA_CHECK(self.storage_offset() % 2 == 0, "the storage offset must be even; got ", self.storage_offset());
  View result{{}, {}, self.storage_offset() / 2, with_imaginary(self.dtype())};
  for (int64_t d = 0; d + 1 < self.dim(); ++d) {
    TAEDA_CHECK(self.strides()[d] % 2 == 0 || self.sizes()[d] <= 1, "all strides but the last must be even; got ",
                self.strides());
    result.sizes.push_back(self.sizes()[d]);
    result.strides.push_back(self.strides()[d] / 2);
  }
  return result;
}

bool may_overlap(IntList sizes, IntList strides) {
  std::vector<std::pair<int64_t, int64_t>> dims;  // stride, size
  for (size_t d = 0; d < sizes.size(); ++d)
    if (sizes[d] > 1) dims.emplace_back(strides[d], sizes[d]);
  std::ranges::sort(dims);
  int64_t reach = 0;  // the farthest element so far
  for (auto [stride, size] : dims) {
    if (stride <= reach) return true;
    reach += stride * (size - 1);
  }
  return false;
}

namespace {
// Channels innermost, as far as strides tell; dimensions of size 1 leave room for doubt, which goes to contiguous.
bool looks_channels_last(const Tensor& t, std::span<const int> order) {
  int64_t least = 0;
  if (t.strides()[1] == 0) return false;
  for (int d : order) {
    if (t.sizes()[d] == 0 || t.strides()[d] < least) return false;
    if (d == 0 && least == t.strides()[1]) return false;
    least = t.strides()[d];
    if (t.sizes()[d] > 1) least *= t.sizes()[d];
  }
  return true;
}
}  // namespace

MemoryFormat suggested_format(const Tensor& t) {
  constexpr int kOrder2d[] = {1, 3, 2, 0}, kOrder3d[] = {1, 4, 3, 2, 0};
  if (t.dim() == 4 && looks_channels_last(t, kOrder2d)) return MemoryFormat::ChannelsLast;
  if (t.dim() == 5 && looks_channels_last(t, kOrder3d)) return MemoryFormat::ChannelsLast3d;
  return MemoryFormat::Contiguous;
}

std::vector<int64_t> integers_of(const Tensor& t) {
  Tensor local = ops::contiguous(ops::_to_copy(t, DType::Int64, std::nullopt, Device{DeviceType::CPU}));
  return {elements<int64_t>(local), elements<int64_t>(local) + local.numel()};
}

Dims strides_for(const Tensor& like, MemoryFormat format) {
  if (format != MemoryFormat::Preserve) return contiguous_strides(like.sizes(), format);
  if (like->is_non_overlapping_and_dense()) return like.strides();
  Operand operand(like);
  Dims strides(like.sizes());
  int64_t step = 1;
  for (int64_t d : iteration_order({&operand, 1}, like.sizes())) {
    strides[d] = step;
    step *= std::max<int64_t>(like.sizes()[d], 1);
  }
  return strides;
}

Spec clone(const Tensor& self, std::optional<MemoryFormat> format) {
  return {self.sizes(), self.dtype(), strides_for(self, format.value_or(MemoryFormat::Preserve))};
}

}  // namespace taeda::shape
