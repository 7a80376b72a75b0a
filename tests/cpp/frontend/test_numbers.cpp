// Numbers as other types, divisions by Python's rules, random words by key and counter, vectors of another type.
#include <ATen/ATen.h>
#include <ATen/FunctionalTensorWrapper.h>
#include <ATen/core/PhiloxRNGEngine.h>
#include <ATen/cpu/vec/vec.h>
#include <c10/util/TypeCast.h>
#include <c10/util/generic_math.h>
#include <c10/util/overflows.h>

#include "../test_main.h"

TEST(numbers_as_other_types) {
  CHECK(c10::convert<uint8_t>(-3.7) == 253 && c10::convert<int>(c10::complex<double>(2.5, 1)) == 2);
  CHECK(c10::convert<bool>(c10::complex<float>(0, 1)) && !c10::convert<bool>(0.0));
  CHECK(c10::convert<c10::Half>(c10::BFloat16(3.0F)) == c10::Half(3.0F));
  CHECK(c10::convert<c10::complex<double>>(c10::complex<float>(1, 2)) == c10::complex<double>(1, 2));
  CHECK(c10::static_cast_with_inter_type<int64_t, float>::apply(-2.5F) == -2);
  CHECK(c10::overflows<int8_t>(128) && !c10::overflows<int8_t>(-128) && c10::overflows<float>(1e39));
  CHECK(!c10::overflows<uint8_t>(-255) && c10::overflows<uint8_t>(-256) && c10::overflows<uint8_t>(-1, true));
  CHECK(c10::overflows<int64_t>(std::ldexp(1.0, 63)) && !c10::overflows<int64_t>(-std::ldexp(1.0, 63)));
  CHECK(c10::overflows<int>(std::nan("")) && !c10::overflows<float>(HUGE_VAL) &&
        c10::overflows<float>(c10::complex<double>(1, 1)));
  CHECK(c10::checked_convert<int8_t>(7L, "int8_t") == 7 && c10::checked_convert<bool>(7, "bool"));
  CHECK_ERROR((c10::checked_convert<int8_t>(300, "int8_t")), Runtime, "does not fit into int8_t");
}

TEST(divisions_round_downward) {
  CHECK(c10::div_floor_floating(5.0, 0.0) == HUGE_VAL && c10::div_floor_floating(5.0, -2.0) == -3.0);
  CHECK(c10::div_floor_floating(1.0, 0.1) == 9.0 && c10::div_floor_floating(1.0, -HUGE_VAL) == -1.0);
  CHECK(std::signbit(c10::div_floor_floating(-0.0, 3.0)));
  CHECK(c10::div_floor_floating(c10::Half(-7.0F), c10::Half(2.0F)) == c10::Half(-4.0F));
  CHECK(c10::div_floor_integer(-5, 2) == -3 && c10::div_floor_integer<uint8_t>(7, 2) == 3);
  CHECK(c10::div_mod(-5, 3) == 1 && c10::div_mod(5.5, -2.0) == -0.5 && std::signbit(c10::div_mod(4.0, -2.0)));
}

TEST(words_by_key_and_counter) {
  at::Philox4_32 zero(0);  // the words that the method's authors publish
  CHECK(zero() == 0x6627e8d5 && zero() == 0xe169c58d && zero() == 0xbc57ac4c && zero() == 0x9b00dbd8);
  at::Philox4_32 ones(~0ULL, ~0ULL, ~0ULL);
  CHECK(ones() == 0x408f276d && ones() == 0x41c83b0e && ones() == 0xa20bc7c6 && ones() == 0x6d5451fd);
  at::Philox4_32 carried(0, 0, ~0ULL), after(0, 1);
  carried.incr_n(1);
  CHECK(carried.get_offset() == 0 && carried() == after());
  at::Philox4_32 normal(1);
  const float value = normal.randn(10);
  CHECK(std::isfinite(value) && value == at::Philox4_32(1).randn(10) && value != at::Philox4_32(2).randn(10));
}

TEST(vectors_of_another_type) {
  const auto whole = at::vec::Vectorized<int>::arange(-3);
  const auto floats = at::vec::convert<float>(whole);
  const auto bytes = at::vec::convert<int8_t>(whole);
  for (int i = 0; i < whole.size(); ++i) CHECK(floats[i] == float(i - 3) && bytes[i] == i - 3);
  CHECK(bytes[whole.size()] == 0);
}

TEST(no_tensor_is_a_functional_wrapper) {
  namespace functional = at::functionalization::impl;
  const at::Tensor x = at::ones({2});
  CHECK(!functional::isFunctionalTensor(x) && functional::from_functional_tensor(x, false).is_same(x));
  functional::sync(x);
  CHECK_ERROR(functional::from_functional_tensor(x), Runtime, "isFunctionalTensor");
  CHECK_ERROR(functional::replace_(x, x), Runtime, "copy_");
}
