// AT_DISPATCH_V2(dtype, "name", AT_WRAP([&] { ... }), AT_EXPAND(AT_FLOATING_TYPES), kHalf, ...).
#pragma once
#include <ATen/Dispatch.h>

#define AT_WRAP(...) __VA_ARGS__
#define AT_EXPAND(X) X
#define AT_INTEGRAL_TYPES c10::kByte, c10::kChar, c10::kInt, c10::kLong, c10::kShort
#define AT_FLOATING_TYPES c10::kDouble, c10::kFloat
#define AT_BAREBONES_UNSIGNED_TYPES c10::kUInt16, c10::kUInt32, c10::kUInt64
#define AT_INTEGRAL_TYPES_V2 AT_EXPAND(AT_INTEGRAL_TYPES), AT_EXPAND(AT_BAREBONES_UNSIGNED_TYPES)
#define AT_COMPLEX_TYPES c10::kComplexDouble, c10::kComplexFloat
#define AT_ALL_TYPES AT_EXPAND(AT_INTEGRAL_TYPES), AT_EXPAND(AT_FLOATING_TYPES)
#define AT_ALL_TYPES_AND_COMPLEX AT_EXPAND(AT_ALL_TYPES), AT_EXPAND(AT_COMPLEX_TYPES)
#define AT_FLOAT8_TYPES \
  c10::kFloat8_e5m2, c10::kFloat8_e5m2fnuz, c10::kFloat8_e4m3fn, c10::kFloat8_e4m3fnuz, c10::kFloat8_e8m0fnu

// One case for each type of a list, by expanding a macro again and again.
#define TAEDA_PARENS ()
#define TAEDA_AGAIN(...) TAEDA_AGAIN_1(TAEDA_AGAIN_1(TAEDA_AGAIN_1(__VA_ARGS__)))
#define TAEDA_AGAIN_1(...) TAEDA_AGAIN_2(TAEDA_AGAIN_2(TAEDA_AGAIN_2(__VA_ARGS__)))
#define TAEDA_AGAIN_2(...) TAEDA_AGAIN_3(TAEDA_AGAIN_3(TAEDA_AGAIN_3(__VA_ARGS__)))
#define TAEDA_AGAIN_3(...) __VA_ARGS__
#define TAEDA_CASES(BODY, FIRST, ...) \
  AT_DISPATCH_CASE(FIRST, AT_WRAP BODY) __VA_OPT__(TAEDA_CASES_AGAIN TAEDA_PARENS(BODY, __VA_ARGS__))
#define TAEDA_CASES_AGAIN() TAEDA_CASES
#define AT_DISPATCH_V2(TYPE, NAME, BODY, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, TAEDA_AGAIN(TAEDA_CASES((BODY), __VA_ARGS__)))
