#include "taeda/dispatch/op.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "dispatch/fallbacks.h"
#include "taeda/core/allocator.h"
#include "taeda/core/fork.h"
#include "taeda/core/sparse.h"

namespace taeda {

namespace {

struct SlotPlace {
  Functionality functionality;
  DeviceType backend;
};
constexpr std::array<SlotPlace, kSlots> make_places() {
  std::array<SlotPlace, kSlots> places{};
  for (int f = 0; f < kFunctionalities; ++f)
    for (int b = kDeviceTypes; b-- > 0;)
      places[slot_of(static_cast<Functionality>(f), static_cast<DeviceType>(b))] = {static_cast<Functionality>(f),
                                                                                    static_cast<DeviceType>(b)};
  return places;
}
constexpr std::array<SlotPlace, kSlots> kPlaces = make_places();

bool holds_data(Functionality f) { return f <= Functionality::Memoryless; }

using Registered = std::array<std::shared_ptr<Kernel>, kRegistrationSlots>;

// What was registered at run time. Slots hold plain pointers to kernels, which threads may be calling: one that is
// replaced stays in the graveyard.
struct Registrations {
  Mutex mutex;
  std::unordered_map<const Op*, Registered> of_op;
  Registered fallbacks;
  std::vector<std::shared_ptr<Kernel>> graveyard;
};
Registrations& registrations() {
  static Registrations* instance = new Registrations;
  return *instance;
}

void bury(Registrations& r, std::shared_ptr<Kernel> kernel) {
  if (kernel) r.graveyard.push_back(std::move(kernel));
}

// --- The search for what serves a slot; the registrations' mutex is held.
constexpr KeySet kSparseKinds = KeySet(Functionality::Sparse) | KeySet(Functionality::SparseCsr);
void run_parts_before_python(const Op& op, KeySet keys, Stack& stack);
const Kernel kPartsBeforePython{run_parts_before_python, "csrc/dispatch/op.cpp"};

class Search {
 public:
  Search(const Op& op, const Registrations& r) : info_(op.info()), fallbacks_(r.fallbacks) {
    auto it = r.of_op.find(&op);
    if (it != r.of_op.end()) registered_ = &it->second;
  }

  // The slot's contents, kPass, or 0 where data is held and nothing can handle it.
  uintptr_t at(int index) const {
    if (uintptr_t found = registered(index)) return found;
    auto [f, backend] = kPlaces[index];
    uintptr_t found = 0;
    if (holds_data(f))
      found = for_data(f, backend);
    else if (f == Functionality::Autograd)
      found = for_autograd(backend);
    else if (f == Functionality::ADInplaceOrView)
      found = fixed(f, kEveryDevice, kLayerBit);
    else if (f == Functionality::Autocast)
      found = fixed(f, kEveryDevice, kLayerBit);
    if (f == Functionality::Python && fallbacks_[index] && is_composite_with_sparse_kernel())
      found = encode(kPartsBeforePython);
    if (!found && fallbacks_[index]) found = encode(*fallbacks_[index]);
    if (!found && f == Functionality::Quantized) found = encode(quantized_kernel);
    if (!found && f == Functionality::Autograd && is_foreign() && has_own_kernel(backend))
      found = encode(undifferentiated_kernel);
    if (!found && kLazyKeys.has(f) && reads_elements()) found = encode(lazy_kernel);
    return found || holds_data(f) ? found : kPass;
  }

  uintptr_t fallback(Functionality f) const { return encode(*fallbacks_[slot_of(f, DeviceType::CPU)]); }

  // Whether it takes the calls of all ops, if only to refuse them.
  bool serves_any(uintptr_t found) const { return found == encode(quantized_kernel); }

  uintptr_t composite() const {
    uintptr_t found = registered(kCompositeImplicitSlot);
    return found ? found : fixed(kComposite, kEveryDevice);
  }

