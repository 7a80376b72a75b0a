// Rules of reading and writing at positions that tensors hold.
#pragma once
#include <string_view>

#include "shape/spec.h"

namespace taeda::shape {

// --- x[i, j, ...] with tensors; an undefined one stands for a whole dimension
// The indices as positions on the device of `self`: masks become the places where they hold, one tensor for each of
// their dimensions. IndexError for other dtypes, for masks that do not fit and for too many.
std::vector<Tensor> positions_of(const Tensor& self, TensorList indices);
// Which dimensions the positions of an index stand for, and where theirs go in the result.
struct Indexed {
  Dims positions;  // the sizes that all position tensors broadcast to
  size_t at = 0;   // before which of the kept dimensions they go: their own place if they are neighbours, else 0
  Dims kept;       // the dimensions that are taken whole
  Dims sizes;      // of the result
};
Indexed indexed(const Tensor& self, TensorList positions);
Spec index_at(const Tensor& self, TensorList positions);

// RuntimeError if `self`, which is about to be written at positions, shares memory with what is read meanwhile.
void check_apart(const Tensor& self, std::initializer_list<const Tensor*> read);
void check_apart(const Tensor& self, TensorList read);
// Elements of `self` that share their place get one value: a warning. It never was an error.
void warn_of_expanded(const Tensor& self);

// --- along one dimension
void check_index_dtype(const Tensor& index);  // RuntimeError unless int32 or int64
Spec index_select(const Tensor& self, int64_t dim, const Tensor& index);
Spec gather(const Tensor& self, int64_t dim, const Tensor& index, bool sparse_grad);
Spec nonzero_static(const Tensor& self, int64_t size, int64_t fill_value);
Spec take(const Tensor& self, const Tensor& index);
// Checks what scatter takes; `src` undefined for a number.
void check_scatter(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src);

}  // namespace taeda::shape
