// A value of any type that schemas know: the core's boxed value with PyTorch's names for its questions.
#pragma once
#include <ATen/core/boxing.h>
#include <c10/util/SmallVector.h>

namespace torch::jit {
class Module;
}

namespace c10 {

namespace ivalue {
using Object = ::taeda::Instance;
struct Tuple;
struct ConstantString;
class Future;
}  // namespace ivalue

struct IValue : ::taeda::Value {
  using Base = ::taeda::Value;
  IValue() = default;
  IValue(const Base& value) : Base(value) {}
  IValue(Base&& value) : Base(std::move(value)) {}
  template <class T>
    requires(!std::is_base_of_v<Base, T>) && requires(const T& v) { detail::Box<T>::to(v); }
  IValue(const T& value) : Base(detail::Box<T>::to(value)) {}
  IValue(const char* text) : Base(text) {}

  bool isNone() const { return is_none(); }
  bool isTensor() const { return is_tensor(); }
  bool isInt() const { return tag() == Tag::Int; }
  bool isDouble() const { return tag() == Tag::Float; }
  bool isBool() const { return tag() == Tag::Bool; }
  bool isString() const { return tag() == Tag::String; }
  bool isScalar() const { return is_number(); }
  bool isComplexDouble() const { return tag() == Tag::Complex; }
  bool isDevice() const { return tag() == Tag::Device; }
  bool isGenerator() const { return tag() == Tag::Generator; }
  bool isTuple() const { return tag() == Tag::Tuple; }
  bool isList() const { return is_list(); }
  bool isIntList() const { return tag() == Tag::IntList; }
  bool isDoubleList() const { return tag() == Tag::FloatList; }
  bool isBoolList() const { return tag() == Tag::BoolList; }
  bool isTensorList() const { return tag() == Tag::TensorList; }
  bool isGenericDict() const { return tag() == Tag::Dict; }
  bool isObject() const { return tag() == Tag::Instance; }
  bool isCustomClass() const { return tag() == Tag::Instance || tag() == Tag::Object; }
  bool isFuture() const;
  bool isEnum() const { return tag() == Tag::Enum; }
  bool isSymInt() const { return isInt(); }
  bool isSymIntList() const { return isIntList(); }
  bool isUnsigned() const { return tag() == Tag::UInt; }

