// THO_DISPATCH_V2(dtype, "name", AT_WRAP([&] { ... }), AT_EXPAND(AT_FLOATING_TYPES), kHalf, ...).
#pragma once
#include <ATen/Dispatch_v2.h>
#include <torch/headeronly/core/Dispatch.h>

#define TAEDA_THO_CASES(BODY, FIRST, ...) \
  THO_DISPATCH_CASE(FIRST, AT_WRAP BODY) __VA_OPT__(TAEDA_THO_CASES_AGAIN TAEDA_PARENS(BODY, __VA_ARGS__))
#define TAEDA_THO_CASES_AGAIN() TAEDA_THO_CASES
#define THO_DISPATCH_V2(TYPE, NAME, BODY, ...) \
  THO_DISPATCH_SWITCH(TYPE, NAME, TAEDA_AGAIN(TAEDA_THO_CASES((BODY), __VA_ARGS__)))
