#include "backend/cpu/engine/reduce_engine.h"

#include <algorithm>
#include <array>
#include <vector>

#include "backend/cpu/engine/convert.h"
#include "core/insertion_sort.h"

namespace taeda::cpu {

using shape::StateKind;

namespace {

constexpr int64_t kRowLeaf = 32768;      // contiguous elements that one call of `row` takes
constexpr int64_t kColumnLeaf = 128;     // rows that one call of `columns` takes
constexpr int64_t kTileBytes = 2048;     // of a row of columns that are reduced together
constexpr int64_t kGather = 1024;        // elements of a row converted at a time
constexpr int64_t kGatherBytes = 32768;  // of columns
constexpr int64_t kShortRow = 8;         // rows up to here are turned into columns,
constexpr int64_t kShortGathered = 64;   // and those that are converted anyway up to here
constexpr int64_t kMaxItem = 16;

struct Axis {
  int64_t size, stride;  // bytes
  // Which axis is to be walked innermost: one that repeats its elements has none of its own to bring near.
  int64_t reach() const { return stride ? std::abs(stride) : INT64_MAX; }
};

// Merged dimensions, innermost first.
class Axes {
 public:
  Axes() {}  // leaves the list as it is: clearing it would cost more than a small reduction
  void push(int64_t size, int64_t stride) {
    if (size == 1) return;
    if (count_ && stride == list_[count_ - 1].size * list_[count_ - 1].stride)
      list_[count_ - 1].size *= size;
    else
      list_[count_++] = {size, stride};
  }
  void sort() {
    insertion_sort(list_.begin(), list_.begin() + count_, [](Axis a, Axis b) { return a.reach() < b.reach(); });
  }
  int64_t total() const {
    int64_t product = 1;
    for (int i = 0; i < count_; ++i) product *= list_[i].size;
    return product;
  }
  // Bytes from the start to element `index` of the flattened space.
  int64_t offset(int64_t index) const {
    int64_t bytes = 0;
    for (int i = 0; i < count_ && index; ++i) {
      bytes += index % list_[i].size * list_[i].stride;
      index /= list_[i].size;
    }
    return bytes;
  }
  int count() const { return count_; }
  Axis inner(int64_t item) const { return count_ ? list_[0] : Axis{1, item}; }
  const Axis& operator[](int i) const { return list_[i]; }

 private:
  int count_ = 0;
  std::array<Axis, kMaxDim> list_;
};

// A reduction with its geometry settled.
struct Plan {
  const Reduction& op;
  const ReduceLoops& loops;
  const char* data;
  DType from, through, to;  // an element is read as `from`, made a bool if through is Bool, then `to`
  int64_t item;             // of `to`
  Axes kept, reduced;
  int64_t outputs, count;
  bool columns;        // neighbouring outputs lie next to each other in memory
  int64_t unit;        // outputs that are reduced together: a tile of columns, or rows; 1 where rows are cut
  int64_t state_item;  // bytes of one output's state
  alignas(16) char scalars[shape::kMaxReductionScalars * kMaxItem];
  Convert convert = nullptr, to_bool = nullptr;

