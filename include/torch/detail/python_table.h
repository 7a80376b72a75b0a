// What Taeda's Python module gives to extensions: a table of functions, found when one is first needed, so that an
// extension links with no Python module.
#pragma once
#include <taeda/core/generator.h>
#include <taeda/core/storage.h>
#include <taeda/core/tensor.h>
#include <taeda/dispatch/type.h>
#include <taeda/dispatch/value.h>
#include <taeda/distributed/process_group.h>

struct _object;

namespace torch::detail {

struct PythonTable {
  using Object = ::_object;
  // New references; None for an undefined tensor.
  Object* (*wrap_tensor)(const ::taeda::Tensor& tensor);
  Object* (*wrap_value)(const ::taeda::Value& value);
  Object* (*wrap_storage)(const ::taeda::Storage& storage);
  // What an object is.
  bool (*is_tensor)(Object* object);
  bool (*is_dtype)(Object* object);
  bool (*is_device)(Object* object);
  bool (*is_layout)(Object* object);
  bool (*is_memory_format)(Object* object);
  bool (*is_generator)(Object* object);
  bool (*is_storage)(Object* object);
  // Of an object that is one; the tensor is borrowed.
  const ::taeda::Tensor* (*unwrap)(Object* object);
  ::taeda::DType (*to_dtype)(Object* object);
  ::taeda::Device (*to_device)(Object* object);
  ::taeda::Layout (*to_layout)(Object* object);
  ::taeda::MemoryFormat (*to_memory_format)(Object* object);
  ::taeda::Ref<::taeda::Generator> (*to_generator)(Object* object);
  ::taeda::Storage (*to_storage)(Object* object);
  bool (*read_number)(Object* object, ::taeda::Scalar& number);
  // As a value of the type; false when it is none.
  bool (*read_value)(Object* object, ::taeda::TypePtr type, ::taeda::Value& value);
  // Sets Python's error for the C++ exception that is being handled.
  void (*translate_exception)();
  // The type object of tensors.
  Object* (*tensor_class)();
  // Of a store, with its timeout in ms; null for another object.
  ::taeda::Ref<::taeda::distributed::Store> (*to_store)(Object* object, int64_t& timeout);
  Object* (*wrap_store)(const ::taeda::Ref<::taeda::distributed::Store>& store);
  // Of the handle of an engine's group; null for another object.
  ::taeda::Ref<::taeda::distributed::ProcessGroup> (*to_engine)(Object* object);
};
constexpr const char* kPythonTable = "taeda._C._cpp_api";

}  // namespace torch::detail
