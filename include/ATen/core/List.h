// Lists and dicts whose items' type C++ knows: shared references to the core's.
#pragma once
#include <c10/util/OptionalArrayRef.h>
#include <taeda/dispatch/collections.h>

namespace at {
class Tensor;
}

namespace c10 {

struct IValue;

namespace detail {
// From a C++ value to a boxed one and back; ATen/core/ivalue.h defines both.
template <class T>
::taeda::Value to_value(const T& value);
template <class T>
T from_value(const ::taeda::Value& value);
template <class T>
::taeda::TypePtr type_of();
}  // namespace detail

// A place in a list: reads as the item, and writes it.
namespace detail {
template <class T>
struct BoxedForImpl {
  using type = IValue;
};
// IValue, which is declared later than this header is read.
template <class T>
using BoxedFor = typename BoxedForImpl<T>::type;
}  // namespace detail

template <class T>
class ListElement {
 public:
  ListElement(const ::taeda::ListRef& list, size_t i) : list_(list), i_(i) {}
  operator T() const { return detail::from_value<T>(list_.get(i_)); }
  // As a boxed value.
  detail::BoxedFor<T> get() const { return list_.get(i_); }
  ListElement& operator=(const T& item) {
    list_.set(i_, detail::to_value<T>(item));
    return *this;
  }
  ListElement& operator=(const ListElement& other) { return *this = static_cast<T>(other); }
  friend bool operator==(const ListElement& a, const T& b) { return static_cast<T>(a) == b; }

 private:
  ::taeda::ListRef list_;
  size_t i_;
};

template <class T>
class List {
 public:
  using value_type = T;
  List() : list_(::taeda::ListRef::of(detail::type_of<T>())) {}
  explicit List(::taeda::TypePtr element) : list_(::taeda::ListRef::of(element)) {}
  List(std::initializer_list<T> items) : List(ArrayRef<T>(items)) {}
  explicit List(ArrayRef<T> items) : List() {
    for (const T& item : items) push_back(item);
  }
  explicit List(::taeda::Value list) : list_(std::move(list)) {}
  List(const List&) = default;  // and no move: what was moved from stays the same list
  List& operator=(const List&) = default;

  size_t size() const { return list_.size(); }
  bool empty() const { return size() == 0; }
  T get(size_t i) const { return detail::from_value<T>(list_.get(i)); }
  void set(size_t i, const T& item) const { writable().set(i, detail::to_value<T>(item)); }
  T extract(size_t i) const { return get(i); }
  ListElement<T> operator[](size_t i) const { return {list_, i}; }
  void push_back(const T& item) const { writable().append(detail::to_value<T>(item)); }
  template <class... Args>
  void emplace_back(Args&&... args) const {
    push_back(T(std::forward<Args>(args)...));
  }
  void append(const List& other) const {
    for (size_t i = 0; i < other.size(); ++i) push_back(other.get(i));
  }
  void insert(size_t i, const T& item) const { writable().insert(i, detail::to_value<T>(item)); }
  template <class... Args>
  void emplace(size_t i, Args&&... args) const {
    insert(i, T(std::forward<Args>(args)...));
  }
  void erase(size_t i) const { writable().erase(i); }
  void pop_back() const { erase(size() - 1); }
  void clear() const { writable().clear(); }
  void reserve(size_t) const {}
  void resize(size_t count) const { resize(count, T()); }
  void resize(size_t count, const T& item) const {
    while (size() > count) pop_back();
    while (size() < count) push_back(item);
  }
  std::vector<T> vec() const {
    std::vector<T> items;
    items.reserve(size());
    for (size_t i = 0; i < size(); ++i) items.push_back(get(i));
    return items;
  }
  List copy() const { return List(::taeda::copied(list_.value())); }
  ::taeda::TypePtr elementType() const { return ::taeda::type_of(list_.value())->contained(0); }
  const ::taeda::Value& value() const { return list_.value(); }
  ::taeda::TensorList tensors() const { return list_.value().to_tensor_list(); }
  bool is(const List& other) const { return list_.value().is_same(other.list_.value()); }
  friend bool operator==(const List& a, const List& b) { return a.vec() == b.vec(); }

  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = ListElement<T>;
    iterator(const ::taeda::ListRef& list, size_t i) : list_(list), i_(i) {}
    ListElement<T> operator*() const { return {list_, i_}; }
    iterator& operator++() {
      ++i_;
      return *this;
    }
    iterator operator++(int) { return {list_, i_++}; }
    iterator operator+(std::ptrdiff_t n) const { return {list_, i_ + static_cast<size_t>(n)}; }
    bool operator==(const iterator& other) const { return i_ == other.i_; }

   private:
    ::taeda::ListRef list_;
    size_t i_;
  };
  iterator begin() const { return {list_, 0}; }
  iterator end() const { return {list_, size()}; }

