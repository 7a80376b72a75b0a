#include "backend/cpu/libraries/onednn.h"

#include <omp.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <list>
#include <thread>
#include <unordered_map>

#include "backend/cpu/libraries/onednn_cache.h"
#include "taeda/core/allocator.h"
#include "taeda/core/fork.h"

namespace taeda::cpu::onednn {

void check(dnnl_status_t status) {
  if (ok(status)) [[likely]]
    return;
  TAEDA_CHECK_KIND(OutOfMemory, status != dnnl_out_of_memory, "oneDNN ran out of memory");
  TAEDA_FAIL(Runtime, "oneDNN refused the operation (status ", static_cast<int64_t>(status), ")");
}

dnnl_engine_t engine() {
  static const dnnl_engine_t g_engine = [] {
    dnnl_engine_t made = nullptr;
    check(dnnl().engine_create(&made, dnnl_cpu, 0));
    return made;
  }();
  return g_engine;
}

namespace {
dnnl_stream_t stream() {
  thread_local const dnnl_stream_t t_stream = [] {
    dnnl_stream_t made = nullptr;
    check(dnnl().stream_create(&made, engine(), dnnl_stream_default_flags));
    return made;
  }();
  return t_stream;
}
}  // namespace

dnnl_data_type_t data_type(DType dtype) {
  switch (dtype) {
    case DType::Float32:
      return dnnl_f32;
    case DType::BFloat16:
      return dnnl_bf16;
    case DType::Float16:
      return dnnl_f16;
    case DType::Int8:
      return dnnl_s8;
    case DType::UInt8:
      return dnnl_u8;
    case DType::Int32:
      return dnnl_s32;
    default:
      TAEDA_FAIL(Runtime, "oneDNN is not asked for ", dtype);
  }
}

bool has_native(DType dtype) {
  static const unsigned g_isa = dnnl().get_effective_cpu_isa();
  unsigned wanted = dtype == DType::BFloat16 ? dnnl_cpu_isa_avx512_core : dnnl_cpu_isa_avx512_core_fp16;
  if (dtype == DType::Int8 || dtype == DType::UInt8) wanted = dnnl_cpu_isa_avx512_core_vnni;
  return dtype == DType::Float32 || (g_isa & wanted) == wanted;
}

Threads::Threads(int count) : saved_(omp_get_max_threads()) {
  if (count != saved_) omp_set_num_threads(count);
}
Threads::~Threads() {
  if (omp_get_max_threads() != saved_) omp_set_num_threads(saved_);
}

namespace {
std::atomic<int> g_calls{0};  // in progress
std::atomic<bool> g_closed{false};
thread_local int t_depth = 0;

void begin_call() {
  static const bool registered =
      (at_fork({.child = [] { g_calls = 0; }}), true);  // other threads' calls are not the child's
  (void)registered;
  if (t_depth++ > 0) return;
  ++g_calls;
  if (!g_closed) return;
  --g_calls;
  for (;;) ::pause();
}
void end_call() {
  if (--t_depth == 0) --g_calls;
}
}  // namespace

void close_library() noexcept {
  g_closed = true;
  for (int waited = 0; g_calls > 0 && waited < 5000; ++waited)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

HandlersWait::HandlersWait() {
  begin_call();
  static const sigset_t g_waiting = [] {
    sigset_t signals;
    sigfillset(&signals);
    // Faults of the thread itself: blocked, they would end the process without a word.
    for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT}) sigdelset(&signals, fault);
    return signals;
  }();
  pthread_sigmask(SIG_BLOCK, &g_waiting, &saved_);
}
HandlersWait::~HandlersWait() {
  pthread_sigmask(SIG_SETMASK, &saved_, nullptr);
  end_call();
}

// --- descriptors
MemoryDesc::MemoryDesc(DType dtype, IntList sizes, IntList strides) {
  check(dnnl().memory_desc_create_with_strides(&desc_, static_cast<int>(sizes.size()), sizes.data(), data_type(dtype),
                                               strides.data()));
}
MemoryDesc MemoryDesc::tagged(DType dtype, IntList sizes, dnnl_format_tag_t tag) {
  MemoryDesc made;
  check(dnnl().memory_desc_create_with_tag(&made.desc_, static_cast<int>(sizes.size()), sizes.data(), data_type(dtype),
                                           tag));
  return made;
}
MemoryDesc MemoryDesc::copy_of(const_dnnl_memory_desc_t desc) {
  MemoryDesc made;
  if (desc) check(dnnl().memory_desc_clone(&made.desc_, desc));
  return made;
}
MemoryDesc::~MemoryDesc() {
  if (desc_) dnnl().memory_desc_destroy(desc_);
}

