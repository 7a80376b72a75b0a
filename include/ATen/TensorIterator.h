// Elementwise loops over tensors of one's own: broadcast, in memory's order, on all threads.
//
//   auto iter = at::TensorIteratorConfig().add_output(out).add_input(a).add_input(b).build();
//   at::native::cpu_kernel(iter, [](float x, float y) -> float { return x * y; });
#pragma once
#include <functional>

#include <ATen/Functions.h>
#include <ATen/Parallel.h>

namespace at {

class TensorIteratorConfig;

class TORCH_API TensorIteratorBase {
 public:
  // Addresses of each tensor's first element, how many bytes from one to the next, how many elements.
  using loop1d_t = std::function<void(char** data, const int64_t* strides, int64_t n)>;
  // Of two dimensions; the second tensors' strides follow the first ones'.
  using loop2d_t = std::function<void(char** data, const int64_t* strides, int64_t size0, int64_t size1)>;

  int ndim() const { return static_cast<int>(shape_.size()); }
  IntArrayRef shape() const { return shape_; }  // the fastest dimension first
  int64_t numel() const;
  int ntensors() const { return static_cast<int>(operands_.size()); }
  int noutputs() const { return outputs_; }
  int ninputs() const { return ntensors() - outputs_; }
  const Tensor& tensor(int i) const { return operands_.at(static_cast<size_t>(i)).tensor; }
  const Tensor& output(int i = 0) const { return tensor(i); }
  const Tensor& input(int i = 0) const { return tensor(outputs_ + i); }
  ScalarType dtype(int i = 0) const { return tensor(i).scalar_type(); }
  ScalarType input_dtype(int i = 0) const { return input(i).scalar_type(); }
  ScalarType common_dtype() const { return common_dtype_; }
  Device device(int i = 0) const { return tensor(i).device(); }
  DeviceType device_type(int i = 0) const { return device(i).type(); }
  int64_t element_size(int i) const { return static_cast<int64_t>(tensor(i).itemsize()); }
  void* data_ptr(int i) const { return tensor(i).data_ptr(); }
  IntArrayRef strides(int i) const { return operands_.at(static_cast<size_t>(i)).strides; }  // in bytes
  bool is_contiguous() const;
  bool is_scalar(int i) const { return tensor(i).numel() == 1; }

  void for_each(const loop1d_t& loop, int64_t grain_size = internal::GRAIN_SIZE);
  void for_each(const loop2d_t& loop, int64_t grain_size = internal::GRAIN_SIZE);
  void serial_for_each(const loop1d_t& loop, std::pair<int64_t, int64_t> range) const;
  // What was computed in another dtype is given to the outputs that were passed.
  void cast_outputs();

 protected:
  friend class TensorIteratorConfig;
  struct Operand {
    Tensor tensor, given;
    std::vector<int64_t> strides;
  };
  void build(TensorIteratorConfig& config);
  void find_sizes(const TensorIteratorConfig& config, std::vector<int64_t>& sizes);
  void find_strides(IntArrayRef sizes);
  void coalesce();
  std::vector<Operand> operands_;
  std::vector<int64_t> shape_;
  int outputs_ = 0;
  ScalarType common_dtype_ = ScalarType::Undefined;
};

class TORCH_API TensorIterator final : public TensorIteratorBase {
 public:
  static TensorIterator binary_op(Tensor& out, const Tensor& a, const Tensor& b);
  static TensorIterator unary_op(Tensor& out, const Tensor& a);
  static TensorIterator nullary_op(Tensor& out);
};

// What a loop is over: outputs first. An output that is undefined is made; others must have the right sizes, or are
// resized where that is allowed.
class TORCH_API TensorIteratorConfig {
 public:
  TensorIteratorConfig& add_output(const Tensor& t);
  TensorIteratorConfig& add_input(const Tensor& t);
  TensorIteratorConfig& add_const_input(const Tensor& t) { return add_input(t); }
  TensorIteratorConfig& add_owned_output(const Tensor& t) { return add_output(t); }
  TensorIteratorConfig& add_owned_input(const Tensor& t) { return add_input(t); }
  TensorIteratorConfig& add_owned_const_input(const Tensor& t) { return add_input(t); }
  TensorIteratorConfig& add_borrowed_output(const Tensor& t) { return add_output(t); }
  TensorIteratorConfig& add_borrowed_input(const Tensor& t) { return add_input(t); }
#define TAEDA_SWITCH(name, field)          \
  TensorIteratorConfig& name(bool value) { \
    field = value;                         \
    return *this;                          \
  }
  TAEDA_SWITCH(set_check_mem_overlap, check_overlap_)
  TAEDA_SWITCH(check_all_same_dtype, same_dtype_)
  TAEDA_SWITCH(check_all_same_device, same_device_)
  TAEDA_SWITCH(allow_cpu_scalars, cpu_scalars_)
  TAEDA_SWITCH(resize_outputs, resize_)
  TAEDA_SWITCH(promote_inputs_to_common_dtype, promote_)
  TAEDA_SWITCH(promote_integer_inputs_to_float, to_float_)
  TAEDA_SWITCH(cast_common_dtype_to_outputs, cast_outputs_)
  TAEDA_SWITCH(enforce_safe_casting_to_output, safe_casting_)
#undef TAEDA_SWITCH
  TensorIteratorConfig& declare_static_dtype(ScalarType dtype);
  TensorIteratorConfig& declare_static_shape(IntArrayRef shape);
  TensorIterator build();

