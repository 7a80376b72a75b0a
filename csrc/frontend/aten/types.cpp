#include <ATen/core/function_schema.h>
#include <ATen/core/jit_type.h>

#include <memory>
#include <mutex>
#include <unordered_map>

namespace c10::detail {

namespace {

const Type* of_kind(::taeda::TypePtr node) {
  switch (node->kind()) {
#define TAEDA_TYPE_CASE(name, core) \
  case ::taeda::TypeKind::core:     \
    return new name(node);
    TAEDA_PLAIN_TYPES(TAEDA_TYPE_CASE)
    TAEDA_TYPE_CASE(ListType, List)
    TAEDA_TYPE_CASE(OptionalType, Optional)
    TAEDA_TYPE_CASE(FutureType, Future)
    TAEDA_TYPE_CASE(AwaitType, Await)
    TAEDA_TYPE_CASE(RRefType, RRef)
    TAEDA_TYPE_CASE(DictType, Dict)
    TAEDA_TYPE_CASE(TupleType, Tuple)
    TAEDA_TYPE_CASE(UnionType, Union)
    TAEDA_TYPE_CASE(VarType, Var)
    TAEDA_TYPE_CASE(ClassType, Class)
    TAEDA_TYPE_CASE(EnumType, Enum)
#undef TAEDA_TYPE_CASE
    default:
      return new Type(node);
  }
}

}  // namespace

const Type& shown(::taeda::TypePtr node) {
  static std::mutex mutex;
  static auto& made = *new std::unordered_map<::taeda::TypePtr, const Type*>;
  std::lock_guard lock(mutex);
  const Type*& type = made[node];
  if (!type) type = of_kind(node);
  return *type;
}

}  // namespace c10::detail

namespace c10 {

Argument::Argument(std::string name, const TypePtr& type, std::optional<int32_t> N, std::optional<IValue> default_value,
                   bool kwarg_only, std::optional<AliasInfo> alias_info) {
  SchemaArgument::type = type ? type->node() : ::taeda::plain_type(::taeda::TypeKind::Tensor);
  SchemaArgument::name = std::move(name);
  list_size = N.value_or(0);
  keyword_only = kwarg_only;
  alias = std::move(alias_info);
  if (!default_value) return;
  default_text = default_value->isString() ? str('"', default_value->toStringRef(), '"') : c10::str(*default_value);
  SchemaArgument::default_value = *std::move(default_value);
}

}  // namespace c10