Attributes::Attributes() {
  check(dnnl().primitive_attr_create(&attr_));
  check(dnnl().primitive_attr_set_scratchpad_mode(attr_, dnnl_scratchpad_mode_user));
}
Attributes::~Attributes() { dnnl().primitive_attr_destroy(attr_); }

// --- primitives
namespace {

Tensor bytes_of(size_t count) { return new_tensor(IntList({static_cast<int64_t>(count)}), DType::UInt8); }

}  // namespace

// The memory objects of one execution at a time; they own nothing but themselves.
class Primitive::Bindings {
 public:
  ~Bindings() {
    for (const dnnl_exec_arg_t& a : bound_) dnnl().memory_destroy(a.memory);
  }
  void add(int name, const MemoryDesc& desc) {
    dnnl_memory_t memory = nullptr;
    check(dnnl().memory_create(&memory, desc.get(), engine(), nullptr));
    bound_.push_back({name, memory});
  }
  void bind(size_t index, void* data) { check(dnnl().memory_set_data_handle(bound_[index].memory, data)); }
  void execute(const_dnnl_primitive_t primitive) const {
    HandlersWait wait;
    check(dnnl().primitive_execute(primitive, stream(), static_cast<int>(bound_.size()), bound_.data()));
  }

 private:
  std::vector<dnnl_exec_arg_t> bound_;
};

// Bindings that no thread is using. Making them takes longer than a small reorder.
class Primitive::Spare {
 public:
  ~Spare() {
    for (auto& place : places_) delete place.load();
  }
  std::unique_ptr<Bindings> take() {
    for (auto& place : places_)
      if (Bindings* found = place.exchange(nullptr)) return std::unique_ptr<Bindings>(found);
    return nullptr;
  }
  void keep(std::unique_ptr<Bindings> bindings) {
    for (auto& place : places_) {
      Bindings* none = nullptr;
      if (place.compare_exchange_strong(none, bindings.get())) return static_cast<void>(bindings.release());
    }
  }

 private:
  std::array<std::atomic<Bindings*>, 8> places_{};
};

Primitive::Primitive(dnnl_primitive_desc_t desc) : desc_(desc), spare_(std::make_unique<Spare>()) {
  dnnl_status_t status = dnnl().primitive_create(&primitive_, desc_);
  if (!ok(status)) {
    dnnl().primitive_desc_destroy(desc_);
    check(status);
  }
  scratch_ = MemoryDesc::copy_of(dnnl().primitive_desc_query_md(desc_, dnnl_query_scratchpad_md, 0));
}

Primitive::Primitive(Primitive&& other) noexcept
    : desc_(std::exchange(other.desc_, nullptr)),
      primitive_(std::exchange(other.primitive_, nullptr)),
      scratch_(std::move(other.scratch_)),
      spare_(std::move(other.spare_)) {}

Primitive::~Primitive() {
  if (primitive_) dnnl().primitive_destroy(primitive_);
  if (desc_) dnnl().primitive_desc_destroy(desc_);
}

MemoryDesc Primitive::argument(int name) const {
  return MemoryDesc::copy_of(dnnl().primitive_desc_query_md(desc_, dnnl_query_exec_arg_md, name));
}

void Primitive::run(std::span<const MemoryArgument> arguments) const {
  size_t scratch_bytes = scratch_.bytes();
  auto bindings = spare_->take();
  if (!bindings) {
    bindings = std::make_unique<Bindings>();
    for (const MemoryArgument& a : arguments) bindings->add(a.name, *a.desc);
    if (scratch_bytes) bindings->add(DNNL_ARG_SCRATCHPAD, scratch_);
  }
  for (size_t i = 0; i < arguments.size(); ++i) bindings->bind(i, arguments[i].data);
  Tensor scratch;
  if (scratch_bytes) {
    scratch = bytes_of(scratch_bytes);
    bindings->bind(arguments.size(), scratch.data());
  }
  bindings->execute(primitive_);
  spare_->keep(std::move(bindings));
}

