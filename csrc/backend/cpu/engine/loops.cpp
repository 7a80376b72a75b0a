#include "backend/cpu/engine/loops.h"

#include <algorithm>
#include <array>

#include "backend/cpu/engine/convert.h"
#include "shape/complex_half.h"
#include "taeda/core/overlap.h"
#include "taeda/ops/copy.h"

namespace taeda::cpu {

void integer_division_by_zero() { TAEDA_FAIL(Runtime, "an integer was divided by zero"); }
void integer_negative_power() {
  TAEDA_FAIL(Runtime, "integers have no negative powers; convert to a floating dtype first");
}

namespace {

constexpr int64_t kNumberBytes = 4 << 10;  // numbers are spread over so much: it stays in the first-level cache

constexpr Compute kComputeOf[kComputedDTypes] = {Compute::U8,   Compute::I32, Compute::I32, Compute::I32, Compute::I64,
                                                 Compute::F32,  Compute::F32, Compute::F64, Compute::C64, Compute::C128,
                                                 Compute::Bool, Compute::F32, Compute::I32, Compute::I64, Compute::I64};
constexpr DType kDTypeOf[kComputes] = {DType::Float32,   DType::Float64,    DType::Int32, DType::Int64,   DType::UInt8,
                                       DType::Complex64, DType::Complex128, DType::Bool,  DType::BFloat16};

}  // namespace

Compute compute_of(DType dtype) {
  return dtype == DType::Complex32 ? Compute::C64 : kComputeOf[static_cast<int>(dtype)];
}
DType dtype_of_compute(Compute compute) { return kDTypeOf[static_cast<int>(compute)]; }

void number_to(DType dtype, const Scalar& number, void* to) {
  visit(dtype, [&]<class T>() { *static_cast<T*>(to) = number.to<T>(); });
}

namespace {

// A call after promotion.
struct Call {
  const Pointwise& op;
  Operands in;
  DType common;
  Compute compute;
  Loop loop;
  alignas(16) char scalars[kMaxScalars * sizeof(complex128)];
  alignas(16) char numbers[kMaxOperands][sizeof(complex128)];

  Call(const Pointwise& op, Operands in, DType common, std::span<const Scalar> values, int variant)
      : op(op), in(in), common(common), compute(compute_of(common)) {
    const Loop* loops = op.loops[static_cast<int>(kIsa)] + variant * kComputes;
    if (common == DType::BFloat16 && loops[static_cast<int>(Compute::BF16)] && all_of_common_dtype())
      compute = Compute::BF16;
    loop = loops[static_cast<int>(compute)];
    TAEDA_CHECK(loop, "this combination of arguments means nothing: give at least one of the optional ones");
    DType type = scalar_type();
    for (size_t i = 0; i < values.size(); ++i) number_to(type, values[i], scalars + i * itemsize(type));
  }

  DType compute_dtype() const { return dtype_of_compute(compute); }
  // Formulas of truth values compute in bytes.
  DType scalar_type() const {
    return compute == Compute::Bool ? DType::UInt8 : compute == Compute::BF16 ? DType::Float32 : compute_dtype();
  }
  // Others, and numbers, are not rounded to it.
  bool all_of_common_dtype() const {
    for (size_t i = 0; i < in.size(); ++i)
      if (!in[i].tensor() || (!is_mask(i) && in[i].tensor()->dtype() != common)) return false;
    return true;
  }
  bool is_mask(size_t input) const { return op.rule.mask_inputs >> input & 1; }
  DType input_type(size_t input) const { return is_mask(input) ? DType::Bool : compute_dtype(); }
  DType result_type(int result) const { return shape::element_dtype(op.rule.result[result], compute_dtype()); }

  // Whether results of a wider dtype would show what the common one rounds or wraps.
  bool gives_more_than_common(const Tensor* const* results) const {
    if (compute_dtype() == common) return false;
    for (int i = 0; i < op.rule.results; ++i)
      if (results[i]->dtype() != shape::element_dtype(op.rule.result[i], common)) return true;
    return false;
  }

