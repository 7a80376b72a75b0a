// C++ values as boxed ones and back: one struct for each kind of type.
#pragma once
#include <map>
#include <typeindex>
#include <unordered_map>

#include <ATen/core/Tensor.h>
#include <ATen/core/jit_type_base.h>
#include <taeda/dispatch/type.h>

namespace torch {
// What a class that programs shall know by torch::class_ derives from.
struct CustomClassHolder : c10::intrusive_ptr_target {};
}  // namespace torch

namespace c10 {

namespace detail {

using ::taeda::TypeKind;
using ::taeda::TypePtr;
using ::taeda::Value;

// Objects of custom classes; torch/custom_class.h registers which class goes by which name.
C10_API Value custom_instance(std::type_index type, ::taeda::Ref<::taeda::RefCounted> object);
C10_API ::taeda::RefCounted* custom_object(const Value& value);
C10_API TypePtr custom_type(std::type_index type);

template <class T>
struct Box;

// Of a type whose values the core boxes itself: from its C++ type, how it is read, which kind of type it is.
#define TAEDA_BOX(T, KIND, TO, FROM)                                      \
  template <>                                                             \
  struct Box<T> {                                                         \
    static Value to(const T& v) { return TO; }                            \
    static T from(const Value& v) { return FROM; }                        \
    static TypePtr type() { return ::taeda::plain_type(TypeKind::KIND); } \
  };
TAEDA_BOX(at::Tensor, Tensor, static_cast<const ::taeda::Tensor&>(v), v.to_tensor())
TAEDA_BOX(::taeda::Tensor, Tensor, v, v.to_tensor())
TAEDA_BOX(bool, Bool, v, v.to_bool())
TAEDA_BOX(Scalar, Number, static_cast<const ::taeda::Scalar&>(v), v.to_scalar())
TAEDA_BOX(std::string, String, std::string_view(v), std::string(v.to_string()))
TAEDA_BOX(std::string_view, String, v, v.to_string())
TAEDA_BOX(ScalarType, ScalarType, to_dtype(v), to_scalar_type(v.to_dtype()))
TAEDA_BOX(Device, Device, static_cast<const ::taeda::Device&>(v), v.to_device())
TAEDA_BOX(Layout, Layout, v, v.to_layout())
TAEDA_BOX(MemoryFormat, MemoryFormat, v, v.to_memory_format())
TAEDA_BOX(at::Generator, Generator, v.ref(), at::Generator(v.to_generator()))
TAEDA_BOX(SymInt, SymInt, int64_t(v), v.to_int())
TAEDA_BOX(std::complex<double>, Complex, v, v.to_scalar().to<std::complex<double>>())
#undef TAEDA_BOX
template <>
struct Box<Value> {
  static Value to(const Value& v) { return v; }
  static Value from(const Value& v) { return v; }
  static TypePtr type() { return ::taeda::plain_type(TypeKind::Any); }
};
template <>
struct Box<std::nullopt_t> {
  static Value to(std::nullopt_t) { return {}; }
};
template <class T>
  requires std::is_integral_v<T>
struct Box<T> {
  static Value to(T v) { return static_cast<int64_t>(v); }
  static T from(const Value& v) { return static_cast<T>(v.to_int()); }
  static TypePtr type() { return ::taeda::plain_type(TypeKind::Int); }
};
template <class T>
  requires std::is_floating_point_v<T>
struct Box<T> {
  static Value to(T v) { return static_cast<double>(v); }
  static T from(const Value& v) { return static_cast<T>(v.to_float()); }
  static TypePtr type() { return ::taeda::plain_type(TypeKind::Float); }
};
template <class T>
struct Box<std::optional<T>> {
  static Value to(const std::optional<T>& v) { return v ? Box<T>::to(*v) : Value(); }
  static std::optional<T> from(const Value& v) {
    if constexpr (std::is_same_v<T, at::Tensor>) {
      if (v.is_tensor() && !v.tensor_impl()) return std::nullopt;
    }
    return v.is_none() ? std::nullopt : std::optional<T>(Box<T>::from(v));
  }
  static TypePtr type() { return ::taeda::optional_type(Box<T>::type()); }
};

// Lists: flat ones of what kernels take, others item by item.
template <class Items, class T>
struct BoxItems {
  static Value to(const Items& items) {
    ::taeda::ListRef list = ::taeda::ListRef::of(Box<T>::type());
    for (const T& item : items) list.append(Box<T>::to(item));
    return list.value();
  }
  static TypePtr type() { return ::taeda::list_type(Box<T>::type()); }
};
template <class T>
struct Box<std::vector<T>> : BoxItems<std::vector<T>, T> {
  static std::vector<T> from(const Value& v) {
    ::taeda::ListRef list(v);
    std::vector<T> items;
    items.reserve(list.size());
    for (size_t i = 0; i < list.size(); ++i) items.push_back(Box<T>::from(list.get(i)));
    return items;
  }
};
template <class T, size_t N>
struct Box<std::array<T, N>> : BoxItems<std::array<T, N>, T> {
  static std::array<T, N> from(const Value& v) {
    std::vector<T> items = Box<std::vector<T>>::from(v);
    TORCH_CHECK(items.size() == N, "expected a list of ", N, " items; got ", items.size());
    std::array<T, N> made;
    std::move(items.begin(), items.end(), made.begin());
    return made;
  }
};
template <class T>
struct Box<ArrayRef<T>> : BoxItems<ArrayRef<T>, T> {};
template <class T>
struct Box<OptionalArrayRef<T>> {
  static Value to(const OptionalArrayRef<T>& v) { return v ? Box<ArrayRef<T>>::to(*v) : Value(); }
  static TypePtr type() { return ::taeda::optional_type(Box<ArrayRef<T>>::type()); }
};
template <class T>
struct Box<List<T>> {
  static Value to(const List<T>& v) { return v.value(); }
  static List<T> from(const Value& v) { return List<T>(v); }
  static TypePtr type() { return ::taeda::list_type(Box<T>::type()); }
};
template <class K, class V>
struct Box<Dict<K, V>> {
  static Value to(const Dict<K, V>& v) { return v.value(); }
  static Dict<K, V> from(const Value& v) { return Dict<K, V>(::taeda::Ref<::taeda::Dict>(&v.to_dict())); }
  static TypePtr type() { return ::taeda::dict_type(Box<K>::type(), Box<V>::type()); }
};
template <class Map, class K, class V>
struct BoxMap {
  static Value to(const Map& map) {
    auto dict = ::taeda::make_ref<::taeda::Dict>(Box<K>::type(), Box<V>::type());
    for (const auto& [key, value] : map) dict->set(Box<K>::to(key), Box<V>::to(value));
    return dict;
  }
  static Map from(const Value& v) {
    Map map;
    for (const auto& [key, value] : v.to_dict().entries()) map.emplace(Box<K>::from(key), Box<V>::from(value));
    return map;
  }
  static TypePtr type() { return ::taeda::dict_type(Box<K>::type(), Box<V>::type()); }
};
template <class K, class V>
struct Box<std::unordered_map<K, V>> : BoxMap<std::unordered_map<K, V>, K, V> {};
template <class K, class V>
struct Box<std::map<K, V>> : BoxMap<std::map<K, V>, K, V> {};
template <class... Ts>
struct Box<std::tuple<Ts...>> {
  static Value to(const std::tuple<Ts...>& v) {
    return std::apply(
        [](const Ts&... parts) {
          return Value(::taeda::make_ref<::taeda::Tuple>(std::vector<Value>{Box<Ts>::to(parts)...}));
        },
        v);
  }
  static std::tuple<Ts...> from(const Value& v) {
    const std::vector<Value>& items = v.to_tuple().items;
    TORCH_CHECK(items.size() == sizeof...(Ts), "expected a tuple of ", sizeof...(Ts), " items; got ", items.size());
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return std::tuple<Ts...>(Box<Ts>::from(items[I])...);
    }(std::index_sequence_for<Ts...>());
  }
  static TypePtr type() { return ::taeda::tuple_type({Box<Ts>::type()...}); }
};
template <class A, class B>
struct Box<std::pair<A, B>> {
  using Both = Box<std::tuple<A, B>>;
  static Value to(const std::pair<A, B>& v) { return Both::to({v.first, v.second}); }
  static std::pair<A, B> from(const Value& v) {
    auto [a, b] = Both::from(v);
    return {std::move(a), std::move(b)};
  }
  static TypePtr type() { return Both::type(); }
};
template <class T>
struct Box<intrusive_ptr<T>> {
  static Value to(const intrusive_ptr<T>& v) {
    return v.defined() ? custom_instance(typeid(T), ::taeda::Ref<::taeda::RefCounted>(v.get())) : Value();
  }
  static intrusive_ptr<T> from(const Value& v) {
    T* object = dynamic_cast<T*>(custom_object(v));
    TORCH_CHECK(object, "the value is no object of the class that was asked for");
    return intrusive_ptr<T>::reclaim_copy(object);
  }
  static TypePtr type() { return custom_type(typeid(T)); }
};

// Arguments of kernels: views of what the boxed list holds, where it is flat.
template <class T>
struct Argument {
  std::remove_cvref_t<T> held;
  explicit Argument(const Value& v) : held(Box<std::remove_cvref_t<T>>::from(v)) {}
  T get() { return static_cast<T>(held); }
};
template <class T>
struct Argument<T&> {
  std::remove_const_t<T> held;
  explicit Argument(const Value& v) : held(Box<std::remove_const_t<T>>::from(v)) {}
  T& get() { return held; }
};
template <>
struct Argument<IntArrayRef> {
  ::taeda::IntList held;
  explicit Argument(const Value& v) : held(v.to_int_list()) {}
  IntArrayRef get() const { return {held.data(), held.size()}; }
};
template <>
struct Argument<ArrayRef<double>> {
  std::span<const double> held;
  explicit Argument(const Value& v) : held(v.to_float_list()) {}
  ArrayRef<double> get() const { return {held.data(), held.size()}; }
};
template <>
struct Argument<at::TensorList> {
  ::taeda::TensorList held;
  explicit Argument(const Value& v) : held(v.to_tensor_list()) {}
  at::TensorList get() const { return {static_cast<const at::Tensor*>(held.data()), held.size()}; }
};
template <class T>
struct Argument<ArrayRef<T>> {
  std::vector<T> held;
  explicit Argument(const Value& v) : held(Box<std::vector<T>>::from(v)) {}
  ArrayRef<T> get() const { return held; }
};
template <class T>
struct Argument<std::optional<ArrayRef<T>>> {
  std::optional<Argument<ArrayRef<T>>> held;
  explicit Argument(const Value& v) {
    if (!v.is_none()) held.emplace(v);
  }
  std::optional<ArrayRef<T>> get() { return held ? std::optional(held->get()) : std::nullopt; }
};
template <class T>
struct Argument<OptionalArrayRef<T>> : Argument<std::optional<ArrayRef<T>>> {
  using Argument<std::optional<ArrayRef<T>>>::Argument;
  OptionalArrayRef<T> get() { return Argument<std::optional<ArrayRef<T>>>::get(); }
};
template <class T>
struct Argument<const ArrayRef<T>&> : Argument<ArrayRef<T>> {
  using Argument<ArrayRef<T>>::Argument;
};
template <class T>
struct Argument<const OptionalArrayRef<T>&> : Argument<OptionalArrayRef<T>> {
  using Argument<OptionalArrayRef<T>>::Argument;
};

template <class T>
Value to_value(const T& value) {
  return Box<T>::to(value);
}
template <class T>
T from_value(const Value& value) {
  return Box<T>::from(value);
}
template <class T>
TypePtr type_of() {
  return Box<T>::type();
}

}  // namespace detail
}  // namespace c10
