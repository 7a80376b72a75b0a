// Marks in profiles: their handles hold the event's number.
#include "dispatch/profiler.h"

#include "composite/ops/profiler.h"
#include "composite/quantized/packed.h"

namespace taeda::composite::profiler {

namespace {

const ClassType& record_class() {
  static const ClassType& type = packed::class_named("profiler._RecordFunction", {"_event"});
  return type;
}

int64_t begin(std::string_view name, std::optional<std::string_view> args) {
  return static_cast<int64_t>(
      begin_event(std::string(name), ProfileKind::User, -1, args ? Value(std::string(*args)) : Value()));
}

}  // namespace

Value _record_function_enter_new(std::string_view name, std::optional<std::string_view> args) {
  auto made = make_ref<Instance>(&record_class());
  made->slots.assign({Value(begin(name, args))});
  return made;
}

void _record_function_exit(const Value& _0) {
  end_event(static_cast<uint64_t>(packed::object(_0, record_class()).slots[0].to_int()));
}

Tensor _record_function_enter(std::string_view name, std::optional<std::string_view> args) {
  Tensor handle = new_tensor(IntList(), DType::Int64);
  *handle.data<int64_t>() = begin(name, args);
  return handle;
}

void _record_function_exit(const Tensor& _0) {
  TAEDA_CHECK(_0.dtype() == DType::Int64 && _0.numel() == 1,
              "takes what _record_function_enter gave; got a tensor of shape ", _0.sizes());
  end_event(static_cast<uint64_t>(_0.data<int64_t>()[0]));
}

}  // namespace taeda::composite::profiler