 private:
  friend class TensorIteratorBase;
  std::vector<Tensor> outputs_, inputs_;
  std::optional<ScalarType> dtype_;
  std::optional<std::vector<int64_t>> shape_;
  bool check_overlap_ = true, same_dtype_ = true, same_device_ = true, cpu_scalars_ = false, resize_ = true,
       promote_ = false, to_float_ = false, cast_outputs_ = false, safe_casting_ = false;
};

namespace native {
namespace detail {
template <class R, class F, class... Args, size_t... I>
void run_kernel(TensorIteratorBase& iter, const F& op, int64_t grain, std::index_sequence<I...>, std::tuple<Args...>*) {
  TORCH_CHECK(iter.ninputs() == static_cast<int>(sizeof...(Args)), "cpu_kernel: the function takes ", sizeof...(Args),
              " arguments; the iterator has ", iter.ninputs(), " inputs");
  TORCH_CHECK(iter.noutputs() == 1, "cpu_kernel: expected one output; got ", iter.noutputs());
  iter.for_each(
      [&op](char** data, const int64_t* strides, int64_t n) {
        char *out = data[0], *in[sizeof...(Args) + 1] = {data[I + 1]...};
        for (int64_t i = 0; i < n; ++i)
          *reinterpret_cast<R*>(out + i * strides[0]) =
              op(*reinterpret_cast<const std::decay_t<Args>*>(in[I] + i * strides[I + 1])...);
      },
      grain);
  iter.cast_outputs();
}
template <class F, class R, class C, class... Args>
void cpu_kernel(TensorIteratorBase& iter, const F& op, int64_t grain, R (C::*)(Args...) const) {
  run_kernel<R>(iter, op, grain, std::index_sequence_for<Args...>(), static_cast<std::tuple<Args...>*>(nullptr));
}
}  // namespace detail

// op of one element of each input, for each of the output; the types must be the tensors'.
template <class F>
void cpu_kernel(TensorIteratorBase& iter, F&& op, int64_t grain_size = internal::GRAIN_SIZE) {
  detail::cpu_kernel(iter, op, grain_size, &std::decay_t<F>::operator());
}
// In one thread, in memory's order.
template <class F>
void cpu_serial_kernel(TensorIteratorBase& iter, F&& op) {
  cpu_kernel(iter, std::forward<F>(op), std::max<int64_t>(iter.numel(), 1));
}
// The compiler makes vectors of op; the second function is not called.
template <class F, class V>
void cpu_kernel_vec(TensorIteratorBase& iter, F&& op, V&&, int64_t grain_size = internal::GRAIN_SIZE) {
  cpu_kernel(iter, op, grain_size);
}
}  // namespace native

}  // namespace at
