// Names that are compared by their address: Symbol::fromQualString("aten::add").
#pragma once
#include <ostream>
#include <string>

#include <c10/macros/Macros.h>

namespace c10 {

class TORCH_API Symbol {
 public:
  Symbol() = default;
  // "namespace::name"; ValueError without a namespace.
  static Symbol fromQualString(const std::string& text);
  static Symbol fromDomainAndUnqualString(const std::string& domain, const std::string& name);
  static Symbol attr(const std::string& name) { return fromQualString("attr::" + name); }
  static Symbol aten(const std::string& name) { return fromQualString("aten::" + name); }
  static Symbol cuda(const std::string& name) { return fromQualString("cuda::" + name); }
  static Symbol prim(const std::string& name) { return fromQualString("prim::" + name); }
  static Symbol user(const std::string& name) { return fromQualString("user::" + name); }
  static Symbol dimname(const std::string& name) { return fromQualString("dimname::" + name); }

  Symbol ns() const;  // the Symbol namespaces::NAME
  std::string domainString() const;
  const char* toQualString() const { return text_ ? text_->c_str() : ""; }
  const char* toUnqualString() const;
  const char* toDisplayString() const { return toQualString(); }
  bool is_aten() const { return domainString() == "aten"; }
  bool is_attr() const { return domainString() == "attr"; }
  bool is_prim() const { return domainString() == "prim"; }
  bool is_dimname() const { return domainString() == "dimname"; }
  bool operator==(const Symbol& other) const = default;

 private:
  explicit Symbol(const std::string* text) : text_(text) {}
  const std::string* text_ = nullptr;  // one for each text, kept for ever
  friend struct std::hash<Symbol>;
};

inline std::ostream& operator<<(std::ostream& out, Symbol s) { return out << s.toQualString(); }

}  // namespace c10

template <>
struct std::hash<c10::Symbol> {
  size_t operator()(c10::Symbol s) const noexcept { return std::hash<const void*>()(s.text_); }
};
