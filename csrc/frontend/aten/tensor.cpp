// Methods of at::Tensor that are no declared ops, and tensors over memory of one's own.
#include <torch/types.h>

#include <taeda/autograd/engine.h>
#include <taeda/autograd/record.h>
#include <taeda/ops.h>
#include <iostream>

namespace at {

namespace {
::taeda::autograd::AutogradMeta* known(const Tensor& t) {
  return static_cast<::taeda::autograd::AutogradMeta*>(t.impl()->autograd_meta());
}
}  // namespace

c10::Scalar Tensor::item() const {
  TORCH_CHECK(defined() && numel() == 1, "item() takes a tensor of one element; got one of ", defined() ? numel() : 0);
  return ::taeda::ops::_local_scalar_dense(*this);
}

Tensor Tensor::contiguous(MemoryFormat format) const {
  return is_contiguous(format) ? *this : Tensor(::taeda::ops::contiguous(*this, format));
}

bool Tensor::is_pinned(std::optional<c10::Device> device) const { return ::taeda::ops::is_pinned(*this, device); }

Tensor& Tensor::set_(const c10::Storage& source) const {
  return set_(source, 0, static_cast<int64_t>(source.nbytes() / itemsize()));
}
Tensor& Tensor::set_(const c10::Storage& source, int64_t storage_offset, IntArrayRef size, IntArrayRef stride) const {
  TORCH_CHECK(source, "set_: the storage is empty");
  const int64_t length = static_cast<int64_t>(source.nbytes() / itemsize()), step = 1;
  Tensor window = ::taeda::from_storage(source, impl()->dtype(), {&length, 1}, {&step, 1}, 0);
  return set_(window, storage_offset, size, stride);
}

Tensor Tensor::index(const c10::List<std::optional<Tensor>>& indices) const {
  return ::taeda::ops::index(*this, indices.tensors());
}

Tensor& Tensor::index_put_(const c10::List<std::optional<Tensor>>& indices, const Tensor& values, bool accumulate) {
  ::taeda::ops::index_put_(*this, indices.tensors(), values, accumulate);
  return *this;
}

// Channels last where strides rise in that order, and not as well in the other: sizes of 1 leave both open.
MemoryFormat Tensor::suggest_memory_format(bool) const {
  if (dim() != 4 && dim() != 5) return MemoryFormat::Contiguous;
  int64_t least = 0;
  for (int64_t i = 0; i < dim(); ++i) {
    const int64_t d = i == 0 ? 1 : i == dim() - 1 ? 0 : dim() - i;
    if (size(d) == 0 || stride(d) < least || (d == 0 && least == stride(1))) return MemoryFormat::Contiguous;
    least = stride(d) * size(d);
  }
  return dim() == 4 ? MemoryFormat::ChannelsLast : MemoryFormat::ChannelsLast3d;
}

DeprecatedTypeProperties& getDeprecatedTypeProperties(c10::Backend backend, ScalarType type) {
  constexpr size_t kTypes = static_cast<size_t>(ScalarType::NumOptions);
  static auto* all = [] {
    auto* made = new std::vector<DeprecatedTypeProperties>;
    for (size_t i = 0; i < static_cast<size_t>(c10::Backend::NumOptions) * kTypes; ++i)
      made->emplace_back(static_cast<c10::Backend>(i / kTypes), static_cast<ScalarType>(i % kTypes));
    return made;
  }();
  return all->at(static_cast<size_t>(backend) * kTypes + static_cast<size_t>(type));
}

DeprecatedTypeProperties& Tensor::type() const {
  TORCH_CHECK(defined(), "type(): an undefined tensor has none");
  const auto kind = is_quantized()    ? ::taeda::Functionality::Quantized
                    : is_sparse()     ? ::taeda::Functionality::Sparse
                    : is_sparse_csr() ? ::taeda::Functionality::SparseCsr
                                      : ::taeda::Functionality::Dense;
  const c10::DispatchKeySet keys(::taeda::KeySet(kind) | device().type());
  return getDeprecatedTypeProperties(c10::dispatchKeyToBackend(keys.highestPriorityTypeId()), scalar_type());
}

// --- autograd

bool Tensor::requires_grad() const { return defined() && ::taeda::autograd::requires_grad(*this); }

const Tensor& Tensor::set_requires_grad(bool value) const {
  ::taeda::autograd::set_requires_grad(*this, value);
  return *this;
}

bool Tensor::is_leaf() const { return !defined() || ::taeda::autograd::is_leaf(*this); }
int64_t Tensor::output_nr() const { return ::taeda::autograd::output_nr(*this); }

Tensor& Tensor::mutable_grad() const {
  TORCH_CHECK(defined(), "mutable_grad: an undefined tensor has no gradient");
  return static_cast<Tensor&>(::taeda::autograd::make_meta(*this).grad);
}
const Tensor& Tensor::grad() const {
  static const Tensor none;
  const bool has_meta = defined() && (requires_grad() || known(*this));
  return has_meta ? static_cast<const Tensor&>(::taeda::autograd::make_meta(*this).grad) : none;
}

std::shared_ptr<torch::autograd::Node> Tensor::grad_fn() const {
  ::taeda::Ref<::taeda::autograd::Node> node = ::taeda::autograd::grad_fn(*this);
  if (!node) return nullptr;
  return {node.get(), [node](torch::autograd::Node*) {}};
}

void Tensor::backward(const Tensor& gradient, std::optional<bool> retain_graph, bool create_graph,
                      std::optional<TensorList> inputs) const {
  TORCH_CHECK(!inputs || !inputs->empty(), "backward: inputs is empty; leave it out for the gradients of all leaves");
  torch::autograd::backward({*this}, {gradient}, retain_graph, create_graph,
                            inputs ? inputs->vec() : std::vector<Tensor>());
}

void Tensor::retain_grad() const { ::taeda::autograd::retain_grad(*this); }
bool Tensor::retains_grad() const { return ::taeda::autograd::retains_grad(*this); }

Tensor Tensor::variable_data() const { return Tensor(::taeda::Tensor(impl()->shallow_copy())); }

void Tensor::set_data(const Tensor& data) const {
  TORCH_CHECK(data.defined(), "set_data takes a tensor; got an undefined one");
  impl()->take_data_of(*data.impl());
}

Tensor& Tensor::detach_() const {
  ::taeda::autograd::detach_in_place(*this);
  return const_cast<Tensor&>(*this);
}

Tensor Tensor::_base() const { return ::taeda::autograd::base_of(*this); }

const std::string& Tensor::name() const {
  static const std::string none;
  auto* meta = known(*this);
  return meta && meta->rare ? meta->rare->name : none;
}

namespace {
using ::taeda::autograd::TensorHook;
// The hooks that a tensor was given here, by their positions; a removed one leaves its place empty.
struct GivenHook final : TensorHook {
  explicit GivenHook(Tensor::hook_t function) : call(std::move(function)) {}
  Tensor::hook_t call;
  ::taeda::Tensor run(const ::taeda::Tensor& grad) override { return call ? call(Tensor(grad)) : Tensor(); }
};
std::vector<::taeda::Ref<TensorHook>> hooks_of(const Tensor& t) {
  std::vector<::taeda::Ref<TensorHook>> hooks;
  if (const auto& node = ::taeda::autograd::grad_fn(t)) {
    if (auto* all = node->hooks())
      for (auto& [output, hook] : all->tensor)
        if (output == ::taeda::autograd::output_nr(t)) hooks.push_back(hook);
  } else if (auto* meta = known(t); meta && meta->rare) {
    hooks = meta->rare->hooks;
  }
  return hooks;
}
}  // namespace

unsigned Tensor::add_hook(hook_t hook) const {
  TORCH_CHECK(requires_grad(), "a hook was put on a tensor that does not require grad");
  ::taeda::autograd::add_hook(*this, ::taeda::make_ref<GivenHook>(std::move(hook)));
  return static_cast<unsigned>(hooks_of(*this).size() - 1);
}

void Tensor::remove_hook(unsigned position) const {
  std::vector<::taeda::Ref<TensorHook>> hooks = hooks_of(*this);
  auto* given = position < hooks.size() ? dynamic_cast<GivenHook*>(hooks[position].get()) : nullptr;
  TORCH_CHECK(given, "the tensor has no hook at position ", position);
  given->call = nullptr;
}

void Tensor::print() const { at::print(std::cout, *this, 80) << '\n'; }

// --- over memory of one's own

Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, int64_t offset, std::function<void(void*)> deleter,
                 const TensorOptions& options, std::optional<Device> device) {
  TORCH_CHECK(sizes.size() == strides.size(), "from_blob: ", sizes.size(), " sizes and ", strides.size(), " strides");
  Device place = device.value_or(options.device());
  ::taeda::DType dtype = c10::to_dtype(options.dtype().toScalarType());
  TORCH_CHECK(offset >= 0, "from_blob: an offset is 0 or more; got ", offset);
  size_t bytes = static_cast<size_t>(::taeda::extent(sizes, strides, offset) * ::taeda::itemsize(dtype));
  TORCH_CHECK(data || bytes == 0, "from_blob: the memory of ", bytes, " bytes is a null pointer");
  c10::DataPtr memory = deleter ? c10::InefficientStdFunctionContext::makeDataPtr(data, std::move(deleter), place)
                                : c10::DataPtr(data, place);
  auto storage = ::taeda::make_ref<::taeda::StorageImpl>(std::move(memory), bytes, false);
  Tensor made = ::taeda::from_storage(std::move(storage), dtype, sizes, strides, offset);
  return torch::detail::with_grad(std::move(made), options);
}

