// Tensors that change their own geometry.
#include "backend/any_device/ops/view_inplace.h"

#include "core/uninitialized.h"
#include "shape/view_rules.h"
#include "taeda/core/determinism.h"

namespace taeda::any_device {

namespace {
size_t bytes_reached(const Tensor& self, IntList sizes, IntList strides, int64_t offset) {
  int64_t bytes = 0;
  TAEDA_CHECK(!__builtin_mul_overflow(extent(sizes, strides, offset), self.itemsize(), &bytes), "sizes ", sizes,
              ", strides ", strides, " and storage offset ", offset, " reach further than 64 bits can count");
  return static_cast<size_t>(bytes);
}

// The geometry over a storage that grows to hold it.
void take(const Tensor& self, Storage storage, IntList sizes, IntList strides, int64_t offset) {
  TAEDA_CHECK(storage, "a tensor without memory of its own has none that a geometry could be of");
  size_t bytes = bytes_reached(self, sizes, strides, offset);
  if (bytes > storage->nbytes()) storage->resize(bytes);
  self->set_storage(std::move(storage));
  self->set_geometry(sizes, strides, offset);
}

void become(const Tensor& self, const shape::View& view) {
  TAEDA_CHECK(bytes_reached(self, view.sizes, view.strides, view.offset) <= self->storage()->nbytes(), "sizes ",
              IntList(view.sizes), ", strides ", IntList(view.strides), " and storage offset ", view.offset,
              " reach outside a storage of ", self->storage()->nbytes(), " bytes");
  self->set_geometry(view.sizes, view.strides, view.offset);
}
}  // namespace

void transpose_(const Tensor& self, int64_t dim0, int64_t dim1) { become(self, shape::transpose(self, dim0, dim1)); }
void t_(const Tensor& self) { become(self, shape::t(self)); }
void squeeze_(const Tensor& self) { become(self, shape::squeeze(self)); }
void squeeze_(const Tensor& self, int64_t dim) { become(self, shape::squeeze(self, dim)); }
void squeeze_(const Tensor& self, IntList dim) { become(self, shape::squeeze(self, dim)); }
void unsqueeze_(const Tensor& self, int64_t dim) { become(self, shape::unsqueeze(self, dim)); }
void as_strided_(const Tensor& self, IntList size, IntList stride, std::optional<int64_t> storage_offset) {
  become(self, shape::as_strided(self, size, stride, storage_offset));
}

void resize_(const Tensor& self, IntList size, std::optional<MemoryFormat> memory_format) {
  TAEDA_CHECK(!self->has_grad_flag() || t_state.inference_mode,
              "a tensor that requires grad keeps its size; resize its detach() instead");
  if (is_quantized(self.dtype())) alert_open_result("what new elements of a quantised tensor hold is left open");
  TAEDA_CHECK(memory_format != MemoryFormat::Preserve, "a new size has no memory format to preserve");
  size_t before = self->storage() ? self->storage()->nbytes() : 0;
  resize_in_place(self, size);
  if (memory_format) take(self, self->storage(), size, contiguous_strides(size, *memory_format), self.storage_offset());
  if (fills_uninitialized()) fill_uninitialized(self->storage(), self.dtype(), before);
}

void set_(const Tensor& self) {
  self->set_storage(new_storage(0, self.device()));
  self->set_geometry(kList<int64_t, 1, 0>, kList<int64_t, 1, 1>, 0);
}

void set_(const Tensor& self, const Tensor& source) {
  set_(self, source, source.storage_offset(), source.sizes(), source.strides());
}

void set_(const Tensor& self, const Tensor& source, int64_t storage_offset, IntList size, IntList stride) {
  TAEDA_CHECK(self.dtype() == source.dtype(), "source has dtype ", source.dtype(), ", but self has ", self.dtype());
  TAEDA_CHECK(self.device() == source.device(), "source is on ", source.device(), ", but self is on ", self.device());
  shape::Dims sizes = size, strides = stride;
  if (stride.empty()) strides = contiguous_strides(size);
  take(self, source->storage(), sizes, strides, storage_offset);
}

}  // namespace taeda::any_device
