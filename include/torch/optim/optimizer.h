// What all optimizers share: groups of parameters with options of their own, state per parameter, files.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <torch/arg.h>
#include <torch/serialize/archive.h>
#include <torch/types.h>

namespace torch::optim {

namespace detail {
// One named field of options or state, written to or read from an archive.
template <class T>
void write_field(serialize::OutputArchive& archive, const char* name, const T& value) {
  if constexpr (std::is_same_v<T, Tensor>) {
    if (value.defined()) archive.write(name, c10::IValue(value));
  } else {
    archive.write(name, c10::IValue(value));
  }
}
template <class T>
void read_field(serialize::InputArchive& archive, const char* name, T& value) {
  c10::IValue read;
  if (archive.try_read(name, read)) value = read.to<T>();
}
}  // namespace detail

class TORCH_API OptimizerParamState {
 public:
  OptimizerParamState() = default;
  OptimizerParamState(const OptimizerParamState&) = default;
  OptimizerParamState& operator=(const OptimizerParamState&) = default;
  virtual std::unique_ptr<OptimizerParamState> clone() const;
  virtual void serialize(torch::serialize::InputArchive& archive);
  virtual void serialize(torch::serialize::OutputArchive& archive) const;
  virtual ~OptimizerParamState() = default;
};

class TORCH_API OptimizerOptions {
 public:
  OptimizerOptions() = default;
  OptimizerOptions(const OptimizerOptions&) = default;
  OptimizerOptions& operator=(const OptimizerOptions&) = default;
  virtual std::unique_ptr<OptimizerOptions> clone() const;
  virtual void serialize(torch::serialize::InputArchive& archive);
  virtual void serialize(torch::serialize::OutputArchive& archive) const;
  virtual ~OptimizerOptions() = default;
  virtual double get_lr() const;
  virtual void set_lr(const double lr);
  // Takes the optimizer's own value for each option that is still what it is without anybody's doing.
  virtual void inherit(const OptimizerOptions&) {}
};

// Copies and files of a class that derives from it, if it names its fields: TAEDA_FIELDS(lr, betas).
template <class Base, class Derived>
class OptimizerCloneable : public Base {
 public:
  std::unique_ptr<Base> clone() const override { return std::make_unique<Derived>(static_cast<const Derived&>(*this)); }
  void serialize(torch::serialize::InputArchive& archive) override {
    if constexpr (requires(Derived& d) { d.each_field([](const char*, auto&) {}); })
      static_cast<Derived&>(*this).each_field(
          [&](const char* name, auto& value) { detail::read_field(archive, name, value); });
    else
      Base::serialize(archive);
  }
  void serialize(torch::serialize::OutputArchive& archive) const override {
    if constexpr (requires(Derived& d) { d.each_field([](const char*, auto&) {}); })
      const_cast<Derived&>(static_cast<const Derived&>(*this)).each_field([&](const char* name, auto& value) {
        detail::write_field(archive, name, value);
      });
    else
      Base::serialize(archive);
  }
};
template <class Derived>
using OptimizerCloneableParamState = OptimizerCloneable<OptimizerParamState, Derived>;
template <class Derived>
class OptimizerCloneableOptions : public OptimizerCloneable<OptimizerOptions, Derived> {
 public:
  double get_lr() const override {
    if constexpr (requires(const Derived& d) { d.lr(); })
      return static_cast<const Derived&>(*this).lr();
    else
      return OptimizerOptions::get_lr();
  }
  void set_lr(const double lr) override {
    if constexpr (requires(Derived& d) { d.lr(lr); })
      static_cast<Derived&>(*this).lr(lr);
    else
      OptimizerOptions::set_lr(lr);
  }
  void inherit(const OptimizerOptions& defaults) override {
    if constexpr (std::is_default_constructible_v<Derived> &&
                  requires(Derived& d) { d.each_field([](const char*, auto&) {}); }) {
      const auto* given = dynamic_cast<const Derived*>(&defaults);
      if (!given) return;
      Derived untouched, from(*given);
      static_cast<Derived&>(*this).each_field([&]<class T>(const char* name, T& value) {
        if (value == *field<T>(untouched, name)) value = *field<T>(from, name);
      });
    }
  }

