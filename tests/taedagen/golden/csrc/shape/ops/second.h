// Made by taedagen from tests/taedagen/tiny/second.py.
#pragma once
#include "shape/fused.h"
#include "shape/reduction.h"

namespace taeda::shape::rule {
inline constexpr ElementwiseRule mul_Tensor = elementwise({
    .promotion = Promotion::ResultType, .operands = 2, .results = 1, .result = {Element::Common}, .dtypes = 0x8e0});
inline constexpr ElementwiseRule cubed = elementwise({
    .promotion = Promotion::ResultType, .operands = 1, .results = 1, .result = {Element::Common}, .dtypes = 0x1c0});
inline constexpr ElementwiseRule weighed = elementwise({
    .promotion = Promotion::ResultType, .operands = 2, .scalars = 1, .results = 1, .result = {Element::Common},
    .dtypes = 0x8e0});
inline constexpr ElementwiseRule smooth = elementwise({
    .promotion = Promotion::ResultType, .operands = 1, .results = 1, .result = {Element::Common}, .dtypes = 0x8e0});
inline constexpr ElementwiseRule counted = elementwise({
    .promotion = Promotion::ResultType, .operands = 1, .results = 1, .result = {Element::Common}, .dtypes = 0x10});
inline constexpr ElementwiseRule mul_Tensor_gradients = elementwise({
    .promotion = Promotion::ResultType, .operands = 3, .results = 2, .result = {Element::Common, Element::Common},
    .dtypes = 0x8e0});
inline constexpr ElementwiseRule cubed_gradient_self = elementwise({
    .promotion = Promotion::ResultType, .operands = 2, .results = 1, .result = {Element::Common}, .dtypes = 0xc0});
inline constexpr ElementwiseRule weighed_gradients = elementwise({
    .promotion = Promotion::ResultType, .operands = 3, .scalars = 1, .results = 2,
    .result = {Element::Common, Element::Common}, .dtypes = 0x8e0});
inline constexpr ElementwiseRule weighed_gradient_other = elementwise({
    .promotion = Promotion::ResultType, .operands = 3, .scalars = 1, .results = 1, .result = {Element::Common},
    .dtypes = 0x8e0});
}  // namespace taeda::shape::rule

namespace taeda::fused {
extern Kernel mul_Tensor_gradients;
extern Kernel cubed_gradient_self;
extern Kernel weighed_gradients;
extern Kernel weighed_gradient_other;
}  // namespace taeda::fused
