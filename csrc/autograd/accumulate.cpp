#include "autograd/accumulate.h"

#include "autograd/arithmetic.h"
#include "taeda/autograd/view.h"
#include "taeda/core/sparse.h"

namespace taeda::autograd {

AccumulateGrad::AccumulateGrad(Tensor variable) : Node(UINT64_MAX), variable_(std::move(variable)) {
  add_metadata(variable_);
  AutogradMeta* meta = meta_of(variable_);
  if (meta && meta->rare && meta->rare->grad_dtype) set_gradient_dtype(0, *meta->rare->grad_dtype);
}

// A leaf's meta points here without counting. Who takes a reference through it holds the meta's lock, so the count is
// looked at once more under it.
void AccumulateGrad::on_last_release() noexcept {
  {
    AutogradMeta& meta = *meta_of(variable_);
    std::lock_guard guard(meta.lock);
    uint32_t count = count_.load(std::memory_order_acquire);
    while (count > 1)
      if (count_.compare_exchange_weak(count, count - 1, std::memory_order_acq_rel)) return;
    count_.store(0, std::memory_order_relaxed);
    if (meta.accumulator == this) meta.accumulator = nullptr;
  }
  Node::on_last_release();
}

void AccumulateGrad::run_tensor_hooks(std::span<Tensor> grads) {
  RareMeta* rare = meta_of(variable_)->rare.get();
  if (!rare || rare->hooks.empty()) return;
  auto hooks_now = rare->hooks;  // a hook may add or remove hooks
  for (auto& hook : hooks_now) {
    Tensor replaced = hook->run(grads[0]);
    if (replaced.defined()) grads[0] = std::move(replaced);
  }
}

void AccumulateGrad::apply(std::span<Tensor> grads, std::span<Tensor>) {
  if (!grads[0].defined() || !requires_grad(variable_)) return;
  // A hook may have replaced the gradient by one of another form.
  validate_gradient(Edge(Ref<Node>(this), 0), grads[0], name());
  {
    std::lock_guard guard(lock());
    const bool is_seen = hooks() && !hooks()->post.empty();  // the engine holds it for them, who see what is stored
    accumulate_into(variable_, std::move(grads[0]), is_seen ? 2 : 1);
  }
  RareMeta* rare = meta_of(variable_)->rare.get();
  if (!rare || rare->accumulate_hooks.empty()) return;
  auto hooks_now = rare->accumulate_hooks;
  for (auto& hook : hooks_now) hook->run(variable_);
}

namespace {

bool same_strides(const Tensor& a, const Tensor& b) {
  for (int d = 0; d < a->dim(); ++d)
    if (a.sizes()[d] > 1 && a.strides()[d] != b.strides()[d]) return false;
  return true;
}

// A sparse tensor, which may have a dense gradient, has no strides.
bool lies_densely(const Tensor& t) { return t->layout() == Layout::Strided && t->is_non_overlapping_and_dense(); }

// Gradients lie as their parameter does, so that optimisers run over both in one sweep.
bool lies_as(const Tensor& grad, const Tensor& t) {
  return lies_densely(t) ? same_strides(t, grad) : grad.is_contiguous();
}

bool can_steal(const Tensor& grad, const Tensor& t, int64_t holders) {
  if (const SparseImpl* sparse = sparse_impl(grad))
    return grad->use_count() == holders && sparse->parts().values->storage()->use_count() == 1 &&
           sparse->parts().values.is_contiguous();
  if (grad->use_count() != holders || grad->layout() != Layout::Strided || !grad->storage() || grad->is_lazy())
    return false;
  // A view made during the pass holds its base; the memory is still ours alone if nobody else does.
  int64_t owners = 1;
  Tensor base = grad->is_view() ? base_of(grad) : Tensor();
  if (base.defined() && base->use_count() == 2) owners = 2;  // the view's reference and this one
  return grad->storage()->use_count() == owners && (t_state.any_grad_layout || lies_as(grad, t));
}

Tensor copied(const Tensor& grad, const Tensor& t) {
  if (grad->layout() != Layout::Strided) return arithmetic::clone(grad);
  if (!lies_densely(t) || t.is_contiguous()) return arithmetic::clone_contiguous(grad);
  Tensor copy = arithmetic::empty_beside(grad, t.sizes(), t.strides());
  arithmetic::copy(copy, grad);
  return copy;
}

}  // namespace

void accumulate_into(const Tensor& t, Tensor gradient, int64_t holders) {
  Tensor before = grad(t), after;
  if (before.defined()) {
    bool has_room = before->layout() == Layout::Strided || before->layout() == gradient->layout();
    if (t_state.grad_mode || before.dtype() != gradient.dtype() || !has_room)
      after = arithmetic::add(before, gradient);
    else
      arithmetic::add_in_place(before, gradient);
  } else if (!t_state.grad_mode && can_steal(gradient, t, holders)) {
    after = gradient->autograd_meta() ? detach(gradient) : std::move(gradient);
  } else {
    after = copied(gradient, t);
  }
  if (!after.defined()) return;
  std::lock_guard guard(make_meta(t).lock);
  meta_of(t)->grad = std::move(after);
}

}  // namespace taeda::autograd