 private:
  template <class T>
  static T* field(Derived& options, std::string_view wanted) {
    T* found = nullptr;
    options.each_field([&]<class U>(const char* name, U& value) {
      if constexpr (std::is_same_v<T, U>)
        if (wanted == name) found = &value;
    });
    return found;
  }
};

// Lists a class's fields for files and comparisons; up to eleven.
#define TAEDA_FIELD(name) visit(#name, name##_)
#define TAEDA_FIELDS_1(a) TAEDA_FIELD(a)
#define TAEDA_FIELDS_2(a, ...) TAEDA_FIELD(a), TAEDA_FIELDS_1(__VA_ARGS__)
#define TAEDA_FIELDS_3(a, ...) TAEDA_FIELD(a), TAEDA_FIELDS_2(__VA_ARGS__)
#define TAEDA_FIELDS_4(a, ...) TAEDA_FIELD(a), TAEDA_FIELDS_3(__VA_ARGS__)
#define TAEDA_FIELDS_5(a, ...) TAEDA_FIELD(a), TAEDA_FIELDS_4(__VA_ARGS__)
#define TAEDA_FIELDS_6(a, ...) TAEDA_FIELD(a), TAEDA_FIELDS_5(__VA_ARGS__)
#define TAEDA_FIELDS_7(a, ...) TAEDA_FIELD(a), TAEDA_FIELDS_6(__VA_ARGS__)
#define TAEDA_FIELDS_8(a, ...) TAEDA_FIELD(a), TAEDA_FIELDS_7(__VA_ARGS__)
#define TAEDA_FIELDS_9(a, ...) TAEDA_FIELD(a), TAEDA_FIELDS_8(__VA_ARGS__)
#define TAEDA_FIELDS_10(a, ...) TAEDA_FIELD(a), TAEDA_FIELDS_9(__VA_ARGS__)
#define TAEDA_FIELDS_11(a, ...) TAEDA_FIELD(a), TAEDA_FIELDS_10(__VA_ARGS__)
#define TAEDA_FIELDS_PICK(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, chosen, ...) chosen
#define TAEDA_FIELDS(Class, ...)                                                                                      \
 public:                                                                                                              \
  template <class Visit>                                                                                              \
  void each_field(Visit&& visit) {                                                                                    \
    TAEDA_FIELDS_PICK(__VA_ARGS__, TAEDA_FIELDS_11, TAEDA_FIELDS_10, TAEDA_FIELDS_9, TAEDA_FIELDS_8, TAEDA_FIELDS_7,  \
                      TAEDA_FIELDS_6, TAEDA_FIELDS_5, TAEDA_FIELDS_4, TAEDA_FIELDS_3, TAEDA_FIELDS_2, TAEDA_FIELDS_1) \
    (__VA_ARGS__);                                                                                                    \
  }                                                                                                                   \
  TORCH_API friend bool operator==(const Class& a, const Class& b);                                                   \
  ~Class() override

// Cloning and files of such classes are compiled in the library, and not again by who includes them.
#define TAEDA_COMPILED_OPTIONS(Name)                                          \
  struct Name;                                                                \
  extern template class TORCH_API OptimizerCloneable<OptimizerOptions, Name>; \
  extern template class TORCH_API OptimizerCloneableOptions<Name>
#define TAEDA_COMPILED_STATE(Name) \
  struct Name;                     \
  extern template class TORCH_API OptimizerCloneable<OptimizerParamState, Name>

class TORCH_API OptimizerParamGroup {
 public:
  OptimizerParamGroup(const OptimizerParamGroup& other);
  OptimizerParamGroup(OptimizerParamGroup&&) = default;
  OptimizerParamGroup& operator=(const OptimizerParamGroup& other);
  OptimizerParamGroup& operator=(OptimizerParamGroup&&) noexcept = default;
  OptimizerParamGroup(std::vector<Tensor> params) : params_(std::move(params)) {}
  OptimizerParamGroup(std::vector<Tensor> params, std::unique_ptr<OptimizerOptions> options)
      : params_(std::move(params)), options_(std::move(options)) {}

