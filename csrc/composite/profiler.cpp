// Marks in profiles: their handles hold the event's number.
#include "dispatch/profiler.h"

#include "composite/ops/profiler.h"
#include "composite/quantized/packed.h"
#include "core/elements.h"

namespace taeda::composite::profiler {

namespace {

const ClassType& g_record = packed::class_named("profiler._RecordFunction", {"_event"});  // archives ask for it by name

int64_t begin(std::string_view name, std::optional<std::string_view> args) {
  return static_cast<int64_t>(
      begin_event(std::string(name), ProfileKind::User, -1, args ? Value(std::string(*args)) : Value()));
}

}  // namespace

Value _record_function_enter_new(std::string_view name, std::optional<std::string_view> args) {
  auto made = make_ref<Instance>(&g_record);
  made->slots.assign({Value(begin(name, args))});
  return made;
}

void _record_function_exit(const Value& _0) {
  end_event(static_cast<uint64_t>(packed::object(_0, g_record).slots[0].to_int()));
}

Tensor _record_function_enter(std::string_view name, std::optional<std::string_view> args) {
  Tensor handle = new_tensor(IntList(), DType::Int64);
  *handle.data<int64_t>() = begin(name, args);
  return handle;
}

void _record_function_exit(const Tensor& _0) {
  TAEDA_CHECK(_0.dtype() == DType::Int64 && _0.numel() == 1,
              "takes what _record_function_enter gave; got a tensor of shape ", _0.sizes());
  end_event(static_cast<uint64_t>(*elements<int64_t>(_0)));
}

}  // namespace taeda::composite::profiler
