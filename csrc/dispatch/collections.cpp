#include "taeda/dispatch/collections.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace taeda {

using Tag = Value::Tag;

// --- Dict
Dict::Dict(TypePtr key, TypePtr value) : key_type(key), value_type(value) {}
Dict::~Dict() = default;

std::list<Dict::Entry>::iterator Dict::place(const Value& key) {
  auto found = places_.find(key);
  return found == places_.end() ? entries_.end() : found->second;
}
Value* Dict::find(const Value& key) {
  auto entry = place(key);
  return entry == entries_.end() ? nullptr : &entry->second;
}

void Dict::set(const Value& key, Value value) {
  if (Value* there = find(key)) {
    *there = std::move(value);
    return;
  }
  entries_.emplace_back(key, std::move(value));
  places_.emplace(key, std::prev(entries_.end()));
}

bool Dict::erase(const Value& key) {
  auto found = places_.find(key);
  if (found == places_.end()) return false;
  auto entry = found->second;
  places_.erase(found);
  entries_.erase(entry);
  return true;
}

void Dict::clear() {
  places_.clear();
  entries_.clear();
}

// --- Instance
Instance::Instance(const ClassType* type) : type(type), slots(type->attributes().size()) {}
Instance::~Instance() = default;
const Value& Instance::get(std::string_view attribute) const { return slots.at(type->attribute_slot(attribute)); }
void Instance::set(std::string_view attribute, Value value) {
  slots.at(type->attribute_slot(attribute)) = std::move(value);
}

// --- ListRef
namespace {

// How items of each flat list are read from values and made into them.
struct Ints {
  std::vector<int64_t>& items;
  Value get(size_t i) const { return items[i]; }
  static int64_t from(const Value& v) { return v.to_int(); }
};
struct Bools {
  std::vector<int64_t>& items;
  Value get(size_t i) const { return items[i] != 0; }
  static int64_t from(const Value& v) { return v.to_bool(); }
};
struct Floats {
  std::vector<double>& items;
  Value get(size_t i) const { return items[i]; }
  static double from(const Value& v) { return v.to_float(); }
};
struct Tensors {
  std::vector<Tensor>& items;
  Value get(size_t i) const { return items[i]; }
  static Tensor from(const Value& v) { return v.to_tensor(); }
};
struct Scalars {
  std::vector<Scalar>& items;
  Value get(size_t i) const { return items[i]; }
  static Scalar from(const Value& v) { return v.to_scalar(); }
};
struct Values {
  std::vector<Value>& items;
  Value get(size_t i) const { return items[i]; }
  static Value from(const Value& v) { return v; }
};

}  // namespace

ListRef::ListRef(Value list) : list_(std::move(list)) {
  if (!list_.is_list()) list_.to_list();  // says what it is
}

ListRef ListRef::of(TypePtr element) {
  switch (element->kind()) {
    case TypeKind::Int:
    case TypeKind::SymInt:
      return ListRef(std::vector<int64_t>());
    case TypeKind::Bool:
      return ListRef(Value::bool_list({}));
    case TypeKind::Float:
      return ListRef(std::vector<double>());
    case TypeKind::Number:
      return ListRef(std::vector<Scalar>());
    case TypeKind::Tensor:
      return ListRef(std::vector<Tensor>());
    case TypeKind::Optional:
      if (element->contained(0)->is(TypeKind::Tensor)) return ListRef(std::vector<Tensor>());
      [[fallthrough]];
    default:
      return ListRef(Value(make_ref<List>(element)));
  }
}

template <class Visit>
decltype(auto) ListRef::visit(Visit&& visit) const {
  switch (list_.tag()) {
    case Tag::IntList:
      return visit(Ints{list_.int_items()});
    case Tag::BoolList:
      return visit(Bools{list_.int_items()});
    case Tag::FloatList:
      return visit(Floats{list_.float_items()});
    case Tag::TensorList:
      return visit(Tensors{list_.tensor_items()});
    case Tag::ScalarList:
      return visit(Scalars{list_.scalar_items()});
    default:
      return visit(Values{list_.to_list().items});
  }
}

