// The rows of one instruction set; included by rnn.<instruction set>.cpp.
#pragma once
#include <algorithm>

#include "backend/cpu/engine/vec.h"
#include "backend/cpu/rnn/rnn.h"

namespace taeda::cpu::TAEDA_ISA {
namespace {

using rnn::Backward;
using rnn::Forward;

template <class T>
TAEDA_INLINE V<T> logistic(V<T> x) {
  V<T> one = splat(T(1));
  return one / (one + exp<T>(-x));
}

template <class T>
void lstm_forward(const Forward<T>& row, int64_t hidden) {
  for (int64_t j = 0; j < hidden; j += N<T>) {
    int64_t n = std::min<int64_t>(N<T>, hidden - j);
    auto sum = [&](int64_t gate) {
      int64_t at = gate * hidden + j;
      return partial_load<T>(row.gates + at, n) + partial_load<T>(row.bias + at, n);
    };
    auto keep = [&](int64_t gate, V<T> value) { partial_store<T>(row.gates + gate * hidden + j, value, n); };
    V<T> input = logistic<T>(sum(0)), forget = logistic<T>(sum(1)), fresh = tanh<T>(sum(2)), out = logistic<T>(sum(3));
    V<T> cell = forget * partial_load<T>(row.c + j, n) + input * fresh;
    V<T> h = out * tanh<T>(cell);
    keep(0, input);
    keep(1, forget);
    keep(2, fresh);
    keep(3, out);
    partial_store<T>(row.c + j, cell, n);
    partial_store<T>(row.cell + j, cell, n);
    partial_store<T>(row.h + j, h, n);
    partial_store<T>(row.output + j, h, n);
  }
}

template <class T>
void lstm_backward(const Backward<T>& row, int64_t hidden) {
  V<T> one = splat(T(1));
  for (int64_t j = 0; j < hidden; j += N<T>) {
    int64_t n = std::min<int64_t>(N<T>, hidden - j);
    auto gate = [&](int64_t k) { return partial_load<T>(row.gates + k * hidden + j, n); };
    auto give = [&](int64_t k, V<T> value) { partial_store<T>(row.grad_gates + k * hidden + j, value, n); };
    V<T> input = gate(0), forget = gate(1), fresh = gate(2), out = gate(3);
    V<T> bent = tanh<T>(partial_load<T>(row.cell + j, n));
    V<T> grad_h = partial_load<T>(row.grad_h + j, n) + partial_load<T>(row.grad_output + j, n);
    V<T> grad_c = partial_load<T>(row.grad_c + j, n) + grad_h * out * (one - bent * bent);
    give(0, grad_c * fresh * input * (one - input));
    give(1, grad_c * partial_load<T>(row.c_before + j, n) * forget * (one - forget));
    give(2, grad_c * input * (one - fresh * fresh));
    give(3, grad_h * bent * out * (one - out));
    partial_store<T>(row.grad_c + j, grad_c * forget, n);
    partial_store<T>(row.grad_h + j, splat(T(0)), n);
  }
}

template <class T>
void gru_forward(const Forward<T>& row, int64_t hidden) {
  for (int64_t j = 0; j < hidden; j += N<T>) {
    int64_t n = std::min<int64_t>(N<T>, hidden - j);
    auto from = [&](const T* p, int64_t gate) { return partial_load<T>(p + gate * hidden + j, n); };
    auto keep = [&](int64_t gate, V<T> value) { partial_store<T>(row.gates + gate * hidden + j, value, n); };
    V<T> reset = logistic<T>(from(row.gates, 0) + from(row.recurrent, 0) + from(row.bias, 0));
    V<T> update = logistic<T>(from(row.gates, 1) + from(row.recurrent, 1) + from(row.bias, 1));
    V<T> recurrent = from(row.recurrent, 2) + from(row.bias, 3);
    V<T> fresh = tanh<T>(from(row.gates, 2) + from(row.bias, 2) + reset * recurrent);
    V<T> h = fresh + update * (partial_load<T>(row.h_before + j, n) - fresh);
    keep(0, reset);
    keep(1, update);
    keep(2, fresh);
    keep(3, recurrent);
    partial_store<T>(row.h + j, h, n);
    partial_store<T>(row.output + j, h, n);
  }
}

template <class T>
void gru_backward(const Backward<T>& row, int64_t hidden) {
  V<T> one = splat(T(1));
  for (int64_t j = 0; j < hidden; j += N<T>) {
    int64_t n = std::min<int64_t>(N<T>, hidden - j);
    auto gate = [&](int64_t k) { return partial_load<T>(row.gates + k * hidden + j, n); };
    auto give = [&](int64_t k, V<T> value) { partial_store<T>(row.grad_gates + k * hidden + j, value, n); };
    V<T> reset = gate(0), update = gate(1), fresh = gate(2), recurrent = gate(3);
    V<T> grad_h = partial_load<T>(row.grad_h + j, n) + partial_load<T>(row.grad_output + j, n);
    V<T> grad_fresh = grad_h * (one - update) * (one - fresh * fresh);
    give(0, grad_fresh * recurrent * reset * (one - reset));
    give(1, grad_h * (partial_load<T>(row.h_before + j, n) - fresh) * update * (one - update));
    give(2, grad_fresh);
    give(3, grad_fresh * reset);
    partial_store<T>(row.grad_h + j, grad_h * update, n);
  }
}

template <class T, bool kTanh>
void plain_forward(const Forward<T>& row, int64_t hidden) {
  for (int64_t j = 0; j < hidden; j += N<T>) {
    int64_t n = std::min<int64_t>(N<T>, hidden - j);
    V<T> h = partial_load<T>(row.output + j, n) + partial_load<T>(row.bias + j, n);
    if constexpr (kTanh)
      h = tanh<T>(h);
    else
      h = maximum<T>(h, splat(T(0)));
    partial_store<T>(row.h + j, h, n);
    partial_store<T>(row.output + j, h, n);
  }
}

template <class T, bool kTanh>
void plain_backward(const Backward<T>& row, int64_t hidden) {
  for (int64_t j = 0; j < hidden; j += N<T>) {
    int64_t n = std::min<int64_t>(N<T>, hidden - j);
    V<T> h = partial_load<T>(row.output + j, n), zero = splat(T(0));
    V<T> grad = partial_load<T>(row.grad_h + j, n) + partial_load<T>(row.grad_output + j, n);
    if constexpr (kTanh)
      grad = grad * (splat(T(1)) - h * h);
    else
      grad = where<T>(h > zero, grad, zero);
    partial_store<T>(row.grad_gates + j, grad, n);
    partial_store<T>(row.grad_h + j, zero, n);
  }
}

// Adds `count` rows to the sums.
template <class T>
void add_rows(const T* rows, int64_t count, int64_t stride, T* sums, int64_t n) {
  for (int64_t j = 0; j < n; j += N<T>) {
    int64_t width = std::min<int64_t>(N<T>, n - j);
    V<T> sum = splat(T(0));
    for (int64_t i = 0; i < count; ++i) sum += partial_load<T>(rows + i * stride + j, width);
    partial_store<T>(sums + j, sum + partial_load<T>(sums + j, width), width);
  }
}

template <class T>
constexpr rnn::Rows<T> kRows = {
    {lstm_forward<T>, gru_forward<T>, plain_forward<T, true>, plain_forward<T, false>},
    {lstm_backward<T>, gru_backward<T>, plain_backward<T, true>, plain_backward<T, false>},
    add_rows<T>,
};

}  // namespace

extern const rnn::Rows<float> kRowsF32;
extern const rnn::Rows<double> kRowsF64;
const rnn::Rows<float> kRowsF32 = kRows<float>;
const rnn::Rows<double> kRowsF64 = kRows<double>;

}  // namespace taeda::cpu::TAEDA_ISA
