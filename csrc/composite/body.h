// What bodies of composites that are written in Python use: numbers and lists as Python knows them.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>

#include "autograd/numbers.h"
#include "composite/fresh.h"
#include "composite/records.h"
#include "shape/elementwise.h"
#include "shape/view_rules.h"
#include "taeda/core/determinism.h"
#include "taeda/core/warn.h"

namespace taeda::composite {

// Rounded down, with the remainder of the divisor's sign.
inline int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a % b < 0) != (b < 0)); }
inline int64_t floor_mod(int64_t a, int64_t b) { return a - floor_div(a, b) * b; }

inline shape::Dims joined(std::initializer_list<IntList> lists) {
  shape::Dims result;
  for (IntList list : lists)
    for (int64_t item : list) result.push_back(item);
  return result;
}
inline std::vector<Tensor> joined(std::initializer_list<TensorList> lists) {
  std::vector<Tensor> result;
  for (TensorList list : lists) result.insert(result.end(), list.begin(), list.end());
  return result;
}
inline shape::Dims repeated(int64_t item, int64_t count) {
  shape::Dims result;
  for (int64_t i = 0; i < count; ++i) result.push_back(item);
  return result;
}
inline bool contains(IntList list, int64_t item) { return std::ranges::find(list, item) != list.end(); }

// list[from:to]: bounds below zero count from the end, those beyond it mean the end.
template <class T>
std::span<const T> part(std::span<const T> list, int64_t from, int64_t to = INT64_MAX) {
  const int64_t size = std::ssize(list);
  auto place = [size](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + size : at, 0, size); };
  from = place(from), to = std::max(place(to), from);
  return list.subspan(from, to - from);
}

// The dtype of a result of tensors and numbers.
template <class... Operands>
DType result_type(const Operands&... operands) {
  const shape::Operand all[] = {operands...};
  return shape::result_type(all);
}

// Whether there are elements to read.
inline bool has_values(const Tensor& t) {
  return t.device().type != DeviceType::Meta && !t.keys().has(Functionality::Memoryless);
}

}  // namespace taeda::composite
