#include "taeda/autograd/node.h"

#include <algorithm>

#include "autograd/anomaly.h"
#include "autograd/arithmetic.h"
#include "taeda/autograd/device_runner.h"
#include "taeda/autograd/engine.h"

namespace taeda::autograd {
namespace {

thread_local uint64_t t_sequence TAEDA_TLS = 0;
thread_local bool t_destroying TAEDA_TLS = false;
thread_local Node* t_dying TAEDA_TLS = nullptr;

bool same_sizes(IntList a, IntList b) { return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin()); }

bool same_device(Device a, Device b) { return a.type == b.type && (a.is_cpu() || a.index == b.index); }

// Whether a tensor of `small` broadcasts to `large`.
bool expands_to(IntList small, IntList large) {
  if (small.size() > large.size()) return false;
  IntList tail = large.subspan(large.size() - small.size());
  for (size_t i = 0; i < small.size(); ++i)
    if (small[i] != tail[i] && small[i] != 1) return false;
  return true;
}

[[gnu::noinline]] void fix_gradient(const InputMetadata& wanted, Tensor& grad, std::string_view sender) {
  if (!wanted.is_defined()) {
    grad.reset();
    return;
  }
  if (!wanted.is_irregular && !same_sizes(grad.sizes(), wanted.shape())) {
    TAEDA_CHECK(expands_to(wanted.shape(), grad.sizes()), sender, " gave a gradient of shape ", grad.sizes(),
                " for a tensor of shape ", wanted.shape(), "; it must have that shape or broadcast from it");
    grad = arithmetic::sum_to(grad, wanted.shape());
  }
  if (grad.dtype() != wanted.dtype && !wanted.keeps_dtype) {
    TAEDA_CHECK(is_differentiable(grad.dtype()), sender, " gave a gradient of dtype ", grad.dtype(),
                " for a tensor of dtype ", wanted.dtype, "; a gradient must be floating-point or complex");
    if (is_complex(grad.dtype()) && !is_complex(wanted.dtype)) grad = arithmetic::real(grad);
    if (grad.dtype() != wanted.dtype) grad = arithmetic::cast(grad, wanted.dtype);
  }
  if (!same_device(grad.device(), wanted.device)) {
    TAEDA_CHECK(grad.dim() == 0, sender, " gave a gradient on ", grad.device(), " for a tensor on ", wanted.device);
    grad = arithmetic::move(grad, wanted.device);
  }
}

}  // namespace

InputMetadata::InputMetadata(const Tensor& result)
    : dtype(result.dtype()),
      device(result.device()),
      layout(result->layout()),
      is_irregular(result.keys().has(Functionality::Nested)) {
  IntList shape = result.sizes();
  sizes.resize(shape.size());
  std::copy(shape.begin(), shape.end(), sizes.begin());
}

bool InputMetadata::matches(const Tensor& gradient) const {
  return gradient.dtype() == dtype && same_device(gradient.device(), device) &&
         (is_irregular || same_sizes(gradient.sizes(), shape()));
}

TAEDA_API Tensor InputMetadata::zeros() const { return arithmetic::zeros(shape(), dtype, device); }

struct Node::Extras {
  std::unique_ptr<Hooks> hooks;
  Ref<RefCounted> anomaly;
  Ref<RefCounted> attachment;
  void* python_object = nullptr;
  void* stream = nullptr;
  Node* outer = nullptr;
};
Node::Extras& Node::extras() {
  if (!extras_) extras_ = std::make_unique<Extras>();
  return *extras_;
}
Node::Hooks* Node::hooks_of_extras() const { return extras_->hooks.get(); }
void* Node::stream() const { return extras_ ? extras_->stream : nullptr; }
void* Node::python_object() const { return extras_ ? extras_->python_object : nullptr; }
void Node::set_python_object(void* object) { extras().python_object = object; }
void Node::set_anomaly_record(Ref<RefCounted> record) { extras().anomaly = std::move(record); }
Ref<RefCounted> Node::attachment() const { return extras_ ? extras_->attachment : nullptr; }
void Node::set_attachment(Ref<RefCounted> attachment) { extras().attachment = std::move(attachment); }
Node* Node::outer() const { return extras_ ? extras_->outer : nullptr; }
void Node::set_outer(Node* outer) { extras().outer = outer; }

