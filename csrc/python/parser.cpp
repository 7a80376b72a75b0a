#include "python/parser.h"
#include "python/items.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "autograd/numbers.h"
#include "python/convert_value.h"
#include "python/fast.h"
#include "python/symbols.h"
#include "taeda/core/warn.h"
#include "taeda/dispatch/schema.h"

namespace taeda::python {

// What parsing needs beyond the schema's constants, made at the first call that is not a plain one.
struct ParsedParam {
  const Param* param;
  std::vector<PyObject*> names;  // interned: its own, then the other ones
  Value fallback;                // the default
  TypePtr type = nullptr;        // where `param` says Any
};
struct ParsedOverload {
  const Op* op;
  const Op* out;
  std::vector<ParsedParam> params;                     // of `op`
  std::vector<ParsedParam> out_params;                 // the out parameters, keyword-only
  std::vector<std::pair<size_t, Value>> out_defaults;  // of parameters, keyword-only, that have another one with out=
};
struct ParsedName {
  std::vector<ParsedOverload> overloads;
};

namespace {

PyObject* intern(const char* text) { return check(PyUnicode_InternFromString(text)); }

// A parameter's name and NumPy's and older ones for it, but for those that are another parameter's own.
std::vector<PyObject*> names_of(const Param& param, const OpInfo& info) {
  static constexpr std::pair<std::string_view, const char*> kOthers[] = {
      {"self", "input"}, {"self", "x"},           {"self", "a"},  {"self", "x1"},
      {"dim", "axis"},   {"keepdim", "keepdims"}, {"other", "x2"}};
  std::vector<PyObject*> names{intern(param.name)};
  for (auto [name, other] : kOthers)
    if (name == param.name && std::none_of(info.params, info.params + info.param_count,
                                           [&](const Param& p) { return std::string_view(p.name) == other; }))
      names.push_back(intern(other));
  return names;
}

ParsedParam parse_param(const Param& param, const OpInfo& info) {
  if (param.type != ArgType::Any)
    return {&param, names_of(param, info), param.has_default() ? default_value(param) : Value()};
  SchemaArgument full = parse_schema(info.schema).arguments.at(static_cast<size_t>(&param - info.params));
  return {&param, names_of(param, info), full.default_value, full.type};
}

ParsedOverload parse_overload(const Op* op, const Op* out) {
  ParsedOverload parsed{op, out, {}, {}, {}};
  int count = op->info().param_count;
  for (int i = 0; i < count; ++i) parsed.params.push_back(parse_param(op->info().params[i], op->info()));
  if (!out) return parsed;
  for (int i = count; i < out->info().param_count; ++i)
    parsed.out_params.push_back(parse_param(out->info().params[i], out->info()));
  for (int i = 0; i < count; ++i) {
    const Param &usual = op->info().params[i], &with_out = out->info().params[i];
    if (usual.has_default() && std::string_view(usual.default_text) != with_out.default_text)
      parsed.out_defaults.emplace_back(i, default_value(with_out));
  }
  return parsed;
}

const ParsedName& parsed_name(const Name& name) {
  if (ParsedName* parsed = name.parsed.load(std::memory_order_acquire)) return *parsed;
  auto made = std::make_unique<ParsedName>();
  for (int i = 0; i < name.overload_count; ++i)
    made->overloads.push_back(parse_overload(name.overloads[i].op, name.overloads[i].out));
  ParsedName* expected = nullptr;
  if (name.parsed.compare_exchange_strong(expected, made.get())) return *made.release();
  return *expected;
}

// Keywords are interned but for those of dictionaries that a program has put together.
bool is_same(PyObject* keyword, PyObject* interned) {
  return keyword == interned || (!PyUnicode_CHECK_INTERNED(keyword) && PyUnicode_Compare(keyword, interned) == 0);
}

bool is_called(const ParsedParam& param, PyObject* keyword) {
  return std::ranges::any_of(param.names, [&](PyObject* name) { return is_same(keyword, name); });
}

// The arguments of one call, and what is learnt while trying to fit them.
struct Attempt {
  PyObject* const* args;
  Py_ssize_t n;
  PyObject* names;
  Py_ssize_t keyword_count;
  std::string why;
  Py_ssize_t bad_position = -1;
  GivenSymbols given{};

