// Arithmetic, comparison and conversion of numbers.
#include "jit/primitives/arithmetic.h"

#include <charconv>
#include <functional>

#include "jit/primitives/typed.h"

namespace taeda::jit {

void fail_division() { throw Raised("ZeroDivisionError", "division by zero"); }

double power(double a, double b) {
  if (a == 0 && b < 0) throw Raised("ZeroDivisionError", "0.0 cannot be raised to a negative power");
  return std::pow(a, b);
}

int64_t power(int64_t a, int64_t b) {
  TAEDA_CHECK_VALUE(b >= 0, "an int result needs an exponent of at least 0; got ", b);
  int64_t result = 1;
  for (; b; b >>= 1) {
    if (b & 1) result = wrap_mul(result, a);
    a = wrap_mul(a, a);
  }
  return result;
}

int64_t shift_left(int64_t a, int64_t b) {
  TAEDA_CHECK_VALUE(b >= 0, "a shift must be by at least 0 bits; got ", b);
  return b > 63 ? 0 : static_cast<int64_t>(static_cast<uint64_t>(a) << b);
}
int64_t shift_right(int64_t a, int64_t b) {
  TAEDA_CHECK_VALUE(b >= 0, "a shift must be by at least 0 bits; got ", b);
  return a >> (b > 63 ? 63 : b);
}

int64_t to_whole(double number) {
  TAEDA_CHECK_VALUE(!std::isnan(number), "cannot convert float NaN to integer");
  TAEDA_CHECK_KIND(Overflow, number >= -0x1p63 && number < 0x1p63, "the float ", number, " does not fit in an int");
  return static_cast<int64_t>(number);
}

namespace {

bool is_complex(const Value& v) { return v.tag() == Value::Tag::Complex; }
bool is_float(const Value& v) { return v.tag() == Value::Tag::Float; }
complex128 as_complex(const Value& v) { return v.to_scalar().to<complex128>(); }

// A function on numbers whose kinds are known only at run time.
template <auto ints, auto floats, auto complexes>
Value on_scalars(const Value& a, const Value& b) {
  if (is_complex(a) || is_complex(b)) return complexes(as_complex(a), as_complex(b));
  if (is_float(a) || is_float(b)) return floats(a.to_float(), b.to_float());
  return ints(a.to_int(), b.to_int());
}
template <auto ints, auto floats>
Value on_reals(const Value& a, const Value& b) {
  if (is_float(a) || is_float(b)) return floats(a.to_float(), b.to_float());
  return ints(a.to_int(), b.to_int());
}

constexpr auto add_f = [](double a, double b) { return a + b; };
constexpr auto sub_f = [](double a, double b) { return a - b; };
constexpr auto mul_f = [](double a, double b) { return a * b; };
constexpr auto div_f = [](double a, double b) { return true_div(a, b); };
constexpr auto mod_f = [](double a, double b) { return modulo(a, b); };
constexpr auto floordiv_f = [](double a, double b) { return floor_div(a, b); };
constexpr auto pow_f = [](double a, double b) { return power(a, b); };
constexpr auto add_c = [](complex128 a, complex128 b) { return a + b; };
constexpr auto sub_c = [](complex128 a, complex128 b) { return a - b; };
constexpr auto mul_c = [](complex128 a, complex128 b) { return a * b; };
constexpr auto div_c = [](complex128 a, complex128 b) {
  check_divisor(b == complex128());
  return a / b;
};
constexpr auto pow_c = [](complex128 a, complex128 b) { return std::pow(a, b); };
constexpr auto mod_i = [](int64_t a, int64_t b) { return modulo(a, b); };
constexpr auto floordiv_i = [](int64_t a, int64_t b) { return floor_div(a, b); };
constexpr auto int_div = [](int64_t a, int64_t b) { return true_div(static_cast<double>(a), static_cast<double>(b)); };

// name, on ints, on floats, on complex numbers
#define TAEDA_ARITHMETIC(name, i, f, c)                                          \
  {"aten::" name ".int(int a, int b) -> int", typed<i>},                         \
      {"aten::" name ".complex(complex a, complex b) -> complex", typed<c>},     \
      {"aten::" name ".float(float a, float b) -> float", typed<f>},             \
      {"aten::" name ".int_complex(int a, complex b) -> complex", typed<c>},     \
      {"aten::" name ".complex_int(complex a, int b) -> complex", typed<c>},     \
      {"aten::" name ".float_complex(float a, complex b) -> complex", typed<c>}, \
      {"aten::" name ".complex_float(complex a, float b) -> complex", typed<c>}, \
      {"aten::" name ".int_float(int a, float b) -> float", typed<f>},           \
      {"aten::" name ".float_int(float a, int b) -> float", typed<f>}, {         \
    "aten::" name "(Scalar a, Scalar b) -> Scalar", typed<on_scalars<i, f, c>>   \
  }
#define TAEDA_REAL_ARITHMETIC(name, i, f)                                 \
  {"aten::" name ".int(int a, int b) -> int", typed<i>},                  \
      {"aten::" name ".float(float a, float b) -> float", typed<f>},      \
      {"aten::" name ".int_float(int a, float b) -> float", typed<f>},    \
      {"aten::" name ".float_int(float a, int b) -> float", typed<f>}, {  \
    "aten::" name "(Scalar a, Scalar b) -> Scalar", typed<on_reals<i, f>> \
  }
// An operator that orders numbers and strings.
#define TAEDA_COMPARISON(name, order)                                                                                \
  {"aten::" name ".int(int a, int b) -> bool", typed<[](int64_t a, int64_t b) { return order()(a, b); }>},           \
      {"aten::" name ".float(float a, float b) -> bool", typed<[](double a, double b) { return order()(a, b); }>},   \
      {"aten::" name ".int_float(int a, float b) -> bool", typed<[](double a, double b) { return order()(a, b); }>}, \
      {"aten::" name ".float_int(float a, int b) -> bool", typed<[](double a, double b) { return order()(a, b); }>}, \
      {"aten::" name "(Scalar a, Scalar b) -> bool", typed<[](const Value& a, const Value& b) {                      \
         return is_float(a) || is_float(b) ? order()(a.to_float(), b.to_float()) : order()(a.to_int(), b.to_int());  \
       }>},                                                                                                          \
  {                                                                                                                  \
    "aten::" name ".str(str a, str b) -> bool",                                                                      \
        typed<[](std::string_view a, std::string_view b) { return order()(a, b); }>                                  \
  }
#define TAEDA_EQUALITY(name, sign, type, left, right)          \
  {"aten::" name "." type "(" left " a, " right " b) -> bool", \
   typed<[](const Value& a, const Value& b) { return equal_values(a, b) sign true; }>}
#define TAEDA_EQUALITIES(name, sign)                                                                                  \
  TAEDA_EQUALITY(name, sign, "int", "int", "int"), TAEDA_EQUALITY(name, sign, "complex", "complex", "complex"),       \
      TAEDA_EQUALITY(name, sign, "float", "float", "float"), TAEDA_EQUALITY(name, sign, "int_float", "int", "float"), \
      TAEDA_EQUALITY(name, sign, "float_int", "float", "int"),                                                        \
      TAEDA_EQUALITY(name, sign, "float_complex", "float", "complex"),                                                \
      TAEDA_EQUALITY(name, sign, "complex_float", "complex", "float"),                                                \
      TAEDA_EQUALITY(name, sign, "bool", "bool", "bool"), TAEDA_EQUALITY(name, sign, "str", "str", "str"),            \
      TAEDA_EQUALITY(name, sign, "device", "Device", "Device"),                                                       \
      TAEDA_EQUALITY(name, sign, "enum", "AnyEnumType", "AnyEnumType"),                                               \
      TAEDA_EQUALITY(name, sign, "int_list", "int[]", "int[]"),                                                       \
      TAEDA_EQUALITY(name, sign, "float_list", "float[]", "float[]"),                                                 \
      TAEDA_EQUALITY(name, sign, "bool_list", "bool[]", "bool[]"),                                                    \
      TAEDA_EQUALITY(name, sign, "str_list", "str[]", "str[]"), {                                                     \
    "aten::" name "(Scalar a, Scalar b) -> bool",                                                                     \
        typed<[](const Value& a, const Value& b) { return equal_values(a, b) sign true; }>                            \
  }
#define TAEDA_BITS(name, sign)                                                                              \
  {"aten::" name ".bool(bool a, bool b) -> bool", typed<[](bool a, bool b) { return (a sign b) != 0; }>}, { \
    "aten::" name ".int(int a, int b) -> int", typed<[](int64_t a, int64_t b) { return a sign b; }>         \
  }

// A number's text without the spaces around it and the underscores between its digits; empty where one is elsewhere.
std::string bare_number(std::string_view text) {
  size_t first = text.find_first_not_of(" \t\n\r\f\v"), last = text.find_last_not_of(" \t\n\r\f\v");
  if (first == text.npos) return {};
  text = text.substr(first, last - first + 1);
  auto is_digit = [&](size_t i) { return i < text.size() && isdigit(static_cast<unsigned char>(text[i])); };
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_')
      out += text[i];
    else if (i == 0 || !is_digit(i - 1) || !is_digit(i + 1))
      return {};
  }
  return out;
}

int64_t parse_int(std::string_view text) {
  std::string digits = bare_number(text);
  bool has_sign = digits.starts_with('+') && !digits.starts_with("+-");
  const char *start = digits.data() + has_sign, *stop = digits.data() + digits.size();
  int64_t value = 0;
  auto [end, problem] = std::from_chars(start, stop, value);
  TAEDA_CHECK_KIND(Overflow, problem != std::errc::result_out_of_range, "the number ", text, " does not fit in an int");
  TAEDA_CHECK_VALUE(problem == std::errc() && end == stop, "invalid literal for int() with base 10: ", quoted(text));
  return value;
}

double parse_float(std::string_view text) {
  std::string digits = bare_number(text);
  char* end = nullptr;
  double value = std::strtod(digits.c_str(), &end);
  TAEDA_CHECK_VALUE(!digits.empty() && *end == 0 && digits.find_first_of("xXpP(") == digits.npos,
                    "could not convert string to float: ", quoted(text));
  return value;
}

constexpr auto divide_scalars = [](const Value& a, const Value& b) -> Value {
  if (is_complex(a) || is_complex(b)) return div_c(as_complex(a), as_complex(b));
  return true_div(a.to_float(), b.to_float());
};
constexpr auto make_complex = [](double re, double im) { return complex128(re, im); };
constexpr auto negate_scalar = [](const Value& a) -> Value {
  if (is_complex(a)) return -as_complex(a);
  return is_float(a) ? Value(-a.to_float()) : Value(wrap_neg(a.to_int()));
};
constexpr auto abs_scalar = [](const Value& a) -> Value {
  if (is_complex(a)) return std::abs(as_complex(a));
  return is_float(a) ? Value(std::fabs(a.to_float())) : Value(a.to_int() < 0 ? wrap_neg(a.to_int()) : a.to_int());
};
constexpr auto lesser = [](const Value& a, const Value& b) -> Value { return b.to_float() < a.to_float() ? b : a; };
constexpr auto greater = [](const Value& a, const Value& b) -> Value { return b.to_float() > a.to_float() ? b : a; };
constexpr auto min_f = [](double a, double b) { return b < a ? b : a; };
constexpr auto max_f = [](double a, double b) { return b > a ? b : a; };

int64_t range_length(int64_t lo, int64_t hi, int64_t step) {
  TAEDA_CHECK_VALUE(step != 0, "range() arg 3 must not be zero");
  if (step > 0 ? lo >= hi : lo <= hi) return 0;
  auto whole = [](int64_t number) { return static_cast<uint64_t>(number); };
  uint64_t span = step > 0 ? whole(hi) - whole(lo) : whole(lo) - whole(hi);
  uint64_t stride = step > 0 ? whole(step) : uint64_t{0} - whole(step);
  return static_cast<int64_t>((span - 1) / stride + 1);
}

constexpr Primitive kTable[] = {
    TAEDA_ARITHMETIC("add", wrap_add, add_f, add_c),
    TAEDA_ARITHMETIC("sub", wrap_sub, sub_f, sub_c),
    TAEDA_ARITHMETIC("mul", wrap_mul, mul_f, mul_c),
    TAEDA_REAL_ARITHMETIC("remainder", mod_i, mod_f),
    TAEDA_REAL_ARITHMETIC("floordiv", floordiv_i, floordiv_f),
    {"aten::div.int(int a, int b) -> float", typed<int_div>},
    {"aten::div.complex(complex a, complex b) -> complex", typed<div_c>},
    {"aten::div.float(float a, float b) -> float", typed<div_f>},
    {"aten::div(Scalar a, Scalar b) -> Scalar", typed<divide_scalars>},
    {"aten::pow.int(int a, int b) -> float", typed<pow_f>},
    {"aten::pow.complex(complex a, complex b) -> complex", typed<pow_c>},
    {"aten::pow.float(float a, float b) -> float", typed<pow_f>},
    {"aten::pow.int_float(int a, float b) -> float", typed<pow_f>},
    {"aten::pow.float_int(float a, int b) -> float", typed<pow_f>},
    {"aten::pow.float_complex(float a, complex b) -> complex", typed<pow_c>},
    {"aten::pow.complex_float(complex a, float b) -> complex", typed<pow_c>},
    {"aten::pow.Scalar_Scalar(Scalar a, Scalar b) -> float", typed<pow_f>},
    {"aten::pow.int_to_int(int a, int b) -> int", typed<[](int64_t a, int64_t b) { return power(a, b); }>},
    {"aten::divmod.int(int x, int y) -> (int, int)",
     typed<[](int64_t a, int64_t b) { return std::tuple(floor_div(a, b), modulo(a, b)); }>},
    {"aten::divmod.float(float x, float y) -> (float, float)",
     typed<[](double a, double b) { return std::tuple(floor_div(a, b), modulo(a, b)); }>},
    {"aten::divmod.int_float(int x, float y) -> (float, float)",
     typed<[](double a, double b) { return std::tuple(floor_div(a, b), modulo(a, b)); }>},
    {"aten::divmod.float_int(float x, int y) -> (float, float)",
     typed<[](double a, double b) { return std::tuple(floor_div(a, b), modulo(a, b)); }>},
    {"aten::__round_to_zero_floordiv.int(int a, int b) -> int", typed<[](int64_t a, int64_t b) {
       check_divisor(b == 0);
       return b == -1 ? wrap_neg(a) : a / b;
     }>},
    TAEDA_COMPARISON("lt", std::less<>),
    TAEDA_COMPARISON("le", std::less_equal<>),
    TAEDA_COMPARISON("gt", std::greater<>),
    TAEDA_COMPARISON("ge", std::greater_equal<>),
    TAEDA_EQUALITIES("eq", ==),
    TAEDA_EQUALITIES("ne", !=),
    TAEDA_BITS("__and__", &),
    TAEDA_BITS("__or__", |),
    TAEDA_BITS("__xor__", ^),
    {"aten::__lshift__.int(int a, int b) -> int", typed<shift_left>},
    {"aten::__rshift__.int(int a, int b) -> int", typed<shift_right>},
    {"aten::bitwise_not.int(int a) -> int", typed<[](int64_t a) { return ~a; }>},
    {"aten::__not__(bool self) -> bool", typed<[](bool a) { return !a; }>},
    {"aten::neg.int(int a) -> int", typed<wrap_neg>},
    {"aten::neg.float(float a) -> float", typed<[](double a) { return -a; }>},
    {"aten::neg.complex(complex a) -> complex", typed<[](complex128 a) { return -a; }>},
    {"aten::neg.Scalar(Scalar a) -> Scalar", typed<negate_scalar>},
    {"prim::abs.int(int a) -> int", typed<[](int64_t a) { return a < 0 ? wrap_neg(a) : a; }>},
    {"prim::abs.float(float a) -> float", typed<[](double a) { return std::fabs(a); }>},
    {"prim::abs.complex(complex a) -> float", typed<[](complex128 a) { return std::abs(a); }>},
    {"prim::abs.Scalar(Scalar a) -> Scalar", typed<abs_scalar>},
    {"prim::min.int(int a, int b) -> int", typed<[](int64_t a, int64_t b) { return b < a ? b : a; }>},
    {"prim::min.float(float a, float b) -> float", typed<min_f>},
    {"prim::min.int_float(int a, float b) -> float", typed<min_f>},
    {"prim::min.float_int(float a, int b) -> float", typed<min_f>},
    {"prim::min(Scalar a, Scalar b) -> Scalar", typed<lesser>},
    {"prim::max.int(int a, int b) -> int", typed<[](int64_t a, int64_t b) { return a < b ? b : a; }>},
    {"prim::max.float(float a, float b) -> float", typed<max_f>},
    {"prim::max.int_float(int a, float b) -> float", typed<max_f>},
    {"prim::max.float_int(float a, int b) -> float", typed<max_f>},
    {"prim::max(Scalar a, Scalar b) -> Scalar", typed<greater>},
    {"aten::Bool.int(int a) -> bool", typed<[](int64_t a) { return a != 0; }>},
    {"aten::Bool.float(float a) -> bool", typed<[](double a) { return a != 0; }>},
    {"aten::Int.float(float a) -> int", typed<to_whole>},
    {"aten::Int.bool(bool a) -> int", typed<[](bool a) -> int64_t { return a; }>},
    {"aten::Int.Scalar(Scalar a) -> int",
     typed<[](const Value& a) { return is_float(a) ? to_whole(a.to_float()) : a.to_int(); }>},
    {"aten::Int.str(str a) -> int", typed<parse_int>},
    {"aten::Float.int(int a) -> float", typed<[](double a) { return a; }>},
    {"aten::Float.bool(bool a) -> float", typed<[](double a) { return a; }>},
    {"aten::Float.Scalar(Scalar a) -> float", typed<[](double a) { return a; }>},
    {"aten::Float.str(str a) -> float", typed<parse_float>},
    {"aten::Complex.Scalar(Scalar a) -> complex", typed<[](complex128 a) { return a; }>},
    {"aten::Complex.int_int(int x, int y) -> complex", typed<make_complex>},
    {"aten::Complex.float_float(float x, float y) -> complex", typed<make_complex>},
    {"aten::Complex.int_float(int x, float y) -> complex", typed<make_complex>},
    {"aten::Complex.float_int(float x, int y) -> complex", typed<make_complex>},
    {"aten::Complex.bool_bool(bool x, bool y) -> complex", typed<make_complex>},
    {"aten::Complex.bool_int(bool x, int y) -> complex", typed<make_complex>},
    {"aten::Complex.bool_float(bool x, float y) -> complex", typed<make_complex>},
    {"aten::Complex.int_bool(int x, bool y) -> complex", typed<make_complex>},
    {"aten::Complex.float_bool(float x, bool y) -> complex", typed<make_complex>},
    {"aten::__range_length(int lo, int hi, int step) -> int", typed<range_length>},
    {"aten::__derive_index(int index, int start, int step) -> int",
     typed<[](int64_t index, int64_t start, int64_t step) { return wrap_add(start, wrap_mul(index, step)); }>},
    {"prim::rangelist(int n) -> int[]", typed<[](int64_t n) {
       std::vector<int64_t> items(static_cast<size_t>(n < 0 ? 0 : n));
       for (size_t i = 0; i < items.size(); ++i) items[i] = static_cast<int64_t>(i);
       return items;
     }>},
};

}  // namespace

PrimitiveTable number_primitives() { return kTable; }

}  // namespace taeda::jit
