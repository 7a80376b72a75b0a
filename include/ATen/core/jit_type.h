// Each kind of type: those of one value each by get(), those made of others by create().
#pragma once
#include <ATen/core/ivalue.h>

namespace c10 {

#define TAEDA_PLAIN_TYPE(name, core)                                    \
  struct name : Type {                                                  \
    static constexpr ::taeda::TypeKind Kind = ::taeda::TypeKind::core;  \
    static SharedType<name> get() { return ::taeda::plain_type(Kind); } \
    static SharedType<name> create() { return get(); }                  \
  };                                                                    \
  using name##Ptr = SharedType<name>
TAEDA_PLAIN_TYPE(AnyType, Any);
TAEDA_PLAIN_TYPE(AnyClassType, AnyClass);
TAEDA_PLAIN_TYPE(AnyEnumType, AnyEnum);
TAEDA_PLAIN_TYPE(AnyListType, AnyList);
TAEDA_PLAIN_TYPE(AnyTupleType, AnyTuple);
TAEDA_PLAIN_TYPE(BoolType, Bool);
TAEDA_PLAIN_TYPE(CapsuleType, Capsule);
TAEDA_PLAIN_TYPE(ComplexType, Complex);
TAEDA_PLAIN_TYPE(DeviceObjType, Device);
TAEDA_PLAIN_TYPE(FloatType, Float);
TAEDA_PLAIN_TYPE(GeneratorType, Generator);
TAEDA_PLAIN_TYPE(IntType, Int);
TAEDA_PLAIN_TYPE(LayoutType, Layout);
TAEDA_PLAIN_TYPE(MemoryFormatType, MemoryFormat);
TAEDA_PLAIN_TYPE(NoneType, None);
TAEDA_PLAIN_TYPE(NumberType, Number);
TAEDA_PLAIN_TYPE(PyObjectType, PyObject);
TAEDA_PLAIN_TYPE(QSchemeType, QScheme);
TAEDA_PLAIN_TYPE(QuantizerType, Quantizer);
TAEDA_PLAIN_TYPE(ScalarTypeType, ScalarType);
TAEDA_PLAIN_TYPE(StorageType, Storage);
TAEDA_PLAIN_TYPE(StreamObjType, Stream);
TAEDA_PLAIN_TYPE(StringType, String);
TAEDA_PLAIN_TYPE(SymBoolType, SymBool);
TAEDA_PLAIN_TYPE(SymFloatType, SymFloat);
TAEDA_PLAIN_TYPE(SymIntType, SymInt);
TAEDA_PLAIN_TYPE(TensorType, Tensor);
#undef TAEDA_PLAIN_TYPE

// Made of one other.
#define TAEDA_TYPE_OF_ONE(name, core, make)                                            \
  struct name;                                                                         \
  using name##Ptr = SharedType<name>;                                                  \
  struct name : Type {                                                                 \
    static constexpr ::taeda::TypeKind Kind = ::taeda::TypeKind::core;                 \
    static SharedType<name> create(TypePtr element) { return ::taeda::make(element); } \
    TypePtr getElementType() const { return contained(0); }                            \
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

struct DictType : Type {
  static constexpr ::taeda::TypeKind Kind = ::taeda::TypeKind::Dict;
  static SharedType<DictType> create(TypePtr key, TypePtr value) { return ::taeda::dict_type(key, value); }
  TypePtr getKeyType() const { return contained(0); }
  TypePtr getValueType() const { return contained(1); }
};
struct TupleType : Type {
  static constexpr ::taeda::TypeKind Kind = ::taeda::TypeKind::Tuple;
  static SharedType<TupleType> create(const std::vector<TypePtr>& elements) {
    return ::taeda::tuple_type({elements.begin(), elements.end()});
  }
  std::vector<TypePtr> elements() const { return containedTypes(); }
};
struct UnionType : Type {
  static constexpr ::taeda::TypeKind Kind = ::taeda::TypeKind::Union;
  static TypePtr create(const std::vector<TypePtr>& members) {  // of one member alone, or of it and None, no union
    return ::taeda::union_type({members.begin(), members.end()});
  }
};
struct VarType : Type {
  static constexpr ::taeda::TypeKind Kind = ::taeda::TypeKind::Var;
  static SharedType<VarType> create(std::string name) { return ::taeda::variable_type(std::move(name)); }
};
struct ClassType : Type {
  static constexpr ::taeda::TypeKind Kind = ::taeda::TypeKind::Class;
};
struct EnumType : Type {
  static constexpr ::taeda::TypeKind Kind = ::taeda::TypeKind::Enum;
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
// The least type that covers both, if there is one.
inline std::optional<TypePtr> unifyTypes(TypePtr a, TypePtr b, bool or_union = false) {
  ::taeda::TypePtr both = ::taeda::unify(a, b, or_union);
  return both ? std::optional<TypePtr>(both) : std::nullopt;
}

}  // namespace c10
