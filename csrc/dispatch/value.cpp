#include "taeda/dispatch/value.h"

#include "taeda/dispatch/collections.h"

namespace taeda {

namespace {

template <class T>
struct Box : RefCounted {
  explicit Box(T v) : value(std::move(v)) {}
  T value;
};

template <class T>
RefCounted* boxed(T value) {
  return make_ref<Box<T>>(std::move(value)).detach();
}

constexpr std::string_view kTagNames[] = {"None",
                                          "a bool",
                                          "an int",
                                          "an int",
                                          "a float",
                                          "a complex number",
                                          "a dtype",
                                          "a device",
                                          "a layout",
                                          "a memory format",
                                          "a tensor",
                                          "a string",
                                          "a list of ints",
                                          "a list of floats",
                                          "a list of bools",
                                          "a list of tensors",
                                          "a list of numbers",
                                          "a list",
                                          "a tuple",
                                          "a dict",
                                          "an enumeration's member",
                                          "an object of a class",
                                          "a generator",
                                          "an object"};

}  // namespace

Value::Value(complex128 v) : tag_(Tag::Complex) { payload_.object = boxed(v); }

Value::Value(const Scalar& v) {
  switch (v.kind()) {
    case Scalar::Kind::Bool:
      *this = Value(v.to<bool>());
      break;
    case Scalar::Kind::Int:
      *this = Value(v.as_int());
      break;
    case Scalar::Kind::UInt:
      tag_ = Tag::UInt;
      payload_.integer = static_cast<int64_t>(v.to<uint64_t>());
      break;
    case Scalar::Kind::Float:
      *this = Value(v.as_double());
      break;
    case Scalar::Kind::Complex:
      *this = Value(v.to<complex128>());
  }
}

Value::Value(const Tensor& v) : tag_(v.defined() ? Tag::Tensor : Tag::None) {
  payload_.object = Tensor(v).detach_ref();
}
Value::Value(std::string_view v) : tag_(Tag::String) { payload_.object = boxed(std::string(v)); }
Value::Value(std::vector<int64_t> v) : tag_(Tag::IntList) { payload_.object = boxed(std::move(v)); }
Value::Value(std::vector<double> v) : tag_(Tag::FloatList) { payload_.object = boxed(std::move(v)); }
Value::Value(std::vector<Tensor> v) : tag_(Tag::TensorList) { payload_.object = boxed(std::move(v)); }
Value::Value(std::vector<Scalar> v) : tag_(Tag::ScalarList) { payload_.object = boxed(std::move(v)); }
Value::Value(IntList v) : Value(std::vector<int64_t>(v.begin(), v.end())) {}
Value::Value(std::span<const double> v) : Value(std::vector<double>(v.begin(), v.end())) {}
Value::Value(TensorList v) : Value(std::vector<Tensor>(v.begin(), v.end())) {}
Value::Value(std::span<const Scalar> v) : Value(std::vector<Scalar>(v.begin(), v.end())) {}

Value Value::bool_list(std::vector<int64_t> v) {
  Value list(std::move(v));
  list.tag_ = Tag::BoolList;
  return list;
}

Value::Value(Ref<Generator> v) : tag_(v ? Tag::Generator : Tag::None) { payload_.object = v.detach(); }

Value::Value(Ref<List> v) : tag_(v ? Tag::List : Tag::None) { payload_.object = v.detach(); }
Value::Value(Ref<Tuple> v) : tag_(v ? Tag::Tuple : Tag::None) { payload_.object = v.detach(); }
Value::Value(Ref<Dict> v) : tag_(v ? Tag::Dict : Tag::None) { payload_.object = v.detach(); }
Value::Value(Ref<EnumMember> v) : tag_(v ? Tag::Enum : Tag::None) { payload_.object = v.detach(); }
Value::Value(Ref<Instance> v) : tag_(v ? Tag::Instance : Tag::None) { payload_.object = v.detach(); }

Value Value::object(Ref<RefCounted> v) {
  Value value;
  value.tag_ = v ? Tag::Object : Tag::None;
  value.payload_.object = v.detach();
  return value;
}

void Value::wrong(Tag wanted) const {
  TAEDA_FAIL(Runtime, "a boxed argument should be ", kTagNames[static_cast<int>(wanted)], " and is ",
             kTagNames[static_cast<int>(tag_)]);
}

bool Value::to_bool() const {
  if (tag_ != Tag::Bool && tag_ != Tag::Int) wrong(Tag::Bool);
  return payload_.integer != 0;
}

int64_t Value::to_int() const {
  if (tag_ != Tag::Int && tag_ != Tag::Bool) wrong(Tag::Int);
  return payload_.integer;
}

double Value::to_float() const {
  if (tag_ == Tag::Float) return payload_.number;
  if (tag_ < Tag::Bool || tag_ > Tag::UInt) wrong(Tag::Float);
  return to_scalar().as_double();
}

Scalar Value::to_scalar() const {
  switch (tag_) {
    case Tag::Bool:
      return payload_.integer != 0;
    case Tag::Int:
      return payload_.integer;
    case Tag::UInt:
      return static_cast<uint64_t>(payload_.integer);
    case Tag::Float:
      return payload_.number;
    case Tag::Complex:
      return box<Box<complex128>>(Tag::Complex).value;
    default:
      wrong(Tag::Float);
  }
}

DType Value::to_dtype() const {
  if (tag_ != Tag::DType) wrong(Tag::DType);
  return static_cast<DType>(payload_.integer);
}

Device Value::to_device() const {
  if (tag_ != Tag::Device) wrong(Tag::Device);
  return {static_cast<DeviceType>(payload_.integer >> 8), static_cast<int8_t>(payload_.integer & 0xff)};
}

Layout Value::to_layout() const {
  if (tag_ != Tag::Layout) wrong(Tag::Layout);
  return static_cast<Layout>(payload_.integer);
}

MemoryFormat Value::to_memory_format() const {
  if (tag_ != Tag::MemoryFormat) wrong(Tag::MemoryFormat);
  return static_cast<MemoryFormat>(payload_.integer);
}

Tensor Value::to_tensor() const {
  if (tag_ == Tag::None) return Tensor();
  if (tag_ != Tag::Tensor) wrong(Tag::Tensor);
  return Tensor(Ref<TensorImpl>(tensor_impl()));
}

std::string_view Value::to_string() const { return box<Box<std::string>>(Tag::String).value; }

IntList Value::to_int_list() const { return int_items(); }
std::span<const double> Value::to_float_list() const { return float_items(); }
TensorList Value::to_tensor_list() const { return tensor_items(); }
std::span<const Scalar> Value::to_scalar_list() const { return scalar_items(); }

Ref<Generator> Value::to_generator() const {
  if (tag_ == Tag::None) return {};
  if (tag_ != Tag::Generator) wrong(Tag::Generator);
  return Ref<Generator>(static_cast<Generator*>(payload_.object));
}

List& Value::to_list() const { return box<List>(Tag::List); }
Tuple& Value::to_tuple() const { return box<Tuple>(Tag::Tuple); }
Dict& Value::to_dict() const { return box<Dict>(Tag::Dict); }
EnumMember& Value::to_enum() const { return box<EnumMember>(Tag::Enum); }
Instance& Value::to_instance() const { return box<Instance>(Tag::Instance); }

std::vector<int64_t>& Value::int_items() const {
  return box<Box<std::vector<int64_t>>>(tag_ == Tag::BoolList ? Tag::BoolList : Tag::IntList).value;
}
std::vector<double>& Value::float_items() const { return box<Box<std::vector<double>>>(Tag::FloatList).value; }
std::vector<Tensor>& Value::tensor_items() const { return box<Box<std::vector<Tensor>>>(Tag::TensorList).value; }
std::vector<Scalar>& Value::scalar_items() const { return box<Box<std::vector<Scalar>>>(Tag::ScalarList).value; }

bool Value::is_same(const Value& other) const {
  if (tag_ != other.tag_) return false;
  if (tag_ == Tag::None) return true;
  if (tag_ == Tag::Complex || tag_ == Tag::String || tag_ == Tag::Enum) return equal_values(*this, other);
  return payload_.integer == other.payload_.integer;
}

RefCounted* Value::to_object() const {
  if (tag_ != Tag::Object) wrong(Tag::Object);
  return payload_.object;
}

}  // namespace taeda
