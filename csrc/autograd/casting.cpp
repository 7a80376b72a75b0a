#include "autograd/casting.h"

#include <unordered_map>

#include "autograd/arithmetic.h"
#include "taeda/autograd/engine.h"
#include "taeda/autograd/meta.h"
#include "taeda/core/fork.h"

namespace taeda::casting {
namespace {

struct DeviceState {
  bool enabled = false;
  DType lower = DType::Float16;
};
struct State {
  DeviceState of[kDeviceNames];
  bool cache = true;
  int depth = 0;

  State() {
    for (DeviceType type : {DeviceType::CPU, DeviceType::XLA, DeviceType::HPU, DeviceType::MAIA})
      at(type).lower = DType::BFloat16;
  }
  DeviceState& at(DeviceType type) { return of[static_cast<int>(type)]; }
  bool any() const {
    bool found = false;
    for (const DeviceState& device : of) found = found || device.enabled;
    return found;
  }
};
State& state() {
  thread_local State instance;
  return instance;
}

// A thread that works for a backward pass casts as the thread that asked for it; blocks are its own business.
struct CapturedState final : RefCounted {
  State state;
};
Ref<RefCounted> capture() {
  Ref<CapturedState> captured = make_ref<CapturedState>();
  captured->state = state();
  return captured;
}
Ref<RefCounted> exchange(Ref<RefCounted> wanted) {
  Ref<RefCounted> before = capture();
  state() = static_cast<CapturedState*>(wanted.get())->state;
  return before;
}
[[maybe_unused]] const bool g_casting_registered = (autograd::add_thread_state_part({capture, exchange}), true);

// A weight that is used several times in a block is cast once, and its gradients meet before they are cast back.
struct CachedCast {
  Tensor source;  // kept, so that no other tensor takes its address
  uint32_t version;
  Tensor cast;
};
struct Cache {
  Mutex mutex;
  std::unordered_map<const TensorImpl*, CachedCast> casts;
};
Cache& cache() {
  static Cache* instance = new Cache;
  return *instance;
}

bool is_weight(const Tensor& t) {
  return t.dtype() == DType::Float32 && !t->is_view() && autograd::requires_grad(t) && autograd::is_leaf(t);
}

// One that was made while nothing was recorded leads no gradient back.
bool serves_now(const CachedCast& entry) {
  return entry.version == entry.source->version() && (!t_state.grad_mode || autograd::requires_grad(entry.cast)) &&
         (!entry.cast->is_inference() || t_state.inference_mode);
}

struct Block {
  DeviceType type;
  DeviceState before;
};
std::vector<Block>& entered() {
  thread_local std::vector<Block> instance;
  return instance;
}

Tensor cast_weight(const Tensor& t, DType dtype) {
  {
    Lock lock(cache().mutex);
    auto it = cache().casts.find(t.impl());
    if (it != cache().casts.end() && it->second.cast.dtype() == dtype && serves_now(it->second)) return it->second.cast;
  }
  CachedCast made{t, t->version(), autograd::arithmetic::cast(t, dtype)};
  Tensor result = made.cast;
  Lock lock(cache().mutex);
  std::swap(cache().casts[t.impl()], made);  // what it replaces dies after the lock
  return result;
}

}  // namespace

bool is_known(DeviceType type) {
  using enum DeviceType;
  return type < Meta || (type > Meta && type < MKLDNN) || type == MAIA || type == XLA || type == HPU || type == IPU ||
         type == MTIA;
}

bool enabled(DeviceType type) { return state().at(type).enabled; }

void set_enabled(DeviceType type, bool on) {
  state().at(type).enabled = on;
  constexpr KeySet kAutocast = Functionality::Autocast;
  t_state.exclude = state().any() ? t_state.exclude - kAutocast : t_state.exclude | kAutocast;
}

DType lower_dtype(DeviceType type) { return state().at(type).lower; }
void set_lower_dtype(DeviceType type, DType dtype) { state().at(type).lower = dtype; }

bool cache_enabled() { return state().cache; }
void set_cache_enabled(bool on) { state().cache = on; }
void clear_cache() {
  std::unordered_map<const TensorImpl*, CachedCast> dying;
  Lock lock(cache().mutex);
  std::swap(dying, cache().casts);
}
int enter() { return ++state().depth; }
int leave() { return --state().depth; }

void enter_block(DeviceType type, bool on, DType lower) {
  entered().push_back({type, state().at(type)});
  set_lower_dtype(type, lower);
  set_enabled(type, on);
  enter();
}

void leave_block() {
  TAEDA_CHECK(!entered().empty(), "autocast is left that was not entered");
  Block block = entered().back();
  entered().pop_back();
  set_lower_dtype(block.type, block.before.lower);
  set_enabled(block.type, block.before.enabled);
  if (leave() == 0) clear_cache();
}

size_t blocks() { return entered().size(); }

bool is_eligible(const Tensor& t, DeviceType type) {
  return t.defined() && t.device().type == type && is_floating(t.dtype()) && t.dtype() != DType::Float64;
}

Tensor cast(const Tensor& t, DType to, DeviceType type) {
  if (!is_eligible(t, type) || t.dtype() == to) return t;
  if (state().cache && to == lower_dtype(type) && is_weight(t)) return cast_weight(t, to);
  return autograd::arithmetic::cast(t, to);
}

void Scope::widen(const Tensor& t) {
  if (!is_eligible(t, type_)) return;
  to_ = active_ ? promote(to_, t.dtype()) : t.dtype();
  active_ = true;
}

void Scope::widen(TensorList list) {
  for (const Tensor& t : list) widen(t);
}

std::vector<Tensor> Scope::operator()(TensorList list) const {
  std::vector<Tensor> cast;
  cast.reserve(list.size());
  for (const Tensor& t : list) cast.push_back((*this)(t));
  return cast;
}

}  // namespace taeda::casting
