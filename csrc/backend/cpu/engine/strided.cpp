// Walking operands that are not all contiguous elements of the loop's own type.
#include <array>
#include <cstring>

#include "backend/cpu/engine/convert.h"
#include "backend/cpu/engine/loops.h"
#include "backend/cpu/engine/tensor_iterator.h"

namespace taeda::cpu {

namespace baseline {
extern const Convert* const kConverters[kComputedDTypes];
}
#if defined(__x86_64__)
namespace avx2 {
extern const Convert* const kConverters[kComputedDTypes];
}
namespace avx512 {
extern const Convert* const kConverters[kComputedDTypes];
}
#endif

Convert converter(DType from, DType to) {
  if (is_stored_only(from) || is_stored_only(to)) return stored_converter(from, to);
#if defined(__x86_64__)
  static const Convert* const* const kTables[kIsas] = {baseline::kConverters, avx2::kConverters, avx512::kConverters};
#else
  static const Convert* const* const kTables[kIsas] = {baseline::kConverters, baseline::kConverters,
                                                       baseline::kConverters};
#endif
  return kTables[static_cast<int>(kIsa)][static_cast<int>(from)][static_cast<int>(to)];
}

void fill_block(char* to, const char* value, int64_t size, int64_t n) {
  constexpr int64_t kLine = 64;  // whole elements of any dtype
  char line[kLine];
  by_size(size, [&]<class Bytes>() {
    for (size_t i = 0; i < kLine; i += sizeof(Bytes)) std::memcpy(line + i, value, sizeof(Bytes));
  });
  int64_t total = n * size, i = 0;
  for (; i + kLine <= total; i += kLine) std::memcpy(to + i, line, kLine);
  std::memcpy(to + i, line, total - i);
}

namespace {

constexpr int64_t kBlock = 512;    // elements; a block of each operand stays in the first-level cache
constexpr int64_t kPiece = 256;    // of a long row: so much is fetched at once
constexpr int64_t kLongRow = 256;  // rows from this length on are walked one by one
constexpr int64_t kShortRow = 32;  // and up to this one, filling each takes longer than what it holds
constexpr int64_t kMaxItem = 16;

// One operand with its dimensions merged; `row` is the position within the current row or block.
struct Walker {
  char* data;
  int64_t step;  // bytes between neighbours of a row
  DType dtype, wanted;
  int64_t item, wanted_item;
  Convert convert;
  bool direct;                        // rows can be handed to the loop as they are
  bool constant;                      // a row repeats one element
  bool flat = true;                   // all rows are one to it
  int64_t period = 0;                 // in flat mode: the block repeats after so many elements
  const char* filled_from = nullptr;  // what a repeating block holds
  int64_t filled = 0;
};

struct Merged {
  int dims = 0;
  std::array<int64_t, kMaxDim> sizes;
  std::array<std::array<int64_t, kMaxDim>, kMaxOperands> strides;
};

// Joins dimensions that all operands step through as through one.
Merged merge(IntList sizes, std::span<const Strided> operands) {
  Merged m;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 1) continue;
    bool joins = m.dims > 0;
    for (size_t k = 0; joins && k < operands.size(); ++k)
      joins = operands[k].strides[d] == m.strides[k][m.dims - 1] * m.sizes[m.dims - 1];
    if (joins) {
      m.sizes[m.dims - 1] *= sizes[d];
      continue;
    }
    m.sizes[m.dims] = sizes[d];
    for (size_t k = 0; k < operands.size(); ++k) m.strides[k][m.dims] = operands[k].strides[d];
    ++m.dims;
  }
  if (m.dims == 0) {
    m.dims = 1;
    m.sizes[0] = 1;
    for (size_t k = 0; k < operands.size(); ++k)
      m.strides[k][0] = operands[k].wanted == DType::Undefined ? 0 : itemsize(operands[k].dtype);
  }
  return m;
}

class OperandIterator {
 public:
  OperandIterator(Loop loop, const void* scalars, const Merged& merged, std::span<const Strided> operands, int results)
      : loop_(loop), scalars_(scalars), m_(merged), results_(results), count_(static_cast<int>(operands.size())) {
    for (int k = 0; k < count_; ++k) {
      const Strided& o = operands[k];
      Walker& w = walkers_[k];
      w = {o.data, m_.strides[k][0], o.dtype, o.wanted, itemsize(o.dtype), itemsize(o.wanted), nullptr, false, false};
      w.direct = o.dtype == o.wanted && (w.step == w.item || m_.sizes[0] == 1);
      w.constant = k >= results && w.step == 0 && m_.sizes[0] > 1;
      for (int d = 1; d < m_.dims; ++d) w.flat &= m_.strides[k][d] == m_.strides[k][d - 1] * m_.sizes[d - 1];
      if (!w.direct) w.convert = k < results ? converter(o.wanted, o.dtype) : converter(o.dtype, o.wanted);
    }
  }

  bool all_direct() const {
    for (int k = 0; k < count_; ++k)
      if (!walkers_[k].direct) return false;
    return true;
  }

