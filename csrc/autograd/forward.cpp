#include "taeda/autograd/forward.h"
#include "taeda/ops/reduce.h"

#include <algorithm>
#include <mutex>
#include <set>

#include "autograd/arithmetic.h"
#include "core/elements.h"
#include "taeda/autograd/engine.h"
#include "taeda/autograd/view.h"
#include "taeda/core/fork.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/complex_numbers.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"
#include "taeda/ops/view.h"
#include "taeda/ops/view_gradients.h"

namespace taeda::autograd {
namespace {

struct DualLevels {
  Mutex mutex;
  std::vector<std::set<AutogradMeta*>> metas;  // by level, those with a tangent
};
DualLevels& dual_levels() {
  static DualLevels& levels = *new DualLevels;  // never destroyed: threads may outlive static objects
  return levels;
}

thread_local int t_visible TAEDA_TLS = 0;

struct CapturedLevels final : RefCounted {
  int visible = 0;
};
Ref<RefCounted> exchange_levels(Ref<RefCounted> wanted) {
  Ref<CapturedLevels> before = make_ref<CapturedLevels>();
  before->visible = std::exchange(t_visible, static_cast<CapturedLevels*>(wanted.get())->visible);
  return before;
}
Ref<RefCounted> capture_levels() {
  Ref<CapturedLevels> now = make_ref<CapturedLevels>();
  now->visible = t_visible;
  return now;
}
[[maybe_unused]] const bool g_levels_registered = (add_thread_state_part({capture_levels, exchange_levels}), true);

Tensor own_tangent(const Tensor& t, int level) {
  if (!t.defined()) return {};
  AutogradMeta* meta = meta_of(t);
  if (!meta || !meta->rare || static_cast<size_t>(level) >= meta->rare->tangents.size()) return {};
  return meta->rare->tangents[level];
}

bool same_sizes(const Tensor& a, const Tensor& b) { return std::ranges::equal(a.sizes(), b.sizes()); }
bool same_bits(const Tensor& a, const Tensor& b) { return ((a.keys() ^ b.keys()) & kLazyKeys).empty(); }
bool same_geometry(const Tensor& a, const Tensor& b) {
  return same_sizes(a, b) && std::ranges::equal(a.strides(), b.strides()) && same_bits(a, b);
}
bool is_spread(const Tensor& t) {  // some element appears at several indices
  for (int64_t d = 0; d < t.dim(); ++d)
    if (t.strides()[d] == 0 && t.sizes()[d] > 1) return true;
  return false;
}

// Zeros with the strides of `t`, of the dtype and the class of `like`.
Tensor zeros_laid_out_as(const Tensor& t, const Tensor& like) {
  Tensor zeros =
      is_spread(t) ? ops::new_empty(like, t.sizes()) : arithmetic::empty_beside(like, t.sizes(), t.strides());
  ops::zero_(zeros);
  zeros->set_keys(zeros.keys() | (t.keys() & kLazyKeys));  // views of one are to be views of the other
  return zeros;
}

// The base's tangent with its strides, zero if it has none: of the class of what is to be written there.
Tensor base_tangent(const Tensor& base, int level, const Tensor& written) {
  Tensor whole = own_tangent(base, level);
  if (whole.defined() && same_geometry(whole, base)) return whole;
  bool fits = written.defined() && written.dtype() == base.dtype();
  Tensor laid_out = zeros_laid_out_as(base, whole.defined() ? whole : fits ? written : base);
  if (whole.defined()) ops::copy_(laid_out, whole);
  set_tangent(base, laid_out, level);
  return laid_out;
}

Tensor part_of_base_tangent(const Tensor& view, int level, const Tensor& written = {}) {
  LevelsBelow below(level);
  Tensor part = replay_view(view, base_tangent(base_of(view), level, written));
  set_tangent(view, part, level);
  return part;
}

// Whether an in-place write would be refused.
bool is_leaf_here(const Tensor& t) { return t_state.grad_mode && requires_grad(t) && is_leaf(t); }

Tensor fitted(const Tensor& made, Tensor value) {
  if (value.dtype() != made.dtype())
    value = is_complex(value.dtype()) && !is_complex(made.dtype()) ? ops::real(value) : value;
  if (value.dtype() != made.dtype()) value = ops::_to_copy(value, made.dtype());
  return same_sizes(value, made) ? value : ops::clone(ops::expand(value, made.sizes()));
}

bool shares_memory(const Tensor& a, const Tensor& b) {
  return a.is(b) || (a->storage() && a->storage().get() == b->storage().get());
}

// A tensor of its own, so that writes to the result do not reach the tangents of the inputs.
Tensor apart_from(Tensor value, const std::vector<Tensor>& others) {
  bool shared = std::ranges::any_of(others, [&](const Tensor& other) { return shares_memory(value, other); });
  return shared ? ops::clone(value) : value;
}

}  // namespace

// --- levels

int enter_dual_level(bool nests) {
  DualLevels& levels = dual_levels();
  Lock guard(levels.mutex);
  TAEDA_CHECK(nests || levels.metas.empty(), "a dual level is open already, and forward_ad's do not nest");
  levels.metas.emplace_back();
  t_visible = static_cast<int>(levels.metas.size());
  t_state.forward_grad = true;
  return t_visible - 1;
}

void exit_dual_level(int level) {
  std::vector<Tensor> dying;  // let go after the lock: a tangent may itself have a meta
  DualLevels& levels = dual_levels();
  Lock guard(levels.mutex);
  TAEDA_CHECK(level + 1 == static_cast<int>(levels.metas.size()), "dual level ", level,
              " is not the innermost open one, of ", levels.metas.size());
  for (AutogradMeta* meta : levels.metas.back()) dying.push_back(std::exchange(meta->rare->tangents[level], {}));
  levels.metas.pop_back();
  see_levels(std::min(t_visible, level));
}

int visible_levels() { return t_state.forward_grad ? t_visible : 0; }

void see_levels(int count) {
  t_visible = count;
  t_state.forward_grad = count > 0;
}

void forget_tangents(AutogradMeta* meta) {
  Lock guard(dual_levels().mutex);
  for (auto& metas : dual_levels().metas) metas.erase(meta);
}

// --- tangents

Tensor tangent(const Tensor& t, int level) {
  if (Tensor own = own_tangent(t, level); own.defined()) return own;
  Tensor base = t.defined() && is_differentiable(t.dtype()) ? base_of(t) : Tensor();
  return own_tangent(base, level).defined() ? part_of_base_tangent(t, level) : Tensor();
}

void set_tangent(const Tensor& t, Tensor tangent, int level) {
  AutogradMeta& meta = make_meta(t);
  DualLevels& levels = dual_levels();
  Lock guard(levels.mutex);
  TAEDA_CHECK(level >= 0 && level < static_cast<int>(levels.metas.size()),
              "a tangent needs an open dual level; enter dual_level() first");
  auto& tangents = meta.make_rare().tangents;
  if (tangents.size() <= static_cast<size_t>(level)) tangents.resize(level + 1);
  std::swap(tangents[level], tangent);  // the old one is let go by the caller, after the lock
  levels.metas[level].insert(&meta);
}

void copy_tangents(const Tensor& from, const Tensor& to) {
  AutogradMeta* meta = meta_of(from);
  if (!meta || !meta->rare) return;
  for (size_t level = 0; level < meta->rare->tangents.size(); ++level)
    if (Tensor own = meta->rare->tangents[level]; own.defined()) set_tangent(to, own, static_cast<int>(level));
}

Tensor tangent_or_zeros(const Tensor& t, int level) {
  Tensor own = tangent(t, level);
  return own.defined() ? own : ops::zeros_like(t);
}

Tensor primal(const Tensor& t, int level) {
  Tensor alias = detach(t);  // no view: a view would find the tangent of its base
  if (requires_grad(t)) set_gradient_edge(alias, gradient_edge(t));
  for (int below = 0; below < level; ++below)
    if (has_tangent(t, below)) set_tangent(alias, tangent(t, below), below);
  return alias;
}

Tensor without_history(const Tensor& t) {
  Tensor cut = detach(t);
  for (int level = 0; level < visible_levels(); ++level)
    if (has_tangent(t, level)) set_tangent(cut, without_history(tangent(t, level)), level);
  return cut;
}

bool has_tangent(const Tensor& t, int level) {
  if (!t.defined() || !meta_of(t)) return false;
  return own_tangent(t, level).defined() || (t->is_view() && own_tangent(base_of(t), level).defined());
}

bool has_visible_tangent(const Tensor& t) {
  for (int level = 0; level < visible_levels(); ++level)
    if (has_tangent(t, level)) return true;
  return false;
}

// --- the ends of generated functions

void give_tangent(const Tensor& made, Tensor value, int level) {
  if (!made.defined() || !value.defined() || !is_differentiable(made.dtype())) return;
  set_tangent(made, fitted(made, std::move(value)), level);
}

void give_tangent(TensorList made, std::vector<Tensor> values, int level) {
  for (size_t i = 0; i < made.size(); ++i) give_tangent(made[i], std::move(values[i]), level);
}

void write_tangent(const Tensor& written, Tensor value, int level) {
  if (!written.defined() || !is_differentiable(written.dtype())) return;
  Tensor own = tangent(written, level);
  if (!own.defined() && !value.defined()) return;
  value = value.defined() ? fitted(written, std::move(value)) : ops::zeros_like(written);
  if (!own.defined() && base_of(written).defined()) own = part_of_base_tangent(written, level, value);
  if (own.defined() && same_sizes(own, written) && !is_leaf_here(own))
    ops::copy_(own, value);
  else
    set_tangent(written, std::move(value), level);
}

void write_tangent(TensorList written, std::vector<Tensor> values, int level) {
  for (size_t i = 0; i < written.size(); ++i) write_tangent(written[i], std::move(values[i]), level);
}

void zero_tangents(const Tensor& written) {
  for (EachLevel level; level.next();)
    if (has_tangent(written, level)) write_tangent(written, {}, level);
}

void zero_tangents(TensorList written) {
  for (const Tensor& t : written) zero_tangents(t);
}

void fail_forward(const char* function) {
  TAEDA_FAIL(NotImplemented, function, "() has no derivative in forward mode, but an argument has a tangent");
}

Tensor laid_out_tangent(const Tensor& t, int level) {
  Tensor own = tangent(t, level);
  if (same_bits(own, t) && (std::ranges::equal(own.strides(), t.strides()) || is_spread(t))) return own;
  Tensor laid_out = zeros_laid_out_as(t, own);
  ops::copy_(laid_out, own);
  set_tangent(t, laid_out, level);
  return laid_out;
}

// --- pointwise ops

namespace {

// Re(conj(gradient) * tangent): what a change of the input along the tangent does to one real part of the result.
Tensor along(const Tensor& gradient, const Tensor& tangent) {
  if (!is_complex(tangent.dtype()))
    return ops::mul(is_complex(gradient.dtype()) ? ops::real(gradient) : gradient, tangent);
  if (!is_complex(gradient.dtype())) return ops::mul(gradient, ops::real(tangent));
  return ops::real(ops::mul(ops::conj(gradient), tangent));
}

}  // namespace

void Diagonal::add(const Tensor& input, Formula gradient) {
  Tensor t = tangent(input, level_), part;
  bool result_is_complex = is_complex(made_.dtype());
  if (!result_is_complex && !is_complex(t.dtype())) {
    part = gradient(t);
  } else {
    Tensor unit = ops::ones_like(made_);
    part = along(gradient(unit), t);
    if (result_is_complex) part = ops::complex(part, along(gradient(ops::mul(unit, Scalar(complex128(0, 1)))), t));
  }
  used_.push_back(std::move(t));
  sum_ = sum_.defined() ? ops::add(sum_, part) : std::move(part);
}

Tensor Diagonal::sum() {
  if (!sum_.defined()) return {};
  Tensor result = fitted(made_, std::move(sum_));
  return apart_from(std::move(result), used_);
}

// --- other ops

namespace {
// Any would do. Zero may be a case of its own to a formula, and a large one an unlikely gradient.
Tensor stand_in(const Tensor& made) {
  Tensor u = ops::full_like(made, Scalar(0x1p-20));
  set_requires_grad(u, true);
  return u;
}

// Of one whose elements cannot be read here, a batch of vmap's among them, it is believed.
bool is_zero(const Tensor& t) {
  if (t.numel() == 0 || t.device().type == DeviceType::Meta || !t->storage()) return true;
  Tensor some = ops::any(t.device().is_cpu() ? t : ops::_to_copy(t, std::nullopt, std::nullopt, Device()));
  return !*elements<bool>(some);
}
}  // namespace

Transposed::Transposed(const char* function, const Tensor& made, int level, uint64_t undifferentiated)
    : Transposed(function, TensorList(&made, 1), level, undifferentiated) {}

Transposed::Transposed(const char* function, TensorList made, int level, uint64_t undifferentiated)
    : function_(function),
      grad_mode_(t_state.grad_mode),
      recording_(t_state.grad_mode, true),
      exclude_(t_state.exclude, t_state.exclude - kAutogradKeys),
      level_(level),
      made_(made.begin(), made.end()) {
  for (size_t i = 0; i < made_.size(); ++i) {
    bool has_gradient = made_[i].defined() && is_differentiable(made_[i].dtype()) && !(undifferentiated >> i & 1);
    stand_ins_.push_back(has_gradient ? stand_in(made_[i]) : Tensor());
  }
}

void Transposed::add(const Tensor& input, Tensor gradient) {
  if (!gradient.defined() || !has_tangent(input, level_)) return;
  Tensor t = tangent(input, level_);
  if (is_complex(gradient.dtype()) && !is_complex(t.dtype())) gradient = ops::real(gradient);
  if (gradient.dtype() != t.dtype()) gradient = ops::_to_copy(gradient, t.dtype());
  if (!same_sizes(gradient, t)) gradient = ops::sum_to_size(gradient, t.sizes());
  if (!requires_grad(gradient)) {  // being linear, it is zero, or else its history was lost
    if (!is_zero(gradient)) fail_forward(function_);
    return;
  }
  gradients_.push_back(std::move(gradient));
  tangents_.push_back(std::move(t));
}

void Transposed::add(TensorList inputs, std::vector<Tensor> gradients) {
  for (size_t i = 0; i < inputs.size(); ++i) add(inputs[i], std::move(gradients[i]));
}

std::vector<Tensor> Transposed::finish() {
  std::vector<Edge> roots, inputs;
  for (const Tensor& gradient : gradients_) roots.push_back(gradient_edge(gradient));
  for (const Tensor& u : stand_ins_)
    if (u.defined()) inputs.push_back(gradient_edge(u));
  auto matters = [](const Tensor& t) { return t.defined() && requires_grad(t); };
  bool recorded = grad_mode_ && (std::ranges::any_of(made_, matters) || std::ranges::any_of(tangents_, matters));
  std::vector<Tensor> found(inputs.size());
  if (!roots.empty()) found = run_backward(roots, tangents_, {.create_graph = recorded, .accumulate = false}, inputs);
  std::vector<Tensor> results;
  auto next = found.begin();
  for (size_t i = 0; i < made_.size(); ++i) {
    if (!stand_ins_[i].defined()) {
      results.emplace_back();
      continue;
    }
    Tensor result = std::move(*next++);
    results.push_back(result.defined() ? apart_from(std::move(result), tangents_) : ops::zeros_like(made_[i]));
  }
  return results;
}

}  // namespace taeda::autograd