Tensor from_blob(void* data, IntArrayRef sizes, std::function<void(void*)> deleter, const TensorOptions& options,
                 std::optional<Device> device) {
  return from_blob(data, sizes, ::taeda::contiguous_strides(sizes), 0, std::move(deleter), options, device);
}

// --- from values

namespace {
void check_is_no_part(ScalarType given, ScalarType wanted) {
  TORCH_CHECK(!c10::isComplexType(given) || c10::isComplexType(wanted), "tensor: complex numbers do not fit into ",
              wanted, "; give their real parts");
}
}  // namespace

namespace detail {
Tensor tensor_of(const void* values, int64_t count, ScalarType type, const TensorOptions& options) {
  Tensor made = ::taeda::new_tensor(IntArrayRef(count), c10::to_dtype(type));
  if (count) std::memcpy(made.data_ptr(), values, made.nbytes());
  if (options.has_dtype()) check_is_no_part(type, options.dtype().toScalarType());
  if (options.has_dtype() || options.has_device()) made = made.to(options.requires_grad(std::nullopt));
  return torch::detail::with_grad(std::move(made), options);
}
}  // namespace detail

Context& globalContext() {
  static Context context;
  return context;
}

Tensor Generator::get_state() const {
  const std::vector<uint8_t> bytes = impl_->get_state();
  return tensor(ArrayRef<uint8_t>(bytes));
}
void Generator::set_state(const Tensor& state) {
  TORCH_CHECK(state.scalar_type() == kByte && state.is_cpu(),
              "set_state takes bytes on the CPU, as get_state gives; got ", state.toString());
  const Tensor bytes = state.contiguous();
  impl_->set_state({bytes.const_data_ptr<uint8_t>(), static_cast<size_t>(bytes.numel())});
}