  // Elements [begin, end) of the flattened space, row by row.
  void rows(int64_t begin, int64_t end) {
    int64_t length = m_.sizes[0];
    bool direct = all_direct();
    std::array<int64_t, kMaxDim> index;
    std::array<char*, kMaxOperands> row;
    seek(begin / length, index, row);
    int64_t from = begin % length;
    for (int64_t left = end - begin; left > 0; from = 0) {
      int64_t n = std::min(left, length - from);
      if (direct)
        run_direct(row, from, n);
      else
        for (int64_t i = 0; i < n; i += kPiece)
          run_block(row, from + i, std::min(kPiece, n - i), std::min(kPiece, n - i - kPiece));
      left -= n;
      if (left > 0) next_row(index, row);
    }
  }

  // For short rows: blocks of several rows, the length of a block being a multiple of `block`.
  void blocks(int64_t begin, int64_t end, int64_t block) {
    for (int64_t i = begin; i < end; i += block) flat_block(i, std::min(block, end - i));
  }

  // The flat length of block that lets operands which repeat every so many rows be gathered once.
  int64_t choose_block() {
    int64_t block = kBlock;
    for (int k = results_; k < count_; ++k) {
      Walker& w = walkers_[k];
      int64_t inner = 1;
      int d = 0;
      while (d < m_.dims && m_.strides[k][d] != 0) inner *= m_.sizes[d++];
      bool repeats = d > 0 && d < m_.dims && inner <= kBlock / 2;
      for (int e = d; repeats && e < m_.dims; ++e) repeats = m_.strides[k][e] == 0;
      if (!repeats || (block != kBlock && block % inner != 0)) continue;
      if (block == kBlock) block = kBlock / inner * inner;
      w.period = inner;
    }
    return block;
  }

 private:
  void seek(int64_t row, std::array<int64_t, kMaxDim>& index, std::array<char*, kMaxOperands>& at) const {
    for (int k = 0; k < count_; ++k) at[k] = walkers_[k].data;
    for (int d = 1; d < m_.dims; ++d) {
      index[d] = row % m_.sizes[d];
      row /= m_.sizes[d];
      for (int k = 0; k < count_; ++k) at[k] += index[d] * m_.strides[k][d];
    }
  }

  void next_row(std::array<int64_t, kMaxDim>& index, std::array<char*, kMaxOperands>& at) const {
    for (int d = 1; d < m_.dims; ++d) {
      for (int k = 0; k < count_; ++k) at[k] += m_.strides[k][d];
      if (++index[d] < m_.sizes[d]) return;
      for (int k = 0; k < count_; ++k) at[k] -= m_.strides[k][d] * m_.sizes[d];
      index[d] = 0;
    }
  }

  void run_direct(const std::array<char*, kMaxOperands>& row, int64_t from, int64_t n) const {
    std::array<char*, kMaxOperands> p;
    for (int k = 0; k < count_; ++k) p[k] = row[k] + from * walkers_[k].step;
    loop_(p.data(), n, scalars_);
  }

  // Elements [from, from + n) of a row, while the operands' `next` ones behind them are fetched, and the places of the
  // results before the loop that needs its time.
  void run_block(const std::array<char*, kMaxOperands>& row, int64_t from, int64_t n, int64_t next) {
    std::array<char*, kMaxOperands> p;
    for (int k = 0; k < count_; ++k) {
      Walker& w = walkers_[k];
      char* source = row[k] + from * w.step;
      p[k] = w.direct ? source : buffer(k);
      if (w.direct) continue;
      if (k < results_) {
        if (w.step == w.item) fetch<true>(source, n * w.item);
        continue;
      }
      if (w.constant)
        repeat(w, buffer(k), source, n);
      else
        w.convert(buffer(k), w.wanted_item, source, w.step, n);
      if (w.step == w.item) fetch<false>(source + n * w.item, next * w.item);
    }
    loop_(p.data(), n, scalars_);
    for (int k = 0; k < results_; ++k) {
      const Walker& w = walkers_[k];
      if (!w.direct) w.convert(row[k] + from * w.step, w.step, buffer(k), w.wanted_item, n);
    }
  }

  template <bool writes>
  static void fetch(const char* from, int64_t bytes) {
    for (int64_t i = 0; i < bytes; i += 64) __builtin_prefetch(from + i, writes);
  }

  static void repeat(Walker& w, char* to, const char* source, int64_t n) {
    if (w.filled_from == source && w.filled >= n) return;
    spread(w, to, source, n);
    w.filled_from = source;
    w.filled = n;
  }

  static void spread(const Walker& w, char* to, const char* source, int64_t n) {
    char element[kMaxItem];
    w.convert(element, w.wanted_item, source, 0, 1);
    fill_block(to, element, w.wanted_item, n);
  }