  PyObject* keyword_value(Py_ssize_t i) const { return args[n + i]; }
  Py_ssize_t find_keyword(const ParsedParam& param) const {
    for (Py_ssize_t i = 0; i < keyword_count; ++i)
      if (is_called(param, PyTuple_GET_ITEM(names, i))) return i;
    return -1;
  }
};

// x.view(2, 3): the remaining positional arguments are the first int-list parameter.
bool takes_rest(const Param& param, size_t index, const Attempt& attempt, Py_ssize_t position, bool is_method) {
  if (param.type != ArgType::IntList || param.keyword_only || param.list_size > 0) return false;
  if (index != (is_method ? 1u : 0u)) return false;
  if (position >= attempt.n || !(PyLong_Check(attempt.args[position]) || PyIndex_Check(attempt.args[position])))
    return false;
  if (is_tensor(attempt.args[position]) && attempt.n - position == 1 && unwrap(attempt.args[position]).numel() != 1)
    return false;
  for (Py_ssize_t i = position; i < attempt.n; ++i)
    if (!PyIndex_Check(attempt.args[i])) return false;
  return true;
}

bool fail_with(Attempt& attempt, std::string why) {
  attempt.why = std::move(why);
  return false;
}

bool read_rest(const Param& param, Attempt& attempt, Py_ssize_t position, Value& value) {
  std::vector<int64_t> values(static_cast<size_t>(attempt.n - position));
  for (size_t i = 0; i < values.size(); ++i) {
    PyObject* item = attempt.args[position + static_cast<Py_ssize_t>(i)];
    if (!read_int_item(item, i == 0, values[i]))
      return fail_with(attempt, str("'", param.name, "' must be ints, got ", Py_TYPE(item)->tp_name));
  }
  value = Value(std::move(values));
  return true;
}

std::string_view text_of(PyObject* unicode) {
  const char* text = PyUnicode_AsUTF8(unicode);
  return text ? text : "?";
}

bool takes_ints(const Param& param) { return param.type == ArgType::Int || param.type == ArgType::IntList; }

bool try_params(const std::vector<ParsedParam>& params, Attempt& attempt, bool is_method, Stack& stack,
                Py_ssize_t& position, Py_ssize_t& used_keywords) {
  for (size_t i = 0; i < params.size(); ++i) {
    const ParsedParam& parsed = params[i];
    const Param& param = *parsed.param;
    Value value;
    if (!param.keyword_only && position < attempt.n) {
      bool is_last = i + 1 == params.size() || params[i + 1].param->keyword_only;
      if (is_last && takes_rest(param, i, attempt, position, is_method)) {
        if (!read_rest(param, attempt, position, value)) return false;
        for (Py_ssize_t k = position; k < attempt.n; ++k)
          attempt.given.note_item(param.name, attempt.args[k], k - position);
        position = attempt.n;
      } else {
        attempt.bad_position = position;
        if (!read_value(attempt.args[position], param, value, &attempt.why, parsed.type)) return false;
        attempt.given.note(param.name, attempt.args[position], takes_ints(param));
        ++position;
      }
      if (attempt.find_keyword(parsed) >= 0) return fail_with(attempt, str("'", param.name, "' is given twice"));
    } else if (Py_ssize_t k = attempt.find_keyword(parsed); k >= 0) {
      if (!read_value(attempt.keyword_value(k), param, value, &attempt.why, parsed.type)) return false;
      attempt.given.note(param.name, attempt.keyword_value(k), takes_ints(param));
      ++used_keywords;
    } else if (param.has_default()) {
      value = parsed.fallback;
    } else {
      return fail_with(attempt, str("'", param.name, "' is missing"));
    }
    stack.push_back(std::move(value));
  }
  return true;
}

struct OutArgument {
  PyObject* object = nullptr;  // borrowed; a tensor or a tuple of them
  bool given = false;
};

// out=None counts as not given; several outs come as a tuple or by their names.
bool try_out(const ParsedOverload& overload, Attempt& attempt, Stack& stack, Py_ssize_t& used_keywords, bool& has_out,
             PyObject*& out_object) {
  static PyObject* const out_name = intern("out");
  has_out = false;
  if (!overload.params.empty() && overload.params.back().names[0] == out_name) return true;  // a list: a parameter
  for (Py_ssize_t k = 0; k < attempt.keyword_count; ++k) {
    if (!is_same(PyTuple_GET_ITEM(attempt.names, k), out_name)) continue;
    ++used_keywords;
    PyObject* object = attempt.keyword_value(k);
    if (object == Py_None) continue;
    if (!overload.out) return fail_with(attempt, "it has no out=");
    has_out = true;
    out_object = object;
    bool several = overload.out_params.size() > 1;
    if (several && (!PySequence_Check(object) || is_tensor(object) ||
                    PySequence_Size(object) != static_cast<Py_ssize_t>(overload.out_params.size())))
      return fail_with(attempt, str("out must be a tuple of ", overload.out_params.size(), " tensors"));
    for (size_t i = 0; i < overload.out_params.size(); ++i) {
      Owned item(several ? check(PySequence_GetItem(object, static_cast<Py_ssize_t>(i))) : Py_NewRef(object));
      Value value;
      if (!read_value(item.get(), *overload.out_params[i].param, value, &attempt.why)) return false;
      stack.push_back(std::move(value));
    }
    for (const auto& [i, value] : overload.out_defaults)
      if (attempt.find_keyword(overload.params[i]) < 0) stack[i] = value;
  }
  return true;
}

// Factories' requires_grad=, which the schemas do not have.
bool try_requires_grad(Attempt& attempt, Py_ssize_t& used_keywords, bool& requires_grad) {
  static PyObject* const own_name = intern("requires_grad");
  for (Py_ssize_t k = 0; k < attempt.keyword_count; ++k) {
    if (!is_same(PyTuple_GET_ITEM(attempt.names, k), own_name)) continue;
    PyObject* object = attempt.keyword_value(k);
    if (!PyBool_Check(object)) return fail_with(attempt, "'requires_grad' must be a bool");
    requires_grad = object == Py_True;
    ++used_keywords;
  }
  return true;
}

// How many letters one must put in, take out or change to get from one word to the other.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j)
      diagonal = std::exchange(row[j + 1], std::min({row[j] + 1, row[j + 1] + 1, diagonal + (a[i] == b[j] ? 0u : 1u)}));
  }
  return row[b.size()];
}