  at::Tensor toTensor() const { return to_tensor(); }
  std::optional<at::Tensor> toOptionalTensor() const { return is_none() ? std::nullopt : std::optional(toTensor()); }
  int64_t toInt() const { return to_int(); }
  int64_t toSymInt() const { return to_int(); }
  uint64_t toUInt() const { return toScalar().to<uint64_t>(); }
  double toDouble() const { return to_float(); }
  bool toBool() const { return to_bool(); }
  Scalar toScalar() const { return to_scalar(); }
  std::complex<double> toComplexDouble() const { return to_scalar().to<std::complex<double>>(); }
  std::string toStringRef() const { return std::string(to_string()); }
  intrusive_ptr<ivalue::ConstantString> toString() const;
  std::string_view toStringView() const { return to_string(); }
  std::optional<std::string> toOptionalStringRef() const {
    return is_none() ? std::nullopt : std::optional(toStringRef());
  }
  Device toDevice() const { return to_device(); }
  ScalarType toScalarType() const {
    return tag() == Tag::Int ? static_cast<ScalarType>(to_int()) : to_scalar_type(to_dtype());
  }
  Layout toLayout() const { return to_layout(); }
  MemoryFormat toMemoryFormat() const { return to_memory_format(); }
  at::Generator toGenerator() const { return at::Generator(to_generator()); }
  List<int64_t> toIntList() const { return List<int64_t>(*this); }
  List<double> toDoubleList() const { return List<double>(*this); }
  List<bool> toBoolList() const { return List<bool>(*this); }
  List<at::Tensor> toTensorList() const { return List<at::Tensor>(*this); }
  impl::GenericList toList() const { return impl::GenericList(*this); }
  impl::GenericDict toGenericDict() const { return impl::GenericDict(Ref<::taeda::Dict>(&to_dict())); }
  std::vector<int64_t> toIntVector() const { return toIntList().vec(); }
  std::vector<SymInt> toSymIntVector() const {
    std::vector<int64_t> items = toIntVector();
    return {items.begin(), items.end()};
  }
  at::DimVector toDimVector() const { return at::DimVector(IntArrayRef(toIntVector())); }
  std::vector<double> toDoubleVector() const { return toDoubleList().vec(); }
  std::vector<at::Tensor> toTensorVector() const { return toTensorList().vec(); }
  ArrayRef<IValue> toListRef() const {
    const std::vector<Base>& items = to_list().items;
    return {static_cast<const IValue*>(items.data()), items.size()};
  }
  intrusive_ptr<ivalue::Tuple> toTuple() const;
  ivalue::Tuple toTupleRef() const;  // a handle, as what toTuple() points to
  ivalue::Object& toObjectRef() const { return to_instance(); }
  intrusive_ptr<ivalue::Object> toObject() const { return Ref<ivalue::Object>(&to_instance()); }
  intrusive_ptr<ivalue::Future> toFuture() const;
  bool isModule() const { return isObject() && to_instance().type->is_module; }
  torch::jit::Module toModule() const;  // torch/jit.h
  template <class T>
  intrusive_ptr<T> toCustomClass() const {
    return detail::Box<intrusive_ptr<T>>::from(*this);
  }
  TypePtr type() const { return ::taeda::type_of(*this); }
  std::string tagKind() const;
  bool is(const IValue& other) const { return is_same(other); }
  bool isSameIdentity(const IValue& other) const { return is_same(other); }
  struct CompIdentityIValues {
    bool operator()(const IValue& a, const IValue& b) const { return a.is_same(b); }
  };
  // Whether both are tensors of one memory, or the same object.
  bool isAliasOf(const IValue& other) const {
    return isTensor() && other.isTensor() ? toTensor().is_alias_of(other.toTensor()) : isPtrType() && is_same(other);
  }
  // Whether it is held by a count.
  bool isPtrType() const { return tag() >= Tag::Tensor; }
  static size_t hash(const IValue& value) { return ::taeda::hash_value(value); }
  IValue equals(const IValue& other) const { return *this == other; }
  IValue hash() const { return static_cast<int64_t>(hash(*this)); }
  // With tensors, lists and objects of its own; what was one object stays one. Objects of C++ classes are copied by
  // their def_pickle.
  C10_API IValue deepcopy(std::optional<Device> device = std::nullopt) const;

  template <class T>
  T to() const {
    return detail::from_value<T>(*this);
  }
  template <class T>
  std::optional<T> toOptional() const {
    return is_none() ? std::nullopt : std::optional<T>(to<T>());
  }
  friend bool operator==(const IValue& a, const IValue& b) { return ::taeda::equal_values(a, b); }
  C10_API friend std::ostream& operator<<(std::ostream& out, const IValue& value);

 private:
  template <class T>
  using Ref = ::taeda::Ref<T>;
};
static_assert(sizeof(IValue) == sizeof(::taeda::Value));

namespace detail {
template <>
struct Box<IValue> {
  static Value to(const IValue& v) { return v; }
  static IValue from(const Value& v) { return v; }
  static TypePtr type() { return ::taeda::plain_type(TypeKind::Any); }
};
}  // namespace detail

namespace ivalue {
// A text as programs ask it: value.toString()->string().
struct ConstantString final : ::taeda::RefCounted {
  explicit ConstantString(std::string text) : text(std::move(text)) {}
  std::string text;
  const std::string& string() const { return text; }
  static intrusive_ptr<ConstantString> create(std::string text) {
    return make_intrusive<ConstantString>(std::move(text));
  }
};
// A tuple as programs ask it: a handle of the core's.
struct Tuple final : ::taeda::RefCounted {
  explicit Tuple(::taeda::Ref<::taeda::Tuple> tuple) : tuple(std::move(tuple)) {}
  ::taeda::Ref<::taeda::Tuple> tuple;

