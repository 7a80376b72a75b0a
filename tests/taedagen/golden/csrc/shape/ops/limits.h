// Made by taedagen from taedagen/emit/limits.py.
#pragma once

namespace taeda::shape {
constexpr int kMaxOperands = 12;
constexpr int kMaxResults = 4;
constexpr int kMaxScalars = 6;
constexpr int kMaxReductionResults = 2;
constexpr int kMaxReductionScalars = 4;
}  // namespace taeda::shape