void ListRef::check(size_t i, size_t end) const {
  TAEDA_CHECK_INDEX(i < end, "a list of ", size(), " items has no position ", i);
}

size_t ListRef::size() const {
  return visit([](auto list) { return list.items.size(); });
}

Value ListRef::get(size_t i) const {
  check(i, size());
  return visit([&](auto list) { return list.get(i); });
}

void ListRef::set(size_t i, const Value& item) {
  check(i, size());
  visit([&](auto list) { list.items[i] = list.from(item); });
}

void ListRef::insert(size_t i, const Value& item) {
  check(i, size() + 1);
  visit([&](auto list) { list.items.insert(list.items.begin() + static_cast<ptrdiff_t>(i), list.from(item)); });
}

void ListRef::erase(size_t i) {
  check(i, size());
  visit([&](auto list) { list.items.erase(list.items.begin() + static_cast<ptrdiff_t>(i)); });
}

void ListRef::clear() {
  visit([](auto list) { list.items.clear(); });
}

// --- Equality and hashes
namespace {

bool equal_numbers(const Value& a, const Value& b) {
  auto is_whole = [](const Value& v) { return v.tag() == Tag::Int || v.tag() == Tag::Bool; };
  if (is_whole(a) && is_whole(b)) return a.to_int() == b.to_int();
  if (a.tag() == Tag::UInt && b.tag() == Tag::UInt) return a.to_scalar().to<uint64_t>() == b.to_scalar().to<uint64_t>();
  if (a.tag() == Tag::Complex || b.tag() == Tag::Complex)
    return a.to_scalar().to<complex128>() == b.to_scalar().to<complex128>();
  return a.to_float() == b.to_float();
}

bool equal_items(const std::vector<Value>& a, const std::vector<Value>& b) {
  return std::ranges::equal(a, b, equal_values);
}

bool equal_lists(const Value& a, const Value& b) {
  ListRef left(a), right(b);
  if (left.size() != right.size()) return false;
  for (size_t i = 0; i < left.size(); ++i)
    if (!equal_values(left.get(i), right.get(i))) return false;
  return true;
}

bool equal_dicts(Dict& a, Dict& b) {
  if (a.size() != b.size()) return false;
  return std::ranges::all_of(a.entries(), [&](const Dict::Entry& entry) {
    const Value* other = b.find(entry.first);
    return other && equal_values(entry.second, *other);
  });
}

}  // namespace

bool equal_values(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) return equal_numbers(a, b);
  if (a.is_list() && b.is_list()) return equal_lists(a, b);
  if (a.tag() != b.tag()) return false;
  switch (a.tag()) {
    case Tag::String:
      return a.to_string() == b.to_string();
    case Tag::Tuple:
      return equal_items(a.to_tuple().items, b.to_tuple().items);
    case Tag::Dict:
      return equal_dicts(a.to_dict(), b.to_dict());
    case Tag::Enum:
      return a.to_enum().type == b.to_enum().type && a.to_enum().index == b.to_enum().index;
    default:
      return a.is_same(b);
  }
}

size_t hash_value(const Value& value) {
  switch (value.tag()) {
    case Tag::None:
      return 0;
    case Tag::Bool:
    case Tag::Int:
      return std::hash<double>()(static_cast<double>(value.to_int()));
    case Tag::UInt:
    case Tag::Float:
      return std::hash<double>()(value.to_float());
    case Tag::Complex: {
      complex128 number = value.to_scalar().to<complex128>();
      size_t real = std::hash<double>()(number.real());
      return number.imag() == 0 ? real : real * 1000003 ^ std::hash<double>()(number.imag());
    }
    case Tag::String:
      return std::hash<std::string_view>()(value.to_string());
    case Tag::Tuple: {
      size_t all = 1;
      for (const Value& item : value.to_tuple().items) all = all * 1000003 ^ hash_value(item);
      return all;
    }
    case Tag::Enum:
      return std::hash<const void*>()(value.to_enum().type) * 1000003 ^ value.to_enum().index;
    case Tag::Tensor:
      return std::hash<const void*>()(value.tensor_impl());
    case Tag::Instance:
      return std::hash<const void*>()(&value.to_instance());
    case Tag::Object:
      return std::hash<const void*>()(value.to_object());
    case Tag::DType:
      return static_cast<size_t>(value.to_dtype());
    case Tag::Layout:
      return static_cast<size_t>(value.to_layout());
    case Tag::MemoryFormat:
      return static_cast<size_t>(value.to_memory_format());
    case Tag::Device: {
      Device device = value.to_device();
      return static_cast<size_t>(device.type) << 8 | static_cast<uint8_t>(device.index);
    }
    case Tag::Generator:
      return std::hash<const void*>()(value.to_generator().get());
    default:
      TAEDA_FAIL(Type, "a list or a dict can change and is no key of a dict; use a tuple");
  }
}

