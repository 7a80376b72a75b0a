// Interned names, and the names of dimensions that a tensor keeps.
#include <ATen/ATen.h>
#include <ATen/core/Dimname.h>
#include <taeda/autograd/meta.h>

#include <algorithm>
#include <cctype>
#include <mutex>
#include <unordered_set>

namespace c10 {

Symbol Symbol::fromQualString(const std::string& text) {
  size_t colons = text.find("::");
  TORCH_CHECK_VALUE(colons != std::string::npos && colons > 0 && colons + 2 < text.size(), "Symbol: \"", text,
                    "\" is no name with its namespace: say it as in \"aten::add\"");
  static std::mutex mutex;
  static auto& known = *new std::unordered_set<std::string>();
  std::lock_guard lock(mutex);
  return Symbol(&*known.insert(text).first);
}
Symbol Symbol::fromDomainAndUnqualString(const std::string& domain, const std::string& name) {
  return fromQualString(domain.substr(domain.rfind(':') + 1) + "::" + name);
}
Symbol Symbol::ns() const { return fromQualString("namespaces::" + domainString()); }
std::string Symbol::domainString() const { return text_ ? text_->substr(0, text_->find("::")) : ""; }
const char* Symbol::toUnqualString() const { return text_ ? text_->c_str() + text_->find("::") + 2 : ""; }

}  // namespace c10

namespace at {

bool Dimname::isValidName(const std::string& name) {
  auto fits = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
  return !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) && std::ranges::all_of(name, fits);
}

Dimname Dimname::wildcard() {
  static const Symbol any = Symbol::dimname("*");
  return Dimname(any);
}
Dimname Dimname::fromSymbol(Symbol name) {
  if (name == wildcard().symbol()) return wildcard();
  TORCH_CHECK_VALUE(name.is_dimname(), "Dimname: ", name, " is no name of a dimension: make it by Symbol::dimname");
  TORCH_CHECK_VALUE(isValidName(name.toUnqualString()), "Dimname: \"", name.toUnqualString(),
                    "\" is no identifier: use letters, digits and underscores, first no digit");
  return Dimname(name);
}

namespace {

using Names = std::vector<Dimname>;

const Names* kept_names(const Tensor& t) {
  auto* meta = ::taeda::autograd::meta_of(t);
  return meta && meta->rare ? static_cast<const Names*>(meta->rare->dimension_names.get()) : nullptr;
}

Tensor with_names(const Tensor& t, Names names) {
  for (size_t i = 0; i < names.size(); ++i)
    TORCH_CHECK_VALUE(names[i].isWildcard() || std::count(names.begin(), names.end(), names[i]) == 1, "the name ",
                      names[i], " stands for two dimensions: names of one tensor differ");
  Tensor named = t.view_as(t);
  ::taeda::autograd::make_meta(named).make_rare().dimension_names = std::make_shared<const Names>(std::move(names));
  return named;
}

void check_count(const Tensor& t, DimnameList names, const char* who) {
  TORCH_CHECK_VALUE(names.size() == static_cast<size_t>(t.dim()), who, ": got ", names.size(),
                    " names for a tensor of ", t.dim(), " dimensions: give one for each");
}

}  // namespace

bool Tensor::has_names() const {
  const Names* names = kept_names(*this);
  return names && std::ranges::any_of(*names, &Dimname::isBasic);
}

DimnameList Tensor::names() const {
  static const Names nameless(64, Dimname::wildcard());
  if (const Names* names = kept_names(*this)) return *names;
  TORCH_CHECK(dim() <= 64, "names: tensors of up to 64 dimensions have names; this has ", dim());
  return DimnameList(nameless).slice(0, static_cast<size_t>(dim()));
}

Tensor Tensor::rename(std::optional<DimnameList> names) const {
  if (!names) return with_names(*this, Names(static_cast<size_t>(dim()), Dimname::wildcard()));
  check_count(*this, *names, "rename");
  return with_names(*this, names->vec());
}

Tensor Tensor::refine_names(DimnameList names) const {
  check_count(*this, names, "refine_names");
  DimnameList old = this->names();
  for (size_t i = 0; i < names.size(); ++i)
    TORCH_CHECK(old[i].isWildcard() || old[i] == names[i], "refine_names: dimension ", i, " is ", old[i],
                " and cannot become ", names[i], ": rename() changes names");
  return with_names(*this, names.vec());
}

Tensor Tensor::unflatten(Dimname dim, IntArrayRef sizes, DimnameList names) const {
  DimnameList old = this->names();
  auto at = std::find(old.begin(), old.end(), dim);
  TORCH_CHECK(dim.isBasic() && at != old.end(), "unflatten: the tensor has no dimension ", dim, ": it has ", old);
  TORCH_CHECK_VALUE(sizes.size() == names.size(), "unflatten: got ", sizes.size(), " sizes and ", names.size(),
                    " names: give as many of each");
  Names all(old.begin(), at);
  all.insert(all.end(), names.begin(), names.end());
  all.insert(all.end(), at + 1, old.end());
  return with_names(unflatten(at - old.begin(), sizes), std::move(all));
}

}  // namespace at
