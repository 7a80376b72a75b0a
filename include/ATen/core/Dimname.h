// Names of dimensions. A tensor keeps those that refine_names or rename gave it; results of ops have none, but
// unflatten's.
#pragma once
#include <optional>
#include <ostream>

#include <ATen/core/interned_strings.h>
#include <c10/util/ArrayRef.h>

namespace at {
using c10::Symbol;

enum class NameType : uint8_t { BASIC, WILDCARD };

class TORCH_API Dimname {
 public:
  // ValueError unless the name is an identifier.
  static Dimname fromSymbol(Symbol name);
  static Dimname wildcard();
  static bool isValidName(const std::string& name);

  NameType type() const { return isWildcard() ? NameType::WILDCARD : NameType::BASIC; }
  Symbol symbol() const { return name_; }
  bool isBasic() const { return !isWildcard(); }
  bool isWildcard() const { return name_ == wildcard().name_; }
  // The same name, or one of them any.
  bool matches(Dimname other) const { return isWildcard() || other.isWildcard() || name_ == other.name_; }
  std::optional<Dimname> unify(Dimname other) const {
    return matches(other) ? std::optional(isWildcard() ? other : *this) : std::nullopt;
  }
  bool operator==(const Dimname& other) const = default;

 private:
  explicit Dimname(Symbol name) : name_(name) {}
  Symbol name_;
};
using DimnameList = c10::ArrayRef<Dimname>;

inline std::ostream& operator<<(std::ostream& out, const Dimname& name) {
  return name.isWildcard() ? out << "None" : out << "'" << name.symbol().toUnqualString() << "'";
}

}  // namespace at
