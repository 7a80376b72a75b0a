// The elementwise part of recurrent steps, row by row, for each instruction set.
#pragma once
#include <cstdint>

#include "backend/cpu/engine/isa.h"

namespace taeda::cpu::rnn {

// One row of a step. Gates lie one after another, `hidden` elements each: lstm input, forget, cell, output; gru reset,
// update, new, and the recurrent part of new.
template <class T>
struct Forward {
  T* gates;            // in: the sums of products; out: the gates' values
  const T* recurrent;  // gru: the recurrent products of its three gates
  const T* bias;       // as many as gates
  const T* h_before;   // gru
  T* h;
  T* c;     // lstm: the state, in and out
  T* cell;  // lstm: where the new state is kept
  T* output;
};
template <class T>
struct Backward {
  const T *gates, *output, *cell, *c_before, *h_before;
  const T* grad_output;
  T* grad_h;      // in: of the new state; out: of the state before, as far as it does not come by way of the weights
  T* grad_c;      // lstm: in and out
  T* grad_gates;  // of the sums of products; gru: the fourth is that of the recurrent part of new
};

enum class Mode : uint8_t { Lstm, Gru, Tanh, Relu };
constexpr int kModes = 4;

template <class T>
struct Rows {
  void (*forward[kModes])(const Forward<T>& row, int64_t hidden);
  void (*backward[kModes])(const Backward<T>& row, int64_t hidden);
  void (*add_rows)(const T* rows, int64_t count, int64_t stride, T* sums, int64_t n);
};

}  // namespace taeda::cpu::rnn
