// Each kind of type: those of one value each by get(), those made of others by create().
#pragma once
#include <ATen/core/ivalue.h>

namespace c10 {

// Of one value each.
// clang-format off
#define TAEDA_PLAIN_TYPES(_) \
  _(AnyType, Any) _(AnyClassType, AnyClass) _(AnyEnumType, AnyEnum) _(AnyListType, AnyList) \
  _(AnyTupleType, AnyTuple) _(BoolType, Bool) _(CapsuleType, Capsule) _(ComplexType, Complex) \
  _(DeviceObjType, Device) _(FloatType, Float) _(GeneratorType, Generator) _(IntType, Int) \
  _(LayoutType, Layout) _(MemoryFormatType, MemoryFormat) _(NoneType, None) _(NumberType, Number) \
  _(PyObjectType, PyObject) _(QSchemeType, QScheme) _(QuantizerType, Quantizer) _(ScalarTypeType, ScalarType) \
  _(StorageType, Storage) _(StreamObjType, Stream) _(StringType, String) _(SymBoolType, SymBool) \
  _(SymFloatType, SymFloat) _(SymIntType, SymInt) _(TensorType, Tensor)
// clang-format on
#define TAEDA_PLAIN_TYPE(name, core)                                    \
  struct name : TypeOfKind<::taeda::TypeKind::core> {                   \
    using TypeOfKind::TypeOfKind;                                       \
    static SharedType<name> get() { return ::taeda::plain_type(Kind); } \
    static SharedType<name> create() { return get(); }                  \
  };                                                                    \
  using name##Ptr = SharedType<name>;
TAEDA_PLAIN_TYPES(TAEDA_PLAIN_TYPE)
#undef TAEDA_PLAIN_TYPE

// "__torch__.net.Block": words with dots between them.
class QualifiedName {
 public:
  QualifiedName(std::string text) : text_(std::move(text)) {}
  QualifiedName(const char* text) : text_(text) {}
  QualifiedName(const QualifiedName& prefix, const std::string& name) : text_(prefix.text_ + "." + name) {}
  const std::string& qualifiedName() const { return text_; }
  std::string name() const { return text_.substr(text_.rfind('.') + 1); }
  std::string prefix() const { return text_.substr(0, text_.size() - std::min(text_.size(), name().size() + 1)); }
  bool operator==(const QualifiedName& other) const = default;

 private:
  std::string text_;
};

// Made of one other.
#define TAEDA_TYPE_OF_ONE(name, core, make)                                            \
  struct name;                                                                         \
  using name##Ptr = SharedType<name>;                                                  \
  struct name : TypeOfKind<::taeda::TypeKind::core> {                                  \
    using TypeOfKind::TypeOfKind;                                                      \
    static SharedType<name> create(TypePtr element) { return ::taeda::make(element); } \
    TypePtr getElementType() const { return containedType(0); }                        \
    static SharedType<name> ofTensors() { return create(TensorType::get()); }          \
    static SharedType<name> ofTensor() { return create(TensorType::get()); }           \
    static SharedType<name> ofInts() { return create(IntType::get()); }                \
    static SharedType<name> ofFloats() { return create(FloatType::get()); }            \
    static SharedType<name> ofBools() { return create(BoolType::get()); }              \
    static SharedType<name> ofStrings() { return create(StringType::get()); }          \
    static SharedType<name> ofComplexDoubles() { return create(ComplexType::get()); }  \
    static SharedType<name> ofNumbers() { return create(NumberType::get()); }          \
  }
TAEDA_TYPE_OF_ONE(ListType, List, list_type);
TAEDA_TYPE_OF_ONE(OptionalType, Optional, optional_type);
TAEDA_TYPE_OF_ONE(FutureType, Future, future_type);
TAEDA_TYPE_OF_ONE(AwaitType, Await, await_type);
TAEDA_TYPE_OF_ONE(RRefType, RRef, rref_type);
#undef TAEDA_TYPE_OF_ONE

struct DictType : TypeOfKind<::taeda::TypeKind::Dict> {
  using TypeOfKind::TypeOfKind;
  static SharedType<DictType> create(TypePtr key, TypePtr value) { return ::taeda::dict_type(key, value); }
  TypePtr getKeyType() const { return containedType(0); }
  TypePtr getValueType() const { return containedType(1); }
};
struct TupleType : TypeOfKind<::taeda::TypeKind::Tuple> {
  using TypeOfKind::TypeOfKind;
  static SharedType<TupleType> create(const std::vector<TypePtr>& elements) {
    return ::taeda::tuple_type({elements.begin(), elements.end()});
  }
  std::vector<TypePtr> elements() const { return containedTypes(); }
};
struct UnionType : TypeOfKind<::taeda::TypeKind::Union> {
  using TypeOfKind::TypeOfKind;
  static TypePtr create(const std::vector<TypePtr>& members) {  // of one member alone, or of it and None, no union
    return ::taeda::union_type({members.begin(), members.end()});
  }
};
struct VarType : TypeOfKind<::taeda::TypeKind::Var> {
  using TypeOfKind::TypeOfKind;
  static SharedType<VarType> create(std::string name) { return ::taeda::variable_type(std::move(name)); }
};
struct ClassType : TypeOfKind<::taeda::TypeKind::Class> {
  using TypeOfKind::TypeOfKind;
  std::optional<QualifiedName> name() const { return QualifiedName(str()); }
};
struct EnumType : TypeOfKind<::taeda::TypeKind::Enum> {
  using TypeOfKind::TypeOfKind;
};
using DictTypePtr = SharedType<DictType>;
using TupleTypePtr = SharedType<TupleType>;
using UnionTypePtr = SharedType<UnionType>;
using VarTypePtr = SharedType<VarType>;
using ClassTypePtr = SharedType<ClassType>;
using EnumTypePtr = SharedType<EnumType>;

// The type of boxed values of a C++ type.
template <class T>
TypePtr getTypePtr() {
  return detail::Box<std::decay_t<T>>::type();
}
// That of a class: getCustomClassType<c10::intrusive_ptr<Mine>>(). An error if it was not registered.
template <class T>
ClassTypePtr getCustomClassType() {
  return detail::Box<std::decay_t<T>>::type();
}
// The least type that covers both, if there is one.
inline std::optional<TypePtr> unifyTypes(TypePtr a, TypePtr b, bool or_union = false) {
  ::taeda::TypePtr both = ::taeda::unify(a, b, or_union);
  return both ? std::optional<TypePtr>(both) : std::nullopt;
}

}  // namespace c10
