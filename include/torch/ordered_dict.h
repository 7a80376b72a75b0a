// A map that remembers in which order its keys came.
#pragma once
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <c10/util/Exception.h>

namespace torch {

template <class Key, class Value>
class OrderedDict {
 public:
  class Item {
   public:
    Item(Key key, Value value) : pair_(std::move(key), std::move(value)) {}
    Value& operator*() { return pair_.second; }
    const Value& operator*() const { return pair_.second; }
    Value* operator->() { return &pair_.second; }
    const Value* operator->() const { return &pair_.second; }
    const Key& key() const noexcept { return pair_.first; }
    Value& value() noexcept { return pair_.second; }
    const Value& value() const noexcept { return pair_.second; }
    const std::pair<Key, Value>& pair() const noexcept { return pair_; }

   private:
    std::pair<Key, Value> pair_;
  };
  using Iterator = typename std::vector<Item>::iterator;
  using ConstIterator = typename std::vector<Item>::const_iterator;

  explicit OrderedDict(std::string key_description = "Key") : key_description_(std::move(key_description)) {}
  OrderedDict(std::initializer_list<Item> items) : OrderedDict() {
    for (const Item& item : items) insert(item.key(), item.value());
  }
  OrderedDict(const OrderedDict&) = default;
  OrderedDict(OrderedDict&&) noexcept = default;
  OrderedDict& operator=(const OrderedDict&) = default;
  OrderedDict& operator=(OrderedDict&&) noexcept = default;
  ~OrderedDict() = default;

  const std::string& key_description() const noexcept { return key_description_; }
  Item& front() { return (*this)[0]; }
  const Item& front() const { return (*this)[0]; }
  Item& back() { return (*this)[size() - 1]; }
  const Item& back() const { return (*this)[size() - 1]; }
  Item& operator[](size_t i) {
    TORCH_CHECK(!items_.empty(), "an empty OrderedDict has no items");
    TORCH_CHECK(i < size(), "OrderedDict: index ", i, " is out of range for ", size(), " items");
    return items_[i];
  }
  const Item& operator[](size_t i) const { return const_cast<OrderedDict&>(*this)[i]; }
  Value& operator[](const Key& key) {
    Value* found = find(key);
    TORCH_CHECK(found, key_description_, " '", key, "' is not defined");
    return *found;
  }
  const Value& operator[](const Key& key) const { return const_cast<OrderedDict&>(*this)[key]; }
  Value* find(const Key& key) noexcept {
    auto at = index_.find(key);
    return at == index_.end() ? nullptr : &items_[at->second].value();
  }
  const Value* find(const Key& key) const noexcept { return const_cast<OrderedDict&>(*this).find(key); }
  bool contains(const Key& key) const noexcept { return index_.contains(key); }

  Iterator begin() { return items_.begin(); }
  ConstIterator begin() const { return items_.begin(); }
  Iterator end() { return items_.end(); }
  ConstIterator end() const { return items_.end(); }
  size_t size() const noexcept { return items_.size(); }
  bool is_empty() const noexcept { return items_.empty(); }
  void reserve(size_t capacity) {
    items_.reserve(capacity);
    index_.reserve(capacity);
  }

  template <class K, class V>
  Value& insert(K&& key, V&& value) {
    TORCH_CHECK(!contains(key), key_description_, " '", key, "' already defined");
    index_.emplace(key, items_.size());
    return items_.emplace_back(std::forward<K>(key), std::forward<V>(value)).value();
  }
  Value& insert(Key key, Value&& value) { return insert<Key, Value>(std::move(key), std::move(value)); }
  void update(OrderedDict&& other) {
    reserve(size() + other.size());
    for (Item& item : other) insert(item.key(), std::move(item.value()));
  }
  void update(const OrderedDict& other) {
    reserve(size() + other.size());
    for (const Item& item : other) insert(item.key(), item.value());
  }
  void erase(const Key& key) {
    auto at = index_.find(key);
    TORCH_CHECK(at != index_.end(), key_description_, " '", key, "' doesn't exist");
    size_t position = at->second;
    index_.erase(at);
    items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(position));
    for (auto& [_, i] : index_) i -= i > position;
  }
  void clear() {
    items_.clear();
    index_.clear();
  }

  const std::vector<Item>& items() const noexcept { return items_; }
  std::vector<Key> keys() const {
    std::vector<Key> made;
    for (const Item& item : items_) made.push_back(item.key());
    return made;
  }
  std::vector<Value> values() const {
    std::vector<Value> made;
    for (const Item& item : items_) made.push_back(item.value());
    return made;
  }
  std::vector<std::pair<Key, Value>> pairs() const {
    std::vector<std::pair<Key, Value>> made;
    for (const Item& item : items_) made.push_back(item.pair());
    return made;
  }

 private:
  std::unordered_map<Key, size_t> index_;
  std::vector<Item> items_;
  std::string key_description_;
};

template <class K, class V>
bool operator==(const OrderedDict<K, V>& a, const OrderedDict<K, V>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i].key() != b[i].key() || !(a[i].value() == b[i].value())) return false;
  return true;
}

}  // namespace torch
