#include "backend/cpu/libraries/bundled_libraries.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <string>

#include "taeda/core/fork.h"

namespace taeda::cpu {

namespace {

Mutex g_mutex;

std::string own_folder() {
  Dl_info found{};
  if (!dladdr(reinterpret_cast<void*>(&own_folder), &found) || !found.dli_fname) return "";
  std::string path(found.dli_fname);
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

// `built_from` is where the build found the library, or empty: a development build runs without copies.
void* open_library(const char* name, const char* built_from, bool is_carried) {
  if (!is_carried)
    TAEDA_FAIL(NotImplemented, "this build leaves out the library ", name, " (CMake option TAEDA_WITHOUT_PARTS)");
  std::string beside = own_folder() + "/" + name;
  void* library = dlopen(beside.c_str(), RTLD_NOW | RTLD_LOCAL);
  std::string reason = library ? "" : dlerror();
  if (!library && *built_from) library = dlopen(built_from, RTLD_NOW | RTLD_LOCAL);
  TAEDA_CHECK(library, "the library ", name, ", which belongs beside libtaeda.so, cannot be opened (", reason,
              "); reinstall taeda");
  return library;
}

template <class F>
void find(void* library, const std::string& name, F*& function) {
  function = reinterpret_cast<F*>(dlsym(library, name.c_str()));
  TAEDA_CHECK(function, "a bundled library lacks the function ", name, "; reinstall taeda");
}

// OpenBLAS reads the variable when it loads, and then starts no threads; child processes shall not inherit it.
struct OneThreadWhileLoading {
  bool set = !std::getenv("OPENBLAS_NUM_THREADS") && setenv("OPENBLAS_NUM_THREADS", "1", 1) == 0;
  ~OneThreadWhileLoading() {
    if (set) unsetenv("OPENBLAS_NUM_THREADS");
  }
};

void* open_openblas() {
  OneThreadWhileLoading environment;
  void* library = open_library("libscipy_openblas.so", TAEDA_OPENBLAS_LIBRARY, TAEDA_HAS_OPENBLAS);
  void (*set_threads)(int);
  find(library, "scipy_openblas_set_num_threads", set_threads);
  set_threads(1);
  return library;
}

// Opened under the lock, once; read without it afterwards.
void* openblas() {
  static std::atomic<void*> g_library{nullptr};
  void* library = g_library.load(std::memory_order_acquire);
  if (library) [[likely]]
    return library;
  Lock lock(g_mutex);
  library = g_library.load(std::memory_order_relaxed);
  if (!library) g_library.store(library = open_openblas(), std::memory_order_release);
  return library;
}

Blas load_blas() {
  void* library = openblas();
  Blas table;
#define X(name) find(library, "scipy_cblas_" #name, table.name)
  X(sgemm);
  X(dgemm);
  X(cgemm);
  X(zgemm);
  X(sgemv);
  X(dgemv);
#undef X
  return table;
}

Dnnl load_dnnl() {
  void* library = open_library("libdnnl.so.3", TAEDA_DNNL_LIBRARY, TAEDA_HAS_DNNL);
  Dnnl table;
#define X(name) find(library, "dnnl_" #name, table.name);
  TAEDA_DNNL_FUNCTIONS(X)
#undef X
  // Primitives are kept in a cache of our own, by what the ops ask for.
  table.set_primitive_cache_capacity(0);
  return table;
}

// A table filled at its first use, without holding a lock while it is read.
template <class Table, Table (*load)()>
const Table& lazily() {
  static std::atomic<const Table*> g_table{nullptr};
  const Table* table = g_table.load(std::memory_order_acquire);
  if (table) [[likely]]
    return *table;
  const Table* fresh = new Table(load());  // lives as long as the process
  if (g_table.compare_exchange_strong(table, fresh, std::memory_order_acq_rel)) return *fresh;
  delete fresh;
  return *table;
}

}  // namespace

const Blas& blas() { return lazily<Blas, load_blas>(); }
bool has_dnnl() { return TAEDA_HAS_DNNL; }
const Dnnl& dnnl() { return lazily<Dnnl, load_dnnl>(); }

void* lapack_routine(const char* name) {
  void (*routine)();
  find(openblas(), str("scipy_", name, "_"), routine);
  return reinterpret_cast<void*>(routine);
}

}  // namespace taeda::cpu
