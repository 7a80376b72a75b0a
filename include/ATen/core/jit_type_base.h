// The types of schemas and boxed values, with PyTorch's names for their questions.
//
//   if (auto list = value.type()->cast<c10::ListType>()) std::cout << list->getElementType()->repr_str();
#pragma once
#include <ostream>

#include <c10/util/Exception.h>
#include <taeda/dispatch/type.h>

namespace c10 {

struct Type;

// A pointer to a type, which lives as long as the process; equal types are the same object.
template <class T>
class SharedType {
 public:
  using element_type = const T;

  constexpr SharedType(std::nullptr_t = nullptr) {}
  SharedType(::taeda::TypePtr node) : node_(static_cast<const T*>(node)) {}
  template <class Derived>
    requires(std::is_base_of_v<T, Derived> && !std::is_same_v<T, Derived>)
  SharedType(SharedType<Derived> other) : node_(other.get()) {}

  const T* get() const { return node_; }
  const T* operator->() const { return node_; }
  const T& operator*() const { return *node_; }
  operator ::taeda::TypePtr() const { return node_; }
  explicit operator bool() const { return node_; }
  bool operator==(std::nullptr_t) const { return !node_; }

 private:
  const T* node_ = nullptr;
};
template <class A, class B>
bool operator==(SharedType<A> a, SharedType<B> b) {
  return static_cast<::taeda::TypePtr>(a) == static_cast<::taeda::TypePtr>(b);
}

using TypePtr = SharedType<Type>;

// PyTorch's names of kinds; values are the core's.
struct TypeKind {
  constexpr TypeKind(::taeda::TypeKind kind) : kind(kind) {}
  constexpr operator ::taeda::TypeKind() const { return kind; }
  ::taeda::TypeKind kind;
#define TAEDA_KIND(name, core) static constexpr ::taeda::TypeKind name = ::taeda::TypeKind::core
#define TAEDA_KIND_TYPE(name) TAEDA_KIND(name##Type, name)
  TAEDA_KIND_TYPE(Any);
  TAEDA_KIND_TYPE(Enum);
  TAEDA_KIND_TYPE(AnyEnum);
  TAEDA_KIND_TYPE(Tensor);
  TAEDA_KIND_TYPE(Storage);
  TAEDA_KIND_TYPE(Tuple);
  TAEDA_KIND_TYPE(List);
  TAEDA_KIND_TYPE(Dict);
  TAEDA_KIND_TYPE(Number);
  TAEDA_KIND_TYPE(Float);
  TAEDA_KIND_TYPE(Complex);
  TAEDA_KIND_TYPE(Future);
  TAEDA_KIND_TYPE(Await);
  TAEDA_KIND_TYPE(RRef);
  TAEDA_KIND_TYPE(Int);
  TAEDA_KIND_TYPE(None);
  TAEDA_KIND_TYPE(String);
  TAEDA_KIND_TYPE(Generator);
  TAEDA_KIND_TYPE(Quantizer);
  TAEDA_KIND_TYPE(Bool);
  TAEDA_KIND_TYPE(Optional);
  TAEDA_KIND_TYPE(Var);
  TAEDA_KIND(DeviceObjType, Device);
  TAEDA_KIND(StreamObjType, Stream);
  TAEDA_KIND_TYPE(Class);
  TAEDA_KIND_TYPE(Interface);
  TAEDA_KIND_TYPE(PyObject);
  TAEDA_KIND_TYPE(Capsule);
  TAEDA_KIND_TYPE(QScheme);
  TAEDA_KIND_TYPE(AnyList);
  TAEDA_KIND_TYPE(AnyTuple);
  TAEDA_KIND_TYPE(ScalarType);
  TAEDA_KIND_TYPE(Layout);
  TAEDA_KIND_TYPE(MemoryFormat);
  TAEDA_KIND_TYPE(AnyClass);
  TAEDA_KIND_TYPE(SymInt);
  TAEDA_KIND_TYPE(SymFloat);
  TAEDA_KIND_TYPE(SymBool);
  TAEDA_KIND_TYPE(Union);
#undef TAEDA_KIND_TYPE
#undef TAEDA_KIND
};
inline std::string typeKindToString(TypeKind kind) { return std::string(::taeda::kind_name(kind)); }

// The core's type; these structs add names, no members.
struct Type : ::taeda::Type {
  const std::string& annotation_str() const { return annotation(); }  // as Python spells it: List[int]
  const std::string& repr_str() const { return annotation(); }
  bool isSubtypeOf(const Type& other) const { return is_subtype_of(&other); }
  bool isSubtypeOf(TypePtr other) const { return is_subtype_of(other); }
  bool hasFreeVariables() const { return has_variables(); }
  bool operator==(const Type& other) const { return this == &other; }

  std::vector<TypePtr> containedTypes() const { return {contained().begin(), contained().end()}; }
  TypePtr containedType(size_t i) const { return contained(i); }
  size_t containedTypeSize() const { return contained().size(); }

  // Null, or an error, where it is of another kind.
  template <class T>
  SharedType<T> cast() const {
    return is(T::Kind) ? SharedType<T>(static_cast<::taeda::TypePtr>(this)) : nullptr;
  }
  template <class T>
  const T* castRaw() const {
    return cast<T>().get();
  }
  template <class T>
  SharedType<T> expect() const {
    TORCH_CHECK(is(T::Kind), "expect: a ", typeKindToString(T::Kind), " is wanted; got ", annotation());
    return cast<T>();
  }
};
inline std::ostream& operator<<(std::ostream& out, const Type& type) { return out << type.str(); }
inline bool operator!=(const Type& a, const Type& b) { return !(a == b); }

}  // namespace c10