 private:
  uintptr_t for_data(Functionality f, DeviceType backend) const {
    uintptr_t found = fixed(f, backend);
    if (!found) found = registered(kCompositeExplicitSlot);
    // A kernel for every device still is one for tensors of its kind: the dense ones read strides.
    if (!found) found = fixed(f, kEveryDevice);
    return found ? found : composite();
  }

  uintptr_t for_autograd(DeviceType backend) const {
    if (uintptr_t found = registered(kAutogradSlot)) return found;
    if (uintptr_t found = fixed(Functionality::Autograd, kEveryDevice, kLayerBit)) return found;
    return has_own_kernel(backend) || has_sparse_kernel(backend) ? 0 : composite();
  }

  // Then autograd leaves a composite alone, since calls on sparse tensors go to their kernels whole, and those are made
  // of ops that record. Other tensors meet the composite among the kernels for dense data, but Python comes before.
  bool has_sparse_kernel(DeviceType backend) const {
    return registered(slot_of(Functionality::Sparse, backend)) ||
           registered(slot_of(Functionality::SparseCsr, backend));
  }
  bool is_composite_with_sparse_kernel() const {
    for (int backend = 0; backend < kDeviceTypes; ++backend)
      if (has_sparse_kernel(static_cast<DeviceType>(backend))) return composite() && !reads_elements();
    return false;
  }

  // Defined at run time: a declared op without a derivative has none on purpose.
  bool is_foreign() const { return info_.kernel_count == 0; }

  // Then the parts of a composite cannot record for it.
  bool has_own_kernel(DeviceType backend) const {
    for (int i = 0; holds_data(static_cast<Functionality>(i)); ++i) {
      auto f = static_cast<Functionality>(i);
      if (f == Functionality::Sparse || f == Functionality::SparseCsr) continue;
      if (registered(slot_of(f, backend)) || fixed(f, backend) || fixed(f, kEveryDevice)) return true;
    }
    return registered(kCompositeExplicitSlot);
  }

  // By itself: views show the same elements, and a composite leaves them to its parts.
  bool reads_elements() const {
    if (info_.tags & (kViewOp | kGeometryOnly)) return false;
    for (int backend = 0; backend < kDeviceTypes; ++backend)
      if (has_own_kernel(static_cast<DeviceType>(backend))) return true;
    return !composite();
  }

  uintptr_t fixed(Functionality f, DeviceType device, uintptr_t convention = 0) const {
    for (const StaticKernel& kernel : kernels())
      if (kernel.functionality == f && kernel.device == device) return encode(kernel.function, convention);
    return 0;
  }

  uintptr_t registered(int index) const {
    return registered_ && (*registered_)[index] ? encode(*(*registered_)[index]) : 0;
  }

  std::span<const StaticKernel> kernels() const { return {info_.kernels, info_.kernel_count}; }

  static uintptr_t encode(void* function, uintptr_t convention) {
    return reinterpret_cast<uintptr_t>(function) | convention;
  }

  uintptr_t encode(const Kernel& kernel) const {
    if (kernel.fallthrough) return kPass;
    uintptr_t address = reinterpret_cast<uintptr_t>(kernel.unboxed);
    if (address && kernel.signature && kernel.signature == info_.signature)
      return address | (kernel.takes_keys ? kLayerBit : 0);
    return reinterpret_cast<uintptr_t>(&kernel) | kBoxedBit;
  }

  const OpInfo& info_;
  const Registered& fallbacks_;
  const Registered* registered_ = nullptr;
};

std::string place_name(SlotPlace place) {
  static constexpr std::string_view kPrefix[] = {"",        "quantized ", "sparse ", "sparse compressed ",
                                                 "nested ", "memoryless "};
  static_assert(std::size(kPrefix) == static_cast<size_t>(Functionality::Memoryless) + 1);
  return str(kPrefix[static_cast<int>(place.functionality)], device_type_name(place.backend));
}

thread_local CallRecorder* t_recorder = nullptr;

// --- The table of all ops
struct Index {
  Mutex mutex;
  const OpFamily* families = nullptr;
  const OpFamily* indexed = nullptr;                        // `families` when the maps were last made
  std::vector<const Op*> defined;                           // at run time, in order
  std::unordered_map<std::string, const Op*> by_full_name;  // "aten::add.Tensor"
  std::unordered_map<std::string_view, std::vector<const Op*>> by_name;