  // A number as an element of the type that the loop reads. Narrow integers wrap first, as a tensor of it would.
  char* number(size_t input) {
    char* to = numbers[input];
    DType wanted = input_type(input);
    if (is_integral(common) && wanted != common) {
      char narrow[16];
      number_to(common, in[input].number(), narrow);
      visit(common, [&]<class T>() { number_to(wanted, Scalar(convert<int64_t>(*reinterpret_cast<T*>(narrow))), to); });
    } else {
      number_to(wanted, in[input].number(), to);
    }
    return to;
  }
};

// --- all tensors contiguous, of one shape and of the loop's own types

bool is_plain(const Call& call, const Tensor& first) {
  if (call.compute_dtype() != call.common) return false;
  for (size_t i = 0; i < call.in.size(); ++i) {
    const Tensor* t = call.in[i].tensor();
    if (!t) continue;
    if (!t->is_contiguous() || t->dtype() != call.input_type(i)) return false;
    if (t != &first && !std::ranges::equal(t->sizes(), first.sizes())) return false;
  }
  return true;
}

void run_plain(Call& call, char* const* results, int64_t n) {
  int count = call.op.rule.results;
  std::array<char*, kMaxOperands> base;
  std::array<int64_t, kMaxOperands> step{};
  bool has_number = false;
  for (int i = 0; i < count; ++i) {
    base[i] = results[i];
    step[i] = itemsize(call.result_type(i));
  }
  for (size_t i = 0; i < call.in.size(); ++i) {
    const Tensor* t = call.in[i].tensor();
    has_number |= !t;
    base[count + i] = t ? t->data<char>() : call.number(i);
    step[count + i] = t ? t->itemsize() : 0;
  }
  int operands = count + static_cast<int>(call.in.size());
  if (!has_number) {
    if (n <= kGrain) return call.loop(base.data(), n, call.scalars);
    return parallel_for(0, n, kGrain, [&](int64_t begin, int64_t end) {
      std::array<char*, kMaxOperands> p;
      for (int k = 0; k < operands; ++k) p[k] = base[k] + begin * step[k];
      call.loop(p.data(), end - begin, call.scalars);
    });
  }
  // Numbers become blocks, once for all threads.
  // Half a page from the stores to the result: a load waits for a store of late that has its low twelve address bits.
  alignas(64) char room[4 * kNumberBytes];
  auto apart = reinterpret_cast<uintptr_t>(base[0]) + kNumberBytes / 2 - reinterpret_cast<uintptr_t>(room);
  char* next = room + (apart & (kNumberBytes - 64));
  int64_t block = std::min<int64_t>(n, kNumberBytes / itemsize(call.compute_dtype()));
  for (size_t i = 0; i < call.in.size(); ++i) {
    if (call.in[i].tensor()) continue;
    fill_block(next, base[count + i], itemsize(call.input_type(i)), block);
    base[count + i] = std::exchange(next, next + kNumberBytes);
  }
  parallel_for(0, n, kGrain, [&](int64_t begin, int64_t end) {
    std::array<char*, kMaxOperands> p;
    for (int64_t at = begin; at < end; at += block) {
      for (int k = 0; k < operands; ++k) p[k] = base[k] + at * step[k];
      call.loop(p.data(), std::min(block, end - at), call.scalars);
    }
  });
}

// --- matrices whose rows are contiguous, of the loop's own types: parts of wider ones

constexpr int64_t kFewestColumns = 4;

bool is_rows(const Call& call, const Tensor& first) {
  if (call.compute_dtype() != call.common || first.dim() != 2 || first.numel() > kGrain) return false;
  int64_t rows = first.sizes()[0], columns = first.sizes()[1];
  if (rows < 2 || columns < kFewestColumns) return false;
  for (size_t i = 0; i < call.in.size(); ++i) {
    const Tensor* t = call.in[i].tensor();
    if (!t || t->dtype() != call.input_type(i) || t->dim() != 2) return false;
    if (t->sizes()[0] != rows || t->sizes()[1] != columns) return false;
    if (t->strides()[1] != 1 || t->strides()[0] < columns) return false;
  }
  return true;
}

void run_rows(Call& call, char* const* results, const Tensor& first) {
  int count = call.op.rule.results, operands = count + static_cast<int>(call.in.size());
  int64_t columns = first.sizes()[1];
  std::array<char*, kMaxOperands> at;
  std::array<int64_t, kMaxOperands> step;
  for (int i = 0; i < count; ++i) {
    at[i] = results[i];
    step[i] = columns * itemsize(call.result_type(i));
  }
  for (size_t i = 0; i < call.in.size(); ++i) {
    const Tensor& t = *call.in[i].tensor();
    at[count + i] = t.data<char>();
    step[count + i] = t.strides()[0] * t.itemsize();
  }
  for (int64_t row = 0; row < first.sizes()[0]; ++row) {
    auto p = at;
    call.loop(p.data(), columns, call.scalars);
    for (int k = 0; k < operands; ++k) at[k] += step[k];
  }
}

// --- everything else

void run_general(Call& call, IntList sizes, const Tensor* const* results) {
  int count = call.op.rule.results, total = count + static_cast<int>(call.in.size());
  std::array<Operand, kMaxOperands> all;
  for (int k = 0; k < count; ++k) all[k] = *results[k];
  std::copy(call.in.begin(), call.in.end(), all.begin() + count);
  shape::Dims order, ordered;
  for (int64_t d : shape::iteration_order({all.data(), static_cast<size_t>(total)}, sizes))
    if (sizes[d] != 1) order.push_back(d), ordered.push_back(sizes[d]);

  std::array<std::array<int64_t, kMaxDim>, kMaxOperands> strides;
  std::array<Strided, kMaxOperands> operands;
  for (int k = 0; k < total; ++k) {
    const Tensor* t = all[k].tensor();
    DType wanted = k < count ? call.result_type(k) : call.input_type(k - count);
    if (!t) {
      strides[k].fill(0);
      operands[k] = {call.number(k - count), strides[k].data(), wanted, wanted};
      continue;
    }
    int64_t lead = static_cast<int64_t>(sizes.size()) - t->dim();
    for (size_t i = 0; i < order.size(); ++i) {
      int64_t own = order[i] - lead;
      bool repeated = own < 0 || t->sizes()[own] == 1;
      strides[k][i] = repeated ? 0 : t->strides()[own] * t->itemsize();
    }
    operands[k] = {t->data<char>(), strides[k].data(), t->dtype(), wanted};
  }
  run_strided(call.loop, call.scalars, ordered, {operands.data(), static_cast<size_t>(total)}, count);
}

const Tensor* first_tensor(Operands in) {
  for (const Operand& operand : in)
    if (operand.tensor()) return operand.tensor();
  return nullptr;
}

// The common dtype where it can be seen at once: one dtype among the tensors, and numbers of no higher category.
DType quick_dtype(const shape::ElementwiseRule& rule, Operands in) {
  DType dtype = DType::Undefined;
  for (size_t i = 0; i < in.size(); ++i) {
    const Tensor* t = in[i].tensor();
    if (rule.mask_inputs >> i & 1) return DType::Undefined;
    if (!t) continue;
    if (dtype == DType::Undefined) dtype = t->dtype();
    if (t->dtype() != dtype || (*t)->is_wrapped_number()) return DType::Undefined;
  }
  for (const Operand& operand : in)
    if (!operand.tensor() && operand.number().category() > category(dtype)) return DType::Undefined;
  if (rule.promotion == shape::Promotion::Float && category(dtype) <= Category::Integral) return DType::Undefined;
  return shape::has_formula(rule.dtypes, dtype) ? dtype : DType::Undefined;
}

DType promoted(const shape::ElementwiseRule& rule, Operands in) {
  DType quick = quick_dtype(rule, in);
  return quick != DType::Undefined ? quick : shape::common_dtype(rule, in);
}

}  // namespace

void pointwise_many(const Pointwise& op, Operands in, Tensor* results, std::span<const Scalar> scalars, int variant) {
  Call call(op, in, promoted(op.rule, in), scalars, variant);
  const Tensor* first = first_tensor(in);
  int count = op.rule.results;
  bool plain = first && is_plain(call, *first);
  if (plain || (first && is_rows(call, *first))) {
    char* data[shape::kMaxResults];
    for (int i = 0; i < count; ++i) {
      results[i] = new_tensor(first->sizes(), call.result_type(i));
      data[i] = results[i].data<char>();
    }
    if (!plain) return run_rows(call, data, *first);
    if (first->numel() > 0) run_plain(call, data, first->numel());
    return;
  }
  shape::Dims sizes = shape::broadcast_sizes(in), strides = shape::result_strides(op.rule, in, sizes);
  const Tensor* outs[shape::kMaxResults];
  for (int i = 0; i < count; ++i) {
    results[i] =
        shape::make({sizes, shape::element_dtype(op.rule.result[i], call.common), strides}, Device{DeviceType::CPU});
    outs[i] = &results[i];
  }
  run_general(call, sizes, outs);
}

Tensor pointwise(const Pointwise& op, Operands in, std::span<const Scalar> scalars, int variant) {
  Tensor result;
  pointwise_many(op, in, &result, scalars, variant);
  return result;
}

void pointwise_out(const Pointwise& op, Operands in, std::initializer_list<const Tensor*> outs, bool in_place,
                   std::span<const Scalar> scalars, int variant) {
  Call call(op, in, promoted(op.rule, in), scalars, variant);
  const Tensor* const* results = outs.begin();
  int count = op.rule.results;
  const Tensor* first = first_tensor(in);
  bool plain = first && is_plain(call, *first);
  for (int i = 0; plain && i < count; ++i) {
    const Tensor& out = *results[i];
    plain =
        out.is_contiguous() && out.dtype() == call.result_type(i) && std::ranges::equal(out.sizes(), first->sizes());
  }
  shape::Dims sizes;
  if (!plain) {
    sizes = shape::broadcast_sizes(in);
    shape::prepare_outs(op.rule, in, call.common, sizes, results, in_place);
  }
  for (int i = 0; i < count; ++i) {
    if (!plain) check_no_internal_overlap(*results[i]);
    for (const Operand& operand : in)
      if (operand.tensor()) check_overlap(*results[i], *operand.tensor());
  }
  if (call.gives_more_than_common(results)) {
    Tensor made[shape::kMaxResults];
    pointwise_many(op, in, made, scalars, variant);
    for (int i = 0; i < count; ++i) ops::copy_(*results[i], made[i]);
    return;
  }
  if (!plain) return run_general(call, sizes, results);
  char* data[shape::kMaxResults];
  for (int i = 0; i < count; ++i) data[i] = results[i]->data<char>();
  if (first->numel() > 0) run_plain(call, data, first->numel());
}

}  // namespace taeda::cpu
