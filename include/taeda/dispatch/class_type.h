// Types with a name and members: classes with attributes and methods, enumerations, interfaces. They are registered by
// name, from C++, Python or a compiler; a class may be spoken of before it is declared.
#pragma once
#include <functional>
#include <memory>
#include <optional>

#include "taeda/dispatch/schema.h"

namespace taeda {

// A method of a class or a free function: what it takes and what it does to the stack.
struct Method {
  std::string name;
  std::shared_ptr<const Schema> schema;  // null while only its name is known
  std::function<void(Stack&)> run;       // pops the arguments, `self` first, pushes the results
  bool is_static = false;
};

struct Attribute {
  enum class Kind : uint8_t { Plain, Parameter, Buffer };
  std::string name;
  TypePtr type;
  Kind kind = Kind::Plain;
};

class TAEDA_API ClassType final : public Type {
 public:
  explicit ClassType(std::string name);
  ~ClassType() override;

  std::span<const Attribute> attributes() const { return {attributes_.data(), attributes_.size()}; }
  // Where an instance keeps it; nothing if there is none of that name.
  std::optional<size_t> find_attribute(std::string_view name) const;
  size_t attribute_slot(std::string_view name) const;  // AttributeError's words, as a RuntimeError
  size_t add_attribute(Attribute attribute);           // the name must be free

  std::span<const std::pair<std::string, Value>> constants() const { return {constants_.data(), constants_.size()}; }
  const Value* find_constant(std::string_view name) const;
  void add_constant(std::string name, Value value);

  std::vector<const Method*> methods() const;
  const Method* find_method(std::string_view name) const;
  const Method& add_method(Method method);  // RuntimeError if the name is taken
  // Gives a method its code, whether or not it was there; whoever holds it sees the new one.
  const Method& define_method(Method method);

  bool is_module = false;  // a compiled nn.Module

 private:
  void check_free(std::string_view name) const;
  std::vector<Attribute> attributes_;
  std::vector<std::pair<std::string, Value>> constants_;
  std::vector<std::unique_ptr<Method>> methods_;  // pointers stay valid while others are added
};

class TAEDA_API EnumType final : public Type {
 public:
  using Member = std::pair<std::string, Value>;
  EnumType(std::string name, TypePtr value_type, std::vector<Member> members);
  ~EnumType() override;
  TypePtr value_type() const { return contained(0); }
  std::span<const Member> members() const { return {members_.data(), members_.size()}; }
  size_t index_of(std::string_view member) const;  // RuntimeError that lists the members
  bool same_as(TypePtr value_type, std::span<const Member> members) const;

 private:
  std::vector<Member> members_;
};

class TAEDA_API InterfaceType final : public Type {
 public:
  InterfaceType(std::string name, std::vector<Schema> methods);
  ~InterfaceType() override;
  std::span<const Schema> methods() const { return {methods_.data(), methods_.size()}; }
  const Schema* find_method(std::string_view name) const;
  // Whether a class, or another interface, has all of its methods; `why` names the first that is missing.
  bool is_served_by(const Type& type, std::string* why) const;

 private:
  std::vector<Schema> methods_;
};

// --- Registration by name. The first to name a class makes it, without members.
TAEDA_API ClassType& class_type(const std::string& name);
TAEDA_API const EnumType* enum_type(const std::string& name, TypePtr value_type, std::vector<EnumType::Member> members);
TAEDA_API const InterfaceType* interface_type(const std::string& name, std::vector<Schema> methods);
TAEDA_API TypePtr find_named_type(const std::string& name);  // null if nobody named it

}  // namespace taeda
