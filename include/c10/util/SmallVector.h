// Lists that are short as a rule. Here they are vectors with the methods that LLVM's have beside them.
#pragma once
#include <vector>

#include <c10/util/ArrayRef.h>

namespace c10 {

template <class T>
class SmallVectorImpl : public std::vector<T> {
 public:
  using std::vector<T>::vector;
  template <class Iterator>
  void append(Iterator first, Iterator last) {
    this->insert(this->end(), first, last);
  }
  void append(size_t count, const T& value) { this->insert(this->end(), count, value); }
  void append(std::initializer_list<T> list) { append(list.begin(), list.end()); }
  T pop_back_val() {
    T last = std::move(this->back());
    this->pop_back();
    return last;
  }
};

template <class T, unsigned N = 8>
class SmallVector : public SmallVectorImpl<T> {
 public:
  using SmallVectorImpl<T>::SmallVectorImpl;
  explicit SmallVector(ArrayRef<T> list) : SmallVectorImpl<T>(list.begin(), list.end()) {}
};

using DimVector = SmallVector<int64_t, 5>;

}  // namespace c10

namespace at {
using c10::DimVector;
}  // namespace at
