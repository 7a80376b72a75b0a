#include "taeda/autograd/meta.h"

#include <algorithm>
#include <mutex>

#include "autograd/accumulate.h"
#include "autograd/arithmetic.h"
#include "taeda/autograd/view.h"

namespace taeda::autograd {
namespace {

// Puts the gradient that passes a node into the .grad of the tensor it made. The tensor owns the node, so the way
// back is a plain pointer that the meta's destructor clears.
struct RetainHook final : TensorHook {
  SpinLock lock;
  AutogradMeta* meta;
  explicit RetainHook(AutogradMeta* to) : meta(to) {}
  Tensor run(const Tensor& grad) override {
    Tensor before = exchange({}, false);
    exchange(before.defined() ? arithmetic::add(before, grad) : arithmetic::clone(grad), true);
    return {};
  }
  // The gradient of now; replaced by `grad` if asked. Nothing is computed or freed under the lock.
  Tensor exchange(Tensor grad, bool replace) {
    std::lock_guard guard(lock);
    if (!meta) return {};
    std::lock_guard inner(meta->lock);
    if (replace) std::swap(meta->grad, grad);
    return replace ? std::move(grad) : meta->grad;
  }
};

// The version of the view's history was taken when the base's was another: replays the view over the base of now.
void refresh_view(const Tensor& t, AutogradMeta& meta) {
  ViewInfo& view = *meta.view;
  uint32_t now = t->version();
  if (view.version == now || (!meta.grad_fn && !requires_grad(view.base))) return;
  check_view_writable(t, true);
  Scoped grad_mode(t_state.grad_mode, true);
  Scoped autograd_on(t_state.exclude, t_state.exclude - kAutogradKeys);
  Tensor again = replay_view(t, view.base);
  set_gradient_edge(t, gradient_edge(again));
  view.version = now;
}

void move_retain_hook(AutogradMeta& meta, const Ref<Node>& from) {
  const TensorHook* hook = meta.rare->retain_hook.get();
  if (from) {
    if (Node::Hooks* hooks = from->hooks())
      std::erase_if(hooks->retain, [&](const auto& entry) { return entry.second.get() == hook; });
  }
  if (meta.grad_fn) meta.grad_fn->make_hooks().retain.emplace_back(meta.output_nr, meta.rare->retain_hook);
}

}  // namespace

RareMeta& AutogradMeta::make_rare() {
  if (!rare) rare = std::make_unique<RareMeta>();
  return *rare;
}
AutogradMeta::AutogradMeta() = default;
AutogradMeta::~AutogradMeta() {
  if (!rare) return;
  if (!rare->tangents.empty()) forget_tangents(this);
  if (rare->retain_hook) {
    auto* hook = static_cast<RetainHook*>(rare->retain_hook.get());
    std::lock_guard guard(hook->lock);
    hook->meta = nullptr;
  }
}

AutogradMeta& make_meta(const Tensor& t) {
  if (!t->autograd_meta()) t->set_autograd_meta(std::make_unique<AutogradMeta>());
  return *meta_of(t);
}

bool view_requires_grad(const Tensor& t) {
  AutogradMeta* meta = meta_of(t);
  return meta->requires_grad || meta->grad_fn || (meta->view && meta->view->base->has_grad_flag());
}

const Ref<Node>& grad_fn(const Tensor& t) {
  static const Ref<Node> kNone;
  AutogradMeta* meta = meta_of(t);
  if (!meta) return kNone;
  if (meta->view) refresh_view(t, *meta);
  return meta->grad_fn;
}

uint32_t output_nr(const Tensor& t) {
  grad_fn(t);
  return meta_of(t) ? meta_of(t)->output_nr : 0;
}

Edge gradient_edge(const Tensor& t) {
  AutogradMeta* meta = meta_of(t);
  if (!meta) return {};
  if (const Ref<Node>& node = grad_fn(t)) return Edge(node, meta->output_nr);
  return meta->requires_grad ? Edge(accumulator(t), 0) : Edge();
}

Ref<Node> accumulator(const Tensor& leaf) {
  AutogradMeta& meta = make_meta(leaf);
  Ref<Node> outgrown;  // set_() gave the leaf another shape; let go after the lock
  std::lock_guard guard(meta.lock);
  if (meta.accumulator && meta.accumulator->try_retain()) {
    Ref<Node> found = Ref<Node>::adopt(meta.accumulator);
    const InputMetadata& known = found->metadata(0);
    if (known.is_irregular || std::ranges::equal(known.shape(), leaf.sizes())) return found;
    outgrown = std::move(found);
  }
  Ref<AccumulateGrad> made = make_node<AccumulateGrad>(leaf);
  meta.accumulator = made.get();
  return made;
}

Ref<Node> find_accumulator(const Tensor& leaf) {
  AutogradMeta* meta = meta_of(leaf);
  if (!meta) return {};
  std::lock_guard guard(meta->lock);
  if (meta->accumulator && meta->accumulator->try_retain()) return Ref<Node>::adopt(meta->accumulator);
  return {};
}

void set_requires_grad(const Tensor& t, bool value) {
  if (!is_leaf(t)) {
    TAEDA_CHECK(value, "requires_grad can be switched off for leaf tensors only; this one was computed by ",
                grad_fn(t)->name(), ": use detach() for a tensor outside the graph");
    return;
  }
  if (value) {
    TAEDA_CHECK(is_differentiable(t.dtype()), "only floating-point and complex tensors can require gradients; got ",
                t.dtype());
    TAEDA_CHECK(!t->is_inference() || t_state.inference_mode,
                "a tensor made in inference mode cannot require gradients outside of it: clone() it first");
  } else if (!t->autograd_meta()) {
    return;
  }
  make_meta(t).requires_grad = value;
  t->set_grad_flag(value);
}

void set_gradient_edge(const Tensor& t, Edge edge) {
  AutogradMeta& meta = make_meta(t);
  Ref<Node> before = std::exchange(meta.grad_fn, std::move(edge.function));
  meta.output_nr = edge.input_nr;
  t->set_grad_flag(meta.grad_fn || meta.requires_grad);
  if (meta.retains_grad) move_retain_hook(meta, before);
}

Tensor grad(const Tensor& t) {
  AutogradMeta* meta = meta_of(t);
  if (!meta) return {};
  std::lock_guard guard(meta->lock);
  return meta->grad;
}

namespace {
std::optional<DType> own_grad_dtype(const Tensor& t) {
  AutogradMeta* meta = meta_of(t);
  return meta && meta->rare && meta->rare->grad_dtype ? *meta->rare->grad_dtype : t.dtype();
}
}  // namespace

std::optional<DType> grad_dtype(const Tensor& leaf) {
  TAEDA_CHECK(is_leaf(leaf), "only leaf tensors have one; this tensor was computed by ", grad_fn(leaf)->name());
  return own_grad_dtype(leaf);
}

void set_grad_dtype(const Tensor& leaf, std::optional<DType> dtype) {
  TAEDA_CHECK(is_leaf(leaf), "only leaf tensors have one; this tensor was computed by ", grad_fn(leaf)->name());
  Tensor held = grad(leaf);
  TAEDA_CHECK(!held.defined() || !dtype || held.dtype() == *dtype, "the tensor holds a gradient of ", held.dtype(),
              ", not of ", *dtype, ": set .grad to None first");
  AutogradMeta& meta = make_meta(leaf);
  meta.make_rare().grad_dtype = dtype;
  if (Ref<Node> node = find_accumulator(leaf)) node->set_gradient_dtype(0, dtype);
}

void set_grad(const Tensor& t, Tensor grad) {
  if (!grad.defined()) {
    if (!meta_of(t)) return;
  } else {
    TAEDA_CHECK(!grad.is(t), "a tensor cannot be its own gradient");
    DType wanted = own_grad_dtype(t).value_or(grad.dtype());
    TAEDA_CHECK(grad.dtype() == wanted, "the gradient of a ", t.dtype(), " tensor must be ", wanted, "; got ",
                grad.dtype());
    TAEDA_CHECK(grad.device().type == t.device().type, "the gradient must be on the tensor's device ", t.device(),
                "; got one on ", grad.device());
    TAEDA_CHECK(std::equal(t.sizes().begin(), t.sizes().end(), grad.sizes().begin(), grad.sizes().end()),
                "the gradient must have the tensor's shape ", t.sizes(), "; got ", grad.sizes());
  }
  AutogradMeta& meta = make_meta(t);
  {
    std::lock_guard guard(meta.lock);
    std::swap(meta.grad, grad);
  }
}

void retain_grad(const Tensor& t) {
  TAEDA_CHECK(requires_grad(t), "a tensor that does not require grad has no gradient to retain");
  if (is_leaf(t)) return;
  AutogradMeta& meta = *meta_of(t);
  if (std::exchange(meta.retains_grad, true)) return;
  meta.make_rare().retain_hook = make_ref<RetainHook>(&meta);
  move_retain_hook(meta, nullptr);
}

bool retains_grad(const Tensor& t) {
  AutogradMeta* meta = meta_of(t);
  return meta && meta->retains_grad && !is_leaf(t);
}

void add_hook(const Tensor& t, Ref<TensorHook> hook) {
  TAEDA_CHECK(requires_grad(t), "a hook can be put only on a tensor that requires grad");
  if (const Ref<Node>& node = grad_fn(t))
    node->make_hooks().tensor.emplace_back(meta_of(t)->output_nr, std::move(hook));
  else
    make_meta(t).make_rare().hooks.push_back(std::move(hook));
}

void add_accumulate_hook(const Tensor& leaf, Ref<AccumulateHook> hook) {
  TAEDA_CHECK(requires_grad(leaf), "a hook can be put only on a tensor that requires grad");
  TAEDA_CHECK(is_leaf(leaf), "gradients are accumulated in leaf tensors only; this one was computed by ",
              grad_fn(leaf)->name());
  make_meta(leaf).make_rare().accumulate_hooks.push_back(std::move(hook));
}

Tensor detach(const Tensor& t) {
  Tensor twin = t.keys().has(Functionality::Python) ? arithmetic::detach(t) : Tensor(t->shallow_copy());
  if (!t->is_inference()) twin->share_versions_of(*t.impl());
  return twin;
}

void detach_in_place(const Tensor& t) {
  AutogradMeta* meta = meta_of(t);
  if (!meta) return;
  TAEDA_CHECK(!meta->view, "a view cannot be detached in place, as its base would still record: use detach()");
  set_gradient_edge(t, {});
  meta->requires_grad = false;
  meta->retains_grad = false;
  t->set_grad_flag(false);
  if (meta->rare)
    for (Tensor& tangent : meta->rare->tangents) tangent.reset();
}

Tensor variable_data(const Tensor& t) {
  return t.keys().has(Functionality::Python) ? arithmetic::detach(t) : Tensor(t->shallow_copy());
}

void set_data(const Tensor& t, const Tensor& other) {
  TAEDA_CHECK(!requires_grad(t) || is_differentiable(other.dtype()),
              "the data of a tensor that requires grad must be floating-point or complex; got ", other.dtype());
  t->take_data_of(*other.impl());
  // Gradients must now look like the new data.
  if (Ref<Node> node = find_accumulator(t)) node->set_metadata(0, t);
}

}  // namespace taeda::autograd