  void flat_block(int64_t begin, int64_t n) {
    std::array<char*, kMaxOperands> p;
    for (int k = 0; k < count_; ++k) {
      Walker& w = walkers_[k];
      p[k] = is_plain(w) ? w.data + begin * w.item : buffer(k);
      if (is_plain(w) || k < results_ || (w.period && w.filled >= n)) continue;
      move(k, begin, n);
      w.filled = n;
    }
    loop_(p.data(), n, scalars_);
    for (int k = 0; k < results_; ++k)
      if (!is_plain(walkers_[k])) move(k, begin, n);
  }

  // Whether the loop can be handed any stretch of it, over the ends of rows.
  static bool is_plain(const Walker& w) { return w.flat && w.direct && w.step == w.item; }

  // Elements [begin, begin + n) of an operand to its buffer, or of a result from it, piece of row by piece of row.
  void move(int k, int64_t begin, int64_t n) {
    Walker& w = walkers_[k];
    Convert convert = w.convert ? w.convert : converter(w.dtype, w.wanted);
    if (w.constant && m_.dims > 1 && m_.sizes[0] <= kShortRow) return spread_rows(k, convert, begin, n);
    char* block = buffer(k);
    pieces(k, 0, begin, n, [&](char* at, int64_t done, int64_t piece) {
      char* here = block + done * w.wanted_item;
      if (k < results_)
        convert(at, w.step, here, w.wanted_item, piece);
      else if (w.constant)
        spread(w, here, at, piece);
      else
        convert(here, w.wanted_item, at, w.step, piece);
    });
  }

  // The same for elements each of which fills a short row: converted together, then spread.
  void spread_rows(int k, Convert convert, int64_t begin, int64_t n) {
    alignas(64) char values[kBlock * kMaxItem + kMaxItem];
    int64_t item = walkers_[k].wanted_item, row = m_.sizes[0], rows = (begin % row + n + row - 1) / row;
    pieces(k, 1, begin / row, rows, [&](char* at, int64_t done, int64_t piece) {
      convert(values + done * item, item, at, m_.strides[k][1], piece);
    });
    by_size(item, [&]<class Item>() { spread_items<Item>(buffer(k), values, begin % row, n); });
  }

  template <class Item>
  void spread_items(char* to, const char* values, int64_t skip, int64_t n) const {
    auto out = reinterpret_cast<Item*>(to);
    for (auto value = reinterpret_cast<const Item*>(values); n > 0; ++value, skip = 0) {
      int64_t count = std::min(m_.sizes[0] - skip, n);
      for (int64_t j = 0; j < count; ++j) out[j] = *value;
      out += count;
      n -= count;
    }
  }

  // Calls f(address, elements before, elements) for the stretches of [begin, begin + n) that lie in one row of
  // dimension `inner`, those within it left out.
  template <class F>
  void pieces(int k, int inner, int64_t begin, int64_t n, const F& f) const {
    const Walker& w = walkers_[k];
    const auto& strides = m_.strides[k];
    std::array<int64_t, kMaxDim> index;
    int64_t rest = begin;
    char* at = w.data;
    for (int d = inner; d < m_.dims; ++d) {
      index[d] = rest % m_.sizes[d];
      rest /= m_.sizes[d];
      at += index[d] * strides[d];
    }
    for (int64_t done = 0; done < n;) {
      int64_t piece = w.flat ? n : std::min(n - done, m_.sizes[inner] - index[inner]);
      f(at, done, piece);
      done += piece;
      at += piece * strides[inner];
      index[inner] += piece;
      for (int d = inner; d + 1 < m_.dims && index[d] == m_.sizes[d]; ++d) {
        at += strides[d + 1] - strides[d] * m_.sizes[d];
        index[d] = 0;
        ++index[d + 1];
      }
    }
  }

  char* buffer(int k) { return buffers_ + k * kBlock * kMaxItem; }

  Loop loop_;
  const void* scalars_;
  const Merged& m_;
  int results_, count_;
  std::array<Walker, kMaxOperands> walkers_;
  alignas(64) char buffers_[kMaxOperands * kBlock * kMaxItem];
};

}  // namespace

void run_strided(Loop loop, const void* scalars, IntList sizes, std::span<const Strided> operands, int results) {
  Merged merged = merge(sizes, operands);
  int64_t total = 1;
  for (int d = 0; d < merged.dims; ++d) total *= merged.sizes[d];
  if (total == 0) return;
  if (merged.dims == 1 || merged.sizes[0] >= kLongRow) {
    parallel_for(0, total, kGrain, [&](int64_t begin, int64_t end) {
      OperandIterator(loop, scalars, merged, operands, results).rows(begin, end);
    });
    return;
  }
  OperandIterator first(loop, scalars, merged, operands, results);
  int64_t block = first.choose_block();
  if (total <= kGrain) return first.blocks(0, total, block);
  parallel_for(0, total, kGrain / block * block, [&](int64_t begin, int64_t end) {
    OperandIterator iterator(loop, scalars, merged, operands, results);
    iterator.blocks(begin, end, iterator.choose_block());
  });
}

}  // namespace taeda::cpu
