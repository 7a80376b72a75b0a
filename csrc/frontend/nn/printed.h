// What modules print of themselves: Printed(stream, "Linear").arg("in_features", 4) gives
// torch::nn::Linear(in_features=4).
#pragma once
#include <ostream>
#include <string_view>

namespace torch::nn {

class Printed {
 public:
  Printed(std::ostream& out, std::string_view name) : out_(out), flags_(out.flags()) {
    out_ << std::boolalpha << "torch::nn::" << name << "(";
  }
  Printed(const Printed&) = delete;
  ~Printed() {
    out_ << ")";
    out_.flags(flags_);
  }
  template <class T>
  Printed& arg(std::string_view name, const T& value) {
    comma();
    out_ << name << "=" << value;
    return *this;
  }
  template <class T>
  Printed& bare(const T& value) {
    comma();
    out_ << value;
    return *this;
  }
  template <class T>
  Printed& arg_unless(std::string_view name, const T& value, const T& usual) {
    if (!(value == usual)) arg(name, value);
    return *this;
  }

 private:
  void comma() {
    if (!first_) out_ << ", ";
    first_ = false;
  }
  std::ostream& out_;
  std::ios_base::fmtflags flags_;
  bool first_ = true;
};

}  // namespace torch::nn