  template <class F>
  void each(F&& visit) const {
    for (const OpFamily* family = families; family; family = family->next)
      for (size_t i = 0; i < family->count; ++i) visit(family->ops + i);
    for (const Op* op : defined) visit(op);
  }
  void insert(const Op* op) {
    by_full_name.emplace(op->qualified_name(), op);
    by_name[op->info().name].push_back(op);
  }
  // Families announce themselves before main; the maps are made when someone first asks.
  void bring_up_to_date() {
    if (indexed == families) return;
    by_full_name.clear();
    by_name.clear();
    each([&](const Op* op) { insert(op); });
    indexed = families;
  }
};
Index& op_index() {
  static Index* instance = new Index;
  return *instance;
}

}  // namespace

std::string Op::qualified_name() const {
  return *info_->overload ? str(info_->name, ".", info_->overload) : std::string(info_->name);
}

std::string_view Op::plain_name() const {
  std::string_view name = info_->name;
  size_t colons = name.find("::");
  return colons == std::string_view::npos ? name : name.substr(colons + 2);
}

// The registrations' mutex is held.
void Op::make_table() const {
  Slot* table = slots_.load(std::memory_order_acquire);
  if (!table) {
    table = new Slot[kSlots]();
    slots_.store(table, std::memory_order_release);
  }
  Search search(*this, registrations());
  KeySet skipped;
  for (int f = static_cast<int>(Functionality::BackendSelect); f < static_cast<int>(Functionality::Recorder); ++f) {
    auto functionality = static_cast<Functionality>(f);
    int first = slot_of(functionality, DeviceType::CPU), count = is_per_backend(functionality) ? kDeviceTypes : 1;
    bool passes = true;
    for (int i = first; i < first + count; ++i) passes = passes && search.at(i) == kPass;
    if (passes) skipped = skipped | functionality;
  }
  skipped_.store(skipped.bits(), std::memory_order_relaxed);
}

uintptr_t Op::fill(int index) const {
  Registrations& r = registrations();
  Lock lock(r.mutex);
  make_table();
  uintptr_t found = Search(*this, r).at(index);
  slots_.load(std::memory_order_relaxed)[index].store(found, std::memory_order_release);
  return found;
}

namespace {
// A composite of tensors has its parts recorded one by one, before a class or a mode in Python sees them.
void run_parts_before_python(const Op& op, KeySet keys, Stack& stack) {
  KeySet layers = op.keys_of_arguments(stack) - t_state.exclude;
  bool whole = !(keys & kSparseKinds).empty() || !layers.has(Functionality::Autograd);
  uintptr_t next;
  {
    Registrations& r = registrations();
    Lock lock(r.mutex);
    Search search(op, r);
    next = whole ? search.fallback(Functionality::Python) : search.composite();
  }
  op.call_boxed(next, keys, stack);
}
}  // namespace

uintptr_t Op::resolve(KeySet& keys) const {
  constexpr KeySet kRecording = Functionality::Recorder;
  for (KeySet rest = keys - kRecording;;) {
    Functionality functionality = rest.top();
    int index = slot_of(functionality, rest.backend());
    uintptr_t found = slot(index);
    if (!found) found = fill(index);
    if (!found || (found == kPass && holds_data(functionality))) no_kernel(rest);
    if (found != kPass) {
      bool recording = keys.has(Functionality::Recorder);
      keys = recording ? rest | kRecording : rest;
      if (recording && t_recorder) t_recorder->hop(*this, keys, index);
      return found;
    }
    rest = rest & (KeySet::below(functionality) - kRecording);
  }
}

void Op::no_kernel(KeySet keys) const {
  std::string there;
  {
    Registrations& r = registrations();
    Lock lock(r.mutex);
    Search search(*this, r);
    for (int i = 0; i < kSlots && holds_data(kPlaces[i].functionality); ++i) {
      uintptr_t found = search.at(i);
      if (found == 0 || found == kPass || search.serves_any(found)) continue;
      there += there.empty() ? "" : ", ";
      there += place_name(kPlaces[i]);
    }
  }
  TAEDA_CHECK_KIND(NotImplemented, keys.top() != Functionality::Memoryless, qualified_name(),
                   " got a tensor without memory of its own; its class must answer in __torch_dispatch__, with the "
                   "tensors that it wraps");
  if (keys.backend() == DeviceType::CUDA) allocator(DeviceType::CUDA);  // which says so where there is no CUDA at all
  TAEDA_FAIL(NotImplemented, qualified_name(), " has no kernel for ", place_name({keys.top(), keys.backend()}),
             " tensors; it has one for: ", there.empty() ? std::string("nothing") : there);
}

void Op::call_boxed(Stack& stack) const { call_boxed(effective(keys_of_arguments(stack)), stack); }

void Op::call_boxed(KeySet keys, Stack& stack) const {
  keys = keys - skipped();
  uintptr_t slot = resolve(keys);
  call_boxed(slot, keys, stack);
}

namespace {
void prepare_writes(const OpInfo& info, const Stack& stack) {
  if (info.tags & kGeometryOnly) return;
  size_t base = stack.size() - info.param_count;
  for (int i = 0; i < info.param_count; ++i) {
    if (!info.params[i].is_mutable) continue;
    const Value& value = stack[base + i];
    if (value.tag() == Value::Tag::TensorList)
      prepare_write(value.to_tensor_list());
    else if (value.tensor_impl())
      prepare_write(value.to_tensor());
  }
}
}  // namespace

void Op::call_boxed(uintptr_t slot, KeySet keys, Stack& stack) const {
  prepare_writes(*info_, stack);
  void* address = reinterpret_cast<void*>(slot & ~kSlotBits);
  if (slot & kBoxedBit) return static_cast<const Kernel*>(address)->boxed(*this, keys, stack);
  info_->signature->call_unboxed(address, slot & kLayerBit, keys, stack);
  if (returns_void(*info_)) keep_mutable_arguments(*this, stack);
}

KeySet Op::keys_of_arguments(const Stack& stack) const {
  TAEDA_CHECK(stack.size() >= info_->param_count, qualified_name(), " takes ", static_cast<int>(info_->param_count),
              " boxed arguments; the stack holds ", stack.size());
  KeySet keys, kind;
  std::optional<Device> device;
  size_t base = stack.size() - info_->param_count;
  for (int i = 0; i < info_->param_count; ++i) {
    const Value& value = stack[base + i];
    if (const TensorImpl* impl = value.tensor_impl()) keys = keys | impl->keys();
    if (value.tag() == Value::Tag::TensorList)
      for (const Tensor& tensor : value.to_tensor_list())
        if (tensor.defined()) keys = keys | tensor.keys();
    if (info_->params[i].type == ArgType::Layout && !value.is_none()) kind = sparse_keys(value.to_layout());
    if (info_->params[i].type == ArgType::Device) device = value.is_none() ? default_device() : value.to_device();
  }
  // A factory has no tensor to say where it runs.
  if (keys.empty() && device) {
    if (is_name_alone(device->type)) allocator(device->type);  // says that there is none
    keys = kind | device->type | Functionality::Dense;
  }
  // An op may choose its backend itself, by arguments that are no tensors.
  return keys | Functionality::BackendSelect;
}

void keep_mutable_arguments(const Op& op, Stack& stack) {
  const OpInfo& info = op.info();
  size_t base = stack.size() - info.param_count, next = base;
  for (int i = 0; i < info.param_count && next < base + info.return_count; ++i)
    if (info.params[i].is_mutable) {
      Value result = std::move(stack[base + i]);
      stack[next++] = std::move(result);
    }
  stack.resize(next);
}

void Op::set_kernel(int slot_index, std::shared_ptr<Kernel> kernel) const {
  Registrations& r = registrations();
  {
    Lock lock(r.mutex);
    std::shared_ptr<Kernel>& place = r.of_op[this][slot_index];
    bury(r, std::exchange(place, std::move(kernel)));
  }
  forget_slots();
}

std::shared_ptr<Kernel> Op::kernel_at(int slot_index) const {
  Registrations& r = registrations();
  Lock lock(r.mutex);
  auto it = r.of_op.find(this);
  return it == r.of_op.end() ? nullptr : it->second[slot_index];
}

void Op::forget_slots() const {
  Lock lock(registrations().mutex);
  Slot* table = slots_.load(std::memory_order_acquire);
  if (!table) return;
  for (int i = 0; i < kSlots; ++i) table[i].store(0, std::memory_order_release);
  make_table();
}

const Op* find_op(std::string_view name, std::string_view overload) {
  Index& index = op_index();
  Lock lock(index.mutex);
  index.bring_up_to_date();
  auto it = index.by_full_name.find(overload.empty() ? std::string(name) : str(name, ".", overload));
  return it == index.by_full_name.end() ? nullptr : it->second;
}

std::vector<const Op*> ops_named(std::string_view name) {
  Index& index = op_index();
  Lock lock(index.mutex);
  index.bring_up_to_date();
  auto it = index.by_name.find(name);
  return it == index.by_name.end() ? std::vector<const Op*>() : it->second;
}

std::vector<const Op*> all_ops() {
  Index& index = op_index();
  Lock lock(index.mutex);
  std::vector<const Op*> ops;
  index.each([&](const Op* op) { ops.push_back(op); });
  return ops;
}

void add_family(OpFamily* family) {
  Index& index = op_index();
  Lock lock(index.mutex);
  family->next = index.families;
  index.families = family;
}

void add_op(const Op* op) {
  Index& index = op_index();
  Lock lock(index.mutex);
  index.bring_up_to_date();
  TAEDA_CHECK(!index.by_full_name.contains(op->qualified_name()), "the op ", op->qualified_name(),
              " is defined already");
  index.defined.push_back(op);
  index.insert(op);
}

void remove_op(const Op* op) {
  Index& index = op_index();
  Lock lock(index.mutex);
  std::erase(index.defined, op);
  index.by_full_name.erase(op->qualified_name());
  auto it = index.by_name.find(op->info().name);
  if (it == index.by_name.end()) return;
  std::erase(it->second, op);
  // The key is the name of an op that goes; another one of the same name must lend its own.
  std::vector<const Op*> others = std::move(it->second);
  index.by_name.erase(it);
  if (!others.empty()) index.by_name.emplace(others.front()->info().name, std::move(others));
}

void set_fallback(int slot_index, std::shared_ptr<Kernel> kernel) {
  Registrations& r = registrations();
  {
    Lock lock(r.mutex);
    bury(r, std::exchange(r.fallbacks[slot_index], std::move(kernel)));
  }
  for (const Op* op : all_ops()) op->forget_slots();
}

std::shared_ptr<Kernel> fallback_at(int slot_index) {
  Registrations& r = registrations();
  Lock lock(r.mutex);
  return r.fallbacks[slot_index];
}

void set_recorder(CallRecorder* recorder) {
  t_recorder = recorder;
  constexpr KeySet kRecording = Functionality::Recorder;
  t_state.include = recorder ? t_state.include | kRecording : t_state.include - kRecording;
}

}  // namespace taeda