// The parameter that somebody meant who called it `keyword`: one that is missing, or one of nearly that name.
std::string suggestion(const ParsedOverload& overload, const Attempt& attempt, std::string_view keyword) {
  const char* best = nullptr;
  size_t least = 3;
  Py_ssize_t position = 0;
  for (const ParsedParam& parsed : overload.params) {
    const Param& param = *parsed.param;
    bool given = (!param.keyword_only && position++ < attempt.n) || attempt.find_keyword(parsed) >= 0;
    if (given) continue;
    size_t apart = param.has_default() ? distance(keyword, param.name) : 0;
    if (apart < least) {
      best = param.name;
      least = apart;
    }
  }
  return best ? str("; did you mean '", best, "'?") : std::string();
}

// Empty if all are known. `out` and `requires_grad` are not the schemas', but each has been read where it is taken.
std::string unknown_keyword(const ParsedOverload& overload, const Attempt& attempt) {
  for (Py_ssize_t k = 0; k < attempt.keyword_count; ++k) {
    PyObject* keyword = PyTuple_GET_ITEM(attempt.names, k);
    bool known = false;
    for (const ParsedParam& param : overload.params) known |= is_called(param, keyword);
    std::string_view text = text_of(keyword);
    if (!known && text != "out" && text != "requires_grad")
      return str("there is no parameter '", text, "'", suggestion(overload, attempt, text));
  }
  return {};
}

PyObject* public_callable(const Name& name, bool is_method) {
  PyObject*& slot = is_method ? name.method : name.callable;
  if (!slot) slot = find_public_callable(name.name, name.where, is_method);
  return slot;
}

std::string type_names(const Attempt& attempt) {
  std::string text = "(";
  for (Py_ssize_t i = 0; i < attempt.n + attempt.keyword_count; ++i) {
    if (i) text += ", ";
    if (i >= attempt.n) text += str(text_of(PyTuple_GET_ITEM(attempt.names, i - attempt.n)), "=");
    text += Py_TYPE(attempt.args[i])->tp_name;
  }
  return text + ")";
}

