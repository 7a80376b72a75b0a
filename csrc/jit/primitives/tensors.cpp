// What tensors tell of themselves, tensors made of numbers, and numbers of tensors.
#include <algorithm>

#include "jit/primitives/arithmetic.h"
#include "jit/primitives/typed.h"
#include "taeda/autograd/engine.h"
#include "taeda/autograd/meta.h"
#include "taeda/ops/complex_numbers.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"
#include "taeda/ops/predicate.h"
#include "taeda/ops/reshape.h"
#include "taeda/ops/view.h"

namespace taeda::jit {

namespace {

using Options = std::optional<DType>;

Scalar item(const Tensor& t) {
  TAEDA_CHECK(t.numel() == 1, "a tensor with ", t.numel(), " elements cannot be converted to a number");
  return ops::_local_scalar_dense(t);
}
int64_t int_of(const Tensor& t) {
  Scalar number = item(t);
  return number.kind() == Scalar::Kind::Float ? to_whole(number.as_double()) : number.as_int();
}
double float_of(const Tensor& t) { return item(t).as_double(); }
complex128 complex_of(const Tensor& t) { return item(t).to<complex128>(); }

// A number where a 0-d tensor stands: only where nothing is lost by it.
template <class T, Category most>
T implicit(const Tensor& t) {
  TAEDA_CHECK(!autograd::requires_grad(t),
              "a tensor that requires grad is no number by itself; say int(), float() or item()");
  TAEDA_CHECK(t.dim() == 0, "a tensor with shape ", t.sizes(), " is no number by itself; one without dimensions is");
  TAEDA_CHECK(category(t.dtype()) <= most, "a tensor of dtype ", t.dtype(), " is no such number by itself");
  return item(t).to<T>();
}
Scalar implicit_scalar(const Tensor& t) {
  implicit<complex128, Category::Complex>(t);
  return item(t);
}

// --- Tensors from numbers and lists
void sizes_of(const Value& data, std::vector<int64_t>& sizes) {
  if (!data.is_list()) return;
  ListRef list(data);
  sizes.push_back(static_cast<int64_t>(list.size()));
  if (list.size()) sizes_of(list.get(0), sizes);
}
void numbers_of(const Value& data, std::span<const int64_t> sizes, std::vector<Scalar>& numbers) {
  if (sizes.empty()) {
    numbers.push_back(data.is_tensor() ? item(data.to_tensor()) : data.to_scalar());
    return;
  }
  ListRef list(data);
  TAEDA_CHECK_VALUE(static_cast<int64_t>(list.size()) == sizes[0], "the data is ragged: ", sizes[0],
                    " items were expected, got ", list.size());
  for (size_t i = 0; i < list.size(); ++i) numbers_of(list.get(i), sizes.subspan(1), numbers);
}
TypePtr innermost(const Value& data) {
  TypePtr type = type_of(data);
  while (type->is(TypeKind::List)) type = type->contained(0);
  return type;
}
DType natural_dtype(const Value& data) {
  switch (innermost(data)->kind()) {
    case TypeKind::Int:
      return DType::Int64;
    case TypeKind::Bool:
      return DType::Bool;
    case TypeKind::Complex:
      return to_complex(default_dtype());
    default:
      return default_dtype();
  }
}

Tensor filled(const Value& data, DType dtype) {
  std::vector<int64_t> sizes;
  std::vector<Scalar> numbers;
  sizes_of(data, sizes);
  numbers_of(data, sizes, numbers);
  DType held = category(dtype) == Category::Complex    ? DType::Complex128
               : category(dtype) == Category::Floating ? DType::Float64
                                                       : DType::Int64;
  Tensor made = new_tensor(sizes, held);
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (held == DType::Complex128)
      made.data<complex128>()[i] = numbers[i].to<complex128>();
    else if (held == DType::Float64)
      made.data<double>()[i] = numbers[i].to<double>();
    else if (dtype == DType::Bool)
      made.data<int64_t>()[i] = numbers[i].to<bool>();
    else
      made.data<int64_t>()[i] = numbers[i].to<int64_t>();
  }
  return made;
}

Tensor tensor(const Value& data, Options dtype, std::optional<Device> device, bool requires_grad) {
  BelowAutograd unrecorded;
  if (data.is_tensor()) return ops::clone(data.to_tensor());
  DType type = dtype.value_or(natural_dtype(data));
  Tensor made = ops::_to_copy(filled(data, type), type, std::nullopt, device ? *device : default_device());
  if (requires_grad) autograd::set_requires_grad(made, true);
  return made;
}
Tensor as_tensor(const Value& data, Options dtype, std::optional<Device> device) {
  if (!data.is_tensor()) return tensor(data, dtype, device, false);
  Tensor t = data.to_tensor();
  return ops::to(t, dtype ? *dtype : t.dtype(), std::nullopt, device ? *device : t.device());
}

// --- The same in nested lists
Value list_at(const Tensor& t, int64_t depth) {
  if (depth == 0) return item(t);
  ListRef list = [&] {
    TypePtr element = plain_type(t.dtype() == DType::Bool                    ? TypeKind::Bool
                                 : category(t.dtype()) == Category::Integral ? TypeKind::Int
                                 : category(t.dtype()) == Category::Complex  ? TypeKind::Complex
                                                                             : TypeKind::Float);
    for (int64_t i = 1; i < depth; ++i) element = list_type(element);
    return ListRef::of(element);
  }();
  for (int64_t i = 0; i < t.size(0); ++i) list.append(list_at(ops::select(t, 0, i), depth - 1));
  return list.value();
}
// prim::tolist(data, depth of the annotation, its element: 0 int, 1 float, 2 bool, 3 complex)
void to_list(Stack& stack, size_t) {
  int64_t wanted = stack.back().to_int();
  stack.pop_back();
  int64_t depth = stack.back().to_int();
  stack.pop_back();
  Tensor t = stack.back().to_tensor();
  stack.pop_back();
  constexpr Category kWanted[] = {Category::Integral, Category::Floating, Category::Bool, Category::Complex};
  TAEDA_CHECK(wanted >= 0 && wanted < 4 && kWanted[wanted] == category(t.dtype()), "tolist() of a tensor of dtype ",
              t.dtype(), " is annotated with another type of elements");
  TAEDA_CHECK(depth == t.dim(), "tolist() of a tensor with ", t.dim(), " dimensions is annotated with ", depth);
  stack.push_back(list_at(t, depth));
}

// --- Facts
std::vector<int64_t> copy_of(IntList list) { return {list.begin(), list.end()}; }
DType result_type_of(std::span<const Value> operands) {
  // By rank: numbers, tensors without dimensions, other tensors; a lower rank decides only by a higher category.
  DType of_rank[3] = {DType::Undefined, DType::Undefined, DType::Undefined};
  for (const Value& operand : operands) {
    bool is_tensor = operand.is_tensor();
    Tensor t = is_tensor ? operand.to_tensor() : Tensor();
    size_t rank = !is_tensor || t->is_wrapped_number() ? 0 : t.dim() == 0 ? 1 : 2;
    DType dtype = is_tensor ? t.dtype() : operand.to_scalar().natural_dtype();
    of_rank[rank] = of_rank[rank] == DType::Undefined ? dtype : promote(of_rank[rank], dtype);
  }
  DType result = of_rank[2];
  for (DType lower : {of_rank[1], of_rank[0]}) {
    if (lower == DType::Undefined) continue;
    if (result == DType::Undefined)
      result = lower;
    else if (category(lower) > category(result))
      result = promote(result, lower);
  }
  return result;
}
int64_t result_type(const Value& a, const Value& b) {
  Value both[] = {a, b};
  return number_of(result_type_of(both));
}
Tensor requires_grad_(const Tensor& t, bool value) {
  autograd::set_requires_grad(t, value);
  return t;
}
Tensor gradient(const Tensor& t) { return autograd::grad(t); }
Tensor assign(const Tensor& self, const Scalar& value) {
  ops::fill_(self, value);
  return self;
}
template <DeviceType type>
bool is_on(const Tensor& t) {
  return t.device().type == type;
}

// Where a backward pass starts, and with which gradients: ones where none is given.
struct Roots {
  std::vector<autograd::Edge> edges;
  std::vector<Tensor> starts;
  void add(const Tensor& output, const Tensor& given) {
    TAEDA_CHECK(given.defined() || output.numel() == 1, "output ", edges.size(), " has ", output.numel(),
                " elements: give a gradient of its shape, or make one number of it");
    edges.push_back(autograd::gradient_edge(output));
    starts.push_back(given.defined() ? given : ops::ones_like(output));
  }
};
Roots roots_of(TensorList outputs, const Value& grads) {
  Roots roots;
  TensorList given = grads.is_none() ? TensorList() : grads.to_tensor_list();
  TAEDA_CHECK(given.empty() || given.size() == outputs.size(), given.size(), " gradients for ", outputs.size(),
              " outputs: give one for each");
  for (size_t i = 0; i < outputs.size(); ++i) roots.add(outputs[i], given.empty() ? Tensor() : given[i]);
  return roots;
}
void backward(const Tensor& t, const Value& gradient, std::optional<bool> keep, bool create) {
  Roots roots;
  roots.add(t, gradient.to_tensor());
  autograd::run_backward(roots.edges, roots.starts, {keep.value_or(create), create, true});
}
void backward_of_list(TensorList outputs, const Value& grads, std::optional<bool> keep, bool create) {
  Roots roots = roots_of(outputs, grads);
  autograd::run_backward(roots.edges, roots.starts, {keep.value_or(create), create, true});
}
std::vector<Tensor> grad(TensorList outputs, TensorList inputs, const Value& grads, std::optional<bool> keep,
                         bool create, bool allow_unused) {
  Roots roots = roots_of(outputs, grads);
  std::vector<autograd::Edge> ends;
  for (const Tensor& input : inputs) ends.push_back(autograd::gradient_edge(input));
  std::vector<Tensor> found =
      autograd::run_backward(roots.edges, roots.starts, {keep.value_or(create), create, false}, ends);
  for (size_t i = 0; i < found.size(); ++i)
    TAEDA_CHECK(allow_unused || found[i].defined(), "input ", i,
                " has no part in the outputs; allow_unused=True gives None for it");
  return found;
}

constexpr Primitive kTable[] = {
    {"aten::size(Tensor self) -> int[]", typed<[](const Tensor& t) { return copy_of(t.sizes()); }>},
    {"aten::size.int(Tensor self, int dim) -> int", typed<[](const Tensor& t, int64_t dim) { return t.size(dim); }>},
    {"aten::stride(Tensor self) -> int[]", typed<[](const Tensor& t) { return copy_of(t.strides()); }>},
    {"aten::stride.int(Tensor self, int dim) -> int",
     typed<[](const Tensor& t, int64_t dim) { return t.stride(dim); }>},
    {"aten::dim(Tensor self) -> int", typed<[](const Tensor& t) { return t.dim(); }>},
    {"aten::numel(Tensor self) -> int", typed<[](const Tensor& t) { return t.numel(); }>},
    {"aten::storage_offset(Tensor self) -> int", typed<[](const Tensor& t) { return t.storage_offset(); }>},
    {"aten::element_size(Tensor self) -> int", typed<[](const Tensor& t) { return t.itemsize(); }>},
    {"aten::len.Tensor(Tensor t) -> int", typed<[](const Tensor& t) {
       TAEDA_CHECK_TYPE(t.dim() > 0, "len() of a 0-d tensor");
       return t.size(0);
     }>},
    {"aten::get_device(Tensor self) -> int",
     typed<[](const Tensor& t) -> int64_t { return t.is_cpu() ? -1 : t.device().index; }>},
    {"aten::is_complex(Tensor self) -> bool", typed<[](const Tensor& t) { return is_complex(t.dtype()); }>},
    {"aten::is_floating_point(Tensor self) -> bool",
     typed<[](const Tensor& t) { return category(t.dtype()) == Category::Floating; }>},
    {"aten::is_signed(Tensor self) -> bool", typed<[](const Tensor& t) { return info(t.dtype()).is_signed; }>},
    {"aten::is_conj(Tensor self) -> bool", typed<[](const Tensor& t) { return t->is_conj(); }>},
    {"aten::is_neg(Tensor self) -> bool", typed<[](const Tensor& t) { return t->is_neg(); }>},
    {"aten::is_inference(Tensor self) -> bool", typed<[](const Tensor& t) { return t->is_inference(); }>},
    {"aten::is_leaf(Tensor self) -> bool", typed<[](const Tensor& t) { return autograd::is_leaf(t); }>},
    {"aten::is_contiguous(Tensor self) -> bool", typed<[](const Tensor& t) { return t.is_contiguous(); }>},
    {"aten::is_contiguous.memory_format(Tensor self, MemoryFormat memory_format) -> bool",
     typed<[](const Tensor& t, const Value& format) {
       return t.is_contiguous(memory_format_numbered(format.to_int()));
     }>},
    {"aten::is_set_to(Tensor self, Tensor tensor) -> bool", typed<[](const Tensor& a, const Tensor& b) {
       return a->storage().get() == b->storage().get() && a.storage_offset() == b.storage_offset() &&
              std::ranges::equal(a.sizes(), b.sizes()) && std::ranges::equal(a.strides(), b.strides());
     }>},
    {"aten::_version(Tensor self) -> int", typed<[](const Tensor& t) -> int64_t { return t->version(); }>},
    {"aten::output_nr(Tensor self) -> int", typed<[](const Tensor& t) -> int64_t { return autograd::output_nr(t); }>},
    {"aten::retains_grad(Tensor self) -> bool", typed<autograd::retains_grad>},
    {"aten::retain_grad(Tensor(a!) self) -> ()", typed<autograd::retain_grad>},
    {"aten::requires_grad_(Tensor(a!) self, bool requires_grad=True) -> Tensor(a!)", typed<requires_grad_>},
    {"prim::requires_grad(Tensor a) -> bool", typed<[](const Tensor& t) { return autograd::requires_grad(t); }>},
    {"prim::grad(Tensor a) -> Tensor(*)", typed<gradient>},
    {"aten::data(Tensor self) -> Tensor", typed<autograd::variable_data>},
    {"prim::data(Tensor(a) a) -> Tensor(a)", typed<autograd::variable_data>},
    {"aten::set_data(Tensor(a!) self, Tensor new_data) -> ()", typed<autograd::set_data>},
    {"aten::detach_(Tensor(a!) self) -> Tensor(a!)", typed<[](const Tensor& t) {
       autograd::detach_in_place(t);
       return t;
     }>},
    {"aten::backward(Tensor self, Tensor? gradient=None, bool? retain_graph=None, bool create_graph=False) -> ()",
     typed<backward>},
    {"aten::backward.TensorList(Tensor[] tensors, Tensor?[]? grad_tensors=None, bool? retain_graph=None, "
     "bool create_graph=False) -> ()",
     typed<backward_of_list>},
    {"aten::grad(Tensor[] outputs, Tensor[] inputs, Tensor?[]? grad_outputs=None, bool? retain_graph=None, "
     "bool create_graph=False, bool allow_unused=False) -> Tensor?[]",
     typed<grad>},
    {"prim::device(Tensor a) -> Device", typed<[](const Tensor& t) { return t.device(); }>},
    {"prim::dtype(Tensor a) -> int", typed<[](const Tensor& t) { return number_of(t.dtype()); }>},
    {"prim::layout(Tensor a) -> Layout", typed<[](const Tensor& t) { return number_of(t->layout()); }>},
    {"prim::itemsize(Tensor a) -> int", typed<[](const Tensor& t) { return t.itemsize(); }>},
    {"prim::nbytes(Tensor a) -> int", typed<[](const Tensor& t) { return t.itemsize() * t.numel(); }>},
    {"prim::is_cuda(Tensor a) -> bool", typed<is_on<DeviceType::CUDA>>},
    {"prim::is_cpu(Tensor a) -> bool", typed<is_on<DeviceType::CPU>>},
    {"prim::is_meta(Tensor a) -> bool", typed<is_on<DeviceType::Meta>>},
    {"prim::is_xpu(Tensor a) -> bool", typed<is_on<DeviceType::XPU>>},
    {"prim::is_mps(Tensor a) -> bool", typed<is_on<DeviceType::MPS>>},
    {"prim::is_sparse(Tensor a) -> bool", typed<[](const Tensor& t) { return t->layout() == Layout::Sparse; }>},
    {"prim::is_sparse_csr(Tensor a) -> bool", typed<[](const Tensor& t) { return t->layout() == Layout::SparseCsr; }>},
    {"prim::is_mkldnn(Tensor a) -> bool", typed<[](const Tensor&) { return false; }>},
    {"prim::is_quantized(Tensor a) -> bool",
     typed<[](const Tensor& t) { return t.keys().has(Functionality::Quantized); }>},
    {"prim::is_nested(Tensor a) -> bool", typed<[](const Tensor& t) { return t.keys().has(Functionality::Nested); }>},
    {"prim::name(Tensor a) -> str?", typed<[](const Tensor&) { return Value(); }>},
    {"aten::Bool.Tensor(Tensor a) -> bool", typed<ops::is_nonzero>},
    {"aten::Int.Tensor(Tensor a) -> int", typed<int_of>},
    {"aten::Float.Tensor(Tensor a) -> float", typed<float_of>},
    {"aten::item(Tensor self) -> Scalar", typed<item>},
    {"aten::IntImplicit(Tensor a) -> int", typed<implicit<int64_t, Category::Integral>>},
    {"aten::FloatImplicit(Tensor a) -> float", typed<implicit<double, Category::Floating>>},
    {"aten::ComplexImplicit(Tensor a) -> complex", typed<implicit<complex128, Category::Complex>>},
    {"aten::ScalarImplicit(Tensor a) -> Scalar", typed<implicit_scalar>},
    {"aten::Complex.Tensor_Tensor(Tensor a, Tensor b) -> complex",
     typed<[](const Tensor& a, const Tensor& b) { return complex128(float_of(a), float_of(b)); }>},
    {"aten::Complex.Tensor(Tensor a) -> complex", typed<complex_of>},
    {"aten::Complex.Tensor_float(Tensor x, float y) -> complex",
     typed<[](const Tensor& a, double b) { return complex128(float_of(a), b); }>},
    {"aten::Complex.float_Tensor(float x, Tensor y) -> complex",
     typed<[](double a, const Tensor& b) { return complex128(a, float_of(b)); }>},
    {"aten::Complex.Tensor_int(Tensor x, int y) -> complex",
     typed<[](const Tensor& a, int64_t b) { return complex128(float_of(a), static_cast<double>(b)); }>},
    {"aten::Complex.int_Tensor(int x, Tensor y) -> complex",
     typed<[](int64_t a, const Tensor& b) { return complex128(static_cast<double>(a), float_of(b)); }>},
    {"aten::Complex.Tensor_bool(Tensor x, bool y) -> complex",
     typed<[](const Tensor& a, bool b) { return complex128(float_of(a), b); }>},
    {"aten::Complex.bool_Tensor(bool x, Tensor y) -> complex",
     typed<[](bool a, const Tensor& b) { return complex128(a, float_of(b)); }>},
    {"prim::NumToTensor.Scalar(Scalar a) -> Tensor", typed<[](const Scalar& number) {
       return ops::scalar_tensor(number,
                                 number.natural_dtype() == default_dtype() && number.kind() == Scalar::Kind::Float
                                     ? DType::Float64
                                     : number.natural_dtype());
     }>},
    {"prim::NumToTensor.bool(bool a) -> Tensor",
     typed<[](bool value) { return ops::scalar_tensor(value, DType::Bool); }>},
    {"aten::tensor.float(float t, *, ScalarType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor",
     typed<tensor>},
    {"aten::tensor.int(int t, *, ScalarType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor",
     typed<tensor>},
    {"aten::tensor.bool(bool t, *, ScalarType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor",
     typed<tensor>},
    {"aten::tensor.complex(complex t, *, ScalarType? dtype=None, Device? device=None, bool requires_grad=False) -> "
     "Tensor",
     typed<tensor>},
    {"aten::tensor(t[] data, *, ScalarType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor",
     typed<tensor>},
    {"aten::as_tensor.float(float t, *, ScalarType? dtype=None, Device? device=None) -> Tensor", typed<as_tensor>},
    {"aten::as_tensor.int(int t, *, ScalarType? dtype=None, Device? device=None) -> Tensor", typed<as_tensor>},
    {"aten::as_tensor.bool(bool t, *, ScalarType? dtype=None, Device? device=None) -> Tensor", typed<as_tensor>},
    {"aten::as_tensor.complex(complex t, *, ScalarType? dtype=None, Device? device=None) -> Tensor", typed<as_tensor>},
    {"aten::as_tensor(Tensor(a) data, *, ScalarType? dtype=None, Device? device=None) -> Tensor(b|a)",
     typed<as_tensor>},
    {"aten::as_tensor.list(t[] data, *, ScalarType? dtype=None, Device? device=None) -> Tensor", typed<as_tensor>},
    {"aten::_list_to_tensor(int[] self) -> Tensor",
     typed<[](const Value& list) { return filled(list, DType::Int64); }>},
    {"aten::_tensor_to_list(Tensor self) -> int[]", typed<[](const Tensor& t) { return list_at(t, t.dim()); }>},
    {"aten::_shape_as_tensor(Tensor self) -> Tensor",
     typed<[](const Tensor& t) { return filled(copy_of(t.sizes()), DType::Int64); }>},
    {"aten::_reshape_from_tensor(Tensor self, Tensor shape) -> Tensor",
     typed<[](const Tensor& t, const Tensor& shape) { return ops::reshape(t, list_at(shape, 1).int_items()); }>},
    {"prim::tolist(...) -> ...", to_list},
    {"aten::copy_.int(Tensor(a!) self, int other) -> Tensor(a!)", typed<assign>},
    {"aten::copy_.float(Tensor(a!) self, float other) -> Tensor(a!)", typed<assign>},
    {"aten::result_type.Tensor(Tensor tensor, Tensor other) -> ScalarType", typed<result_type>},
    {"aten::result_type.Scalar(Tensor tensor, Scalar other) -> ScalarType", typed<result_type>},
    {"aten::result_type.Scalar_Tensor(Scalar scalar, Tensor tensor) -> ScalarType", typed<result_type>},
    {"aten::result_type.Scalar_Scalar(Scalar scalar1, Scalar scalar2) -> ScalarType", typed<result_type>},
    {"aten::promote_types(ScalarType type1, ScalarType type2) -> ScalarType",
     typed<[](DType a, DType b) { return number_of(promote(a, b)); }>},
    {"aten::can_cast(ScalarType from_, ScalarType to) -> bool", typed<can_cast>},
};

}  // namespace

PrimitiveTable tensor_primitives() { return kTable; }

}  // namespace taeda::jit
