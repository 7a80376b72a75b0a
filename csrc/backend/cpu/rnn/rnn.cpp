// A recurrent layer: one product for the inputs of all steps, then a product and the rows' elementwise part per step.
#include "backend/cpu/rnn/rnn.h"

#include <algorithm>
#include <vector>

#include "backend/cpu/libraries/gemm.h"
#include "backend/cpu/ops/rnn.h"
#include "shape/rnn_rules.h"
#include "taeda/core/parallel.h"
#include "taeda/ops/copy.h"

namespace taeda::cpu {

#define TAEDA_DECLARE_ROWS(isa)            \
  namespace isa {                          \
  extern const rnn::Rows<float> kRowsF32;  \
  extern const rnn::Rows<double> kRowsF64; \
  }
TAEDA_DECLARE_ROWS(baseline)
#if defined(__x86_64__)
TAEDA_DECLARE_ROWS(avx2)
TAEDA_DECLARE_ROWS(avx512)
#endif

namespace {

using rnn::Mode;

template <class T>
const rnn::Rows<T>& kernels() {
#define TAEDA_ROWS(isa)                   \
  if constexpr (std::is_same_v<T, float>) \
    return isa::kRowsF32;                 \
  else                                    \
    return isa::kRowsF64;
#if defined(__x86_64__)
  if (kIsa == Isa::Avx512) {
    TAEDA_ROWS(avx512)
  }
  if (kIsa == Isa::Avx2) {
    TAEDA_ROWS(avx2)
  }
#endif
  TAEDA_ROWS(baseline)
}

Mode mode_of(std::string_view name) {
  return name == "lstm" ? Mode::Lstm : name == "gru" ? Mode::Gru : name == "tanh" ? Mode::Tanh : Mode::Relu;
}

template <class F>
void visit_float(DType dtype, const F& body) {
  if (dtype == DType::Float32)
    body.template operator()<float>();
  else
    body.template operator()<double>();
}

// c (m, n) = a (m, k) @ b + beta * c, rows of a and c `stride` apart; b is (k, n), or (n, k) transposed.
struct Matrix {
  const void* data;
  int64_t row, col;
};
template <class T>
void product(int64_t m, int64_t n, int64_t k, Matrix a, Matrix b, T* c, int64_t c_row, int beta) {
  gemm({.dtype = dtype_of<T>,
        .batch = 1,
        .m = m,
        .n = n,
        .k = k,
        .a = a.data,
        .a_batch = 0,
        .a_row = a.row,
        .a_col = a.col,
        .b = b.data,
        .b_batch = 0,
        .b_row = b.row,
        .b_col = b.col,
        .c = c,
        .c_batch = 0,
        .c_row = c_row,
        .alpha = 1,
        .beta = beta});
}

constexpr int64_t kElementsPerPiece = 16384;
constexpr int64_t kRowsPerSum = 128;
constexpr size_t kStepsToTurn =
    4;  // from here on a transposed copy of the state's weight pays: products read rows faster

// The sizes of a layer and where its steps begin. Works through the steps in the order of computation.
struct Steps {
  IntList batch_sizes;
  std::vector<int64_t> begin;
  int64_t rows = 0, batch, hidden, features, gates, stored;  // stored: gates that are kept for each row
  bool reverse;
  Mode mode;