PyObject* fail_parse(const Name& name, const std::vector<std::string>& reasons, const Attempt& attempt) {
  TAEDA_CHECK_KIND(NotImplemented, name.overload_count, "this build leaves it out; add it to the file of --select-ops");
  std::string text = str("taeda.", name.where, ": ");
  if (reasons.size() == 1) {
    text += reasons[0];
  } else {
    text += str("no overload takes ", type_names(attempt));
  }
  for (int i = 0; i < name.overload_count; ++i) {
    std::string_view schema = name.overloads[i].op->info().schema;
    text += str("\n  ", schema.substr(schema.find("::") + 2));
    if (reasons.size() > 1) text += str("\n    ", reasons[static_cast<size_t>(i)]);
  }
  PyErr_SetString(PyExc_TypeError, text.c_str());
  return nullptr;
}

// Several outs whose results have names come back as taeda.return_types.<name>_out.
PyObject* give_back_outs(const Name& name, const Op& op, PyObject* outs) {
  PyTypeObject* type = is_tensor(outs) ? nullptr : result_type_named(str(name.name, "_out"), op);
  if (!type) return Py_NewRef(outs);
  Owned tuple(check(PyStructSequence_New(type)));
  for (Py_ssize_t i = 0; i < op.info().return_count; ++i)  // the list itself may have changed meanwhile
    PyStructSequence_SET_ITEM(tuple.get(), i, check(PySequence_GetItem(outs, i)));
  return tuple.release();
}

PyObject* finish(const Name& name, const Op& op, Stack& stack, PyObject* self_or_out, bool requires_grad) {
  int64_t work = 0;
  for (const Value& value : stack)
    if (TensorImpl* impl = value.tensor_impl()) work = std::max(work, impl->numel());
  {
    NoGil unlocked(work > kReleaseGilAbove);
    op.call_boxed(stack);
  }
  if (self_or_out) return op.info().tags & kOutOp ? give_back_outs(name, op, self_or_out) : Py_NewRef(self_or_out);
  PyObject* result = wrap_results(name, op, stack);
  if (requires_grad && result && is_tensor(result)) set_requires_grad(unwrap(result), true);
  return result;
}

// Whether it changes the tensors of a list, which it gives back though its schema names no result.
bool updates_list(const Op& op) { return op.plain_name().starts_with("_foreach_") && op.info().params[0].is_mutable; }

// add(2, x), x.copy_(2): once no overload fits, the number in the place of a tensor becomes one.
PyObject* retry_with_tensor(const Name& name, PyObject* const* args, Py_ssize_t n, PyObject* names, bool is_method) {
  Py_ssize_t place = name.number_place;
  if (place < 0 && n > 0 && is_symbol(args[0])) place = 0;  // ceil(size / 2): a symbol calculates as a tensor does
  Scalar number;
  if (place < 0 || place >= n || is_tensor(args[place])) return nullptr;
  Owned tensor;
  if (is_symbol(args[place]))
    tensor = Owned(check(PyObject_CallMethod(args[place], "_as_tensor", nullptr)));
  else if (read_number(args[place], number))
    tensor = Owned(check(wrap(autograd::number_tensor(number))));
  else
    return nullptr;
  std::vector<PyObject*> all(args, args + n + (names ? PyTuple_GET_SIZE(names) : 0));
  all[static_cast<size_t>(place)] = tensor.get();
  return parse_and_call(name, all.data(), n, names, is_method);
}

// addmm(beta, x, alpha, y, z) and x.addmm(beta, alpha, y, z), an order of old; alpha may be left out.
PyObject* retry_beta_first(const Name& name, PyObject* const* args, Py_ssize_t n, Py_ssize_t tensors, bool is_method) {
  std::vector<PyObject*> all, factors;
  for (Py_ssize_t i = 0; i < n; ++i) (is_tensor(args[i]) ? all : factors).push_back(args[i]);
  Scalar number;
  bool numbers = std::ranges::all_of(factors, [&](PyObject* factor) { return read_number(factor, number); });
  if (static_cast<Py_ssize_t>(all.size()) != tensors || factors.empty() || factors.size() > 2 || !numbers)
    return nullptr;
  warn(str("taeda.", name.where, ": numbers before the tensors are deprecated; give them as beta= and alpha="));
  Owned keywords(check(factors.size() == 1 ? Py_BuildValue("(s)", "beta") : Py_BuildValue("(ss)", "beta", "alpha")));
  all.insert(all.end(), factors.begin(), factors.end());
  return parse_and_call(name, all.data(), tensors, keywords.get(), is_method);
}

