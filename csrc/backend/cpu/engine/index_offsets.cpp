#include "backend/cpu/engine/index_offsets.h"

#include <cstring>

#include "taeda/ops/copy.h"
#include "taeda/ops/view.h"

namespace taeda::cpu {

namespace {

constexpr int64_t kPick = kGrain / 4;  // elements that are read at random cost more
constexpr int64_t kStrip = 16;         // elements of a row that one thread writes at least

int64_t* fresh(IndexOffsets& places, int64_t count) {
  const int64_t size[] = {count};
  places.count = count;
  places.storage = new_tensor(size, DType::Int64);
  places.offsets = places.storage.data<int64_t>();
  return places.storage.data<int64_t>();
}

// offsets[i] += index[i] * stride; whether all were inside.
bool add_offsets(int64_t* offsets, const int64_t* index, int64_t count, int64_t size, int64_t stride, bool wraps) {
  std::atomic<bool> inside = true;
  parallel_for(0, count, kGrain, [&](int64_t begin, int64_t end) {
    bool good = true;
    for (int64_t i = begin; i < end; ++i) {
      int64_t p = index[i];
      if (wraps && p < 0) p += size;  // cannot overflow: the signs differ
      good &= static_cast<uint64_t>(p) < static_cast<uint64_t>(size);
      offsets[i] = static_cast<int64_t>(static_cast<uint64_t>(offsets[i]) +
                                        static_cast<uint64_t>(p) * static_cast<uint64_t>(stride));
    }
    if (!good) inside = false;
  });
  return inside;
}

}  // namespace

Tensor as_indices(const Tensor& index) {
  Tensor result = index.dtype() == DType::Int64 ? index : ops::_to_copy(index, DType::Int64);
  return result.is_contiguous() ? result : ops::contiguous(result);
}

void fail_index(const Tensor& index, int64_t size, int64_t dim, ErrorKind kind) {
  Tensor positions = as_indices(index);
  const int64_t* data = positions.data<int64_t>();
  int64_t bad = size;
  for (int64_t i = 0; i < positions.numel(); ++i)
    if (data[i] < 0 || data[i] >= size) {
      bad = data[i];
      if (bad < -size || bad >= size) break;  // one that no rule allows
    }
  fail(kind, str("position ", bad, " is outside dimension ", dim, " of size ", size));
}

IndexOffsets offsets_at(const Tensor& self, TensorList positions, const shape::Indexed& indexed) {
  IndexOffsets places;
  int64_t* offsets = fresh(places, numel_of(indexed.positions));
  std::fill_n(offsets, places.count, 0);
  for (size_t d = 0; d < positions.size(); ++d) {
    if (!positions[d].defined()) continue;
    bool whole = std::ranges::equal(positions[d].sizes(), IntList(indexed.positions));
    Tensor index = as_indices(whole ? positions[d] : ops::expand(positions[d], indexed.positions));
    if (!add_offsets(offsets, index.data<int64_t>(), places.count, self.sizes()[d], self.strides()[d] * self.itemsize(),
                     true))
      fail_index(index, self.sizes()[d], static_cast<int64_t>(d));
  }
  return places;
}

IndexOffsets offsets_along(const Tensor& self, int64_t dim, const Tensor& index, Negative negative, ErrorKind kind) {
  IndexOffsets places;
  Tensor positions = as_indices(index);
  int64_t* offsets = fresh(places, positions.numel());
  std::fill_n(offsets, places.count, 0);
  int64_t size = self.dim() ? self.sizes()[dim] : 1, stride = self.dim() ? self.strides()[dim] : 1;
  if (!add_offsets(offsets, positions.data<int64_t>(), places.count, size, stride * self.itemsize(),
                   negative == Negative::Wraps))
    fail_index(positions, size, dim, kind);
  return places;
}

IndexOffsets offsets_flat(const Tensor& self, const Tensor& index) {
  IndexOffsets places;
  Tensor positions = as_indices(index);
  int64_t* offsets = fresh(places, positions.numel());
  bool dense = self.is_contiguous();
  int64_t item = self.itemsize();
  std::fill_n(offsets, places.count, 0);
  if (!add_offsets(offsets, positions.data<int64_t>(), places.count, self.numel(), dense ? item : 1, true))
    fail(ErrorKind::Index, str("index reaches outside the ", self.numel(), " elements of the tensor"));
  if (dense) return places;
  parallel_for(0, places.count, kPick, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t flat = offsets[i], offset = 0;
      for (int64_t d = self.dim(); d-- > 0; flat /= self.sizes()[d])
        offset += flat % self.sizes()[d] * self.strides()[d];
      offsets[i] = offset * item;
    }
  });
  return places;
}

