// Lists. Flat ones are worked on where they lie; a list is a shared reference, as Python's.
#include <algorithm>
#include <numeric>

#include "jit/primitives/arithmetic.h"
#include "jit/primitives/typed.h"
#include "taeda/ops/compare.h"
#include "taeda/ops/predicate.h"

namespace taeda::jit {

namespace {

using Tag = Value::Tag;

int64_t size_of(ListRef list) { return static_cast<int64_t>(list.size()); }

// An empty list of the same kind.
ListRef empty_like(const ListRef& list) {
  switch (list.value().tag()) {
    case Tag::IntList:
      return ListRef(std::vector<int64_t>());
    case Tag::BoolList:
      return ListRef(Value::bool_list({}));
    case Tag::FloatList:
      return ListRef(std::vector<double>());
    case Tag::TensorList:
      return ListRef(std::vector<Tensor>());
    case Tag::ScalarList:
      return ListRef(std::vector<Scalar>());
    default:
      return ListRef(Value(make_ref<List>(list.value().to_list().element)));
  }
}

size_t place(const ListRef& list, int64_t index) {
  int64_t size = size_of(list), at = index < 0 ? index + size : index;
  TAEDA_CHECK_INDEX(at >= 0 && at < size, "list index out of range: ", index, " of ", size, " items");
  return static_cast<size_t>(at);
}

// Tensors in a list are compared by their values.
bool same_item(const Value& a, const Value& b) {
  if (!a.is_tensor() || !b.is_tensor()) return equal_values(a, b);
  return a.is_same(b) || ops::is_nonzero(ops::eq(a.to_tensor(), b.to_tensor()));
}

std::optional<size_t> find(const ListRef& list, const Value& item) {
  for (size_t i = 0; i < list.size(); ++i)
    if (same_item(list.get(i), item)) return i;
  return std::nullopt;
}

void extend(ListRef list, ListRef other) {
  size_t count = other.size();  // which may be the list itself
  for (size_t i = 0; i < count; ++i) list.append(other.get(i));
}

Value slice(ListRef list, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) {
  TAEDA_CHECK_VALUE(step != 0, "slice step cannot be zero");
  int64_t size = size_of(list);
  auto bound = [&](std::optional<int64_t> given, int64_t absent) {
    if (!given) return absent;
    int64_t at = *given < 0 ? *given + size : *given;
    return step > 0 ? std::clamp<int64_t>(at, 0, size) : std::clamp<int64_t>(at, -1, size - 1);
  };
  ListRef out = empty_like(list);
  int64_t stop = bound(end, step > 0 ? size : -1);
  for (int64_t i = bound(start, step > 0 ? 0 : size - 1); step > 0 ? i < stop : i > stop; i += step)
    out.append(list.get(static_cast<size_t>(i)));
  return out.value();
}

Value joined(ListRef a, ListRef b) {
  ListRef out(copied(a.value()));
  extend(out, b);
  return out.value();
}

void repeat_in_place(ListRef list, int64_t times) {
  if (times <= 0) return list.clear();
  size_t count = list.size();
  for (; times > 1; --times)
    for (size_t i = 0; i < count; ++i) list.append(list.get(i));
}
Value repeated(ListRef list, int64_t times) {
  ListRef out(copied(list.value()));
  repeat_in_place(out, times);
  return out.value();
}

void reverse(ListRef list) {
  for (size_t i = 0, j = list.size(); i + 1 < j; ++i) {
    Value first = list.get(i);
    list.set(i, list.get(--j));
    list.set(j, first);
  }
}

// --- Order
bool less(const Value& a, const Value& b) {
  if (a.is_tensor() && b.is_tensor()) return ops::is_nonzero(ops::lt(a.to_tensor(), b.to_tensor()));
  if (a.tag() == Tag::String && b.tag() == Tag::String) return a.to_string() < b.to_string();
  if (a.tag() == Tag::Tuple && b.tag() == Tag::Tuple)
    return std::ranges::lexicographical_compare(a.to_tuple().items, b.to_tuple().items, less);
  if (a.is_list() && b.is_list()) {
    ListRef left(a), right(b);
    for (size_t i = 0; i < left.size() && i < right.size(); ++i) {
      if (less(left.get(i), right.get(i))) return true;
      if (less(right.get(i), left.get(i))) return false;
    }
    return left.size() < right.size();
  }
  if (a.tag() == Tag::Instance) {
    const Method* method = a.to_instance().type->find_method("__lt__");
    TAEDA_CHECK_TYPE(method && method->run, "objects of ", a.to_instance().type->name(),
                     " have no order: the class needs a method __lt__");
    Stack stack{a, b};
    method->run(stack);
    return stack.back().to_bool();
  }
  TAEDA_CHECK_TYPE(a.is_number() && b.is_number() && a.tag() != Tag::Complex && b.tag() != Tag::Complex, "values of ",
                   type_of(a)->annotation(), " have no order");
  if (a.tag() != Tag::Float && b.tag() != Tag::Float) return a.to_int() < b.to_int();
  return a.to_float() < b.to_float();
}

void sort(ListRef list, bool reversed) {
  std::vector<Value> items;
  for (size_t i = 0; i < list.size(); ++i) items.push_back(list.get(i));
  std::ranges::stable_sort(items, [&](const Value& a, const Value& b) { return reversed ? less(b, a) : less(a, b); });
  for (size_t i = 0; i < items.size(); ++i) list.set(i, items[i]);
}
Value sorted(const Value& list) {
  Value out = copied(list);
  sort(ListRef(out), false);
  return out;
}
Value sorted_reverse(const Value& list, bool reversed) {
  Value out = copied(list);
  sort(ListRef(out), reversed);
  return out;
}

template <bool largest>
Value extreme(ListRef list) {
  TAEDA_CHECK_VALUE(list.size() > 0, largest ? "max()" : "min()", " arg is an empty sequence");
  Value best = list.get(0);
  for (size_t i = 1; i < list.size(); ++i) {
    Value item = list.get(i);
    if (largest ? less(best, item) : less(item, best)) best = item;
  }
  return best;
}
template <bool largest>
Value extreme_list(const Value& a, const Value& b) {
  return (largest ? less(a, b) : less(b, a)) ? b : a;
}

bool truth(const Value& value) {
  switch (value.tag()) {
    case Tag::None:
      return false;
    case Tag::String:
      return !value.to_string().empty();
    case Tag::Tensor:
      return ops::is_nonzero(value.to_tensor());
    case Tag::Complex:
      return value.to_scalar().to<complex128>() != complex128();
    default:
      return value.is_number() ? value.to_float() != 0 : true;
  }
}
bool all(ListRef list) {
  for (size_t i = 0; i < list.size(); ++i)
    if (!truth(list.get(i))) return false;
  return true;
}
bool any(ListRef list) {
  for (size_t i = 0; i < list.size(); ++i)
    if (truth(list.get(i))) return true;
  return false;
}
Value sum_of_complex(ListRef list) {
  complex128 total;
  for (size_t i = 0; i < list.size(); ++i) total += list.get(i).to_scalar().to<complex128>();
  return total;
}
int64_t sum_of_ints(ListRef list) {
  return std::reduce(list.value().int_items().begin(), list.value().int_items().end(), int64_t{0}, wrap_add);
}
double sum_of_floats(ListRef list) {
  double total = 0;
  for (double item : list.value().float_items()) total += item;
  return total;
}

void insert(ListRef list, int64_t index, const Value& item) {
  int64_t size = size_of(list), at = index < 0 ? std::max<int64_t>(0, index + size) : std::min(index, size);
  list.insert(static_cast<size_t>(at), item);
}
Value pop(ListRef list, int64_t index) {
  TAEDA_CHECK_INDEX(list.size() > 0, "pop from empty list");
  size_t at = place(list, index);
  Value item = list.get(at);
  list.erase(at);
  return item;
}
void remove(ListRef list, const Value& item) {
  std::optional<size_t> found = find(list, item);
  TAEDA_CHECK_VALUE(found, "list.remove(x): x not in list");
  list.erase(*found);
}
int64_t index_of(ListRef list, const Value& item) {
  std::optional<size_t> found = find(list, item);
  TAEDA_CHECK_VALUE(found, shown(item, true), " is not in list");
  return static_cast<int64_t>(*found);
}
int64_t count(ListRef list, const Value& item) {
  int64_t found = 0;
  for (size_t i = 0; i < list.size(); ++i) found += same_item(list.get(i), item);
  return found;
}
bool contains(ListRef list, const Value& item) { return find(list, item).has_value(); }
Value get(ListRef list, int64_t index) { return list.get(place(list, index)); }
Value set_item(const Value& value, int64_t index, const Value& item) {
  ListRef list(value);
  list.set(place(list, index), item);
  return value;
}

bool equal_tensor_lists(ListRef a, ListRef b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (!same_item(a.get(i), b.get(i))) return false;
  return true;
}

// The functions that look at items, for each type that has them.
#define TAEDA_OF_ITEMS(type)                                                                 \
  {"aten::remove." type "(" type "[](a!) self, " type " el) -> ()", typed<remove>},          \
      {"aten::index.list_" type "(" type "[] self, " type " el) -> int", typed<index_of>}, { \
    "aten::count." type "(" type "[] self, " type " el) -> int", typed<count>                \
  }
#define TAEDA_ORDER(type)                                                                                   \
  {"aten::sort." type "(" type "[](a!) self, bool reverse=False) -> ()", typed<sort>},                      \
      {"aten::sorted." type "(" type "[](a) input) -> " type "[]", typed<sorted>}, {                        \
    "aten::sorted.reverse_" type "(" type "[](a) input, bool reverse) -> " type "[]", typed<sorted_reverse> \
  }
#define TAEDA_EXTREMES(type)                                                                            \
  {"prim::min." type "_list(" type "[] l, " type "[] r) -> " type "[]", typed<extreme_list<false>>},    \
      {"prim::max." type "_list(" type "[] l, " type "[] r) -> " type "[]", typed<extreme_list<true>>}, \
      {"prim::min.self_" type "(" type "[] self) -> " type, typed<extreme<false>>}, {                   \
    "prim::max.self_" type "(" type "[] self) -> " type, typed<extreme<true>>                           \
  }

constexpr Primitive kTable[] = {
    {"aten::len.t(t[] a) -> int", typed<size_of>},
    {"aten::len.any(Any[] a) -> int", typed<size_of>},
    {"aten::__getitem__.t(t[](a) list, int idx) -> t(*)", typed<get>},
    {"aten::select.t(t[](a) list, int idx) -> t(*)", typed<get>},
    {"aten::_set_item.t(t[](a!) l, int idx, t(b -> *) el) -> t[](a!)", typed<set_item>},
    {"aten::Delete.t(t[](a!) self, int idx) -> ()", typed<[](ListRef list, int64_t i) { list.erase(place(list, i)); }>},
    {"aten::append.t(t[](a!) self, t(c -> *) el) -> t[](a!)", typed<[](const Value& list, const Value& item) {
       ListRef(list).append(item);
       return list;
     }>},
    {"aten::extend.t(t[](a!) self, t[] other) -> ()", typed<extend>},
    {"aten::insert.t(t[](a!) self, int idx, t(b -> *) el) -> ()", typed<insert>},
    {"aten::pop.t(t[](a!) self, int idx=-1) -> t(*)", typed<pop>},
    {"aten::clear.t(t[](a!) self) -> ()", typed<[](ListRef list) { list.clear(); }>},
    {"aten::reverse.t(t[](a!) self) -> ()", typed<reverse>},
    {"aten::copy.t(t[](a) self) -> t[]", typed<copied>},
    {"aten::list.t(t[] l) -> t[]", typed<copied>},
    {"aten::slice.t(t[] l, int? start=None, int? end=None, int step=1) -> t[]", typed<slice>},
    {"aten::add.t(t[] a, t[] b) -> t[]", typed<joined>},
    {"aten::add_.t(t[](a!) self, t[] b) -> t[]", typed<[](const Value& list, ListRef other) {
       extend(ListRef(list), other);
       return list;
     }>},
    {"aten::mul.left_t(t[] l, int n) -> t[]", typed<repeated>},
    {"aten::mul.right_(int n, t[] l) -> t[]", typed<[](int64_t n, ListRef list) { return repeated(list, n); }>},
    {"aten::mul_.t(t[](a!) l, int n) -> t[](a!)", typed<[](const Value& list, int64_t n) {
       repeat_in_place(ListRef(list), n);
       return list;
     }>},
    {"aten::__contains__.int_list(int[] l, int item) -> bool", typed<contains>},
    {"aten::__contains__.float_list(float[] l, float item) -> bool", typed<contains>},
    {"aten::__contains__.str_list(str[] l, str item) -> bool", typed<contains>},
    {"aten::__contains__.t_list(t[] l, t item) -> bool", typed<contains>},
    TAEDA_OF_ITEMS("int"),
    TAEDA_OF_ITEMS("float"),
    TAEDA_OF_ITEMS("bool"),
    TAEDA_OF_ITEMS("Tensor"),
    TAEDA_OF_ITEMS("str"),
    TAEDA_ORDER("int"),
    TAEDA_ORDER("float"),
    TAEDA_ORDER("bool"),
    TAEDA_ORDER("Tensor"),
    TAEDA_ORDER("str"),
    {"aten::sort.any(t[](a!) self, bool reverse=False) -> ()", typed<sort>},
    {"aten::sorted.any(t[](a) self) -> t[]", typed<sorted>},
    {"aten::sorted.reverse_any(t[](a) self, bool reverse) -> t[]", typed<sorted_reverse>},
    TAEDA_EXTREMES("int"),
    TAEDA_EXTREMES("float"),
    TAEDA_EXTREMES("bool"),
    {"prim::min.self_str(str[] self) -> str", typed<extreme<false>>},
    {"prim::max.self_str(str[] self) -> str", typed<extreme<true>>},
    {"aten::sum.int(int[] self) -> int", typed<sum_of_ints>},
    {"aten::sum.float(float[] self) -> float", typed<sum_of_floats>},
    {"aten::sum.complex(complex[] self) -> complex", typed<sum_of_complex>},
    {"aten::sum.bool(bool[] self) -> int", typed<sum_of_ints>},
    {"aten::any.int(int[] self) -> bool", typed<any>},
    {"aten::any.float(float[] self) -> bool", typed<any>},
    {"aten::any.bool(bool[] self) -> bool", typed<any>},
    {"aten::any.str(str[] self) -> bool", typed<any>},
    {"aten::all.int(int[] self) -> bool", typed<all>},
    {"aten::all.float(float[] self) -> bool", typed<all>},
    {"aten::all.bool(bool[] self) -> bool", typed<all>},
    {"aten::all.str(str[] self) -> bool", typed<all>},
    {"aten::eq.Tensor_list(Tensor[] a, Tensor[] b) -> bool", typed<equal_tensor_lists>},
    {"aten::ne.Tensor_list(Tensor[] a, Tensor[] b) -> bool",
     typed<[](ListRef a, ListRef b) { return !equal_tensor_lists(a, b); }>},
    {"aten::eq.any_list(t[] a, t[] b) -> bool",
     typed<[](const Value& a, const Value& b) { return equal_values(a, b); }>},
    {"aten::ne.any_list(t[] a, t[] b) -> bool",
     typed<[](const Value& a, const Value& b) { return !equal_values(a, b); }>},
};

}  // namespace

PrimitiveTable list_primitives() { return kTable; }

}  // namespace taeda::jit
