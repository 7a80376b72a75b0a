// What a thread calls while it is profiled: ops, backward nodes and the scopes that programs mark, with their times.
#pragma once
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "taeda/core/thread_state.h"
#include "taeda/dispatch/op.h"

namespace taeda {

enum class ProfileKind : uint8_t { Op = 0, Backward = 1, User = 7 };  // PyTorch's numbers

// An argument of a call: what a tensor looked like, or a value that keeps no tensor alive.
struct ProfileArgument {
  std::vector<int64_t> sizes;
  DType dtype = DType::Undefined;  // unless it is a tensor
  Value value;
};

struct ProfileEvent {
  const Op* op = nullptr;  // null: `name` says what it is
  std::string name;
  ProfileKind kind = ProfileKind::Op;
  int64_t start = 0, end = 0;  // nanoseconds of the steady clock
  int64_t parent = -1;         // the event that this one lies in
  int64_t sequence = -1;       // the number that a node recorded by the call gets; a backward event: that of its node
  int64_t bytes = 0;           // allocated less freed, from start to end
  std::vector<ProfileArgument> arguments;
  Ref<RefCounted> stack;
};

struct ProfileOptions {
  bool arguments = false;
  bool memory = false;
  std::function<Ref<RefCounted>()> stack;  // the call stack of the host language; none if empty
  std::function<int64_t()> sequence;       // the number of the next node
};

// Of this thread. RuntimeError when it is being profiled already, or is not.
TAEDA_API void start_profile(ProfileOptions options);
TAEDA_API std::deque<ProfileEvent> stop_profile();  // in the order of their starts; open ones end now
inline bool is_profiled() { return t_state.include.has(Functionality::Profiler); }

// Events may end in any order and after the profile: the end of one is that of all inside it. 0 stands for none.
TAEDA_API uint64_t begin_event(std::string name, ProfileKind kind, int64_t sequence = -1, Value argument = {});
TAEDA_API void end_event(uint64_t event);

}  // namespace taeda