  ArrayRef<IValue> elements() const { return {static_cast<const IValue*>(tuple->items.data()), size()}; }
  size_t size() const { return tuple->items.size(); }
  static intrusive_ptr<Tuple> create(std::vector<IValue> elements) {
    std::vector<::taeda::Value> items(elements.begin(), elements.end());
    return make_intrusive<Tuple>(::taeda::make_ref<::taeda::Tuple>(std::move(items)));
  }
  template <class... Ts>
  static intrusive_ptr<Tuple> create(Ts&&... parts) {
    return create(std::vector<IValue>{IValue(std::forward<Ts>(parts))...});
  }
};
}  // namespace ivalue
namespace detail {
template <>
struct Box<intrusive_ptr<ivalue::Object>> {
  static Value to(const intrusive_ptr<ivalue::Object>& v) { return ::taeda::Ref<ivalue::Object>(v.get()); }
  static intrusive_ptr<ivalue::Object> from(const Value& v) { return ::taeda::Ref<ivalue::Object>(&v.to_instance()); }
  static TypePtr type() { return ::taeda::plain_type(TypeKind::AnyClass); }
};
template <>
struct Box<intrusive_ptr<ivalue::Tuple>> {
  static Value to(const intrusive_ptr<ivalue::Tuple>& v) { return v->tuple; }
  static intrusive_ptr<ivalue::Tuple> from(const Value& v) {
    return make_intrusive<ivalue::Tuple>(::taeda::Ref<::taeda::Tuple>(&v.to_tuple()));
  }
  static TypePtr type() { return ::taeda::plain_type(TypeKind::AnyTuple); }
};
}  // namespace detail
inline intrusive_ptr<ivalue::ConstantString> IValue::toString() const {
  return ivalue::ConstantString::create(toStringRef());
}
inline ivalue::Tuple IValue::toTupleRef() const { return ivalue::Tuple(::taeda::Ref<::taeda::Tuple>(&to_tuple())); }
inline intrusive_ptr<ivalue::Tuple> IValue::toTuple() const {
  return detail::Box<intrusive_ptr<ivalue::Tuple>>::from(*this);
}

using Stack = std::vector<IValue>;

}  // namespace c10
namespace at {
using c10::IValue;
}
namespace torch::jit {
using c10::IValue;
// Of boxed kernels: arguments in order, the last on top.
using Stack = std::vector<c10::IValue>;

inline IValue pop(Stack& stack) {
  IValue top = std::move(stack.back());
  stack.pop_back();
  return top;
}
inline IValue pop(Stack* stack) { return pop(*stack); }
// The last of the values first: pop(stack, a, b) undoes push(stack, a, b).
template <class... Types>
void pop(Stack& stack, Types&... args) {
  size_t at = stack.size() - sizeof...(args);
  ((args = stack[at++].template to<Types>()), ...);
  stack.resize(stack.size() - sizeof...(args));
}
template <class... Types>
void push(Stack& stack, Types&&... args) {
  (stack.emplace_back(std::forward<Types>(args)), ...);
}
template <class... Types>
void push(Stack* stack, Types&&... args) {
  push(*stack, std::forward<Types>(args)...);
}
// The i-th of the last n values.
inline IValue& peek(Stack& stack, size_t i, size_t n) { return stack[stack.size() - n + i]; }
inline c10::ArrayRef<IValue> last(const Stack& stack, size_t n) { return {stack.data() + stack.size() - n, n}; }
inline void drop(Stack& stack, size_t n) { stack.resize(stack.size() - n); }
inline void drop(Stack* stack, size_t n) { drop(*stack, n); }
}  // namespace torch::jit

#include <ATen/core/future.h>
