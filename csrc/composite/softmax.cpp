// The public names of softmax: conversion first, then the op that autograd records.
#include "shape/ops/softmax.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/softmax.h"

namespace taeda::composite {

namespace {

using Kernel = Tensor (*)(const Tensor&, int64_t, bool);

Tensor converted(const Tensor& self, int64_t dim, std::optional<DType> dtype, Kernel run) {
  return dtype && *dtype != self.dtype() ? run(ops::to(self, *dtype), dim, false) : run(self, dim, false);
}

}  // namespace

Tensor softmax(const Tensor& self, int64_t dim, std::optional<DType> dtype) {
  return converted(self, dim, dtype, ops::_softmax);
}
Tensor log_softmax(const Tensor& self, int64_t dim, std::optional<DType> dtype) {
  return converted(self, dim, dtype, ops::_log_softmax);
}

}  // namespace taeda::composite
