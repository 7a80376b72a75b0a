// Python objects as schema values and back.
#pragma once
#include <span>

#include "python/exceptions.h"
#include "taeda/dispatch/op.h"

namespace taeda::python {

// The value of a parameter's default text, e.g. "[1, 1]", "None", "1e-05", "contiguous_format".
Value default_value(const Param& param);

// A single result as itself, none as None, several as a tuple.
PyObject* wrap_plain_results(std::span<Value> results);

// The object that programs know a bound function by: taeda.add, taeda.nn.functional.silu or Tensor.add. New reference.
PyObject* find_public_callable(const char* name, const char* where, bool is_method);

void set_requires_grad(const Tensor& tensor, bool value);

// "int[2]" and the like, for messages.
std::string type_name(const Param& param);

}  // namespace taeda::python