// add(x, 2, y) and addcmul(x, 2, y, z), an order of old: the number goes to its keyword.
PyObject* retry_old_order(const Name& name, PyObject* const* args, Py_ssize_t n, PyObject* names, bool is_method) {
  if (!name.old_factor || names) return nullptr;
  const OpInfo& info = name.overloads[0].op->info();
  Py_ssize_t positional = std::count_if(info.params, info.params + info.param_count,
                                        [](const Param& param) { return !param.keyword_only; });
  if (strcmp(name.old_factor, "beta") == 0) return retry_beta_first(name, args, n, positional, is_method);
  Scalar number;
  if (n != positional + 1 || is_tensor(args[1]) || !is_tensor(args[2]) || !read_number(args[1], number)) return nullptr;
  warn(str("taeda.", name.where, ": the number before the tensors is deprecated; give it as ", name.old_factor, "="));
  std::vector<PyObject*> all(args, args + n);
  std::rotate(all.begin() + 1, all.begin() + 2, all.end());
  Owned keywords(check(Py_BuildValue("(s)", name.old_factor)));
  return parse_and_call(name, all.data(), n - 1, keywords.get(), is_method);
}

PyObject* parse_and_run(const Name& name, PyObject* const* args, Py_ssize_t n, PyObject* names, bool is_method) {
  Attempt attempt{args, n, names, names ? PyTuple_GET_SIZE(names) : 0, {}, -1, {}};
  Overloaded overloaded;
  overloaded.note_all(args, n + attempt.keyword_count);
  if (overloaded.is_wanted()) {
    PyObject* callable = public_callable(name, is_method);
    if (overloaded.must_dispatch(callable)) return call_torch_function(callable, overloaded, args, n, names);
  }

  std::vector<std::string> reasons;
  for (const ParsedOverload& overload : parsed_name(name).overloads) {
    Stack stack;
    stack.reserve(overload.params.size() + overload.out_params.size());
    Py_ssize_t position = 0, used = 0;
    bool has_out = false, requires_grad = false;
    PyObject* out = nullptr;
    attempt.why.clear();
    attempt.given.clear();
    bool good = try_params(overload.params, attempt, is_method, stack, position, used) &&
                try_out(overload, attempt, stack, used, has_out, out) &&
                (!name.is_factory || try_requires_grad(attempt, used, requires_grad));
    if (good && (position < n || used < attempt.keyword_count)) good = fail_with(attempt, "too many arguments");
    if (!good) {
      if (PyErr_Occurred()) return nullptr;
      std::string unknown = unknown_keyword(overload, attempt);
      reasons.push_back(unknown.empty() ? std::move(attempt.why) : std::move(unknown));
      continue;
    }
    const Op& op = has_out ? *overload.out : *overload.op;
    attempt.given.tell(op);
    bool inplace = !has_out && (op.info().tags & kInplaceOp || updates_list(op));
    PyObject* result = finish(name, op, stack, has_out ? out : inplace ? args[0] : nullptr, requires_grad);
    if (result && overloaded.subclass && !has_out && !inplace) result = convert_results(result, overloaded.subclass);
    return result;
  }
  PyObject* result = retry_with_tensor(name, args, n, names, is_method);
  if (!result && !PyErr_Occurred()) result = retry_old_order(name, args, n, names, is_method);
  return result || PyErr_Occurred() ? result : fail_parse(name, reasons, attempt);
}

}  // namespace

PyObject* parse_and_call(const Name& name, PyObject* const* args, Py_ssize_t n, PyObject* names, bool is_method) {
  return guarded(name.where, [&] { return parse_and_run(name, args, n, names, is_method); });
}

PyObject* parse_method(const Name& name, PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* names) {
  Py_ssize_t count = n + (names ? PyTuple_GET_SIZE(names) : 0);
  auto call = [&](PyObject** all) {
    all[0] = self;
    std::copy_n(args, count, all + 1);
    return parse_and_call(name, all, n + 1, names, true);
  };
  if (count < kMethodRoom) {
    PyObject* all[kMethodRoom];
    return call(all);
  }
  return call(std::vector<PyObject*>(static_cast<size_t>(count) + 1).data());
}

bool read_ints(PyObject* const* items, Py_ssize_t n, int64_t* values, size_t& count) {
  count = static_cast<size_t>(n);
  if (count > kMaxInts) return false;
  for (size_t i = 0; i < count; ++i) {
    IntArg item;
    if (!item.read(items[i])) return false;
    values[i] = item.value;
  }
  return true;
}

