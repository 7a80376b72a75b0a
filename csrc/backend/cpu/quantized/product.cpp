#include "backend/cpu/quantized/product.h"

#include "backend/cpu/ops/quantized_linear.h"
#include "backend/cpu/ops/quantized_product.h"
#include "taeda/core/parallel.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"
#include "taeda/ops/view.h"

namespace taeda::cpu {

using namespace onednn;

std::shared_ptr<Operation> quantized::byte_product(DType dtype, int64_t m, int64_t n, int64_t k, IntList strides) {
  Key key;
  key.add('q').add(static_cast<int64_t>(dtype)).add(m).add(n).add(k).add(strides);
  return cached(key, [&] {
    MemoryDesc a(dtype, IntList({m, k}), IntList({k, 1})), b(DType::Int8, IntList({k, n}), strides);
    MemoryDesc c(DType::Int32, IntList({m, n}), IntList({n, 1})),
        b_free = MemoryDesc::any(DType::Int8, IntList({k, n}));
    dnnl_primitive_desc_t desc = nullptr;
    check(dnnl().matmul_primitive_desc_create(&desc, engine(), a.get(), b_free.get(), nullptr, c.get(),
                                              Attributes().get()));
    std::vector<Operation::Operand> operands;
    operands.push_back({DNNL_ARG_SRC, std::move(a), false});
    operands.push_back({DNNL_ARG_WEIGHTS, std::move(b), false});
    operands.push_back({DNNL_ARG_DST, std::move(c), true});
    return std::make_shared<Operation>(Primitive(desc), std::move(operands));
  });
}

void _int_mm(const Tensor& self, const Tensor& mat2, const Tensor& out) {
  if (out.numel() == 0) return;
  const int64_t m = self.size(0), k = self.size(1), n = mat2.size(1);
  if (k == 0 || !has_native(DType::Int8)) {
    const Tensor weight = ops::contiguous(ops::t(mat2)), sums = ops::zeros(IntList({n}), DType::Int32),
                 ones = ops::ones(IntList({n}), DType::Float32);
    ops::copy_(out, quantized::_matmul(ops::contiguous(self), weight, quantized::_pack_matrix(weight), 0, sums, {},
                                       ones, {}, DType::Int32, 0, false));
    return;
  }
  const bool by_columns = !mat2.is_contiguous() && mat2.stride(0) == 1 && mat2.stride(1) == k;
  const Tensor a = ops::contiguous(self), b = by_columns ? mat2 : ops::contiguous(mat2);
  Threads own(num_threads());
  void* data[] = {a.data(), b.data(), out.data()};
  quantized::byte_product(a.dtype(), m, n, k, by_columns ? IntList({1, k}) : IntList({n, 1}))->run(data);
}

}  // namespace taeda::cpu