namespace {

constexpr int64_t kRow = 64;  // bytes, from which on rows are copied one by one

// to[i] = from[offset i]: nothing is asked of offsets, which were positions that are inside.
template <class Bytes>
void pick_all(char* to, int64_t to_step, const char* from, const int64_t* offsets, int64_t n) {
  auto pick = [&](int64_t i, int64_t step) { std::memcpy(to + i * step, from + offsets[i], sizeof(Bytes)); };
  if (to_step != sizeof(Bytes)) {
    for (int64_t i = 0; i < n; ++i) pick(i, to_step);
    return;
  }
#pragma GCC unroll 8
  for (int64_t i = 0; i < n; ++i) pick(i, sizeof(Bytes));
}

// Of what belongs to a place, the bytes, where they lie side by side in both; else 0.
int64_t bytes_of_place(const Tensor& from, const Rest& rest) {
  int64_t bytes = from.itemsize();
  for (size_t i = rest.kept.size(); i-- > 0;) {
    int64_t d = rest.kept[i], size = from.sizes()[d];
    if (size != 1 && (rest.kept_steps[i] != bytes || from.strides()[d] * from.itemsize() != bytes)) return 0;
    bytes *= size;
  }
  return bytes;
}

void read_rows(char* to, const char* from, const IndexOffsets& places, int64_t step, int64_t bytes) {
  constexpr int64_t kAhead = 4, kFetched = 256;  // rows, and bytes of each that are fetched
  parallel_for(0, places.count, std::max<int64_t>(kPick / bytes, 1), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if (i + kAhead < end)
        for (int64_t b = 0; b < std::min(bytes, kFetched); b += 64)
          __builtin_prefetch(from + places.offsets[i + kAhead] + b);
      std::memcpy(to + i * step, from + places.offsets[i], bytes);
    }
  });
}

}  // namespace

void read_at_offsets(char* to, const Tensor& from, const IndexOffsets& places, const Rest& rest) {
  if (int64_t bytes = bytes_of_place(from, rest); bytes >= kRow)
    return read_rows(to, from.data<char>(), places, rest.step, bytes);
  int64_t item = from.itemsize();
  TensorIterator<3> iterator;  // result, source, offsets
  iterator.add(places.count, {rest.step, 0, sizeof(int64_t)});
  for (size_t i = 0; i < rest.kept.size(); ++i) {
    int64_t d = rest.kept[i];
    iterator.add(from.sizes()[d], {rest.kept_steps[i], from.strides()[d] * item, 0});
  }
  iterator.prepare();
  auto pick = by_size(item, []<class Bytes>() { return pick_all<Bytes>; });
  Pick pick_row = pick_of(item);
  auto [to_step, from_step, index_step] = iterator.steps();
  char* offsets = reinterpret_cast<char*>(const_cast<int64_t*>(places.offsets));
  iterator.run({to, from.data<char>(), offsets}, kPick,
               [&, to_step = to_step, from_step = from_step, index_step = index_step](const auto& at, int64_t n) {
                 if (index_step)  // the iterator goes from place to place
                   pick(at[0], to_step, at[1], reinterpret_cast<const int64_t*>(at[2]), n);
                 else
                   pick_row(at[0], to_step, at[1], from_step, at[2], 0, INT64_MAX, 1, n);
               });
}

// One thread writes all places of the elements it was given, in order.
void write_at_offsets(const Tensor& to, const char* from, const IndexOffsets& places, const Rest& rest,
                      Combine combine) {
  if (places.count == 0) return;
  int64_t item = to.itemsize();
  TensorIterator<2> iterator;
  for (size_t i = 0; i < rest.kept.size(); ++i) {
    int64_t d = rest.kept[i];
    iterator.add(to.sizes()[d], {to.strides()[d] * item, rest.kept_steps[i]});
  }
  iterator.prepare();
  RowOps ops = row_ops(combine, to.dtype());
  auto [to_step, from_step] = iterator.steps();
  bool rows = iterator.row_size() >= kStrip;
  const char* offsets = reinterpret_cast<const char*>(places.offsets);
  int64_t grain = std::max(kStrip, kPick / places.count);
  iterator.run({to.data<char>(), const_cast<char*>(from)}, grain,
               [&, to_step = to_step, from_step = from_step](const auto& at, int64_t n) {
                 if (rows) {
                   for (int64_t p = 0; p < places.count; ++p)
                     ops.row(at[0] + places.offsets[p], to_step, at[1] + p * rest.step, from_step, n);
                 } else {
                   for (int64_t i = 0; i < n; ++i)
                     ops.at(at[0] + i * to_step, 0, offsets, sizeof(int64_t), INT64_MAX, 1, at[1] + i * from_step,
                            rest.step, places.count);
                 }
               });
}

}  // namespace taeda::cpu
