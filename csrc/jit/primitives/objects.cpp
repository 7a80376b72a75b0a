// Values of other types: identity, enumerations, generators, futures, modes, what a program asks about itself.
#include "autograd/casting.h"
#include "jit/error.h"
#include "jit/primitives/typed.h"
#include "taeda/core/thread_state.h"

namespace taeda::jit {

namespace {

bool same(const Value& a, const Value& b) { return a.is_same(b); }
const Value& enum_value(const Value& member) { return member.to_enum().value(); }

Value unwrapped(const Value& value) {
  TAEDA_CHECK(!value.is_none(), "an Optional that was said to hold a value is None");
  return value;
}

int64_t hash(const Value& value) { return static_cast<int64_t>(hash_value(value)); }

int64_t identity(const Value& object) {
  return object.is_none() ? 0 : static_cast<int64_t>(reinterpret_cast<intptr_t>(&object.to_instance()));
}

Ref<Generator> make_generator(std::optional<Device> device, std::optional<int64_t> seed) {
  TAEDA_CHECK(!device || device->is_cpu(), "a program makes generators of CPU only");
  return make_ref<CPUGenerator>(seed ? static_cast<uint64_t>(*seed) : kDefaultSeed);
}
void seed_default(int64_t seed) {
  Generator& generator = *default_cpu_generator();
  Lock lock(generator.mutex());
  generator.manual_seed(static_cast<uint64_t>(seed));
}
Value seed_generator(const Value& value, int64_t seed) {
  value.to_generator()->manual_seed(static_cast<uint64_t>(seed));
  return value;
}

void enter_autocast(std::string_view device_type, bool enabled, DType dtype) {
  bool possible = dtype == DType::BFloat16 || dtype == DType::Float16;
  casting::enter_block(parse_device(device_type).type, enabled && possible, dtype);
}

Device device_of(std::string_view text) { return parse_device(text); }
Device device_with_index(std::string_view type, int64_t index) {
  Device device = parse_device(type);
  TAEDA_CHECK(index >= -1 && index < 128, "no device has the index ", index);
  device.index = static_cast<int8_t>(index);
  return device;
}
Value device_index(Device device) { return device.index < 0 ? Value() : Value(static_cast<int64_t>(device.index)); }

// What a module's containers give for an index that is known only when the program runs.
Value container_item(const Value& object, const Value& key) {
  Instance& container = object.to_instance();
  if (key.tag() == Value::Tag::String) return container.get(key.to_string());
  int64_t count = 0, wanted = key.to_int();
  for (const Attribute& attribute : container.type->attributes())
    count += attribute.type->is(TypeKind::Class) || attribute.type->is(TypeKind::Interface);
  if (wanted < 0) wanted += count;
  TAEDA_CHECK_INDEX(wanted >= 0 && wanted < count, "index ", key.to_int(), " is out of range of ", count, " modules");
  return container.get(taeda::str(wanted));
}

void raise(std::string_view message, std::optional<std::string_view> type);

constexpr Primitive kTable[] = {
    {"aten::__is__(t1 self, t2 obj) -> bool", typed<same>},
    {"aten::__isnot__(t1 self, t2 obj) -> bool", typed<[](const Value& a, const Value& b) { return !same(a, b); }>},
    {"aten::_unwrap_optional(t(a)? optional) -> t(a)", typed<unwrapped>},
    {"prim::unchecked_unwrap_optional(t(a)? optional) -> t(a)", typed<unwrapped>},
    {"prim::unchecked_cast(t x) -> t", typed<[](const Value& value) { return value; }>},
    {"prim::RaiseException(str msg, str? cls=None) -> ()", typed<raise>},
    {"prim::EnumName(AnyEnumType enum) -> str",
     typed<[](const Value& member) { return std::string(member.to_enum().name()); }>},
    {"prim::EnumValue.int(AnyEnumType enum) -> int", typed<enum_value>},
    {"prim::EnumValue.float(AnyEnumType enum) -> float", typed<enum_value>},
    {"prim::EnumValue.str(AnyEnumType enum) -> str", typed<enum_value>},
    {"prim::EnumValue.any(AnyEnumType enum) -> Any", typed<enum_value>},
    {"aten::hash.generic(t value) -> int", typed<hash>},
    {"prim::id(AnyClassType? x) -> int", typed<identity>},
    {"prim::ModuleContainerIndex.list(Any self, int ind) -> Any", typed<container_item>},
    {"prim::ModuleContainerIndex.dict(Any self, str ind) -> Any", typed<container_item>},
    {"aten::Generator(*, Device? device=None, int? seed=None) -> Generator", typed<make_generator>},
    {"aten::initial_seed(Generator self) -> int",
     typed<[](const Ref<Generator>& g) { return static_cast<int64_t>(g->initial_seed()); }>},
    {"aten::seed(Generator(a!) self) -> int",
     typed<[](const Ref<Generator>& g) { return static_cast<int64_t>(g->seed()); }>},
    {"aten::manual_seed(int seed) -> ()", typed<seed_default>},
    {"aten::manual_seed.generator(Generator(a!) self, int seed) -> Generator(a!)", typed<seed_generator>},
    {"aten::is_grad_enabled() -> bool", typed<[]() { return t_state.grad_mode; }>},
    {"aten::set_grad_enabled(bool val) -> ()", typed<[](bool value) { t_state.grad_mode = value; }>},
    {"aten::is_inference_mode_enabled() -> bool", typed<[]() { return t_state.inference_mode; }>},
    {"aten::is_autocast_enabled() -> bool", typed<[]() { return casting::enabled(DeviceType::CUDA); }>},
    {"aten::is_autocast_cpu_enabled() -> bool", typed<[]() { return casting::enabled(DeviceType::CPU); }>},
    {"aten::get_autocast_dtype(str device_type) -> ScalarType",
     typed<[](std::string_view type) { return number_of(casting::lower_dtype(parse_device(type).type)); }>},
    {"prim::enter_autocast(str device_type, bool enabled, ScalarType dtype) -> ()", typed<enter_autocast>},
    {"prim::leave_autocast() -> ()", typed<casting::leave_block>},
    {"aten::is_scripting() -> bool", typed<[]() { return true; }>},
    {"aten::has_torch_function(...) -> bool",
     [](Stack& stack, size_t count) {
       stack.resize(stack.size() - count);
       stack.emplace_back(false);
     }},
    {"aten::get_default_dtype() -> ScalarType", typed<[]() { return number_of(default_dtype()); }>},
    {"aten::wait(Future(t) self) -> t", typed<[](const Value& value) { return value; }>},
    {"prim::awaitable_nowait(t self) -> Await(t)", typed<[](const Value& value) { return value; }>},
    {"prim::awaitable_wait(Await(t) self) -> t", typed<[](const Value& value) { return value; }>},
    {"prim::AutogradZero() -> Tensor", typed<[]() { return Tensor(); }>},
    {"prim::IfThenElse(bool cond, Any(a) x, Any(b) y) -> Any(b|a)",
     typed<[](bool condition, const Value& x, const Value& y) { return condition ? x : y; }>},
};

constexpr Primitive kDevices[] = {
    {"aten::device(str a) -> Device", typed<device_of>},
    {"aten::device.with_index(str type, int index) -> Device", typed<device_with_index>},
    {"prim::type(Device self) -> str", typed<[](Device device) { return device_type_name(device.type); }>},
    {"prim::index(Device self) -> int?", typed<device_index>},
};

void raise(std::string_view message, std::optional<std::string_view> type) {
  throw Raised(std::string(type.value_or("RuntimeError")), std::string(message));
}

}  // namespace

PrimitiveTable object_primitives() { return kTable; }
PrimitiveTable device_primitives() { return kDevices; }

}  // namespace taeda::jit
