// The module math, and cmath's functions of the same names.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "jit/primitives/arithmetic.h"
#include "jit/primitives/typed.h"

namespace taeda::jit {

namespace {

bool is_complex(const Value& v) { return v.tag() == Value::Tag::Complex; }
complex128 as_complex(const Value& v) { return v.to_scalar().to<complex128>(); }

// Python raises where the result is not a number, or infinite, and the argument was finite.
double checked(double result, std::initializer_list<double> arguments) {
  if (std::isfinite(result)) [[likely]]
    return result;
  bool finite = std::ranges::all_of(arguments, [](double a) { return std::isfinite(a); });
  bool has_nan = std::ranges::any_of(arguments, [](double a) { return std::isnan(a); });
  TAEDA_CHECK_VALUE(!std::isnan(result) || has_nan, "math domain error");
  TAEDA_CHECK_KIND(Overflow, !std::isinf(result) || !finite, "math range error");
  return result;
}
double pole(double result, bool is_pole) {
  TAEDA_CHECK_VALUE(!is_pole, "math domain error");
  return result;
}

using Real = double (*)(double);
template <Real function>
double real(double a) {
  return checked(function(a), {a});
}
template <Real function, auto complex_function>
Value of_scalar(const Value& a) {
  if (is_complex(a)) return complex_function(as_complex(a));
  return real<function>(a.to_float());
}

// A pole is an error of its own: log(0).
constexpr Real log_of = [](double a) { return pole(std::log(a), a == 0); };
constexpr Real log2_of = [](double a) { return pole(std::log2(a), a == 0); };
constexpr Real log10_of = [](double a) { return pole(std::log10(a), a == 0); };
constexpr Real log1p_of = [](double a) { return pole(std::log1p(a), a == -1); };
constexpr Real atanh_of = [](double a) { return pole(std::atanh(a), a == 1 || a == -1); };
constexpr Real gamma_of = [](double a) { return pole(std::tgamma(a), a <= 0 && a == std::floor(a)); };
constexpr Real lgamma_of = [](double a) {
  return pole(std::lgamma(a), a <= 0 && a == std::floor(a) && !std::isinf(a));
};
constexpr Real degrees_of = [](double a) { return a * (180.0 / M_PI); };
constexpr Real radians_of = [](double a) { return a * (M_PI / 180.0); };

#define TAEDA_REAL(name, function)                                         \
  {"aten::" name ".int(int a) -> float", typed<real<function>>},           \
      {"aten::" name ".float(float a) -> float", typed<real<function>>}, { \
    "aten::" name ".Scalar(Scalar a) -> Scalar", typed<real<function>>     \
  }
#define TAEDA_REAL_AND_COMPLEX(name, function, complex_name)                                                   \
  {"aten::" name ".int(int a) -> float", typed<real<function>>},                                               \
      {"aten::" name ".float(float a) -> float", typed<real<function>>},                                       \
      {"aten::" name ".complex(complex a) -> complex",                                                         \
       typed<[](complex128 a) { return static_cast<complex128>(std::complex_name(a)); }>},                     \
  {                                                                                                            \
    "aten::" name ".Scalar(Scalar a) -> Scalar",                                                               \
        typed<of_scalar<function, [](complex128 a) { return static_cast<complex128>(std::complex_name(a)); }>> \
  }
#define TAEDA_REAL_OF_TWO(name, function)                                       \
  {"aten::" name ".int(int a, int b) -> float", typed<function>},               \
      {"aten::" name ".float(float a, float b) -> float", typed<function>},     \
      {"aten::" name ".int_float(int a, float b) -> float", typed<function>}, { \
    "aten::" name ".float_int(float a, int b) -> float", typed<function>        \
  }

constexpr auto atan2_of = [](double a, double b) { return std::atan2(a, b); };
constexpr auto copysign_of = [](double a, double b) { return std::copysign(a, b); };
constexpr auto fmod_of = [](double a, double b) { return checked(std::fmod(a, b), {a, b}); };
constexpr auto remainder_of = [](double a, double b) { return checked(std::remainder(a, b), {a, b}); };
constexpr auto polar_of = [](double a, double b) { return std::polar(a, b); };
constexpr auto log_base = [](double a, double b) {
  double below = log_of(checked(b, {b}));
  return true_div(checked(log_of(a), {a}), checked(below, {b}));
};
constexpr auto log_base_c = [](complex128 a, complex128 b) { return std::log(a) / std::log(b); };

int64_t gcd(int64_t a, int64_t b) {
  uint64_t x = a < 0 ? uint64_t{0} - static_cast<uint64_t>(a) : static_cast<uint64_t>(a);
  uint64_t y = b < 0 ? uint64_t{0} - static_cast<uint64_t>(b) : static_cast<uint64_t>(b);
  return static_cast<int64_t>(std::gcd(x, y));
}

int64_t factorial(int64_t n) {
  TAEDA_CHECK_VALUE(n >= 0, "factorial() not defined for negative values");
  TAEDA_CHECK_KIND(Overflow, n <= 20, "factorial of ", n, " does not fit in an int");
  int64_t result = 1;
  for (int64_t i = 2; i <= n; ++i) result *= i;
  return result;
}

double angle_of(double a) { return std::isnan(a) ? a : a < 0 ? M_PI : 0.0; }
double round_even(double a) { return std::nearbyint(a); }
double round_to(double a, int64_t digits) {
  double scale = std::pow(10.0, static_cast<double>(digits));
  double scaled = a * scale;
  return std::isfinite(scaled) ? std::nearbyint(scaled) / scale : a;
}

constexpr Primitive kTable[] = {
    TAEDA_REAL_AND_COMPLEX("exp", std::exp, exp),
    TAEDA_REAL_AND_COMPLEX("log", log_of, log),
    TAEDA_REAL_AND_COMPLEX("log10", log10_of, log10),
    TAEDA_REAL_AND_COMPLEX("sqrt", std::sqrt, sqrt),
    TAEDA_REAL_AND_COMPLEX("sin", std::sin, sin),
    TAEDA_REAL_AND_COMPLEX("cos", std::cos, cos),
    TAEDA_REAL_AND_COMPLEX("tan", std::tan, tan),
    TAEDA_REAL_AND_COMPLEX("asin", std::asin, asin),
    TAEDA_REAL_AND_COMPLEX("acos", std::acos, acos),
    TAEDA_REAL_AND_COMPLEX("atan", std::atan, atan),
    TAEDA_REAL_AND_COMPLEX("sinh", std::sinh, sinh),
    TAEDA_REAL_AND_COMPLEX("cosh", std::cosh, cosh),
    TAEDA_REAL_AND_COMPLEX("tanh", std::tanh, tanh),
    TAEDA_REAL_AND_COMPLEX("asinh", std::asinh, asinh),
    TAEDA_REAL_AND_COMPLEX("acosh", std::acosh, acosh),
    TAEDA_REAL_AND_COMPLEX("atanh", atanh_of, atanh),
    TAEDA_REAL("log2", log2_of),
    TAEDA_REAL("log1p", log1p_of),
    TAEDA_REAL("expm1", std::expm1),
    TAEDA_REAL("erf", std::erf),
    TAEDA_REAL("erfc", std::erfc),
    TAEDA_REAL("gamma", gamma_of),
    TAEDA_REAL("lgamma", lgamma_of),
    TAEDA_REAL("degrees", degrees_of),
    TAEDA_REAL("radians", radians_of),
    TAEDA_REAL("fabs", std::fabs),
    TAEDA_REAL_OF_TWO("atan2", atan2_of),
    TAEDA_REAL_OF_TWO("copysign", copysign_of),
    TAEDA_REAL_OF_TWO("fmod", fmod_of),
    TAEDA_REAL_OF_TWO("mathremainder", remainder_of),
    {"aten::atan2.Scalar_Scalar(Scalar a, Scalar b) -> float", typed<atan2_of>},
    {"aten::copysign(Scalar a, Scalar b) -> float", typed<copysign_of>},
    {"aten::fmod(Scalar a, Scalar b) -> float", typed<fmod_of>},
    {"aten::mathremainder(Scalar a, Scalar b) -> float", typed<remainder_of>},
    {"aten::log.int_int(int a, int b) -> float", typed<log_base>},
    {"aten::log.float_float(float a, float b) -> float", typed<log_base>},
    {"aten::log.int_float(int a, float b) -> float", typed<log_base>},
    {"aten::log.float_int(float a, int b) -> float", typed<log_base>},
    {"aten::log.complex_complex(complex a, complex b) -> complex", typed<log_base_c>},
    {"aten::log.int_complex(int a, complex b) -> complex", typed<log_base_c>},
    {"aten::log.complex_int(complex a, int b) -> complex", typed<log_base_c>},
    {"aten::log.float_complex(float a, complex b) -> complex", typed<log_base_c>},
    {"aten::log.complex_float(complex a, float b) -> complex", typed<log_base_c>},
    {"aten::log.Scalar_Scalar(Scalar a, Scalar b) -> float", typed<log_base>},
    {"aten::polar.int(int a, int b) -> complex", typed<polar_of>},
    {"aten::polar.float(float a, float b) -> complex", typed<polar_of>},
    {"aten::polar.int_float(int a, float b) -> complex", typed<polar_of>},
    {"aten::polar.float_int(float a, int b) -> complex", typed<polar_of>},
    {"aten::angle.int(int a) -> float", typed<angle_of>},
    {"aten::angle.float(float a) -> float", typed<angle_of>},
    {"aten::angle.complex(complex a) -> float", typed<[](complex128 a) { return std::arg(a); }>},
    {"aten::ceil.int(int a) -> int", typed<[](int64_t a) { return a; }>},
    {"aten::ceil.float(float a) -> int", typed<[](double a) { return to_whole(std::ceil(a)); }>},
    {"aten::ceil.Scalar(Scalar a) -> Scalar", typed<[](double a) { return to_whole(std::ceil(a)); }>},
    {"aten::floor.int(int a) -> int", typed<[](int64_t a) { return a; }>},
    {"aten::floor.float(float a) -> int", typed<[](double a) { return to_whole(std::floor(a)); }>},
    {"aten::floor.Scalar(Scalar a) -> Scalar", typed<[](double a) { return to_whole(std::floor(a)); }>},
    {"aten::trunc.int(int a) -> int", typed<[](int64_t a) { return a; }>},
    {"aten::trunc.float(float a) -> int", typed<to_whole>},
    {"aten::round.int(int a) -> float", typed<[](double a) { return a; }>},
    {"aten::round.float(float a) -> float", typed<round_even>},
    {"aten::round.Scalar(Scalar a) -> Scalar", typed<round_even>},
    {"aten::round.float_digits(float a, int ndigits) -> float", typed<round_to>},
    {"aten::isnan.float(float a) -> bool", typed<[](double a) { return std::isnan(a); }>},
    {"aten::isnan.complex(complex a) -> bool",
     typed<[](complex128 a) { return std::isnan(a.real()) || std::isnan(a.imag()); }>},
    {"aten::isinf.float(float a) -> bool", typed<[](double a) { return std::isinf(a); }>},
    {"aten::isinf.complex(complex a) -> bool",
     typed<[](complex128 a) { return std::isinf(a.real()) || std::isinf(a.imag()); }>},
    {"aten::isfinite.float(float a) -> bool", typed<[](double a) { return std::isfinite(a); }>},
    {"aten::isfinite.complex(complex a) -> bool",
     typed<[](complex128 a) { return std::isfinite(a.real()) && std::isfinite(a.imag()); }>},
    {"aten::gcd.int(int a, int b) -> int", typed<gcd>},
    {"aten::factorial.int(int a) -> int", typed<factorial>},
    {"aten::ldexp(float x, int i) -> float", typed<[](double x, int64_t i) {
       return checked(std::ldexp(x, static_cast<int>(std::clamp<int64_t>(i, -5000, 5000))), {x});
     }>},
    {"aten::frexp(float a) -> (float, int)", typed<[](double a) {
       int exponent = 0;
       double mantissa = std::frexp(a, &exponent);
       return std::tuple(mantissa, static_cast<int64_t>(exponent));
     }>},
    {"aten::modf(float a) -> (float, float)", typed<[](double a) {
       double whole = 0, fraction = std::modf(a, &whole);
       return std::tuple(fraction, whole);
     }>},
};

}  // namespace

PrimitiveTable math_primitives() { return kTable; }

}  // namespace taeda::jit
