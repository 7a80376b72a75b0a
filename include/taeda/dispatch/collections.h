// What a boxed value can hold beside numbers, tensors and flat lists: lists, tuples, dicts, members of enumerations and
// objects of classes. Lists, dicts and objects are shared references.
#pragma once
#include <list>
#include <unordered_map>

#include "taeda/dispatch/class_type.h"
#include "taeda/dispatch/type.h"
#include "taeda/dispatch/value.h"

namespace taeda {

// Python's ==, but tensors and objects are equal only to themselves.
TAEDA_API bool equal_values(const Value& a, const Value& b);
// Of what can be a dict's key: equal ones have equal hashes. TypeError for lists and dicts.
TAEDA_API size_t hash_value(const Value& value);
// The type of a value as it is, found anew each time: of an empty list what it was made for.
TAEDA_API TypePtr type_of(const Value& value);
// A list or dict of its own, whose items are shared.
TAEDA_API Value copied(const Value& collection);

class TAEDA_API List final : public RefCounted {
 public:
  explicit List(TypePtr element, std::vector<Value> items = {}) : element(element), items(std::move(items)) {}
  TypePtr element;
  std::vector<Value> items;
};

class TAEDA_API Tuple final : public RefCounted {
 public:
  explicit Tuple(std::vector<Value> items, TypePtr type = nullptr) : items(std::move(items)), type(type) {}
  std::vector<Value> items;
  TypePtr type;  // of a named tuple, else null
};

// Keeps its entries in the order in which they came.
class TAEDA_API Dict final : public RefCounted {
 public:
  using Entry = std::pair<const Value, Value>;
  Dict(TypePtr key, TypePtr value);
  ~Dict() override;
  TypePtr key_type, value_type;

  size_t size() const { return entries_.size(); }
  const std::list<Entry>& entries() const { return entries_; }
  std::list<Entry>::iterator place(const Value& key);  // entries().end() if it is not there
  Value* find(const Value& key);                       // null if it is not there
  void set(const Value& key, Value value);
  bool erase(const Value& key);  // whether it was there
  void clear();

 private:
  struct Hash {
    size_t operator()(const Value& value) const { return hash_value(value); }
  };
  struct Equal {
    bool operator()(const Value& a, const Value& b) const { return equal_values(a, b); }
  };
  std::list<Entry> entries_;
  std::unordered_map<Value, std::list<Entry>::iterator, Hash, Equal> places_;
};

class TAEDA_API EnumMember final : public RefCounted {
 public:
  EnumMember(const EnumType* type, size_t index) : type(type), index(index) {}
  const EnumType* type;
  size_t index;
  const std::string& name() const { return type->members()[index].first; }
  const Value& value() const { return type->members()[index].second; }
};

class TAEDA_API Instance final : public RefCounted {
 public:
  explicit Instance(const ClassType* type);
  ~Instance() override;
  const ClassType* type;
  std::vector<Value> slots;  // by attribute

  const Value& get(std::string_view attribute) const;
  void set(std::string_view attribute, Value value);
};

// Any list, flat or not, as a program uses it. Positions are checked; an item of another kind is a RuntimeError.
class TAEDA_API ListRef {
 public:
  explicit ListRef(Value list);
  // An empty list for items of a type: flat where kernels take such lists.
  static ListRef of(TypePtr element);

  size_t size() const;
  Value get(size_t i) const;
  void set(size_t i, const Value& item);
  void insert(size_t i, const Value& item);  // before item i; at the end when i is the size
  void append(const Value& item) { insert(size(), item); }
  void erase(size_t i);
  void clear();
  const Value& value() const { return list_; }

 private:
  template <class Visit>
  decltype(auto) visit(Visit&& visit) const;
  void check(size_t i, size_t end) const;
  Value list_;
};

}  // namespace taeda
