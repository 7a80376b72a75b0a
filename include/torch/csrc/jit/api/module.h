// Programs that torch.jit.save wrote, as modules: net.forward({x}), net.get_method("encode")({x}), net.attr("scale").
#pragma once
#include <atomic>

#include <ATen/core/function_schema.h>
#include <ATen/core/jit_type.h>
#include <caffe2/serialize/inline_container.h>
#include <taeda/jit/module.h>
#include <torch/csrc/jit/api/compilation_unit.h>
#include <torch/types.h>

namespace torch::jit {

using Kwargs = std::unordered_map<std::string, c10::IValue>;
using ExtraFilesMap = std::unordered_map<std::string, std::string>;

template <class Value>
struct Named {
  std::string name;
  Value value;
};
using NameTensor = Named<at::Tensor>;
using NameValue = Named<c10::IValue>;
// What modules list: in order, by for and size().
template <class T>
struct SlotList : std::vector<T> {
  using std::vector<T>::vector;
};

class Module;
using NameModule = Named<Module>;

// What a method does, whoever's it is.
struct Function : ::taeda::Method {
  const std::string& name() const { return Method::name; }
  c10::QualifiedName qualname() const { return name(); }
  const c10::FunctionSchema& getSchema() const { return c10::FunctionSchema::of(*schema); }
  size_t num_inputs() const { return schema->arguments.size(); }
};
static_assert(sizeof(Function) == sizeof(::taeda::Method));

// A method of a module's.
class TORCH_API Method {
 public:
  Method(::taeda::Ref<::taeda::Instance> owner, const ::taeda::Method* method)
      : owner_(std::move(owner)), method_(method) {}
  const std::string& name() const { return method_->name; }
  Module owner() const;
  c10::IValue operator()(std::vector<c10::IValue> stack, const Kwargs& kwargs = {}) const;
  const Function& function() const { return static_cast<const Function&>(*method_); }
  size_t num_inputs() const { return function().num_inputs(); }

 private:
  ::taeda::Ref<::taeda::Instance> owner_;
  const ::taeda::Method* method_;
};

class TORCH_API Module {
 public:
  Module() = default;
  explicit Module(::taeda::Ref<::taeda::Instance> object) : object_(std::move(object)) {}
  // One without methods, to hold and save data; its class gets the name, or one like it if that is taken.
  explicit Module(const c10::QualifiedName& class_name);
  Module(const c10::QualifiedName& class_name, std::shared_ptr<CompilationUnit>, bool = false) : Module(class_name) {}

  // Calls forward. Arguments that are left out take their defaults; an error of the program's says where in its source.
  c10::IValue forward(std::vector<c10::IValue> inputs, const Kwargs& kwargs = {}) const;
  c10::IValue operator()(std::vector<c10::IValue> inputs) const { return forward(std::move(inputs)); }
  template <class... Args>
  c10::IValue run_method(const std::string& method_name, Args&&... args) const {
    return get_method(method_name)({c10::IValue(std::forward<Args>(args))...});
  }
  Method get_method(const std::string& name) const;
  std::optional<Method> find_method(const std::string& basename) const;
  std::vector<Method> get_methods() const;

  bool hasattr(const std::string& name) const;
  c10::IValue attr(const std::string& name) const;
  c10::IValue attr(const std::string& name, c10::IValue or_else) const;
  void setattr(const std::string& name, c10::IValue value) const;
  // New attributes; one that is there, of this type, gets the value. Only modules made here get new ones.
  void register_parameter(const std::string& name, at::Tensor v, bool is_buffer) const;
  void register_buffer(const std::string& name, at::Tensor v) const { register_parameter(name, std::move(v), true); }
  void register_module(const std::string& name, const Module& module) const;
  void register_attribute(const std::string& name, const c10::TypePtr& t, c10::IValue v, bool is_param = false,
                          bool is_buffer = false) const;

  SlotList<at::Tensor> parameters(bool recurse = true) const;
  SlotList<NameTensor> named_parameters(bool recurse = true) const;
  SlotList<at::Tensor> buffers(bool recurse = true) const;
  SlotList<NameTensor> named_buffers(bool recurse = true) const;
  SlotList<c10::IValue> attributes(bool recurse = true) const;
  SlotList<NameValue> named_attributes(bool recurse = true) const;
  SlotList<Module> children() const;
  SlotList<NameModule> named_children() const;
  SlotList<Module> modules() const;
  SlotList<NameModule> named_modules() const;

