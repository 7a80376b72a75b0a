// A boxed argument: what schemas can say, in 16 bytes. Boxed calls pass a stack of them. Lists of what kernels take are
// flat; lists and dicts are references, as Python's are.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "taeda/core/generator.h"
#include "taeda/core/tensor.h"

namespace taeda {

class List;  // collections.h
class Tuple;
class Dict;
class Instance;
class EnumMember;

class TAEDA_API Value {
 public:
  enum class Tag : uint8_t {
    None,
    Bool,
    Int,
    UInt,
    Float,
    Complex,
    DType,
    Device,
    Layout,
    MemoryFormat,
    Tensor,
    String,
    IntList,
    FloatList,
    BoolList,
    TensorList,
    ScalarList,
    List,  // of anything else
    Tuple,
    Dict,
    Enum,
    Instance,  // of a class
    Generator,
    Object  // a foreign one, as Python's
  };

  Value() = default;
  Value(bool v) : tag_(Tag::Bool) { payload_.integer = v; }
  Value(int v) : Value(static_cast<int64_t>(v)) {}
  Value(int64_t v) : tag_(Tag::Int) { payload_.integer = v; }
  Value(double v) : tag_(Tag::Float) { payload_.number = v; }
  Value(complex128 v);
  Value(DType v) : tag_(Tag::DType) { payload_.integer = static_cast<int>(v); }
  Value(Device v) : tag_(Tag::Device) {
    payload_.integer = static_cast<int>(v.type) << 8 | static_cast<uint8_t>(v.index);
  }
  Value(Layout v) : tag_(Tag::Layout) { payload_.integer = static_cast<int>(v); }
  Value(MemoryFormat v) : tag_(Tag::MemoryFormat) { payload_.integer = static_cast<int>(v); }
  Value(const Scalar& v);
  Value(const Tensor& v);
  Value(std::string_view v);
  Value(const char* v) : Value(std::string_view(v)) {}  // or it would become a bool
  Value(std::vector<int64_t> v);
  Value(std::vector<double> v);
  Value(std::vector<Tensor> v);
  Value(std::vector<Scalar> v);
  Value(IntList v);
  Value(std::span<const double> v);
  Value(TensorList v);
  Value(std::span<const Scalar> v);
  static Value bool_list(std::vector<int64_t> v);
  Value(Ref<Generator> v);
  Value(Ref<List> v);
  Value(Ref<Tuple> v);
  Value(Ref<Dict> v);
  Value(Ref<EnumMember> v);
  Value(Ref<Instance> v);
  template <class T>
  Value(const std::optional<T>& v) : Value(v ? Value(*v) : Value()) {}
  static Value object(Ref<RefCounted> v);

  Value(const Value& other) : payload_(other.payload_), tag_(other.tag_) {
    if (is_counted()) payload_.object->retain();
  }
  Value(Value&& other) noexcept : payload_(other.payload_), tag_(std::exchange(other.tag_, Tag::None)) {}
  Value& operator=(Value other) noexcept {
    std::swap(payload_, other.payload_);
    std::swap(tag_, other.tag_);
    return *this;
  }
  ~Value() {
    if (is_counted()) payload_.object->release();
  }

  Tag tag() const { return tag_; }
  bool is_none() const { return tag_ == Tag::None; }
  bool is_tensor() const { return tag_ == Tag::Tensor; }
  bool is_number() const { return tag_ >= Tag::Bool && tag_ <= Tag::Complex; }
  bool is_list() const { return tag_ >= Tag::IntList && tag_ <= Tag::List; }

  // Each checks the tag; a wrong one is a RuntimeError that names both.
  bool to_bool() const;
  int64_t to_int() const;
  double to_float() const;
  Scalar to_scalar() const;
  DType to_dtype() const;
  Device to_device() const;
  Layout to_layout() const;
  MemoryFormat to_memory_format() const;
  Tensor to_tensor() const;  // None gives the undefined tensor
  TensorImpl* tensor_impl() const { return tag_ == Tag::Tensor ? static_cast<TensorImpl*>(payload_.object) : nullptr; }
  std::string_view to_string() const;
  IntList to_int_list() const;  // also of a bool list
  std::span<const double> to_float_list() const;
  TensorList to_tensor_list() const;  // an absent optional tensor is undefined
  std::span<const Scalar> to_scalar_list() const;
  Ref<Generator> to_generator() const;
  RefCounted* to_object() const;
  List& to_list() const;
  Tuple& to_tuple() const;
  Dict& to_dict() const;
  EnumMember& to_enum() const;
  Instance& to_instance() const;

  // What a flat list holds, to be changed: lists are shared references, and whoever holds this one sees it.
  std::vector<int64_t>& int_items() const;  // also of a bool list
  std::vector<double>& float_items() const;
  std::vector<Tensor>& tensor_items() const;
  std::vector<Scalar>& scalar_items() const;
  // Whether both are the same number or the very same object: Python's `is`.
  bool is_same(const Value& other) const;

 private:
  bool is_counted() const { return tag_ >= Tag::Tensor || tag_ == Tag::Complex; }
  template <class Box>
  Box& box(Tag wanted) const {
    if (tag_ != wanted) [[unlikely]]
      wrong(wanted);
    return *static_cast<Box*>(payload_.object);
  }
  [[noreturn]] void wrong(Tag wanted) const;
  union {
    int64_t integer;
    double number;
    RefCounted* object;
  } payload_{0};
  Tag tag_ = Tag::None;
};
using Stack = std::vector<Value>;

}  // namespace taeda