  Steps(const Tensor& input, const Tensor& hx, IntList sizes, bool reverse, std::string_view name)
      : batch_sizes(sizes),
        batch(hx.size(0)),
        hidden(hx.size(1)),
        features(input.size(1)),
        gates(shape::rnn_gates(name)),
        stored(gates == 1 ? 1 : 4),
        reverse(reverse),
        mode(mode_of(name)) {
    for (int64_t size : sizes) {
      begin.push_back(rows);
      rows += size;
    }
  }
  size_t count() const { return batch_sizes.size(); }
  // The step computed i-th.
  size_t at(size_t i) const { return reverse ? count() - 1 - i : i; }
  // How many rows of the i-th computed step follow a step; the rest start from the initial state.
  int64_t continued(size_t i) const { return i ? std::min(batch_sizes[at(i)], batch_sizes[at(i - 1)]) : 0; }
  int64_t piece() const { return std::max<int64_t>(1, kElementsPerPiece / std::max<int64_t>(hidden, 1)); }
};

// Both biases where they can be added at once; the gru's new gate keeps its recurrent bias apart.
template <class T>
std::vector<T> joint_bias(const Steps& s, const Tensor& b_ih, const Tensor& b_hh) {
  std::vector<T> bias(static_cast<size_t>(s.stored * s.hidden));
  auto add = [&](const Tensor& b, int64_t from, int64_t to, int64_t target) {
    if (!b.defined()) return;
    Tensor flat = ops::contiguous(b);
    for (int64_t i = from * s.hidden; i < to * s.hidden; ++i)
      bias[static_cast<size_t>(i + (target - from) * s.hidden)] += flat.data<T>()[i];
  };
  bool is_gru = s.mode == Mode::Gru;
  add(b_ih, 0, s.gates, 0);
  add(b_hh, 0, is_gru ? 2 : s.gates, 0);
  if (is_gru) add(b_hh, 2, 3, 3);
  return bias;
}

template <class T>
void layer(const Steps& s, const Tensor& input, const Tensor& w_ih, const Tensor& w_hh, const std::vector<T>& bias,
           const Tensor& output, const Tensor& hy, const Tensor& cy, const Tensor& cells, const Tensor& gates) {
  const auto& rows = kernels<T>();
  int64_t width = s.gates * s.hidden, gate_row = s.stored * s.hidden;
  bool is_gru = s.mode == Mode::Gru;
  // A plain network has one gate, whose sums are made in the output.
  T* sums = s.gates == 1 ? output.data<T>() : gates.data<T>();
  std::vector<T> recurrent(is_gru ? static_cast<size_t>(s.batch * width) : 0);
  Matrix from_input{w_ih.data(), 1, s.features}, from_state{w_hh.data(), 1, s.hidden};
  Tensor turned;
  if (s.count() >= kStepsToTurn) {
    turned =
        ops::contiguous(new_alias(w_hh, shape::Dims{s.hidden, width}, shape::Dims{1, s.hidden}, w_hh.storage_offset()));
    from_state = {turned.data(), width, 1};
  }
  product<T>(s.rows, width, s.features, {input.data(), s.features, 1}, from_input, sums, gate_row, 0);
  for (size_t i = 0; i < s.count(); ++i) {
    int64_t begin = s.begin[s.at(i)], size = s.batch_sizes[s.at(i)];
    T* h = hy.data<T>();
    Matrix state{h, s.hidden, 1};
    if (is_gru)
      product<T>(size, width, s.hidden, state, from_state, recurrent.data(), width, 0);
    else
      product<T>(size, width, s.hidden, state, from_state, sums + begin * gate_row, gate_row, 1);
    parallel_for(0, size, s.piece(), [&](int64_t from, int64_t to) {
      for (int64_t r = from; r < to; ++r) {
        int64_t row = begin + r, at = r * s.hidden;
        rnn::Forward<T> one{sums + row * gate_row,
                            recurrent.data() + r * width,
                            bias.data(),
                            h + at,
                            h + at,
                            nullptr,
                            nullptr,
                            output.data<T>() + row * s.hidden};
        if (s.mode == Mode::Lstm) {
          one.c = cy.data<T>() + at;
          one.cell = cells.data<T>() + row * s.hidden;
        }
        rows.forward[static_cast<int>(s.mode)](one, s.hidden);
      }
    });
  }
}

// What the gradients of a layer are made from.
template <class T>
struct Gradients {
  Tensor gates, h, c, h_before;  // of the sums of products, of the states; the state before each row
};

template <class T>
Gradients<T> walk_back(const Steps& s, const Tensor& grad_output, const Tensor& grad_hy, const Tensor& grad_cy,
                       const Tensor& hx, const Tensor& cx, const Tensor& w_hh, const Tensor& output,
                       const Tensor& cells, const Tensor& gates) {
  const auto& rows = kernels<T>();
  int64_t gate_row = s.stored * s.hidden;
  bool is_lstm = s.mode == Mode::Lstm, is_gru = s.mode == Mode::Gru;
  Gradients<T> g{new_tensor(shape::Dims{s.rows, gate_row}, dtype_of<T>), ops::clone(grad_hy, MemoryFormat::Contiguous),
                 is_lstm ? ops::clone(grad_cy, MemoryFormat::Contiguous) : Tensor(),
                 new_tensor(shape::Dims{s.rows, s.hidden}, dtype_of<T>)};
  T* grad_h = g.h.template data<T>();
  for (size_t i = s.count(); i-- > 0;) {
    int64_t begin = s.begin[s.at(i)], size = s.batch_sizes[s.at(i)], continued = s.continued(i);
    int64_t before = i ? s.begin[s.at(i - 1)] : 0;
    T* grad_gates = g.gates.template data<T>() + begin * gate_row;
    parallel_for(0, size, s.piece(), [&](int64_t from, int64_t to) {
      for (int64_t r = from; r < to; ++r) {
        int64_t row = (begin + r) * s.hidden, at = r * s.hidden;
        bool is_first = r >= continued;
        const T* h_before = is_first ? hx.data<T>() + at : output.data<T>() + before * s.hidden + at;
        rnn::Backward<T> one{gates.data<T>() + (s.gates == 1 ? 0 : (begin + r) * gate_row),
                             output.data<T>() + row,
                             nullptr,
                             nullptr,
                             h_before,
                             grad_output.data<T>() + row,
                             grad_h + at,
                             nullptr,
                             grad_gates + r * gate_row};
        if (is_lstm) {
          one.cell = cells.data<T>() + row;
          one.c_before = is_first ? cx.data<T>() + at : cells.data<T>() + before * s.hidden + at;
          one.grad_c = g.c.template data<T>() + at;
        }
        rows.backward[static_cast<int>(s.mode)](one, s.hidden);
        std::copy_n(h_before, s.hidden, g.h_before.template data<T>() + row);
      }
    });
    const T* weight = w_hh.data<T>();
    if (is_gru) {
      product<T>(size, s.hidden, 2 * s.hidden, {grad_gates, gate_row, 1}, {weight, s.hidden, 1}, grad_h, s.hidden, 1);
      product<T>(size, s.hidden, s.hidden, {grad_gates + 3 * s.hidden, gate_row, 1},
                 {weight + 2 * s.hidden * s.hidden, s.hidden, 1}, grad_h, s.hidden, 1);
    } else {
      product<T>(size, s.hidden, gate_row, {grad_gates, gate_row, 1}, {weight, s.hidden, 1}, grad_h, s.hidden, 0);
    }
  }
  return g;
}

// The sums over all rows of some neighbouring gates' gradients.
template <class T>
void sum_rows(const Steps& s, const T* from, int64_t n, T* sums) {
  int64_t stride = s.stored * s.hidden;
  constexpr int64_t kColumns = 256;
  parallel_for(0, n, kColumns, [&](int64_t begin, int64_t end) {
    std::fill(sums + begin, sums + end, T(0));
    for (int64_t row = 0; row < s.rows; row += kRowsPerSum)
      kernels<T>().add_rows(from + row * stride + begin, std::min(kRowsPerSum, s.rows - row), stride, sums + begin,
                            end - begin);
  });
}

// Neighbouring gates whose gradients go to the same rows of a weight: first gate, how many, first row in gates.
struct Part {
  int64_t source, count, target;
};
std::vector<Part> recurrent_parts(const Steps& s) {
  if (s.mode == Mode::Gru) return {{0, 2, 0}, {3, 1, 2}};
  return {{0, s.gates, 0}};
}

// (gates * hidden, n) = the transposed gradients of the gates @ (rows, n).
template <class T>
Tensor weight_gradient(const Steps& s, const Tensor& grad_gates, const std::vector<Part>& parts, const T* by,
                       int64_t n) {
  Tensor result = new_tensor(shape::Dims{s.gates * s.hidden, n}, dtype_of<T>);
  for (Part p : parts)
    product<T>(p.count * s.hidden, n, s.rows, {grad_gates.data<T>() + p.source * s.hidden, 1, s.stored * s.hidden},
               {by, n, 1}, result.data<T>() + p.target * s.hidden * n, n, 0);
  return result;
}
template <class T>
Tensor bias_gradient(const Steps& s, const Tensor& grad_gates, const std::vector<Part>& parts) {
  Tensor result = new_tensor(shape::Dims{s.gates * s.hidden}, dtype_of<T>);
  for (Part p : parts)
    sum_rows<T>(s, grad_gates.data<T>() + p.source * s.hidden, p.count * s.hidden,
                result.data<T>() + p.target * s.hidden);
  return result;
}

}  // namespace

void _rnn_layer(const Tensor& input, const Tensor& hx, const Tensor& cx, const Tensor& w_ih, const Tensor& w_hh,
                const Tensor& b_ih, const Tensor& b_hh, IntList batch_sizes, bool reverse, std::string_view mode,
                const Tensor& output, const Tensor& hy, const Tensor& cy, const Tensor& cells, const Tensor& gates) {
  Steps s(input, hx, batch_sizes, reverse, mode);
  ops::copy_(hy, hx);
  if (cx.defined()) ops::copy_(cy, cx);
  visit_float(input.dtype(), [&]<class T>() {
    layer<T>(s, ops::contiguous(input), ops::contiguous(w_ih), ops::contiguous(w_hh), joint_bias<T>(s, b_ih, b_hh),
             output, hy, cy, cells, gates);
  });
}

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor> _rnn_layer_backward_fused(
    const Tensor& grad_output, const Tensor& grad_hy, const Tensor& grad_cy, const Tensor& input, const Tensor& hx,
    const Tensor& cx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih, const Tensor& b_hh,
    IntList batch_sizes, bool reverse, std::string_view mode, const Tensor& output, const Tensor& cells,
    const Tensor& gates, IntList needs) {
  shape::check_rnn_backward(grad_output, grad_hy, grad_cy, input, hx, cx, w_ih, w_hh, b_ih, b_hh, batch_sizes, reverse,
                            mode, output, cells, gates);
  Steps s(input, hx, batch_sizes, reverse, mode);
  std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor> result;
  Tensor initial_cell = cx.defined() ? ops::contiguous(cx) : cx, w_input = ops::contiguous(w_ih),
         x = ops::contiguous(input);
  visit_float(input.dtype(), [&]<class T>() {
    auto g = walk_back<T>(s, ops::contiguous(grad_output), grad_hy, grad_cy, ops::contiguous(hx), initial_cell,
                          ops::contiguous(w_hh), output, cells, gates);
    int64_t width = s.gates * s.hidden;
    const std::vector<Part> own{{0, s.gates, 0}}, recurrent = recurrent_parts(s);
    if (needs[0]) {
      std::get<0>(result) = new_tensor(input.sizes(), input.dtype());
      product<T>(s.rows, s.features, width, {g.gates.data(), s.stored * s.hidden, 1}, {w_input.data(), s.features, 1},
                 std::get<0>(result).template data<T>(), s.features, 0);
    }
    if (needs[1]) std::get<1>(result) = g.h;
    if (needs[2]) std::get<2>(result) = g.c;
    if (needs[3]) std::get<3>(result) = weight_gradient<T>(s, g.gates, own, x.data<T>(), s.features);
    if (needs[4])
      std::get<4>(result) = weight_gradient<T>(s, g.gates, recurrent, g.h_before.template data<T>(), s.hidden);
    if (needs[5]) std::get<5>(result) = bias_gradient<T>(s, g.gates, own);
    if (needs[6]) std::get<6>(result) = bias_gradient<T>(s, g.gates, recurrent);
  });
  return result;
}

}  // namespace taeda::cpu