  void train(bool on = true) const;
  void eval() const { train(false); }
  bool is_training() const { return attr("training", true).toBool(); }
  // Parameters and buffers, in place; of these only floating ones change dtype.
  void to(at::Device device, at::ScalarType dtype, bool non_blocking = false) const;
  void to(at::ScalarType dtype, bool non_blocking = false) const;
  void to(at::Device device, bool non_blocking = false) const;

  // The program that it was loaded with, and the values that it has now, as torch.jit.load reads them in Python.
  void save(std::ostream& out, const ExtraFilesMap& extra_files = {}) const;
  void save(const std::string& filename, const ExtraFilesMap& extra_files = {}) const;
  // Another of the same program, with tensors of its own.
  Module deepcopy(std::optional<c10::Device> device = std::nullopt) const;
  Module clone(bool = false) const { return deepcopy(); }
  Module copy() const;  // another that holds the same tensors and values
  // Its attributes with their values, its methods by their schemas, and the modules in it.
  std::string dump_to_str(bool print_method_bodies, bool print_attr_values, bool print_param_values) const;
  void dump(bool print_method_bodies = true, bool print_attr_values = true, bool print_param_values = true) const;

  c10::intrusive_ptr<c10::ivalue::Object> _ivalue() const { return object_; }
  std::string type_name() const { return object().type->name(); }
  c10::ClassTypePtr type() const { return object().type; }

 private:
  ::taeda::Instance& object() const;
  ::taeda::Ref<::taeda::Instance> object_;
};
namespace script {
using Module = torch::jit::Module;
using Method = torch::jit::Method;
}  // namespace script

// RuntimeError that says what is wrong with the file. Archives of PyTorch's hold source alone, which Python compiles:
// `python -m taeda jit compile FILE` adds what runs here.
TORCH_API Module load(const std::string& filename, std::optional<c10::Device> device = std::nullopt,
                      bool load_debug_files = true);
TORCH_API Module load(std::istream& in, std::optional<c10::Device> device = std::nullopt, bool load_debug_files = true);
// The same; what `extra_files` names is read into it.
TORCH_API Module load(const std::string& filename, std::optional<c10::Device> device, ExtraFilesMap& extra_files,
                      bool load_debug_files = true, bool restore_shapes = false);
TORCH_API Module load(std::istream& in, std::optional<c10::Device> device, ExtraFilesMap& extra_files,
                      bool load_debug_files = true, bool restore_shapes = false);

// Programs are optimised when they are saved; these give the module as it is, in evaluation where PyTorch's do.
inline Module freeze(const Module& module, const std::optional<std::vector<std::string>>& = std::nullopt, bool = true) {
  module.eval();
  return module;
}
inline Module optimize_for_inference(Module& module, const std::vector<std::string>& = {}) { return freeze(module); }
inline void setGraphExecutorOptimize(bool) {}
inline bool getGraphExecutorOptimize() { return true; }
// What PyTorch's executors may do with a program; here it is run as it was saved, whatever they say.
enum class FusionBehavior { STATIC, DYNAMIC };
using FusionStrategy = std::vector<std::pair<FusionBehavior, size_t>>;
TORCH_API FusionStrategy setFusionStrategy(FusionStrategy& strategy);  // the one before
TORCH_API std::atomic<bool>& getProfilingMode();
TORCH_API std::atomic<bool>& getExecutorMode();
TORCH_API std::atomic<size_t>& getBailoutDepth();
TORCH_API void setTensorExprFuserEnabled(bool on);
TORCH_API bool tensorExprFuserEnabled();
namespace tracer {
inline bool isTracing() { return ::taeda::t_state.include.has(::taeda::Functionality::Tracer); }
}  // namespace tracer

}  // namespace torch::jit

namespace c10 {
inline torch::jit::Module IValue::toModule() const {
  return torch::jit::Module(Ref<::taeda::Instance>(&to_instance()));
}
namespace detail {
template <>
struct Box<torch::jit::Module> {
  static Value to(const torch::jit::Module& m) { return ::taeda::Ref<::taeda::Instance>(m._ivalue().get()); }
  static torch::jit::Module from(const Value& v) {
    return torch::jit::Module(::taeda::Ref<::taeda::Instance>(&v.to_instance()));
  }
};
}  // namespace detail
}  // namespace c10