  bool has_options() const { return options_ != nullptr; }
  OptimizerOptions& options();
  const OptimizerOptions& options() const { return const_cast<OptimizerParamGroup&>(*this).options(); }
  void set_options(std::unique_ptr<OptimizerOptions> options) { options_ = std::move(options); }
  std::vector<Tensor>& params() { return params_; }
  const std::vector<Tensor>& params() const { return params_; }

 protected:
  std::vector<Tensor> params_;
  std::unique_ptr<OptimizerOptions> options_;
};

class TORCH_API Optimizer {
 public:
  using LossClosure = std::function<Tensor()>;
  using State = std::unordered_map<void*, std::unique_ptr<OptimizerParamState>>;

  Optimizer(const Optimizer&) = delete;
  Optimizer(Optimizer&&) = default;
  Optimizer& operator=(const Optimizer&) = delete;
  Optimizer& operator=(Optimizer&&) = default;
  explicit Optimizer(const std::vector<OptimizerParamGroup>& param_groups, std::unique_ptr<OptimizerOptions> defaults);
  explicit Optimizer(std::vector<Tensor> parameters, std::unique_ptr<OptimizerOptions> defaults);
  virtual ~Optimizer() = default;

  // Errors of a tensor that is no leaf, or is in another group.
  void add_param_group(const OptimizerParamGroup& param_group);
  // To the first group.
  void add_parameters(const std::vector<Tensor>& parameters);
  // Changes the parameters by their gradients. A closure is called first, recorded, and its loss returned.
  virtual Tensor step(LossClosure closure = nullptr) = 0;
  void zero_grad(bool set_to_none = true);
  const std::vector<Tensor>& parameters() const noexcept;
  std::vector<Tensor>& parameters() noexcept;
  size_t size() const noexcept;
  OptimizerOptions& defaults() noexcept { return *defaults_; }
  const OptimizerOptions& defaults() const noexcept { return *defaults_; }
  std::vector<OptimizerParamGroup>& param_groups() noexcept { return param_groups_; }
  const std::vector<OptimizerParamGroup>& param_groups() const noexcept { return param_groups_; }
  // By the tensor's implementation: param.unsafeGetTensorImpl().
  State& state() noexcept { return state_; }
  const State& state() const noexcept { return state_; }
  virtual void save(serialize::OutputArchive& archive) const;
  virtual void load(serialize::InputArchive& archive);

 protected:
  // State of a parameter of an optimizer's class, for files.
  virtual std::unique_ptr<OptimizerParamState> new_state() const { return nullptr; }
  // The loss of a closure, with recording on.
  static Tensor loss_of(const LossClosure& closure);
  template <class ParamState>
  ParamState& state_of(const Tensor& param, bool* is_new = nullptr) {
    auto& held = state_[param.unsafeGetTensorImpl()];
    if (is_new) *is_new = !held;
    if (!held) held = std::make_unique<ParamState>();
    return static_cast<ParamState&>(*held);
  }

  std::vector<OptimizerParamGroup> param_groups_;
  State state_;
  std::unique_ptr<OptimizerOptions> defaults_;
};

TORCH_API serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const Optimizer& optimizer);
TORCH_API serialize::InputArchive& operator>>(serialize::InputArchive& archive, Optimizer& optimizer);

// The constructors of an optimizer: of groups or of parameters, with options for those that bring none.
#define TAEDA_OPTIMIZER(Name)                                                                  \
 public:                                                                                       \
  explicit Name(const std::vector<OptimizerParamGroup>& param_groups, Name##Options defaults); \
  explicit Name(std::vector<Tensor> params, Name##Options defaults);                           \
  torch::Tensor step(LossClosure closure = nullptr) override;                                  \
                                                                                               \
 protected:                                                                                    \
  std::unique_ptr<OptimizerParamState> new_state() const override

}  // namespace torch::optim
