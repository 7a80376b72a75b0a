// The profiler without Python: what it records of calls, and which of its uses are errors.
#include "dispatch/profiler.h"
#include "taeda/core/tensor.h"
#include "taeda/ops/binary.h"
#include "test_main.h"

using namespace taeda;

namespace {

Tensor made(std::vector<int64_t> sizes) {
  Tensor t = new_tensor(sizes, DType::Float32);
  for (int64_t i = 0; i < t.numel(); ++i) t.data<float>()[i] = 1;
  return t;
}

}  // namespace

TEST(profiles_hold_calls_and_scopes) {
  Tensor a = made({2, 3});
  ProfileOptions options;
  options.arguments = true;
  start_profile(options);
  CHECK(is_profiled());
  uint64_t scope = begin_event("mine", ProfileKind::User);
  Tensor sum = ops::add(a, a, 1);
  end_event(scope);
  std::deque<ProfileEvent> events = stop_profile();
  CHECK(!is_profiled() && sum.data<float>()[0] == 2);
  CHECK(events.size() == 2 && events[0].name == "mine" && events[0].parent == -1);
  const ProfileEvent& call = events[1];
  CHECK(call.op && call.op->qualified_name() == "aten::add.Tensor" && call.parent == 0);
  CHECK(call.arguments.size() == 3 && call.arguments[0].sizes == std::vector<int64_t>({2, 3}));
  CHECK(call.arguments[1].dtype == DType::Float32 && call.arguments[2].value.to_int() == 1);
  CHECK(events[0].start <= call.start && call.start <= call.end && call.end <= events[0].end);
}

TEST(profiles_end_what_is_open) {
  start_profile({});
  uint64_t outer = begin_event("outer", ProfileKind::User);
  begin_event("inner", ProfileKind::User);
  end_event(outer);
  uint64_t open = begin_event("open", ProfileKind::User);
  std::deque<ProfileEvent> events = stop_profile();
  CHECK(events.size() == 3 && events[1].parent == 0 && events[2].parent == -1);
  for (const ProfileEvent& event : events) CHECK(event.end >= event.start && event.end > 0);
  end_event(open);  // of no profile, then of another
  start_profile({});
  end_event(open);
  CHECK(stop_profile().empty());
}

TEST(profiles_are_one_a_thread) {
  CHECK(begin_event("nobody listens", ProfileKind::User) == 0);
  CHECK_ERROR(stop_profile(), Runtime, "not being profiled");
  start_profile({});
  CHECK_ERROR(start_profile({}), Runtime, "already");
  stop_profile();
}