void manual_seed(uint64_t seed) {
  Generator generator = detail::getDefaultCPUGenerator();
  std::lock_guard<std::mutex> lock(generator.mutex());
  generator.set_current_seed(seed);
}

}  // namespace at

namespace torch::detail {

namespace {
// What Python's numbers would be: int64 for int, the default type for float and double. Others stay as they are.
c10::ScalarType natural(c10::ScalarType type) {
  if (type == c10::kInt) return c10::kLong;
  if (c10::isComplexType(type)) return c10::toComplexType(c10::get_default_dtype_as_scalartype());
  return type == c10::kFloat || type == c10::kDouble ? c10::get_default_dtype_as_scalartype() : type;
}
}  // namespace

TensorData::TensorData(std::initializer_list<TensorData> rows) : sizes_{static_cast<int64_t>(rows.size())} {
  if (rows.size() == 0) return;
  const TensorData& first = *rows.begin();
  sizes_.insert(sizes_.end(), first.sizes_.begin(), first.sizes_.end());
  type_ = first.type_;
  std::vector<at::Tensor> lists;
  for (const TensorData& row : rows) {
    TORCH_CHECK(row.sizes_ == first.sizes_ && row.list_.defined() == first.list_.defined(),
                "torch::tensor: rows of sizes ", c10::IntArrayRef(first.sizes_), " and ", c10::IntArrayRef(row.sizes_),
                " do not make a tensor");
    TORCH_CHECK(row.type_ == type_, "torch::tensor: numbers of one type were expected; got ", type_, " and ",
                row.type_);
    if (row.list_.defined()) lists.push_back(row.list_);
    numbers_.insert(numbers_.end(), row.numbers_.begin(), row.numbers_.end());
  }
  if (first.list_.defined()) list_ = at::stack(lists);
}

at::Tensor TensorData::make(const at::TensorOptions& options) const {
  c10::ScalarType type = options.has_dtype() ? options.dtype().toScalarType() : natural(type_);
  at::check_is_no_part(type_, type);
  at::Tensor made = list_.defined() ? list_.to(type) : at::empty(sizes_, at::TensorOptions(type));
  if (!list_.defined())
    ::taeda::visit_stored(c10::to_dtype(type), [&]<class T>() {
      T* out = static_cast<T*>(made.data_ptr());
      for (const c10::Scalar& number : numbers_) *out++ = static_cast<const ::taeda::Scalar&>(number).to<T>();
    });
  if (options.has_device()) made = made.to(options.device());
  return with_grad(std::move(made), options);
}

}  // namespace torch::detail