  bool direct() const { return !convert; }
};

int64_t state_bytes(StateKind kind, int64_t item, int states) {
  if (kind == StateKind::Index) return item + 8;
  return kind == StateKind::Moments ? 2 * item : states * item;
}

// --- leaves

// Elements [begin, end) of one output, in memory order, converted into `block`.
void gather(const Plan& plan, const char* base, int64_t begin, int64_t n, char* block) {
  Axis inner = plan.reduced.inner(itemsize(plan.from));
  char bytes[kGather];
  while (n > 0) {
    int64_t at = begin % inner.size, piece = std::min(n, inner.size - at);
    const char* p = base + plan.reduced.offset(begin);
    if (plan.to_bool) {
      plan.to_bool(bytes, 1, p, inner.stride, piece);
      plan.convert(block, plan.item, bytes, 1, piece);
    } else {
      plan.convert(block, plan.item, p, inner.stride, piece);
    }
    block += piece * plan.item;
    begin += piece;
    n -= piece;
  }
}

void row_leaf(const Plan& plan, const char* base, int64_t begin, int64_t n, int64_t width, char* states) {
  int64_t step = width > 1 ? plan.kept[0].stride : 0;
  if (plan.direct()) return plan.loops.rows(base + begin * plan.item, step, width, n, begin, states, plan.scalars);
  alignas(64) char block[kGather * kMaxItem];
  gather(plan, base, begin, n, block);
  plan.loops.rows(block, 0, 1, n, begin, states, plan.scalars);
}

// Columns that are not contiguous elements of the loop's type: converted row by row.
void gathered_column_leaf(const Plan& plan, const char* base, int64_t begin, int64_t n, int64_t width, char* states) {
  alignas(64) char block[kGatherBytes];
  char bytes[kTileBytes];
  int64_t step = plan.kept[0].stride, row = width * plan.item;
  for (int64_t r = 0; r < n; ++r) {
    const char* p = base + plan.reduced.offset(begin + r);
    if (plan.to_bool) {
      plan.to_bool(bytes, 1, p, step, width);
      plan.convert(block + r * row, plan.item, bytes, 1, width);
    } else {
      plan.convert(block + r * row, plan.item, p, step, width);
    }
  }
  plan.loops.columns(block, row, n, width, begin, states, plan.scalars);
}

void column_leaf(const Plan& plan, const char* base, int64_t begin, int64_t n, int64_t width, char* states) {
  if (!plan.direct()) return gathered_column_leaf(plan, base, begin, n, width, states);
  Axis inner = plan.reduced.inner(plan.item);
  plan.loops.columns(base + plan.reduced.offset(begin), inner.stride, n, width, begin, states, plan.scalars);
}

// --- the tree: halves of a range, cut at whole leaves

struct Unit {
  const char* base;
  int64_t width;
};

int64_t leaf_size(const Plan& plan) {
  if (!plan.columns) return plan.direct() ? kRowLeaf : kGather;
  return plan.direct() ? kColumnLeaf : kGatherBytes / (plan.unit * plan.item);
}
// Leaves of direct columns step evenly, so they do not reach across rows of the reduced dimensions.
bool has_inner_rows(const Plan& plan) { return plan.columns && plan.direct() && plan.reduced.count() > 1; }

int64_t middle(const Plan& plan, int64_t begin, int64_t end) {
  int64_t leaf = leaf_size(plan);
  if (has_inner_rows(plan)) {
    int64_t inner = plan.reduced[0].size;
    if (end - begin > inner) return begin + std::max<int64_t>((end - begin) / inner / 2, 1) * inner;
  }
  int64_t leaves = (end - begin + leaf - 1) / leaf;
  return begin + leaves / 2 * leaf;
}

bool is_leaf(const Plan& plan, int64_t begin, int64_t end) {
  if (end - begin > leaf_size(plan)) return false;
  if (!has_inner_rows(plan)) return true;
  int64_t inner = plan.reduced[0].size;
  return begin / inner == (end - 1) / inner;
}

void reduce_range(const Plan& plan, const Unit& unit, int64_t begin, int64_t end, char* state) {
  if (is_leaf(plan, begin, end)) {
    if (plan.columns) return column_leaf(plan, unit.base, begin, end - begin, unit.width, state);
    return row_leaf(plan, unit.base, begin, end - begin, unit.width, state);
  }
  int64_t cut = middle(plan, begin, end);
  reduce_range(plan, unit, begin, cut, state);
  alignas(64) char right[2 * kTileBytes + 8 * kTileBytes];
  reduce_range(plan, unit, cut, end, right);
  plan.loops.combine(state, right, unit.width, cut - begin, end - cut);
}

// --- results

struct Targets {
  const Tensor* tensors[2] = {nullptr, nullptr};
  DType made[2];  // what `finish` writes
};

void finish(const Plan& plan, const Targets& targets, const char* states, int64_t first, int64_t width) {
  alignas(64) char blocks[2][kTileBytes * 8];
  char* outs[2];
  for (int i = 0; i < 2; ++i) {
    const Tensor* t = targets.tensors[i];
    bool direct = t && t->is_contiguous() && t->dtype() == targets.made[i];
    outs[i] = !t ? nullptr : direct ? t->data<char>() + first * t->itemsize() : blocks[i];
  }
  plan.loops.finish(outs, states, width, plan.count, plan.scalars);
  for (int i = 0; i < 2; ++i) {
    const Tensor* t = targets.tensors[i];
    if (!t || outs[i] != blocks[i]) continue;
    Convert convert = converter(targets.made[i], t->dtype());
    int64_t made = itemsize(targets.made[i]);
    for (int64_t j = 0; j < width; ++j) {
      int64_t rest = first + j, offset = 0;
      for (int64_t d = t->dim(); d-- > 0;) {
        offset += rest % t->sizes()[d] * t->strides()[d];
        rest /= t->sizes()[d];
      }
      convert(t->data<char>() + offset * t->itemsize(), 0, outs[i] + j * made, 0, 1);
    }
  }
}

// Outputs [first, first + width) lie `unit.base` bytes into the data.
Unit unit_at(const Plan& plan, int64_t first, int64_t width) { return {plan.data + plan.kept.offset(first), width}; }

int64_t unit_count(const Plan& plan) {
  if (plan.unit == 1) return plan.outputs;
  int64_t row = plan.kept[0].size;
  return plan.outputs / row * ((row + plan.unit - 1) / plan.unit);
}

void unit_range(const Plan& plan, int64_t index, int64_t& first, int64_t& width) {
  if (plan.unit == 1) {
    first = index;
    width = 1;
    return;
  }
  int64_t row = plan.kept[0].size, tiles = (row + plan.unit - 1) / plan.unit;
  first = index / tiles * row + index % tiles * plan.unit;
  width = std::min(plan.unit, row - index % tiles * plan.unit);
}

// The nodes of the tree at which several threads take over.
void list_pieces(const Plan& plan, int64_t begin, int64_t end, int64_t smallest,
                 std::vector<std::pair<int64_t, int64_t>>& pieces) {
  if (end - begin <= smallest || is_leaf(plan, begin, end)) {
    pieces.emplace_back(begin, end);
    return;
  }
  int64_t cut = middle(plan, begin, end);
  list_pieces(plan, begin, cut, smallest, pieces);
  list_pieces(plan, cut, end, smallest, pieces);
}

void join_pieces(const Plan& plan, int64_t width, int64_t begin, int64_t end, int64_t smallest, char*& states,
                 int64_t state_size) {
  if (end - begin <= smallest || is_leaf(plan, begin, end)) {
    states += state_size;
    return;
  }
  int64_t cut = middle(plan, begin, end);
  char* left = states;
  join_pieces(plan, width, begin, cut, smallest, states, state_size);
  char* right = states;
  join_pieces(plan, width, cut, end, smallest, states, state_size);
  plan.loops.combine(left, right, width, cut - begin, end - cut);
}

// Few outputs of many elements: the tree of each is cut into pieces.
void run_split(const Plan& plan, const Targets& targets) {
  int64_t units = unit_count(plan);
  for (int64_t u = 0; u < units; ++u) {
    int64_t first, width;
    unit_range(plan, u, first, width);
    Unit unit = unit_at(plan, first, width);
    int64_t smallest = std::max<int64_t>(2 * kGrain / width, leaf_size(plan)), size = plan.state_item * width;
    std::vector<std::pair<int64_t, int64_t>> pieces;
    list_pieces(plan, 0, plan.count, smallest, pieces);
    std::vector<char> states(size * pieces.size());
    parallel_for(0, static_cast<int64_t>(pieces.size()), 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        reduce_range(plan, unit, pieces[i].first, pieces[i].second, states.data() + i * size);
    });
    char* cursor = states.data();
    join_pieces(plan, width, 0, plan.count, smallest, cursor, size);
    finish(plan, targets, states.data(), first, width);
  }
}

void run_units(const Plan& plan, const Targets& targets) {
  int64_t work = std::max<int64_t>(plan.count * plan.unit, 1);
  parallel_for(0, unit_count(plan), std::max<int64_t>(kGrain / work, 1), [&](int64_t begin, int64_t end) {
    alignas(64) char states[2 * kTileBytes + 8 * kTileBytes];
    for (int64_t u = begin; u < end; ++u) {
      int64_t first, width;
      unit_range(plan, u, first, width);
      reduce_range(plan, unit_at(plan, first, width), 0, plan.count, states);
      finish(plan, targets, states, first, width);
    }
  });
}

void run_empty(const Plan& plan, const Targets& targets) {
  char state[8 * kMaxItem] = {};
  for (int64_t i = 0; i < plan.outputs; ++i) finish(plan, targets, state, i, 1);
}

const ReduceLoops* find_loops(const Reduction& op, DType& read_as) {
  const ReduceLoops* const* table = op.loops[static_cast<int>(kIsa)];
  const ReduceLoops* loops = table[static_cast<int>(compute_of(read_as))];
  if (loops) {
    read_as = dtype_of_compute(compute_of(read_as));
    return loops;
  }
  read_as = DType::Int32;  // bytes whose lanes could not hold an index
  return table[static_cast<int>(Compute::I32)];
}

void settle(Plan& plan, const Tensor& self, uint64_t dims) {
  bool ordered = plan.op.rule.kind == StateKind::Index;  // an index counts in the order of the dimensions
  for (int64_t d = self.dim(); d-- > 0;) {
    int64_t stride = self.strides()[d] * self.itemsize();
    (shape::is_reduced(dims, d) ? plan.reduced : plan.kept).push(self.sizes()[d], stride);
  }
  if (!ordered) plan.reduced.sort();
  plan.outputs = plan.kept.total();
  plan.count = plan.reduced.total();
  int64_t item = itemsize(plan.from);
  bool native = plan.from == plan.to && plan.through != DType::Bool;
  bool dense_row = plan.reduced.count() == 0 || (plan.reduced.count() == 1 && plan.reduced[0].stride == item);
  bool has_columns = plan.kept.count() > 0 && plan.count > 1;
  bool column_layout = has_columns && (plan.reduced.count() == 0 || plan.kept[0].reach() < plan.reduced[0].reach());
  int64_t few = native && dense_row ? kShortRow : kShortGathered;
  bool short_rows = has_columns && plan.count <= few && plan.kept[0].size >= 8;
  plan.columns = column_layout || short_rows;
  bool direct = native && (plan.columns ? column_layout && plan.kept[0].stride == item : dense_row);
  if (plan.columns)
    plan.unit = std::min(plan.kept[0].size, (direct ? kTileBytes : kTileBytes / 2) / plan.item);
  else if (direct && plan.kept.count() && plan.count <= kRowLeaf)  // as many rows as a thread is woken for
    plan.unit = std::clamp<int64_t>(kGrain / std::max<int64_t>(plan.count, 1), 1,
                                    std::min(plan.kept[0].size, kTileBytes / plan.item));
  if (direct) return;
  if (plan.through == DType::Bool) plan.to_bool = converter(plan.from, DType::Bool);
  plan.convert = converter(plan.through == DType::Bool ? DType::Bool : plan.from, plan.to);
}

void run(const Reduction& op, const Reduce& call, uint64_t dims, DType input, std::span<const Tensor* const> results) {
  const Tensor& self = call.self;
  DType to =
      op.rule.through_bool ? (op.rule.result[0] == shape::ReducedType::Bool ? DType::Bool : DType::Int64) : input;
  const ReduceLoops* loops = find_loops(op, to);
  Plan plan{op,
            *loops,
            self.data<char>(),
            self.dtype(),
            op.rule.through_bool ? DType::Bool : input,
            to,
            itemsize(to),
            {},
            {},
            0,
            0,
            false,
            1,
            0,
            {}};
  plan.state_item = state_bytes(op.rule.kind, plan.item, 2);
  DType scalar_type = to == DType::Bool ? DType::UInt8 : to;
  for (size_t i = 0; i < call.scalars.size(); ++i)
    number_to(scalar_type, call.scalars[i], plan.scalars + i * itemsize(scalar_type));
  settle(plan, self, dims);
  Targets targets;
  bool index_only = op.rule.kind == StateKind::Index && op.rule.results == 1;
  for (size_t i = 0; i < results.size(); ++i) {
    size_t slot = index_only ? 1 : i;
    targets.tensors[slot] = results[i];
    bool is_index = op.rule.kind == StateKind::Index && slot == 1;
    targets.made[slot] = is_index ? DType::Int64 : op.rule.result[i] == shape::ReducedType::Real ? to_real(to) : to;
  }
  if (plan.outputs == 0) return;
  if (plan.count == 0) return run_empty(plan, targets);
  bool is_cut = plan.columns || plan.unit == 1;
  if (is_cut && plan.count * plan.unit >= 4 * kGrain && unit_count(plan) < 16) return run_split(plan, targets);
  run_units(plan, targets);
}

}  // namespace

