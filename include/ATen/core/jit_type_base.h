// The types of schemas and boxed values, with PyTorch's names for their questions.
//
//   if (auto list = value.type()->cast<c10::ListType>()) std::cout << list->getElementType()->repr_str();
#pragma once
#include <ostream>

#include <c10/util/Exception.h>
#include <taeda/dispatch/type.h>

namespace c10 {

struct Type;
namespace detail {
TORCH_API const Type& shown(::taeda::TypePtr node);  // of the struct of its kind; lives for ever
}

// A pointer to a type, which lives as long as the process; equal types are the same object.
template <class T>
class SharedType {
 public:
  using element_type = const T;

  constexpr SharedType(std::nullptr_t = nullptr) {}
  SharedType(::taeda::TypePtr node) : node_(T::shows(node) ? node : nullptr) {}
  SharedType(const T* type) : node_(type ? type->node() : nullptr) {}
  template <class Derived>
    requires(std::is_base_of_v<T, Derived> && !std::is_same_v<T, Derived>)
  SharedType(SharedType<Derived> other) : node_(other) {}

  const T* get() const { return node_ ? static_cast<const T*>(&detail::shown(node_)) : nullptr; }
  const T* operator->() const { return get(); }
  const T& operator*() const { return *get(); }
  operator ::taeda::TypePtr() const { return node_; }
  explicit operator bool() const { return node_; }
  bool operator==(std::nullptr_t) const { return !node_; }

 private:
  ::taeda::TypePtr node_ = nullptr;
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

// PyTorch's names for what the core's type answers; the structs of its kinds add more.
struct Type {
  explicit Type(::taeda::TypePtr node) : node_(node) {}
  Type(const Type&) = delete;
  ::taeda::TypePtr node() const { return node_; }
  static bool shows(::taeda::TypePtr) { return true; }

  TypeKind kind() const { return node_->kind(); }
  const std::string& str() const { return node_->str(); }                    // as schemas spell it: int[]
  const std::string& annotation_str() const { return node_->annotation(); }  // as Python does: List[int]
  const std::string& repr_str() const { return annotation_str(); }
  bool isSubtypeOf(const Type& other) const { return node_->is_subtype_of(other.node_); }
  bool isSubtypeOf(TypePtr other) const { return node_->is_subtype_of(other); }
  bool hasFreeVariables() const { return node_->has_variables(); }
  bool operator==(const Type& other) const { return node_ == other.node_; }

  std::vector<TypePtr> containedTypes() const { return {node_->contained().begin(), node_->contained().end()}; }
  TypePtr containedType(size_t i) const { return node_->contained(i); }
  size_t containedTypeSize() const { return node_->contained().size(); }

  // Null, or an error, where it is of another kind.
  template <class T>
  SharedType<T> cast() const {
    return node_;
  }
  template <class T>
  const T* castRaw() const {
    return cast<T>().get();
  }
  template <class T>
  SharedType<T> expect() const {
    TORCH_CHECK(T::shows(node_), "expect: a ", typeKindToString(T::Kind), " is wanted; got ", annotation_str());
    return node_;
  }

 private:
  ::taeda::TypePtr node_;
};

// Whose types are all of one kind.
template <::taeda::TypeKind K>
struct TypeOfKind : Type {
  using Type::Type;
  static constexpr ::taeda::TypeKind Kind = K;
  static bool shows(::taeda::TypePtr node) { return node && node->is(K); }
};
inline std::ostream& operator<<(std::ostream& out, const Type& type) { return out << type.str(); }
inline bool operator!=(const Type& a, const Type& b) { return !(a == b); }

}  // namespace c10