namespace {
std::unique_ptr<Primitive> make_reorder(const MemoryDesc& from, const MemoryDesc& to) {
  dnnl_primitive_desc_t desc = nullptr;
  check(dnnl().reorder_primitive_desc_create(&desc, from.get(), engine(), to.get(), engine(), Attributes().get()));
  return std::make_unique<Primitive>(desc);
}
}  // namespace

Operation::Operation(Primitive primitive, std::vector<Operand> operands) : primitive_(std::move(primitive)) {
  for (Operand& operand : operands) {
    Slot slot{operand.name, operand.is_result, std::move(operand.given), primitive_.argument(operand.name), nullptr};
    if (!(slot.given == slot.wanted))
      slot.reorder = slot.is_result ? make_reorder(slot.wanted, slot.given) : make_reorder(slot.given, slot.wanted);
    slots_.push_back(std::move(slot));
  }
}

Tensor Operation::settle(size_t operand, void* data) const {
  const Slot& slot = slots_[operand];
  if (!slot.reorder) return {};
  Tensor copy = bytes_of(slot.wanted.bytes());
  slot.reorder->run(std::array{MemoryArgument{DNNL_ARG_FROM, data, &slot.given},
                               MemoryArgument{DNNL_ARG_TO, copy.data(), &slot.wanted}});
  return copy;
}

Tensor Operation::place(size_t operand) const { return bytes_of(slots_[operand].wanted.bytes()); }

void Operation::deliver(size_t operand, const Tensor& placed, void* data) const {
  const Slot& slot = slots_[operand];
  if (!slot.reorder) return static_cast<void>(std::memcpy(data, placed.data(), slot.wanted.bytes()));
  slot.reorder->run(std::array{MemoryArgument{DNNL_ARG_FROM, placed.data(), &slot.wanted},
                               MemoryArgument{DNNL_ARG_TO, data, &slot.given}});
}

void Operation::run(std::span<void* const> data, int settled) const {
  std::vector<Tensor> copies(slots_.size());
  std::vector<MemoryArgument> arguments;
  for (size_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    if (static_cast<int>(i) != settled && slot.reorder) copies[i] = slot.is_result ? place(i) : settle(i, data[i]);
    arguments.push_back({slot.name, copies[i].defined() ? copies[i].data() : data[i], &slot.wanted});
  }
  primitive_.run(arguments);
  for (size_t i = 0; i < slots_.size(); ++i)
    if (slots_[i].is_result && copies[i].defined()) deliver(i, copies[i], data[i]);
}

// --- the cache
namespace {

struct Cache {
  using Entry = std::pair<std::string, std::shared_ptr<Operation>>;
  Mutex mutex;
  std::list<Entry> entries;                                                // most recently used first
  std::unordered_map<std::string_view, std::list<Entry>::iterator> index;  // keys live in the entries
  int64_t capacity = 1024, hits = 0, misses = 0;

  void shrink() {
    while (static_cast<int64_t>(entries.size()) > capacity) {
      index.erase(entries.back().first);
      entries.pop_back();
    }
  }
};

Cache& cache() {
  static Cache& g_cache = *new Cache;  // outlives every thread that may still run ops at exit
  return g_cache;
}

std::shared_ptr<Operation> find(Cache& c, const Key& key) {
  Lock lock(c.mutex);
  auto found = c.index.find(key.bytes());
  if (found == c.index.end()) {
    ++c.misses;
    return nullptr;
  }
  ++c.hits;
  c.entries.splice(c.entries.begin(), c.entries, found->second);
  return found->second->second;
}

}  // namespace

std::shared_ptr<Operation> cached(const Key& key, Maker make, const void* context) {
  Cache& c = cache();
  if (auto operation = find(c, key)) return operation;
  auto made = make(context);  // without the lock: this is the slow part
  Lock lock(c.mutex);
  if (made && !c.index.contains(key.bytes())) {
    c.entries.emplace_front(key.bytes(), made);
    c.index.emplace(c.entries.front().first, c.entries.begin());
    c.shrink();
  }
  return made;
}

CacheStats cache_stats() {
  Cache& c = cache();
  Lock lock(c.mutex);
  return {c.capacity, static_cast<int64_t>(c.entries.size()), c.hits, c.misses};
}

void set_cache_capacity(int64_t capacity) {
  TAEDA_CHECK_VALUE(capacity >= 0, "the capacity must not be negative; got ", capacity);
  Cache& c = cache();
  Lock lock(c.mutex);
  c.capacity = capacity;
  c.shrink();
}

}  // namespace taeda::cpu::onednn
