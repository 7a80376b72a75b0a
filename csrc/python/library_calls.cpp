// Boxed calls that are answered by Python: arguments as a program would write them, results as the schema says.
#include <unordered_map>

#include "python/convert_value.h"
#include "python/items.h"
#include "python/op_objects.h"
#include "python/parser.h"
#include "python/types.h"
#include "taeda/dispatch/schema.h"

namespace taeda::python {

namespace {

// What a schema's text says beyond its constant data, read when Python first serves the op. Kept as ops are: forever.
struct Result {
  Param param;
  TypePtr type;
};
struct OpFacts {
  Schema schema;  // owns what `results` points to
  std::vector<Result> results;
  std::vector<PyObject*> names;     // interned, by parameter
  std::vector<PyObject*> defaults;  // null without one
};

Result result_param(const SchemaArgument& result) {
  ArgType type = arg_type(result.type);
  bool absent_allowed = result.is_optional() || type == ArgType::Tensor;
  return {{result.name.empty() ? "the result" : result.name.c_str(), type, nullptr, absent_allowed}, result.type};
}

const OpFacts& facts_of(const Op& op) {
  static auto* table = new std::unordered_map<const Op*, std::unique_ptr<OpFacts>>;
  std::unique_ptr<OpFacts>& found = (*table)[&op];
  if (found) return *found;
  auto facts = std::make_unique<OpFacts>();
  facts->schema = parse_schema(op.info().schema);
  for (const SchemaArgument& result : facts->schema.returns) facts->results.push_back(result_param(result));
  for (int i = 0; i < op.info().param_count; ++i) {
    const Param& param = op.info().params[i];
    facts->names.push_back(check(PyUnicode_InternFromString(param.name)));
    facts->defaults.push_back(param.has_default() ? check(wrap(facts->schema.arguments[i].default_value)) : nullptr);
  }
  (*table)[&op] = std::move(facts);
  return *(*table)[&op];
}

// As wrap(), knowing the type: C++ passes lists of bools as lists of ints.
PyObject* wrap_argument(const Value& value, const Param& param) {
  if (param.type == ArgType::BoolList && value.tag() == Value::Tag::IntList) {
    IntList items = value.to_int_list();
    return check(wrap(Value::bool_list({items.begin(), items.end()})));
  }
  return check(wrap(value));
}

bool is_default(PyObject* value, PyObject* fallback) {
  if (!fallback || is_tensor(value)) return false;
  if (value == fallback) return true;
  if (Py_TYPE(value) != Py_TYPE(fallback)) return false;
  if (PyList_Check(value) && PyList_GET_SIZE(value) > 0 && is_tensor(PyList_GET_ITEM(value, 0))) return false;
  int same = PyObject_RichCompareBool(value, fallback, Py_EQ);
  check(same);
  return same;
}

}  // namespace

PythonArguments to_python_arguments(const Op& op, const Stack& stack, PyObject* first) {
  const OpInfo& info = op.info();
  const OpFacts& facts = facts_of(op);
  size_t base = stack.size() - info.param_count;
  std::vector<Owned> positional;
  if (first) positional.push_back(Owned::borrow(first));
  size_t kept = positional.size();
  Owned keywords(check(PyDict_New()));
  for (int i = 0; i < info.param_count; ++i) {
    const Param& param = info.params[i];
    Owned value(wrap_argument(stack[base + i], param));
    bool omitted = is_default(value.get(), facts.defaults[i]);
    if (param.keyword_only) {
      if (!omitted) check(PyDict_SetItem(keywords.get(), facts.names[i], value.get()));
    } else {
      positional.push_back(std::move(value));
      if (!omitted) kept = positional.size();
    }
  }
  Owned tuple(check(PyTuple_New(static_cast<Py_ssize_t>(kept))));
  for (size_t i = 0; i < kept; ++i) PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), positional[i].release());
  return {std::move(tuple), std::move(keywords)};
}

namespace {

// Fits one returned object to one result of the schema.
Value to_result(const Op& op, PyObject* object, const Result& result) {
  Value value;
  std::string why;
  if (read_value(object, result.param, value, &why, result.type)) return value;
  if (PyErr_Occurred()) throw PythonError();
  TAEDA_FAIL(Type, "a Python kernel of ", op.qualified_name(), " returned what does not fit its schema: ", why, "\n  ",
             op.info().schema);
}

}  // namespace

void put_results(const Op& op, PyObject* result, Stack& stack) {
  const OpInfo& info = op.info();
  if (returns_void(info)) {
    if (info.return_count) return keep_mutable_arguments(op, stack);
    stack.resize(stack.size() - info.param_count);
    return;
  }
  const OpFacts& facts = facts_of(op);
  std::vector<Value> values;
  if (info.return_count == 1) {
    values.push_back(to_result(op, result, facts.results[0]));
  } else {
    TAEDA_CHECK_TYPE(
        (PyTuple_Check(result) || PyList_Check(result)) && PySequence_Fast_GET_SIZE(result) == info.return_count,
        "a Python kernel of ", op.qualified_name(), " must return a tuple of ", static_cast<int>(info.return_count),
        " results; got ", Py_TYPE(result)->tp_name);
    for (int i = 0; i < info.return_count; ++i)
      values.push_back(to_result(op, item_at(result, i).get(), facts.results[i]));
  }
  stack.resize(stack.size() - info.param_count);
  for (Value& value : values) stack.push_back(std::move(value));
}

std::shared_ptr<Kernel> make_python_kernel(PyObject* function, bool with_keys, std::string where) {
  TAEDA_CHECK_TYPE(PyCallable_Check(function), "a kernel must be callable; got ", Py_TYPE(function)->tp_name);
  auto kernel = std::make_shared<Kernel>();
  kernel->where = std::move(where);
  kernel->boxed = [held = make_ref<HeldObject>(function), with_keys](const Op& op, KeySet keys, Stack& stack) {
    WithGil locked;
    Owned first(with_keys ? check(wrap(keys)) : nullptr);
    PythonArguments arguments = to_python_arguments(op, stack, first.get());
    Owned result =
        call_python([&] { return PyObject_Call(held->object, arguments.positional.get(), arguments.keywords.get()); });
    put_results(op, result.get(), stack);
  };
  return kernel;
}

}  // namespace taeda::python
