// Dicts, which keep the order in which their keys came.
#include "jit/primitives/typed.h"

namespace taeda::jit {

namespace {

Value& at(Dict& dict, const Value& key) {
  Value* found = dict.find(key);
  TAEDA_CHECK_KIND(Key, found, shown(key, true));
  return *found;
}
Value get(Dict& dict, const Value& key) {
  Value* found = dict.find(key);
  return found ? *found : Value();
}
Value get_or(Dict& dict, const Value& key, const Value& absent) {
  Value* found = dict.find(key);
  return found ? *found : absent;
}
Value set_default(Dict& dict, const Value& key, const Value& absent) {
  if (!dict.find(key)) dict.set(key, absent);
  return at(dict, key);
}
Value pop(Dict& dict, const Value& key) {
  Value value = at(dict, key);
  dict.erase(key);
  return value;
}
Value pop_or(Dict& dict, const Value& key, const Value& absent) { return dict.find(key) ? pop(dict, key) : absent; }
void erase(Dict& dict, const Value& key) {
  at(dict, key);
  dict.erase(key);
}
Value pair(const Dict::Entry& entry) { return make_ref<Tuple>(std::vector<Value>{entry.first, entry.second}); }
Value pop_item(Dict& dict) {
  TAEDA_CHECK_KIND(Key, dict.size() > 0, "popitem(): dictionary is empty");
  Value last = pair(dict.entries().back());
  dict.erase(last.to_tuple().items[0]);
  return last;
}
Value keys(Dict& dict) {
  ListRef list = ListRef::of(dict.key_type);
  for (const auto& [key, value] : dict.entries()) list.append(key);
  return list.value();
}
Value values(Dict& dict) {
  ListRef list = ListRef::of(dict.value_type);
  for (const auto& [key, value] : dict.entries()) list.append(value);
  return list.value();
}
Value items(Dict& dict) {
  auto list = make_ref<List>(tuple_type({dict.key_type, dict.value_type}));
  for (const Dict::Entry& entry : dict.entries()) list->items.push_back(pair(entry));
  return list;
}
void update(Dict& dict, const Value& other) {
  Value entries = copied(other);  // which may be the dict itself
  for (const auto& [key, value] : entries.to_dict().entries()) dict.set(key, value);
}
// From a list of pairs.
Value made_of(const Value& pairs) {
  TypePtr element = pairs.to_list().element;
  auto dict = make_ref<Dict>(element->contained(0), element->contained(1));
  for (const Value& item : pairs.to_list().items) dict->set(item.to_tuple().items[0], item.to_tuple().items[1]);
  return dict;
}
bool contains(Dict& dict, const Value& key) { return dict.find(key); }
int64_t length(Dict& dict) { return static_cast<int64_t>(dict.size()); }

// For each type of keys; PyTorch names the overloads now so, now so.
#define TAEDA_DICT(key)                                                                                             \
  {"aten::len.Dict_" key "(Dict(" key ", t) self) -> int", typed<length>},                                          \
      {"aten::__contains__." key "(Dict(" key ", t) dict, " key " key) -> bool", typed<contains>},                  \
      {"aten::__getitem__.Dict_" key "(Dict(" key ", t) self, " key " key) -> t(*)", typed<at_copy>},               \
      {"aten::_set_item." key "(Dict(" key ", t)(a!) l, " key "(b -> *) idx, t(c -> *) v) -> ()", typed<set>},      \
      {"aten::Delete.Dict_" key "(Dict(" key ", t)(a!) self, " key " key) -> ()", typed<erase>},                    \
      {"aten::get." key "(Dict(" key ", t) self, " key " key) -> t(*)?", typed<get>},                               \
      {"aten::get.default_" key "(Dict(" key ", t) self, " key " key, t default_value) -> t(*)", typed<get_or>},    \
      {"aten::setdefault." key "(Dict(" key ", t)(a!) self, " key "(b -> *) key, t(c -> *) default_value) -> t(*)", \
       typed<set_default>},                                                                                         \
      {"aten::pop.Dict_" key "(Dict(" key ", t)(a!) self, " key " key) -> t(*)", typed<pop>},                       \
      {"aten::pop.Dict_default_" key "(Dict(" key ", t)(a!) self, " key " key, t default_value) -> t(*)",           \
       typed<pop_or>},                                                                                              \
      {"aten::popitem." key "(Dict(" key ", t)(a!) self) -> ((" key ", t))", typed<pop_item>},                      \
      {"aten::keys." key "(Dict(" key ", t) self) -> " key "[](*)", typed<keys>},                                   \
      {"aten::values." key "(Dict(" key ", t) self) -> t[](*)", typed<values>},                                     \
      {"aten::items." key "(Dict(" key ", t) self) -> ((" key ", t)[])", typed<items>},                             \
      {"aten::update." key "(Dict(" key ", t)(a!) self, Dict(" key ", t)(a!) to_add) -> ()", typed<update>},        \
      {"aten::clear." key "(Dict(" key ", t)(a!) self) -> ()", typed<[](Dict& dict) { dict.clear(); }>},            \
      {"aten::copy.Dict_" key "(Dict(" key ", t)(a) self) -> Dict(" key ", t)", typed<copied>},                     \
      {"aten::dict.Dict_" key "(Dict(" key ", t)(a) self) -> Dict(" key ", t)", typed<copied>}, {                   \
    "aten::dict." key "((" key ", tVal)[] inputs) -> Dict(" key ", tVal)", typed<made_of>                           \
  }

Value at_copy(Dict& dict, const Value& key) { return at(dict, key); }
void set(Dict& dict, const Value& key, const Value& value) { dict.set(key, value); }

constexpr Primitive kTable[] = {
    TAEDA_DICT("str"),
    TAEDA_DICT("int"),
    TAEDA_DICT("bool"),
    TAEDA_DICT("float"),
    TAEDA_DICT("complex"),
    TAEDA_DICT("Tensor"),
    {"aten::dict() -> Dict(str, Tensor)",
     typed<[]() -> Value { return make_ref<Dict>(plain_type(TypeKind::String), plain_type(TypeKind::Tensor)); }>},
};

}  // namespace

PrimitiveTable dict_primitives() { return kTable; }

}  // namespace taeda::jit