Node::Node(uint64_t sequence_nr) : sequence_nr_(sequence_nr) {}
Node::Node() : sequence_nr_(t_sequence++) {
  if (detail::anomaly_enabled.load(std::memory_order_relaxed)) [[unlikely]]
    detail::record_forward(*this);
}

int64_t next_sequence_nr() {
  bool recording = t_state.grad_mode && !t_state.exclude.has(Functionality::Autograd);
  return recording ? static_cast<int64_t>(t_sequence) : -1;
}

Node::~Node() = default;

void Node::on_last_release() noexcept {
  count_.store(0, std::memory_order_relaxed);
  if (t_destroying) {
    next_dying_ = std::exchange(t_dying, this);
    return;
  }
  t_destroying = true;
  delete this;
  while (Node* node = t_dying) {
    t_dying = node->next_dying_;
    delete node;
  }
  t_destroying = false;
}

void Node::add_next_edge(Edge edge) { next_edges_.push_back(std::move(edge)); }
void Node::set_next_edge(size_t i, Edge edge) { next_edges_[i] = std::move(edge); }
void Node::set_metadata(size_t i, const Tensor& result) { metadata_[i] = InputMetadata(result); }

void Node::set_gradient_dtype(size_t i, std::optional<DType> dtype) {
  metadata_[i].keeps_dtype = !dtype;
  if (dtype) metadata_[i].dtype = *dtype;
}

uint32_t Node::add_metadata(const Tensor& result) {
  uint32_t nr = static_cast<uint32_t>(metadata_.size());
  metadata_.emplace_back(result);
  if (nr == 0 && !result.device().is_cpu()) {
    if (DeviceRunner* runner = device_runner(result.device().type))
      extras().stream = runner->current_stream(result.device());
  }
  return nr;
}

uint32_t Node::add_undefined_metadata() {
  metadata_.emplace_back();
  return static_cast<uint32_t>(metadata_.size() - 1);
}

bool Node::should_compute(size_t begin, size_t count) const {
  for (size_t i = begin; i < begin + count; ++i)
    if (should_compute(i)) return true;
  return false;
}

bool Node::needed(size_t i) const {
  const Edge& edge = next_edges_[i];
  return edge.is_valid() && is_output_needed(*this, i);
}

bool Node::needed(size_t begin, size_t count) const {
  for (size_t i = begin; i < begin + count; ++i)
    if (needed(i)) return true;
  return false;
}

Node::Hooks& Node::make_hooks() {
  Extras& more = extras();
  if (!more.hooks) more.hooks = std::make_unique<Hooks>();
  return *more.hooks;
}

void Node::run_tensor_hooks(std::span<Tensor> grads) {
  Hooks* all = hooks();
  if (!all) return;
  for (auto* list : {&all->tensor, &all->retain}) {
    auto hooks_now = *list;  // a hook may add or remove hooks
    for (auto& [nr, hook] : hooks_now) {
      if (!grads[nr].defined() && list == &all->retain) continue;  // a program's hooks see that nothing came
      Tensor replaced = hook->run(grads[nr]);
      if (replaced.defined()) grads[nr] = std::move(replaced);
    }
  }
}

const Ref<RefCounted>& Node::anomaly_record() const {
  static const Ref<RefCounted> kNone;
  return extras_ ? extras_->anomaly : kNone;
}

void validate_gradient(const Edge& edge, Tensor& gradient, std::string_view sender) {
  if (!gradient.defined()) return;
  const InputMetadata& wanted = edge.function->metadata(edge.input_nr);
  if (!wanted.matches(gradient)) [[unlikely]]
    fix_gradient(wanted, gradient, sender);
}

}  // namespace taeda::autograd
