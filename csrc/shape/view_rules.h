// Rules of views and of ops that lay tensors out anew.
#pragma once
#include "shape/spec.h"

namespace taeda::shape {

inline Same same(const Tensor& self) { return {self}; }
View as_strided(const Tensor& self, IntList size, IntList stride, std::optional<int64_t> storage_offset);
View transpose(const Tensor& self, int64_t dim0, int64_t dim1);
View t(const Tensor& self);
View permute(const Tensor& self, IntList dims);
View expand(const Tensor& self, IntList size, bool implicit);
View view(const Tensor& self, IntList size);
View view(const Tensor& self, DType dtype);
View reshape_alias(const Tensor& self, IntList size, IntList stride);
View unsqueeze(const Tensor& self, int64_t dim);
View squeeze(const Tensor& self);
View squeeze(const Tensor& self, int64_t dim);
View squeeze(const Tensor& self, IntList dims);
View select(const Tensor& self, int64_t dim, int64_t index);
View slice(const Tensor& self, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step);
View diagonal(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2);
View unfold(const Tensor& self, int64_t dim, int64_t size, int64_t step);
std::vector<View> unbind(const Tensor& self, int64_t dim);
std::vector<View> split(const Tensor& self, int64_t split_size, int64_t dim);
std::vector<View> split_with_sizes(const Tensor& self, IntList split_sizes, int64_t dim);
View conjugated(const Tensor& self);
View negated(const Tensor& self);
View view_as_real(const Tensor& self);
View view_as_complex(const Tensor& self);
Spec clone(const Tensor& self, std::optional<MemoryFormat> format);

// Sizes with one -1 replaced by what `numel` leaves; RuntimeError if it does not come out even.
Dims infer_size(IntList size, int64_t numel);
// The strides that show the same elements in the same order as `size`; nothing if they cannot.
std::optional<Dims> view_strides(IntList old_sizes, IntList old_strides, IntList size);
// Strides of a fresh tensor in the given format, or dense ones in the order of `like`'s strides for Preserve.
Dims strides_for(const Tensor& like, MemoryFormat format);
// The size of the pieces that chunk cuts; 0 where the dimension is empty.
int64_t chunk_size(const Tensor& self, int64_t chunks, int64_t dim);
// Whether two indices may name one place in memory; true also where that is too hard to say.
bool may_overlap(IntList sizes, IntList strides);
// The format that an op with a result of its own layout keeps: channels-last if the strides say so.
MemoryFormat suggested_format(const Tensor& t);
// The elements of a small integer tensor on any device.
TAEDA_API std::vector<int64_t> integers_of(const Tensor& t);

}  // namespace taeda::shape
