// std::cout << tensor, as PyTorch's C++ prints: columns of equal width, one format for all elements of a tensor.
#include <ATen/core/ivalue.h>

#include <cmath>
#include <iomanip>
#include <iostream>

namespace at {

namespace {

struct Format {
  double scale = 1;
  int width = 0;
};

int digits_before_point(double value) { return value == 0 ? 1 : static_cast<int>(std::floor(std::log10(value))) + 1; }

// Sets the stream's precision, too.
Format choose_format(std::ostream& out, const Tensor& self) {
  const double* data = self.const_data_ptr<double>();
  bool whole = true, any = false;
  double least = 0, greatest = 0;
  for (int64_t i = 0; i < self.numel(); ++i) {
    if (!std::isfinite(data[i])) continue;
    double size = std::fabs(data[i]);
    whole &= size == std::ceil(size);
    least = any ? std::min(least, size) : size;
    greatest = std::max(greatest, size);
    any = true;
  }
  int low = any ? digits_before_point(least) : 1, high = any ? digits_before_point(greatest) : 1;
  if (whole && high <= 9) {
    out << std::defaultfloat;
    return {1, high + 1};
  }
  if (whole || high - low > 4) {
    out << std::scientific << std::setprecision(4);
    return {1, whole || (std::abs(high) <= 99 && std::abs(low) <= 99) ? 11 : 12};
  }
  out << std::fixed << std::setprecision(4);
  if (high > 5 || high < 0) return {std::pow(10.0, high - 1), 7};
  return {1, high == 0 ? 7 : high + 6};
}

void print_scale(std::ostream& out, double scale) {
  std::ios_base::fmtflags before = out.flags();
  std::streamsize precision = out.precision(10);
  out << std::defaultfloat << scale << " *\n";
  out.precision(precision);
  out.flags(before);
}

void print_matrix(std::ostream& out, const Tensor& self, int64_t linesize, int64_t indent) {
  Format format = choose_format(out, self);
  const std::string space(static_cast<size_t>(indent), ' ');
  const int64_t rows = self.size(0), columns = self.size(1);
  const int64_t per_line = std::max<int64_t>(1, (linesize - indent) / (format.width + 1));
  const double* data = self.const_data_ptr<double>();
  for (int64_t first = 0; first < columns; first += per_line) {
    int64_t last = std::min(first + per_line, columns) - 1;
    if (per_line < columns) {
      if (first) out << '\n';
      out << "Columns " << first + 1 << " to " << last + 1 << space;
    }
    if (format.scale != 1) {  // else the first row begins the line, as PyTorch has it
      print_scale(out, format.scale);
      out << space;
    }
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t c = first; c <= last; ++c)
        out << std::setw(format.width) << data[row * columns + c] / format.scale << (c == last ? "\n" : " ");
      if (row != rows - 1) out << space << (format.scale != 1 ? " " : "");
    }
  }
}

void print_slices(std::ostream& out, const Tensor& self, int64_t linesize) {
  std::vector<int64_t> counter(static_cast<size_t>(self.dim() - 2), 0);
  const int64_t count = ::taeda::numel_of(self.sizes().slice(0, counter.size()));
  for (int64_t n = 0; n < count; ++n) {
    if (n) out << '\n';
    out << '(';
    Tensor part = self;
    for (int64_t i : counter) {
      part = part.select(0, i);
      out << i + 1 << ',';
    }
    out << ".,.) = \n";
    print_matrix(out, part, linesize, 1);
    for (size_t d = 0; d < counter.size(); ++d) {  // the first dimension goes fastest
      if (++counter[d] < self.size(static_cast<int64_t>(d))) break;
      counter[d] = 0;
    }
  }
}

}  // namespace

std::ostream& print(std::ostream& out, const Tensor& given, int64_t linesize) {
  if (!given.defined()) return out << "[ Tensor (undefined) ]";
  std::ios_base::fmtflags flags = out.flags();
  std::streamsize precision = out.precision();
  NoGradGuard no_grad;
  Tensor self = given.is_complex() ? given.to(c10::kCPU) : given.to(TensorOptions(kDouble).device(kCPU)).contiguous();
  if (given.is_complex()) {
    for (int64_t i = 0; i < self.numel(); ++i) {
      auto value = self.reshape({-1}).select(0, i).item().toComplexDouble();
      out << value.real() << (value.imag() < 0 ? "-" : "+") << std::fabs(value.imag()) << "i\n";
    }
  } else if (self.dim() == 0) {
    out << std::defaultfloat << *self.const_data_ptr<double>() << '\n';
  } else if (self.numel() > 0 && self.dim() == 1) {
    Format format = choose_format(out, self);
    if (format.scale != 1) print_scale(out, format.scale);
    for (int64_t i = 0; i < self.numel(); ++i)
      out << std::setw(format.width) << self.const_data_ptr<double>()[i] / format.scale << '\n';
  } else if (self.numel() > 0 && self.dim() == 2) {
    print_matrix(out, self, linesize, 0);
  } else if (self.numel() > 0) {
    print_slices(out, self, linesize);
  }
  out.flags(flags);
  out.precision(precision);
  out << "[ " << given.toString() << "{";
  for (int64_t d = 0; d < given.dim(); ++d) out << (d ? "," : "") << given.size(d);
  return out << "} ]";
}
void print(const Tensor& tensor, int64_t linesize) { print(std::cout, tensor, linesize); }

}  // namespace at

namespace c10 {

std::ostream& operator<<(std::ostream& out, const IValue& value) {
  using Tag = IValue::Tag;
  auto all = [&](const auto& items, const char* open, const char* close) -> std::ostream& {
    out << open;
    for (size_t i = 0; i < items.size(); ++i) out << (i ? ", " : "") << items[i];
    return out << close;
  };
  switch (value.tag()) {
    case Tag::None:
      return out << "None";
    case Tag::Bool:
      return out << (value.to_bool() ? "True" : "False");
    case Tag::Int:
      return out << value.to_int();
    case Tag::Float: {
      std::string text = ::taeda::str(value.to_float());
      return out << text << (text.find_first_of(".einf") == std::string::npos ? "." : "");
    }
    case Tag::Tensor:
      return out << value.toTensor();
    case Tag::String:
      return out << value.to_string();
    case Tag::Device:
      return out << value.toDevice();
    case Tag::Tuple:
      return all(value.toTuple()->elements(), "(", ")");
    case Tag::Dict: {
      out << "{";
      const char* between = "";
      for (const auto& [key, item] : value.to_dict().entries()) {
        out << between << IValue(key) << ": " << IValue(item);
        between = ", ";
      }
      return out << "}";
    }
    default:
      if (value.isList()) {
        std::vector<IValue> items = impl::GenericList(value).vec();
        return all(items, "[", "]");
      }
      if (value.is_number()) return out << value.toScalar();
      return out << "<" << value.type()->str() << ">";
  }
}

std::string IValue::tagKind() const { return type()->str(); }

}  // namespace c10
