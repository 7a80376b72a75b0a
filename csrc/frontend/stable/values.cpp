#include "frontend/stable/values.h"

#include <ATen/core/ivalue.h>
#include <taeda/dispatch/collections.h>

#include <cstring>
#include <memory>

namespace taeda::stable {

namespace {

template <class T>
StableIValue bits(T value) {
  static_assert(sizeof(T) <= sizeof(StableIValue));
  StableIValue made = 0;
  std::memcpy(&made, &value, sizeof(T));
  return made;
}
template <class T>
T from_bits(StableIValue value) {
  T made;
  std::memcpy(&made, &value, sizeof(T));
  return made;
}
// The object behind a handle, owned.
template <class T>
std::unique_ptr<T> take(StableIValue value) {
  auto* object = from_bits<T*>(value);
  TORCH_CHECK(object, "a handle is null where a value was expected");
  return std::unique_ptr<T>(object);
}

[[noreturn]] void unknown(TypePtr type) {
  TAEDA_FAIL(NotImplemented, "a value of the type ", type->str(),
             " cannot pass through the stable C interface: it knows Tensor, int, float, bool, str, ScalarType, Device, "
             "Layout, MemoryFormat, Generator, and lists and optionals of these");
}

// As programs hold them (numbers), or as calls do.
int32_t dtype_number(const Value& v) {
  return v.tag() == Value::Tag::Int ? static_cast<int32_t>(v.to_int()) : number_of(v.to_dtype());
}

std::vector<Value> items_of(const Value& list) {
  std::vector<Value> items;
  switch (list.tag()) {
    case Value::Tag::IntList:
      for (int64_t item : list.int_items()) items.emplace_back(item);
      break;
    case Value::Tag::BoolList:
      for (int64_t item : list.int_items()) items.emplace_back(item != 0);
      break;
    case Value::Tag::FloatList:
      for (double item : list.float_items()) items.emplace_back(item);
      break;
    case Value::Tag::TensorList:
      for (const Tensor& item : list.tensor_items()) items.push_back(item.defined() ? Value(item) : Value());
      break;
    default:
      items = list.to_list().items;
  }
  return items;
}

Value list_from(std::vector<Value> items, TypePtr element) {
  const bool is_optional = element->is(TypeKind::Optional);
  switch ((is_optional ? element->contained(0) : element)->kind()) {
    case TypeKind::Tensor: {
      std::vector<Tensor> tensors;
      for (const Value& item : items) tensors.push_back(item.to_tensor());
      return tensors;
    }
    case TypeKind::Int:
    case TypeKind::SymInt: {
      if (is_optional) break;
      std::vector<int64_t> numbers;
      for (const Value& item : items) numbers.push_back(item.to_int());
      return numbers;
    }
    case TypeKind::Bool: {
      if (is_optional) break;
      std::vector<int64_t> truths;
      for (const Value& item : items) truths.push_back(item.to_bool());
      return Value::bool_list(std::move(truths));
    }
    case TypeKind::Float: {
      if (is_optional) break;
      std::vector<double> numbers;
      for (const Value& item : items) numbers.push_back(item.to_float());
      return numbers;
    }
    default:
      break;
  }
  return make_ref<List>(element, std::move(items));
}

StableIValue pack_list(const Value& value, TypePtr element) {
  auto list = std::make_unique<StableList>();
  try {
    for (const Value& item : items_of(value)) list->items.push_back(pack(item, element));
  } catch (...) {
    for (StableIValue item : list->items) discard(item, element);
    throw;
  }
  return bits(list.release());
}

Value unpack_list(StableIValue value, TypePtr element) {
  auto list = take<StableList>(value);
  std::vector<Value> items;
  for (StableIValue item : list->items) items.push_back(unpack(item, element));
  return list_from(std::move(items), element);
}

}  // namespace

StableIValue pack(const Value& value, TypePtr type) {
  switch (type->kind()) {
    case TypeKind::Tensor:
      return bits(new_handle(at::Tensor(value.to_tensor())));
    case TypeKind::Optional:
      // Before version 2.13 extensions delete it themselves.
      return value.is_none() ? 0 : bits(new StableIValue(pack(value, type->contained(0))));
    case TypeKind::List:
      return pack_list(value, type->contained(0));
    case TypeKind::Int:
    case TypeKind::SymInt:
      return bits(value.to_int());
    case TypeKind::Float:
    case TypeKind::SymFloat:
      return bits(value.to_scalar().to<double>());
    case TypeKind::Bool:
    case TypeKind::SymBool:
      return bits(value.to_bool());
    case TypeKind::String:
      return bits(new std::string(value.to_string()));
    case TypeKind::ScalarType:
      return bits(dtype_number(value));
    case TypeKind::Layout:
      return bits(number_of(value.to_layout()));
    case TypeKind::MemoryFormat:
      return bits(number_of(value.to_memory_format()));
    case TypeKind::Device: {
      Device device = value.to_device();
      return static_cast<StableIValue>(static_cast<uint32_t>(number_of(device.type))) << 32 |
             static_cast<uint32_t>(static_cast<int32_t>(device.index));
    }
    case TypeKind::Generator:
      return bits(new at::Generator(value.to_generator()));
    default:
      unknown(type);
  }
}

Value unpack(StableIValue value, TypePtr type) {
  switch (type->kind()) {
    case TypeKind::Tensor:
      return Value(static_cast<const Tensor&>(*take<at::Tensor>(value)));
    case TypeKind::Optional:
      return value ? unpack(*take<StableIValue>(value), type->contained(0)) : Value();
    case TypeKind::List:
      return unpack_list(value, type->contained(0));
    case TypeKind::Int:
    case TypeKind::SymInt:
      return from_bits<int64_t>(value);
    case TypeKind::Float:
    case TypeKind::SymFloat:
      return from_bits<double>(value);
    case TypeKind::Bool:
    case TypeKind::SymBool:
      return (value & 0xff) != 0;
    case TypeKind::String:
      return std::string_view(*take<std::string>(value));
    case TypeKind::ScalarType:
      return dtype_numbered(from_bits<int32_t>(value));
    case TypeKind::Layout:
      return layout_numbered(from_bits<int32_t>(value));
    case TypeKind::MemoryFormat:
      return memory_format_numbered(from_bits<int32_t>(value));
    case TypeKind::Device:
      return device_numbered(static_cast<int32_t>(value >> 32), static_cast<int32_t>(value & 0xffffffff));
    case TypeKind::Generator:
      return take<at::Generator>(value)->ref();
    default:
      unknown(type);
  }
}

void discard(StableIValue value, TypePtr type) noexcept {
  if (type->is(TypeKind::Int) || type->is(TypeKind::Float) || type->is(TypeKind::Bool)) return;
  guarded([&] { unpack(value, type); });
}

}  // namespace taeda::stable