namespace torch::autograd {

namespace {
::taeda::autograd::Edge edge_of(const Variable& t, size_t i, const char* what) {
  TORCH_CHECK(t.defined(), "element ", i, " of the ", what, " is undefined");
  ::taeda::autograd::Edge edge = ::taeda::autograd::gradient_edge(t);
  TORCH_CHECK(edge.is_valid(), "element ", i, " of the ", what,
              " does not require grad and was not computed from one that does");
  return edge;
}

struct Roots {
  std::vector<::taeda::autograd::Edge> edges;
  std::vector<::taeda::Tensor> grads;

  Roots(const variable_list& tensors, const variable_list& given) {
    TORCH_CHECK(given.empty() || given.size() == tensors.size(), "got ", tensors.size(), " tensors and ", given.size(),
                " gradients");
    for (size_t i = 0; i < tensors.size(); ++i) {
      ::taeda::autograd::Edge edge = edge_of(tensors[i], i, "tensors");
      bool has_grad = !given.empty() && given[i].defined();
      TORCH_CHECK(has_grad || tensors[i].numel() == 1,
                  "a gradient is made up for tensors of one element only; element ", i, " has sizes ",
                  tensors[i].sizes());
      TORCH_CHECK(has_grad || !tensors[i].is_complex(), "a gradient is made up for real tensors only; element ", i,
                  " is ", tensors[i].scalar_type());
      ::taeda::Tensor grad = has_grad ? given[i] : at::ones_like(tensors[i]);
      ::taeda::autograd::validate_gradient(edge, grad, "the caller");
      grads.push_back(std::move(grad));
      edges.push_back(std::move(edge));
    }
  }
};

std::vector<::taeda::autograd::Edge> edges_of(const variable_list& inputs) {
  std::vector<::taeda::autograd::Edge> edges;
  for (size_t i = 0; i < inputs.size(); ++i) edges.push_back(edge_of(inputs[i], i, "inputs"));
  return edges;
}
}  // namespace

variable_list grad(const variable_list& outputs, const variable_list& inputs, const variable_list& grad_outputs,
                   std::optional<bool> retain_graph, bool create_graph, bool allow_unused) {
  TORCH_CHECK(!inputs.empty(), "autograd::grad takes at least one input");
  Roots roots(outputs, grad_outputs);
  ::taeda::autograd::BackwardOptions options{
      .keep_graph = retain_graph.value_or(create_graph), .create_graph = create_graph, .accumulate = false};
  std::vector<::taeda::autograd::Edge> edges = edges_of(inputs);
  variable_list grads = at::detail::tensors(::taeda::autograd::run_backward(roots.edges, roots.grads, options, edges));
  for (size_t i = 0; i < grads.size(); ++i)
    TORCH_CHECK(grads[i].defined() || allow_unused, "input ", i,
                " was not used in the graph: pass allow_unused to get an undefined gradient for it");
  return grads;
}

void backward(const variable_list& tensors, const variable_list& grad_tensors, std::optional<bool> retain_graph,
              bool create_graph, const variable_list& inputs) {
  Roots roots(tensors, grad_tensors);
  ::taeda::autograd::BackwardOptions options{.keep_graph = retain_graph.value_or(create_graph),
                                             .create_graph = create_graph};
  std::vector<::taeda::autograd::Edge> edges = edges_of(inputs);
  for (const Variable& input : inputs) input.retain_grad();
  ::taeda::autograd::run_backward(roots.edges, roots.grads, options, edges);
}

namespace forward_ad {
uint64_t enter_dual_level() { return static_cast<uint64_t>(::taeda::autograd::enter_dual_level()); }
void exit_dual_level(uint64_t level) { ::taeda::autograd::exit_dual_level(static_cast<int>(level)); }
}  // namespace forward_ad

}  // namespace torch::autograd