Value copied(const Value& collection) {
  if (collection.tag() == Tag::Dict) {
    Dict& from = collection.to_dict();
    auto to = make_ref<Dict>(from.key_type, from.value_type);
    for (const auto& [key, value] : from.entries()) to->set(key, value);
    return to;
  }
  switch (collection.tag()) {
    case Tag::IntList:
      return collection.int_items();
    case Tag::BoolList:
      return Value::bool_list(collection.int_items());
    case Tag::FloatList:
      return collection.float_items();
    case Tag::TensorList:
      return collection.tensor_items();
    case Tag::ScalarList:
      return collection.scalar_items();
    default:
      return make_ref<List>(collection.to_list().element, collection.to_list().items);
  }
}

namespace {

TypePtr tuple_type_of(const Tuple& tuple) {
  if (tuple.type) return tuple.type;
  std::vector<TypePtr> elements;
  for (const Value& item : tuple.items) elements.push_back(type_of(item));
  return tuple_type(std::move(elements));
}

TypePtr tensor_list_type(TensorList tensors) {
  TypePtr tensor = plain_type(TypeKind::Tensor);
  bool all_there = std::ranges::all_of(tensors, [](const Tensor& t) { return t.defined(); });
  return list_type(all_there ? tensor : optional_type(tensor));
}

}  // namespace

TypePtr type_of(const Value& value) {
  switch (value.tag()) {
    case Tag::None:
      return plain_type(TypeKind::None);
    case Tag::Bool:
      return plain_type(TypeKind::Bool);
    case Tag::Int:
    case Tag::UInt:
      return plain_type(TypeKind::Int);
    case Tag::Float:
      return plain_type(TypeKind::Float);
    case Tag::Complex:
      return plain_type(TypeKind::Complex);
    case Tag::DType:
      return plain_type(TypeKind::ScalarType);
    case Tag::Device:
      return plain_type(TypeKind::Device);
    case Tag::Layout:
      return plain_type(TypeKind::Layout);
    case Tag::MemoryFormat:
      return plain_type(TypeKind::MemoryFormat);
    case Tag::Tensor:
      return plain_type(TypeKind::Tensor);
    case Tag::String:
      return plain_type(TypeKind::String);
    case Tag::IntList:
      return list_type(plain_type(TypeKind::Int));
    case Tag::FloatList:
      return list_type(plain_type(TypeKind::Float));
    case Tag::BoolList:
      return list_type(plain_type(TypeKind::Bool));
    case Tag::TensorList:
      return tensor_list_type(value.to_tensor_list());
    case Tag::ScalarList:
      return list_type(plain_type(TypeKind::Number));
    case Tag::List:
      return list_type(value.to_list().element);
    case Tag::Tuple:
      return tuple_type_of(value.to_tuple());
    case Tag::Dict:
      return dict_type(value.to_dict().key_type, value.to_dict().value_type);
    case Tag::Enum:
      return value.to_enum().type;
    case Tag::Instance:
      return value.to_instance().type;
    case Tag::Generator:
      return plain_type(TypeKind::Generator);
    case Tag::Object:
      break;
  }
  return plain_type(TypeKind::PyObject);
}

}  // namespace taeda
