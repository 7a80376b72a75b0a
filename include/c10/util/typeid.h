// What tensor.dtype() gives: a type of elements that compares with ScalarType.
#pragma once
#include <string_view>

#include <c10/core/ScalarType.h>

namespace caffe2 {

class TypeMeta {
 public:
  constexpr TypeMeta() = default;
  constexpr TypeMeta(c10::ScalarType type) : type_(type) {}
  static TypeMeta fromScalarType(c10::ScalarType type) { return type; }
  template <class T>
  static TypeMeta Make() {
    return c10::CppTypeToScalarType<T>::value;
  }
  template <class T>
  bool Match() const {
    return type_ == c10::CppTypeToScalarType<T>::value;
  }
  bool isScalarType() const { return type_ != c10::ScalarType::Undefined; }
  bool isScalarType(c10::ScalarType type) const { return type_ == type; }
  c10::ScalarType toScalarType() const { return type_; }
  size_t itemsize() const { return c10::elementSize(type_); }
  std::string_view name() const;
  c10::ScalarType id() const { return type_; }
  friend bool operator==(TypeMeta a, TypeMeta b) { return a.type_ == b.type_; }
  friend std::ostream& operator<<(std::ostream& out, TypeMeta type) { return out << type.name(); }

 private:
  c10::ScalarType type_ = c10::ScalarType::Undefined;
};

namespace detail {
// An integer's name as compilers give it.
constexpr std::string_view spelled(std::string_view type) {
  constexpr std::pair<std::string_view, std::string_view> kIntegers[] = {
      {"uint8_t", "unsigned char"},       {"int8_t", "signed char"}, {"int16_t", "short int"},
      {"uint16_t", "short unsigned int"}, {"int64_t", "long int"},   {"uint32_t", "unsigned int"},
      {"uint64_t", "long unsigned int"},
  };
  for (const auto& [name, spelling] : kIntegers)
    if (type == name) return spelling;
  return type;
}
}  // namespace detail

inline std::string_view TypeMeta::name() const {
  switch (type_) {
#define TAEDA_NAME(cpp, name, core) \
  case c10::ScalarType::name:       \
    return detail::spelled(#cpp);
    TAEDA_FORALL_SCALAR_TYPES(TAEDA_NAME)
#undef TAEDA_NAME
    default:
      return "nullptr (uninitialized)";
  }
}

}  // namespace caffe2

namespace c10 {
using caffe2::TypeMeta;
inline ScalarType typeMetaToScalarType(TypeMeta type) { return type.toScalarType(); }
inline TypeMeta scalarTypeToTypeMeta(ScalarType type) { return type; }
inline std::optional<ScalarType> optTypeMetaToScalarType(std::optional<TypeMeta> type) {
  return type ? std::optional(type->toScalarType()) : std::nullopt;
}
inline TypeMeta get_default_dtype() { return to_scalar_type(::taeda::default_dtype()); }
inline ScalarType get_default_dtype_as_scalartype() { return get_default_dtype().toScalarType(); }
inline void set_default_dtype(TypeMeta type) { ::taeda::set_default_dtype(to_dtype(type.toScalarType())); }
inline TypeMeta get_default_complex_dtype() { return toComplexType(get_default_dtype_as_scalartype()); }
}  // namespace c10