 private:
  ::taeda::ListRef& writable() const { return list_; }
  mutable ::taeda::ListRef list_;
};

template <class K, class V>
class DictEntry {
 public:
  explicit DictEntry(::taeda::Dict::Entry& entry) : entry_(&entry) {}
  K key() const { return detail::from_value<K>(entry_->first); }
  V value() const { return detail::from_value<V>(entry_->second); }
  void setValue(const V& value) const { entry_->second = detail::to_value<V>(value); }

 private:
  ::taeda::Dict::Entry* entry_;
};

template <class K, class V>
class Dict {
 public:
  Dict() : dict_(::taeda::make_ref<::taeda::Dict>(detail::type_of<K>(), detail::type_of<V>())) {}
  Dict(::taeda::TypePtr key, ::taeda::TypePtr value) : dict_(::taeda::make_ref<::taeda::Dict>(key, value)) {}
  explicit Dict(::taeda::Ref<::taeda::Dict> dict) : dict_(std::move(dict)) {}
  Dict(const Dict&) = default;  // and no move: what was moved from stays the same dict
  Dict& operator=(const Dict&) = default;

  class iterator {
   public:
    using Inner = std::list<::taeda::Dict::Entry>::const_iterator;
    explicit iterator(Inner at) : at_(at) {}
    DictEntry<K, V> operator*() const { return DictEntry<K, V>(const_cast<::taeda::Dict::Entry&>(*at_)); }
    struct Arrow {
      DictEntry<K, V> entry;
      const DictEntry<K, V>* operator->() const { return &entry; }
    };
    Arrow operator->() const { return {**this}; }
    iterator& operator++() {
      ++at_;
      return *this;
    }
    iterator operator++(int) { return iterator(at_++); }
    bool operator==(const iterator& other) const { return at_ == other.at_; }

   private:
    friend Dict;
    Inner at_;
  };
  iterator begin() const { return iterator(dict_->entries().begin()); }
  iterator end() const { return iterator(dict_->entries().end()); }

  size_t size() const { return dict_->size(); }
  bool empty() const { return size() == 0; }
  bool contains(const K& key) const { return dict_->find(detail::to_value<K>(key)) != nullptr; }
  V at(const K& key) const {
    ::taeda::Value* found = dict_->find(detail::to_value<K>(key));
    TORCH_CHECK_INDEX(found, "the dict has no such key");
    return detail::from_value<V>(*found);
  }
  iterator find(const K& key) const { return iterator(dict_->place(detail::to_value<K>(key))); }
  // Where the key is now, and whether it is new; insert leaves the value of one that was there.
  template <class K2, class V2>
  std::pair<iterator, bool> insert(K2&& key, V2&& value) const {
    return put(K(std::forward<K2>(key)), std::forward<V2>(value), false);
  }
  template <class K2, class V2>
  std::pair<iterator, bool> insert_or_assign(K2&& key, V2&& value) const {
    return put(K(std::forward<K2>(key)), std::forward<V2>(value), true);
  }
  size_t erase(const K& key) const { return dict_->erase(detail::to_value<K>(key)); }
  void erase(iterator at) const { dict_->erase(at.at_->first); }
  void clear() const { dict_->clear(); }
  void reserve(size_t) const {}
  ::taeda::Value value() const { return dict_; }
  // Another with the same items.
  Dict copy() const { return Dict(::taeda::Ref<::taeda::Dict>(&::taeda::copied(value()).to_dict())); }
  bool is(const Dict& other) const { return dict_ == other.dict_; }
  friend bool operator==(const Dict& a, const Dict& b) { return ::taeda::equal_values(a.value(), b.value()); }
  ::taeda::TypePtr keyType() const { return dict_->key_type; }
  ::taeda::TypePtr valueType() const { return dict_->value_type; }

 private:
  template <class V2>
  std::pair<iterator, bool> put(const K& key, V2&& value, bool assigns) const {
    const ::taeda::Value held = detail::to_value<K>(key);
    const bool is_new = !dict_->find(held);
    if (is_new || assigns) dict_->set(held, detail::to_value<V>(V(std::forward<V2>(value))));
    return {iterator(dict_->place(held)), is_new};
  }
  ::taeda::Ref<::taeda::Dict> dict_;
};

namespace impl {
using GenericList = List<IValue>;
using GenericDict = Dict<IValue, IValue>;
template <class K, class V>
Dict<K, V> toTypedDict(const GenericDict& dict) {
  return Dict<K, V>(::taeda::Ref<::taeda::Dict>(&dict.value().to_dict()));
}
template <class T>
List<T> toTypedList(const GenericList& list) {
  return List<T>(list.value());
}
}  // namespace impl

}  // namespace c10
