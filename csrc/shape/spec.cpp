#include "shape/spec.h"

#include <algorithm>

#include "core/alias.h"
#include "shape/elementwise.h"
#include "taeda/core/overlap.h"
#include "taeda/core/thread_state.h"
#include "taeda/core/warn.h"
#include "taeda/ops/copy.h"

namespace taeda::shape {

Tensor make(const Spec& spec, Device device) {
  if (spec.strides.empty() && !spec.sizes.empty()) return new_tensor(spec.sizes, spec.dtype, device);
  return new_tensor_strided(spec.sizes, spec.strides, spec.dtype, device);
}

std::vector<Tensor> make_all(const std::vector<Spec>& specs, Device device) {
  std::vector<Tensor> result;
  result.reserve(specs.size());
  for (const Spec& spec : specs) result.push_back(make(spec, device));
  return result;
}

void Dims::assign_many(IntList values) {
  std::vector<int64_t> fresh(values.begin(), values.end());  // they may be this one's own
  heap_ = std::move(fresh);
  size_ = heap_.size();
}

void Dims::push_many(int64_t value) {
  if (heap_.empty()) heap_.assign(inline_.begin(), inline_.end());
  heap_.push_back(value);
  ++size_;
}

Tensor alias(const Tensor& base, const View& view) {
  if (view.dtype == DType::Undefined) {
    auto make = view.is_within ? new_alias_within : new_alias;
    return make(base, view.sizes, view.strides, view.offset);
  }
  Ref<TensorImpl> impl = base->shallow_copy();  // the rule made sure that it stays inside the storage
  impl->set_dtype(view.dtype);
  if (view.toggled != Functionality::Count) impl->set_keys(impl->keys() ^ view.toggled);
  impl->set_geometry(view.sizes, view.strides, view.offset);
  return Tensor(std::move(impl));
}

Tensor alias(const Tensor& base, const Same&) {
  Ref<TensorImpl> impl = base->shallow_copy();
  impl->set_wrapped_number(false);
  return Tensor(std::move(impl));
}

std::vector<Tensor> alias(const Tensor& base, const std::vector<View>& views) {
  std::vector<Tensor> result;
  result.reserve(views.size());
  for (const View& view : views) result.push_back(alias(base, view));
  return result;
}

void resize_out(const Tensor& out, IntList sizes) {
  if (std::ranges::equal(out.sizes(), sizes)) return;
  if (out.numel() != 0)
    warn(str("an output of shape ", out.sizes(), " was resized to ", sizes,
             ", which is deprecated for outputs that hold elements; empty it first with out.resize_(0)"));
  resize_in_place(out, sizes);
}

Out::Out(const Tensor& out, const Spec& spec) : out_(out) {
  TAEDA_CHECK(can_cast(spec.dtype, out.dtype()), "the result has dtype ", spec.dtype, ", which out (", out.dtype(),
              ") cannot hold");
  check_no_internal_overlap(out);
  if (spec.flat && out.numel() == numel_of(spec.sizes) && out.dim() != 1) {
    temporary_ = make(spec, out.device());
    return;
  }
  resize_out(out, spec.sizes);
  bool same_strides =
      spec.strides.empty() ? out.is_contiguous() : std::ranges::equal(out.strides(), IntList(spec.strides));
  if (out.dtype() != spec.dtype || !same_strides) temporary_ = make(spec, out.device());
}

void Out::finish() {
  if (!temporary_.defined()) return;
  bool same = std::ranges::equal(temporary_.sizes(), out_.sizes());
  ops::copy_(out_, same ? temporary_ : new_alias(temporary_, out_.sizes(), contiguous_strides(out_.sizes()), 0));
}

void copy_to_out(const Tensor& result, const Tensor& out, bool checks_dtype) {
  TAEDA_CHECK(!checks_dtype || can_cast(result.dtype(), out.dtype()), "the result has dtype ", result.dtype(),
              ", which out (", out.dtype(), ") cannot hold");
  TAEDA_CHECK(result.device() == out.device(), "the result is on ", result.device(), ", but out on ", out.device());
  TAEDA_CHECK(!t_state.grad_mode || !result->has_grad_flag(),
              "calls with out= are not differentiable, but an argument requires a gradient: detach() it, or leave out= "
              "away");
  resize_out(out, result.sizes());
  ops::copy_(out, result);
}

void check_floating(const Tensor& t) {
  if (!is_floating(t.dtype())) TAEDA_FAIL(NotImplemented, "is for floating-point tensors; got ", t.dtype());
}

void check_inplace_result(const Tensor& self, IntList sizes, DType dtype) {
  TAEDA_CHECK(can_cast(dtype, self.dtype()), "the result has dtype ", dtype, ", which self (", self.dtype(),
              ") cannot hold");
  TAEDA_CHECK(std::ranges::equal(self.sizes(), sizes), "an in-place result keeps the shape of self ", self.sizes(),
              "; the result has shape ", sizes);
}

}  // namespace taeda::shape