bool read_int_list(PyObject* from, int lone, int64_t* values, size_t& count) {
  if (lone > 0 && PyLong_CheckExact(from)) {
    IntArg one;
    if (!one.read(from)) return false;
    count = static_cast<size_t>(lone);
    std::fill_n(values, count, one.value);
    return true;
  }
  if (PyTuple_CheckExact(from) || Py_TYPE(from) == size_type)
    return read_ints(&PyTuple_GET_ITEM(from, 0), PyTuple_GET_SIZE(from), values, count);
  if (PyList_CheckExact(from))
    return read_ints(reinterpret_cast<PyListObject*>(from)->ob_item, PyList_GET_SIZE(from), values, count);
  return false;
}

namespace {

// An op's parameters, parsed once; called with the GIL held.
const ParsedOverload& parsed_op(const Op& op) {
  static auto* table = new std::unordered_map<const Op*, std::unique_ptr<ParsedOverload>>;
  std::unique_ptr<ParsedOverload>& parsed = (*table)[&op];
  if (!parsed) parsed = std::make_unique<ParsedOverload>(parse_overload(&op, nullptr));
  return *parsed;
}

void call_unlocked(const Op& op, Stack& stack, const KeySet* keys, uintptr_t slot) {
  int64_t work = 0;
  for (const Value& value : stack)
    if (TensorImpl* impl = value.tensor_impl()) work = std::max(work, impl->numel());
  auto call = [&] {
    if (slot)
      op.call_boxed(slot, *keys, stack);
    else
      keys ? op.call_boxed(*keys, stack) : op.call_boxed(stack);
  };
  if (work <= kReleaseGilAbove) return call();
  NoGil unlocked;
  call();
}

}  // namespace

bool takes_arguments(const Op& op, PyObject* const* args, Py_ssize_t n, PyObject* names) {
  Attempt attempt{args, n, names, names ? PyTuple_GET_SIZE(names) : 0, {}, -1, {}};
  Stack stack;
  Py_ssize_t position = 0, used = 0;
  bool good = try_params(parsed_op(op).params, attempt, false, stack, position, used);
  if (PyErr_Occurred()) throw PythonError();
  return good && position == n && used == attempt.keyword_count;
}

namespace {

// add.Tensor(x, 1): a number in a tensor's place is what the overload for numbers takes.
const Op* number_overload(const Op& op, PyObject* const* args, Py_ssize_t n, PyObject* names) {
  if (strcmp(op.info().overload, "Tensor") != 0) return nullptr;
  const Op* other = find_op(op.info().name, "Scalar");
  return other && takes_arguments(*other, args, n, names) ? other : nullptr;
}

}  // namespace

PyObject* call_op(const Op& op, PyObject* const* args, Py_ssize_t n, PyObject* names, const KeySet* keys,
                  uintptr_t slot) {
  return guarded(op.info().name, [&]() -> PyObject* {
    Attempt attempt{args, n, names, names ? PyTuple_GET_SIZE(names) : 0, {}, -1, {}};
    const ParsedOverload& overload = parsed_op(op);
    Stack stack;
    stack.reserve(overload.params.size());
    Py_ssize_t position = 0, used = 0;
    bool good = try_params(overload.params, attempt, false, stack, position, used);
    if (good && (position < n || used < attempt.keyword_count))
      good = fail_with(attempt, unknown_keyword(overload, attempt));
    if (!good) {
      if (PyErr_Occurred()) return nullptr;
      if (const Op* other = slot ? nullptr : number_overload(op, args, n, names))
        return call_op(*other, args, n, names, keys);
      TAEDA_FAIL(Runtime, attempt.why, "\n  ", op.info().schema);  // of PyTorch's class, not TypeError
    }
    attempt.given.tell(op);
    // Of several mutable arguments the results are the first in place, the last of an out= call.
    std::vector<Value> outs;
    int first = op.info().tags & kOutOp ? op.info().param_count - op.info().out_count : 0;
    for (int i = first; i < op.info().param_count && outs.size() < op.info().return_count; ++i)
      if (op.info().params[i].is_mutable) outs.push_back(stack[static_cast<size_t>(i)]);
    call_unlocked(op, stack, keys, slot);
    std::span<Value> results(op.info().returns_mutable ? outs : stack);
    return results.size() == 1 ? check(wrap(results[0])) : wrap_plain_results(results);  // a list stays one
  });
}

}  // namespace taeda::python
