#include "dispatch/profiler.h"

#include <atomic>
#include <chrono>
#include <memory>

#include "taeda/core/allocator.h"

namespace taeda {

namespace {

int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

ProfileArgument describe(const Value& value) {
  ProfileArgument seen;
  using Tag = Value::Tag;
  if (value.is_tensor()) {
    Tensor tensor = value.to_tensor();
    seen.sizes.assign(tensor.sizes().begin(), tensor.sizes().end());
    seen.dtype = tensor.dtype();
  } else if (value.tag() != Tag::TensorList && value.tag() != Tag::Generator && value.tag() != Tag::Object) {
    seen.value = value;
  }
  return seen;
}

class Profile {
 public:
  Profile(ProfileOptions options, uint32_t number) : options_(std::move(options)), number_(number) {}

  // The clock is read last, and first in end(), so that an event does not last longer for being recorded.
  uint64_t begin(ProfileEvent event, std::span<const Value> arguments) {
    event.parent = current_;
    if (options_.arguments)
      for (const Value& value : arguments) event.arguments.push_back(describe(value));
    if (options_.stack) event.stack = options_.stack();
    if (event.kind == ProfileKind::Op && options_.sequence) event.sequence = options_.sequence();
    current_ = static_cast<int64_t>(events_.size());
    ProfileEvent& kept = events_.emplace_back(std::move(event));
    if (options_.memory) kept.bytes = -static_cast<int64_t>(cpu_memory_stats().allocated);
    kept.start = now();
    return static_cast<uint64_t>(number_) << 32 | static_cast<uint32_t>(current_);
  }
  void end(uint64_t handle) {
    const size_t place = static_cast<uint32_t>(handle);
    if (handle >> 32 != number_ || place >= events_.size()) return;  // of an earlier profile, or of none
    const ProfileEvent& event = events_[place];
    for (int64_t time = now(); event.end == 0;) end_current(time);
  }
  std::deque<ProfileEvent> finish() {
    for (int64_t time = now(); current_ >= 0;) end_current(time);
    return std::move(events_);
  }

 private:
  void end_current(int64_t time) {
    ProfileEvent& event = events_[static_cast<size_t>(current_)];
    event.end = time;
    if (options_.memory) event.bytes += static_cast<int64_t>(cpu_memory_stats().allocated);
    current_ = event.parent;
  }

  ProfileOptions options_;
  uint32_t number_;  // tells the events of one profile from those of others
  std::deque<ProfileEvent> events_;
  int64_t current_ = -1;  // the innermost open event; those around it are its parents
};
thread_local std::unique_ptr<Profile> t_profile;

struct Scope {
  uint64_t event;
  ~Scope() { end_event(event); }
};

// The kernel of the profiler's layer for every op. A thread that took the state of a profiled one has no profile; ops
// that begin and end marks are no events, which would end the mark with them.
void record_call(const Op& op, KeySet keys, Stack& stack) {
  keys = keys & KeySet::below(Functionality::Profiler);
  if (!t_profile || std::string_view(op.info().name).starts_with("profiler::")) return op.call_boxed(keys, stack);
  ProfileEvent event;
  event.op = &op;
  Scope scope{t_profile->begin(std::move(event), std::span(stack).last(op.info().param_count))};
  op.call_boxed(keys, stack);
}

void add_layer() {
  auto kernel = std::make_shared<Kernel>();
  kernel->boxed = record_call;
  kernel->where = __FILE__;
  set_fallback(slot_of(Functionality::Profiler, DeviceType::CPU), std::move(kernel));
}

constexpr KeySet kProfiled = Functionality::Profiler;

}  // namespace

void start_profile(ProfileOptions options) {
  TAEDA_CHECK(!t_profile, "this thread is being profiled already");
  [[maybe_unused]] static const bool layer = (add_layer(), true);
  static std::atomic<uint32_t> count = 0;
  t_profile = std::make_unique<Profile>(std::move(options), ++count);
  t_state.include = t_state.include | kProfiled;
}

std::deque<ProfileEvent> stop_profile() {
  TAEDA_CHECK(t_profile, "this thread is not being profiled");
  t_state.include = t_state.include - kProfiled;
  return std::exchange(t_profile, nullptr)->finish();
}

uint64_t begin_event(std::string name, ProfileKind kind, int64_t sequence, Value argument) {
  if (!t_profile) return 0;
  ProfileEvent event;
  event.name = std::move(name);
  event.kind = kind;
  event.sequence = sequence;
  return t_profile->begin(std::move(event), std::span(&argument, argument.is_none() ? 0 : 1));
}

void end_event(uint64_t event) {
  if (event != 0 && t_profile) t_profile->end(event);
}

}  // namespace taeda
