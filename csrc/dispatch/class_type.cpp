#include "taeda/dispatch/class_type.h"

#include <algorithm>

#include "taeda/core/fork.h"
#include "taeda/dispatch/collections.h"

namespace taeda {

// Here, so that who includes the header does not compile how the members are made and destroyed.
ClassType::ClassType(std::string name) : Type({TypeKind::Class, {}, std::move(name), {}}) {}
ClassType::~ClassType() = default;
EnumType::EnumType(std::string name, TypePtr value_type, std::vector<Member> members)
    : Type({TypeKind::Enum, {value_type}, std::move(name), {}}), members_(std::move(members)) {}
EnumType::~EnumType() = default;
InterfaceType::InterfaceType(std::string name, std::vector<Schema> methods)
    : Type({TypeKind::Interface, {}, std::move(name), {}}), methods_(std::move(methods)) {}
InterfaceType::~InterfaceType() = default;

std::optional<size_t> ClassType::find_attribute(std::string_view name) const {
  auto found = std::ranges::find(attributes_, name, &Attribute::name);
  if (found == attributes_.end()) return std::nullopt;
  return static_cast<size_t>(found - attributes_.begin());
}

size_t ClassType::attribute_slot(std::string_view name) const {
  std::optional<size_t> slot = find_attribute(name);
  TAEDA_CHECK(slot, this->name(), " has no attribute '", name, "'");
  return *slot;
}

void ClassType::check_free(std::string_view name) const {
  TAEDA_CHECK(!find_attribute(name) && !find_constant(name) && !find_method(name), this->name(), " has a member '",
              name, "' already");
}

size_t ClassType::add_attribute(Attribute attribute) {
  check_free(attribute.name);
  attributes_.push_back(std::move(attribute));
  return attributes_.size() - 1;
}

const Value* ClassType::find_constant(std::string_view name) const {
  auto found = std::ranges::find(constants_, name, &std::pair<std::string, Value>::first);
  return found == constants_.end() ? nullptr : &found->second;
}

void ClassType::add_constant(std::string name, Value value) {
  check_free(name);
  constants_.emplace_back(std::move(name), std::move(value));
}

std::vector<const Method*> ClassType::methods() const {
  std::vector<const Method*> all;
  for (const auto& method : methods_) all.push_back(method.get());
  return all;
}

const Method* ClassType::find_method(std::string_view name) const {
  for (const auto& method : methods_)
    if (method->name == name) return method.get();
  return nullptr;
}

const Method& ClassType::add_method(Method method) {
  check_free(method.name);
  return *methods_.emplace_back(std::make_unique<Method>(std::move(method)));
}

const Method& ClassType::define_method(Method method) {
  for (auto& known : methods_)
    if (known->name == method.name) return *known = std::move(method);
  return add_method(std::move(method));
}

size_t EnumType::index_of(std::string_view member) const {
  std::string all;
  for (size_t i = 0; i < members_.size(); ++i) {
    if (members_[i].first == member) return i;
    all += taeda::str(all.empty() ? "" : ", ", members_[i].first);
  }
  TAEDA_FAIL(Runtime, name(), " has no member '", member, "'; it has ", all);
}

bool EnumType::same_as(TypePtr value_type, std::span<const Member> members) const {
  return value_type == this->value_type() &&
         std::ranges::equal(members, members_, [](const Member& a, const Member& b) {
           return a.first == b.first && equal_values(a.second, b.second);
         });
}

const Schema* InterfaceType::find_method(std::string_view name) const {
  auto found = std::ranges::find(methods_, name, &Schema::name);
  return found == methods_.end() ? nullptr : &*found;
}

namespace {

const Schema* method_of(const Type& type, std::string_view name) {
  if (type.is(TypeKind::Interface)) return static_cast<const InterfaceType&>(type).find_method(name);
  if (!type.is(TypeKind::Class)) return nullptr;
  const Method* method = static_cast<const ClassType&>(type).find_method(name);
  return method ? method->schema.get() : nullptr;
}

// Whether a call of `wanted` may be served by `given`; `self` is left out of the comparison.
bool serves(const Schema& given, const Schema& wanted) {
  if (given.arguments.size() != wanted.arguments.size() || given.returns.size() != wanted.returns.size()) return false;
  for (size_t i = 1; i < given.arguments.size(); ++i)
    if (given.arguments[i].name != wanted.arguments[i].name ||
        !wanted.arguments[i].type->is_subtype_of(given.arguments[i].type))
      return false;
  for (size_t i = 0; i < given.returns.size(); ++i)
    if (!given.returns[i].type->is_subtype_of(wanted.returns[i].type)) return false;
  return true;
}

// Types by name. Each lives for ever.
struct Names {
  Mutex mutex;
  std::unordered_map<std::string, Type*> types;
};
Names& names() {
  static Names* instance = new Names;
  return *instance;
}

[[noreturn]] void taken(const Type& type) {
  TAEDA_FAIL(Runtime, "the type ", type.name(), " is declared already, otherwise: as ", kind_name(type.kind()));
}

}  // namespace

bool InterfaceType::is_served_by(const Type& type, std::string* why) const {
  for (const Schema& wanted : methods_) {
    const Schema* given = method_of(type, wanted.name);
    if (given && serves(*given, wanted)) continue;
    if (why)
      *why = taeda::str(type.annotation(), given ? " has another form of " : " lacks ", "the method ",
                        schema_text(wanted), " of the interface ", name());
    return false;
  }
  return true;
}

ClassType& class_type(const std::string& name) {
  Names& known = names();
  std::lock_guard lock(known.mutex);
  Type*& type = known.types[name];
  if (!type) type = new ClassType(name);
  if (!type->is(TypeKind::Class)) taken(*type);
  return static_cast<ClassType&>(*type);
}

const EnumType* enum_type(const std::string& name, TypePtr value_type, std::vector<EnumType::Member> members) {
  Names& known = names();
  std::lock_guard lock(known.mutex);
  Type*& type = known.types[name];
  if (!type)
    type = new EnumType(name, value_type, std::move(members));
  else if (!type->is(TypeKind::Enum) || !static_cast<EnumType*>(type)->same_as(value_type, members))
    taken(*type);
  return static_cast<const EnumType*>(type);
}

const InterfaceType* interface_type(const std::string& name, std::vector<Schema> methods) {
  Names& known = names();
  std::lock_guard lock(known.mutex);
  Type*& type = known.types[name];
  if (type) taken(*type);
  type = new InterfaceType(name, std::move(methods));
  return static_cast<const InterfaceType*>(type);
}

TypePtr find_named_type(const std::string& name) {
  Names& known = names();
  std::lock_guard lock(known.mutex);
  auto found = known.types.find(name);
  return found == known.types.end() ? nullptr : found->second;
}

TypePtr named_type(const std::string& name) {
  TypePtr found = find_named_type(name);
  return found ? found : &class_type(name);
}

}  // namespace taeda