void reduce(const Reduction& op, const Reduce& call, Tensor* results) {
  uint64_t dims = shape::reduced_dims(call);
  DType input = shape::reduction_input(op.rule, call);
  shape::check_reduction(op.rule, call, dims);
  shape::Dims sizes = shape::reduced_sizes(call, dims);
  const Tensor* pointers[shape::kMaxReductionResults];
  for (int i = 0; i < op.rule.results; ++i) {
    results[i] = new_tensor(sizes, shape::reduction_result(op.rule, i, input));
    pointers[i] = &results[i];
  }
  run(op, call, dims, input, {pointers, op.rule.results});
}

void reduce_out(const Reduction& op, const Reduce& given, std::initializer_list<const Tensor*> outs) {
  Reduce call = shape::into(op.rule, given, **outs.begin());
  uint64_t dims = shape::reduced_dims(call);
  DType input = shape::reduction_input(op.rule, call);
  shape::check_reduction(op.rule, call, dims);
  shape::Dims sizes = shape::reduced_sizes(call, dims);
  int i = 0;
  for (const Tensor* out : outs) {
    shape::check_reduction_out(op.rule, i, shape::reduction_result(op.rule, i, input), *out);
    ++i;
    shape::resize_out(*out, sizes);
    TAEDA_CHECK(!(out->ref()->storage() == call.self->storage()) || out->numel() == 0, "out shares memory with self");
  }
  run(op, call, dims, input, {outs.begin(), outs.size()});
}

}  // namespace taeda::cpu
