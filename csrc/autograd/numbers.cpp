#include "autograd/numbers.h"

#include "taeda/ops/binary.h"
#include "taeda/ops/complex_numbers.h"
#include "taeda/ops/copy.h"

namespace taeda::autograd {

void keep(std::vector<int64_t>& kept, IntList list) { kept.assign(list.begin(), list.end()); }
void keep(std::vector<double>& kept, std::span<const double> list) { kept.assign(list.begin(), list.end()); }
void keep(std::vector<Scalar>& kept, std::span<const Scalar> list) { kept.assign(list.begin(), list.end()); }
void keep(std::string& kept, std::string_view text) { kept = text; }

std::vector<int64_t> pack_sizes(TensorList list) {
  std::vector<int64_t> packed;
  for (const Tensor& t : list) {
    packed.push_back(t.dim());
    packed.insert(packed.end(), t.sizes().begin(), t.sizes().end());
  }
  return packed;
}

void fill_undefined(std::span<Tensor> grads, std::span<const InputMetadata> metadata) {
  for (size_t i = 0; i < grads.size(); ++i)
    if (!grads[i].defined() && metadata[i].is_defined()) grads[i] = metadata[i].zeros();
}

Tensor scaled_by(const Tensor& t, const Scalar& factor) { return ops::mul(t, factor); }

Tensor conj_of_complex(const Tensor& t) { return ops::_conj_physical(t); }

Tensor number_tensor(const Scalar& value) {
  Tensor result = new_tensor({}, value.natural_dtype());
  visit(result.dtype(), [&]<class T>() { *result.data<T>() = value.to<T>(); });
  result->set_wrapped_number(true);
  return result;
}

Tensor clone_for_inplace(const Tensor& self) { return ops::clone(self); }

}  // namespace taeda::autograd
