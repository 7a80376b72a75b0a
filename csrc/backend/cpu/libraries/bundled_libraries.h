// The libraries that travel beside libtaeda. They are opened when an op first needs them, since that costs
// milliseconds and megabytes, and only from libtaeda's own folder: a copy that the system has may be of any version.
#pragma once
#include <dnnl.h>

#include <complex>

#include "taeda/core/dtype.h"

namespace taeda::cpu {

constexpr int kRowMajor = 101, kNoTrans = 111, kTrans = 112;  // values of the CBLAS interface

// OpenBLAS, kept at one thread: its callers cut the work.
struct Blas {
  template <class T>
  using Gemm = void(int order, int trans_a, int trans_b, int m, int n, int k, T alpha, const void* a, int lda,
                    const void* b, int ldb, T beta, void* c, int ldc);
  template <class T>
  using Gemv = void(int order, int trans, int m, int n, T alpha, const void* a, int lda, const void* x, int incx,
                    T beta, void* y, int incy);

  Gemm<float>* sgemm;
  Gemm<double>* dgemm;
  Gemm<const void*>* cgemm;
  Gemm<const void*>* zgemm;
  Gemv<float>* sgemv;
  Gemv<double>* dgemv;
};
const Blas& blas();
// A routine of LAPACK by its Fortran name without the underscore: lapack_routine("sgetrf").
void* lapack_routine(const char* name);

// oneDNN's C interface: the functions that are used here. dnnl().memory_create(...) is dnnl_memory_create(...).
#define TAEDA_DNNL_FUNCTIONS(X)                         \
  X(convolution_backward_data_primitive_desc_create)    \
  X(convolution_backward_weights_primitive_desc_create) \
  X(convolution_forward_primitive_desc_create)          \
  X(engine_create)                                      \
  X(get_effective_cpu_isa)                              \
  X(matmul_primitive_desc_create)                       \
  X(memory_create)                                      \
  X(memory_desc_clone)                                  \
  X(memory_desc_create_with_strides)                    \
  X(memory_desc_create_with_tag)                        \
  X(memory_desc_destroy)                                \
  X(memory_desc_equal)                                  \
  X(memory_desc_get_size)                               \
  X(memory_destroy)                                     \
  X(memory_set_data_handle)                             \
  X(primitive_attr_create)                              \
  X(primitive_attr_destroy)                             \
  X(primitive_attr_set_scratchpad_mode)                 \
  X(primitive_create)                                   \
  X(primitive_desc_destroy)                             \
  X(primitive_desc_query_md)                            \
  X(primitive_destroy)                                  \
  X(primitive_execute)                                  \
  X(reorder_primitive_desc_create)                      \
  X(set_primitive_cache_capacity)                       \
  X(sgemm)                                              \
  X(stream_create)

struct Dnnl {
#define X(name) decltype(&dnnl_##name) name;
  TAEDA_DNNL_FUNCTIONS(X)
#undef X
};
const Dnnl& dnnl();
bool has_dnnl();  // a small build may leave it out; products of floats then go to OpenBLAS

}  // namespace taeda::cpu
