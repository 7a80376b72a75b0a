#include <torch/optim.h>

#include <unordered_set>

namespace torch::optim {

namespace {
[[noreturn]] void no(const char* what, const char* where) {
  TORCH_CHECK(false, where, " does not say how it is ", what, ": derive it from its Cloneable class, or override this");
}
}  // namespace

std::unique_ptr<OptimizerParamState> OptimizerParamState::clone() const { no("copied", "OptimizerParamState"); }
void OptimizerParamState::serialize(serialize::InputArchive&) { no("read", "OptimizerParamState"); }
void OptimizerParamState::serialize(serialize::OutputArchive&) const { no("written", "OptimizerParamState"); }
std::unique_ptr<OptimizerOptions> OptimizerOptions::clone() const { no("copied", "OptimizerOptions"); }
void OptimizerOptions::serialize(serialize::InputArchive&) { no("read", "OptimizerOptions"); }
void OptimizerOptions::serialize(serialize::OutputArchive&) const { no("written", "OptimizerOptions"); }
double OptimizerOptions::get_lr() const { TORCH_CHECK(false, "these options have no learning rate"); }
void OptimizerOptions::set_lr(const double) { TORCH_CHECK(false, "these options have no learning rate"); }

OptimizerOptions& OptimizerParamGroup::options() {
  TORCH_CHECK(options_, "the group of parameters has no options");
  return *options_;
}

Optimizer::Optimizer(const std::vector<OptimizerParamGroup>& param_groups, std::unique_ptr<OptimizerOptions> defaults)
    : defaults_(std::move(defaults)) {
  for (const OptimizerParamGroup& group : param_groups) add_param_group(group);
}

void Optimizer::add_param_group(const OptimizerParamGroup& param_group) {
  OptimizerParamGroup group(param_group);
  std::unordered_set<const void*> known;
  for (const OptimizerParamGroup& other : param_groups_)
    for (const Tensor& param : other.params()) known.insert(param.unsafeGetTensorImpl());
  for (const Tensor& param : group.params()) {
    TORCH_CHECK(param.is_leaf(), "add_param_group: a parameter is a leaf; this one is the result of an operation");
    TORCH_CHECK(known.insert(param.unsafeGetTensorImpl()).second,
                "add_param_group: a parameter is in one group, once; one of these is there already");
  }
  if (group.has_options())
    group.options().inherit(*defaults_);
  else
    group.set_options(defaults_->clone());
  param_groups_.push_back(std::move(group));
}
void Optimizer::add_parameters(const std::vector<Tensor>& parameters) {
  TORCH_CHECK(!param_groups_.empty(), "the optimizer has no group of parameters to add to");
  auto& params = param_groups_[0].params();
  params.insert(params.end(), parameters.begin(), parameters.end());
}

void Optimizer::zero_grad(bool set_to_none) {
  for (OptimizerParamGroup& group : param_groups_) {
    for (Tensor& param : group.params()) {
      Tensor& grad = param.mutable_grad();
      if (!grad.defined()) continue;
      if (set_to_none) {
        grad.reset();
      } else {
        grad.detach_();
        grad.zero_();
      }
    }
  }
}

const std::vector<Tensor>& Optimizer::parameters() const noexcept { return param_groups_.at(0).params(); }
std::vector<Tensor>& Optimizer::parameters() noexcept { return param_groups_.at(0).params(); }
size_t Optimizer::size() const noexcept {
  size_t count = 0;
  for (const OptimizerParamGroup& group : param_groups_) count += group.params().size();
  return count;
}

Tensor Optimizer::loss_of(const LossClosure& closure) {
  if (!closure) return {};
  AutoGradMode recorded(true);
  return closure();
}

// --- Files: the version of the format, the state by parameter, and the groups. A parameter goes by a text of its own,
// which is looked up in the groups.
namespace {

constexpr const char* kFormat = "1.5.0";

std::string text_of(const void* param) { return std::to_string(reinterpret_cast<std::uintptr_t>(param)); }
void write_size(serialize::OutputArchive& archive, const std::string& name, size_t size) {
  archive.write(name, torch::tensor(static_cast<int64_t>(size)));
}
size_t read_size(serialize::InputArchive& archive, const std::string& name) {
  Tensor size;
  archive.read(name, size);
  return static_cast<size_t>(size.item<int64_t>());
}

}  // namespace

void Optimizer::save(serialize::OutputArchive& archive) const {
  archive.write("pytorch_version", c10::IValue(kFormat));
  serialize::OutputArchive states(archive.compilation_unit());
  for (const OptimizerParamGroup& group : param_groups_) {  // in the order of parameters, so that files are the same
    for (const Tensor& param : group.params()) {
      auto held = state_.find(param.unsafeGetTensorImpl());
      if (held == state_.end()) continue;
      serialize::OutputArchive one(archive.compilation_unit());
      held->second->serialize(one);
      states.write(text_of(held->first), one);
    }
  }
  archive.write("state", states);
  serialize::OutputArchive groups(archive.compilation_unit());
  write_size(groups, "param_groups/size", param_groups_.size());
  for (size_t i = 0; i < param_groups_.size(); ++i) {
    const OptimizerParamGroup& group = param_groups_[i];
    serialize::OutputArchive one(archive.compilation_unit()), options(archive.compilation_unit());
    write_size(one, "params/size", group.params().size());
    for (size_t p = 0; p < group.params().size(); ++p)
      one.write("params/" + std::to_string(p), c10::IValue(text_of(group.params()[p].unsafeGetTensorImpl())));
    group.options().serialize(options);
    one.write("options", options);
    groups.write("param_groups/" + std::to_string(i), one);
  }
  archive.write("param_groups", groups);
}

void Optimizer::load(serialize::InputArchive& archive) {
  c10::IValue format;
  TORCH_CHECK(archive.try_read("pytorch_version", format), "the archive holds no optimizer that torch::save wrote");
  serialize::InputArchive states, groups;
  archive.read("state", states);
  archive.read("param_groups", groups);
  size_t count = read_size(groups, "param_groups/size");
  TORCH_CHECK(count == param_groups_.size(), "loaded state dict has a different number of parameter groups: ", count,
              "; here there are ", param_groups_.size());
  for (size_t i = 0; i < count; ++i) {
    OptimizerParamGroup& group = param_groups_[i];
    serialize::InputArchive one, options;
    groups.read("param_groups/" + std::to_string(i), one);
    size_t params = read_size(one, "params/size");
    TORCH_CHECK(params == group.params().size(), "loaded state dict has a parameter group that has a different size (",
                params, ") than the optimizer's parameter group (", group.params().size(), ")");
    for (size_t p = 0; p < params; ++p) {
      c10::IValue name;
      one.read("params/" + std::to_string(p), name);
      serialize::InputArchive held;
      if (!states.try_read(name.toStringRef(), held)) continue;
      std::unique_ptr<OptimizerParamState> state = new_state();
      TORCH_CHECK(state, "this optimizer's class does not say what its state is: override new_state()");
      state->serialize(held);
      state_[group.params()[p].unsafeGetTensorImpl()] = std::move(state);
    }
    one.read("options", options);
    group.options().serialize(options);
  }
}
serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const Optimizer& optimizer) {
  optimizer.save(archive);
  return archive;
}
serialize::InputArchive& operator>>(serialize::InputArchive& archive, Optimizer& optimizer) {
  optimizer.load(archive);
  return archive;
}

// --- Comparisons of options and states, field by field
namespace {

bool same(const Tensor& a, const Tensor& b) { return a.defined() == b.defined() && (!a.defined() || at::equal(a, b)); }
template <class T>
bool same(const T& a, const T& b) {
  return a == b;
}
template <class Class>
bool same_fields(const Class& a, const Class& b) {
  std::vector<const void*> others;
  const_cast<Class&>(b).each_field([&](const char*, auto& value) { others.push_back(&value); });
  bool all = true;
  size_t i = 0;
  const_cast<Class&>(a).each_field([&](const char*, auto& value) {
    using T = std::remove_reference_t<decltype(value)>;
    all &= same(std::as_const(value), *static_cast<const T*>(others[i++]));
  });
  return all;
}

}  // namespace

#define TAEDA_EQUAL(Class)                                                      \
  bool operator==(const Class& a, const Class& b) { return same_fields(a, b); } \
  Class::~Class() = default;
TAEDA_EQUAL(SGDOptions)
TAEDA_EQUAL(SGDParamState)
TAEDA_EQUAL(AdamOptions)
TAEDA_EQUAL(AdamParamState)
TAEDA_EQUAL(AdamWOptions)
TAEDA_EQUAL(AdamWParamState)
TAEDA_EQUAL(RMSpropOptions)
TAEDA_EQUAL(RMSpropParamState)
TAEDA_EQUAL(AdagradOptions)
TAEDA_EQUAL(AdagradParamState)
TAEDA_EQUAL(LBFGSOptions)
LBFGSParamState::~LBFGSParamState() = default;
bool operator==(const LBFGSParamState& a, const LBFGSParamState& b) {
  auto same_all = [](const auto& x, const auto& y) {
    return x.size() == y.size() &&
           std::equal(x.begin(), x.end(), y.begin(), [](const Tensor& p, const Tensor& q) { return same(p, q); });
  };
  return a.func_evals() == b.func_evals() && a.n_iter() == b.n_iter() && a.t() == b.t() &&
         a.prev_loss() == b.prev_loss() && same(a.d(), b.d()) && same(a.H_diag(), b.H_diag()) &&
         same(a.prev_flat_grad(), b.prev_flat_grad()) && same_all(a.old_dirs(), b.old_dirs()) &&
         same_all(a.old_stps(), b.old_stps()) && same_all(a.ro(), b.ro());
}

// --- What the headers leave to the library
OptimizerParamGroup::OptimizerParamGroup(const OptimizerParamGroup& other)
    : params_(other.params_), options_(other.has_options() ? other.options().clone() : nullptr) {}
OptimizerParamGroup& OptimizerParamGroup::operator=(const OptimizerParamGroup& other) {
  return *this = OptimizerParamGroup(other);
}
Optimizer::Optimizer(std::vector<Tensor> parameters, std::unique_ptr<OptimizerOptions> defaults)
    : Optimizer({OptimizerParamGroup(std::move(parameters))}, std::move(defaults)) {}

#define TAEDA_COMPILE(Name)                                                                                    \
  template class OptimizerCloneable<OptimizerOptions, Name##Options>;                                          \
  template class OptimizerCloneableOptions<Name##Options>;                                                     \
  template class OptimizerCloneable<OptimizerParamState, Name##ParamState>;                                    \
  Name::Name(std::vector<Tensor> params, Name##Options defaults)                                               \
      : Name(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(params))}, std::move(defaults)) {} \
  std::unique_ptr<OptimizerParamState> Name::new_state() const { return std::make_unique<Name##ParamState>(); }
TAEDA_COMPILE(SGD)
TAEDA_COMPILE(Adam)
TAEDA_COMPILE(AdamW)
TAEDA_COMPILE(RMSprop)
TAEDA_COMPILE(Adagrad)
TAEDA_COMPILE(LBFGS)
Adam::Adam(std::vector<Tensor> params) : Adam(std::move(params), AdamOptions()) {}
AdamW::AdamW(std::vector<Tensor> params) : AdamW(std::move(params), AdamWOptions()) {}
RMSprop::RMSprop(std::vector<Tensor> params) : RMSprop(std::move(params), RMSpropOptions()) {}
Adagrad::Adagrad(std::vector<Tensor> params) : Adagrad(std::move(params), AdagradOptions()) {}
std::unique_ptr<OptimizerParamState> LBFGSParamState::clone() const { return std::make_unique<LBFGSParamState>(*this); }

}  // namespace torch::optim
