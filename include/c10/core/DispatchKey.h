// Which kernels a call may reach, by PyTorch's names: a key is a place of the core's table of kernels.
#pragma once
#include <cstring>
#include <ostream>

#include <c10/core/Device.h>
#include <taeda/core/key_set.h>
#include <taeda/core/thread_state.h>
#include <taeda/dispatch/library.h>

namespace c10 {

// A name, and what it stands for in a set: functionality and device. Where the device is absent it is all of them.
#define TAEDA_FORALL_DISPATCH_KEYS(_)                    \
  _(CPU, Dense, CPU)                                     \
  _(CUDA, Dense, CUDA)                                   \
  _(XPU, Dense, XPU)                                     \
  _(MPS, Dense, MPS)                                     \
  _(Meta, Dense, Meta)                                   \
  _(PrivateUse1, Dense, PrivateUse1)                     \
  _(PrivateUse2, Dense, PrivateUse2)                     \
  _(PrivateUse3, Dense, PrivateUse3)                     \
  _(QuantizedCPU, Quantized, CPU)                        \
  _(QuantizedCUDA, Quantized, CUDA)                      \
  _(QuantizedPrivateUse1, Quantized, PrivateUse1)        \
  _(SparseCPU, Sparse, CPU)                              \
  _(SparseCUDA, Sparse, CUDA)                            \
  _(SparsePrivateUse1, Sparse, PrivateUse1)              \
  _(SparseCsrCPU, SparseCsr, CPU)                        \
  _(SparseCsrCUDA, SparseCsr, CUDA)                      \
  _(NestedTensorCPU, Nested, CPU)                        \
  _(NestedTensorCUDA, Nested, CUDA)                      \
  _(BackendSelect, BackendSelect, CPU)                   \
  _(Python, Python, CPU)                                 \
  _(FuncTorchDynamicLayerBackMode, TransformBack, CPU)   \
  _(Functionalize, Functionalize, CPU)                   \
  _(Conjugate, Conjugate, CPU)                           \
  _(Negative, Negative, CPU)                             \
  _(ADInplaceOrView, ADInplaceOrView, CPU)               \
  _(AutogradCPU, Autograd, CPU)                          \
  _(AutogradCUDA, Autograd, CUDA)                        \
  _(AutogradXPU, Autograd, XPU)                          \
  _(AutogradMPS, Autograd, MPS)                          \
  _(AutogradMeta, Autograd, Meta)                        \
  _(AutogradPrivateUse1, Autograd, PrivateUse1)          \
  _(AutogradPrivateUse2, Autograd, PrivateUse2)          \
  _(AutogradPrivateUse3, Autograd, PrivateUse3)          \
  _(Tracer, Tracer, CPU)                                 \
  _(AutocastCPU, Autocast, CPU)                          \
  _(AutocastCUDA, Autocast, CUDA)                        \
  _(AutocastPrivateUse1, Autocast, PrivateUse1)          \
  _(FuncTorchBatched, Batched, CPU)                      \
  _(FuncTorchDynamicLayerFrontMode, TransformFront, CPU) \
  _(PythonTLSSnapshot, PythonSnapshot, CPU)

enum class DispatchKey : uint16_t {
  Undefined = 0,
#define TAEDA_KEY(name, functionality, device) name,
  TAEDA_FORALL_DISPATCH_KEYS(TAEDA_KEY)
#undef TAEDA_KEY
  // For registration only: each stands for many.
  Autograd,
  CompositeImplicitAutograd,
  CompositeExplicitAutograd,
  CompositeExplicitAutogradNonFunctional,
  EndOfKeys,
  CatchAll = Undefined,
  Autocast = AutocastCUDA,
  AutogradOther = AutogradMeta,
  FuncTorchGradWrapper = Undefined
};

inline const char* toString(DispatchKey key) {
  switch (key) {
#define TAEDA_KEY(name, functionality, device) \
  case DispatchKey::name:                      \
    return #name;
    TAEDA_FORALL_DISPATCH_KEYS(TAEDA_KEY)
#undef TAEDA_KEY
    case DispatchKey::Autograd:
      return "Autograd";
    case DispatchKey::CompositeImplicitAutograd:
      return "CompositeImplicitAutograd";
    case DispatchKey::CompositeExplicitAutograd:
      return "CompositeExplicitAutograd";
    case DispatchKey::CompositeExplicitAutogradNonFunctional:
      return "CompositeExplicitAutogradNonFunctional";
    default:
      return "Undefined";
  }
}
inline std::ostream& operator<<(std::ostream& out, DispatchKey key) { return out << toString(key); }
// The slot of the core's table.
inline int slot_of(DispatchKey key) { return ::taeda::parse_dispatch_key(toString(key)); }

class DispatchKeySet {
 public:
  enum Full { FULL };
  constexpr DispatchKeySet() = default;
  constexpr DispatchKeySet(Full) : keys_(~uint64_t{0}) {}
  constexpr DispatchKeySet(::taeda::KeySet keys) : keys_(keys) {}
  constexpr DispatchKeySet(DispatchKey key) : keys_(of(key)) {}
  constexpr DispatchKeySet(std::initializer_list<DispatchKey> keys) {
    for (DispatchKey key : keys) keys_ = keys_ | of(key);
  }
  // Whether the functionality is there and, where it is one per device, the device.
  constexpr bool has(DispatchKey key) const { return (of(key) - keys_).empty(); }
  constexpr bool has_any(DispatchKeySet other) const { return !(keys_ & other.keys_).empty(); }
  constexpr bool has_all(DispatchKeySet other) const { return (other.keys_ - keys_).empty(); }
  constexpr bool empty() const { return keys_.empty(); }
  constexpr DispatchKeySet operator|(DispatchKeySet other) const { return keys_ | other.keys_; }
  constexpr DispatchKeySet operator&(DispatchKeySet other) const { return keys_ & other.keys_; }
  constexpr DispatchKeySet operator-(DispatchKeySet other) const { return keys_ - other.keys_; }
  constexpr DispatchKeySet operator^(DispatchKeySet other) const { return keys_ ^ other.keys_; }
  constexpr DispatchKeySet add(DispatchKey key) const { return keys_ | of(key); }
  constexpr DispatchKeySet remove(DispatchKey key) const { return keys_ - functionality_of(key); }
  constexpr uint64_t raw_repr() const { return keys_.bits(); }
  constexpr bool operator==(const DispatchKeySet& other) const = default;
  DispatchKey highestPriorityTypeId() const;
  constexpr ::taeda::KeySet keys() const { return keys_; }
  constexpr operator ::taeda::KeySet() const { return keys_; }

  static constexpr ::taeda::KeySet functionality_of(DispatchKey key) {
    using F = ::taeda::Functionality;
    switch (key) {
#define TAEDA_KEY(name, functionality, device) \
  case DispatchKey::name:                      \
    return F::functionality;
      TAEDA_FORALL_DISPATCH_KEYS(TAEDA_KEY)
#undef TAEDA_KEY
      case DispatchKey::Autograd:
        return F::Autograd;
      default:
        return {};
    }
  }

 private:
  static constexpr ::taeda::KeySet of(DispatchKey key) {
    ::taeda::KeySet set = functionality_of(key);
    switch (key) {
#define TAEDA_KEY(name, functionality, device) \
  case DispatchKey::name:                      \
    return ::taeda::is_per_backend(::taeda::Functionality::functionality) ? set | ::taeda::DeviceType::device : set;
      TAEDA_FORALL_DISPATCH_KEYS(TAEDA_KEY)
#undef TAEDA_KEY
      default:
        return set;
    }
  }
  ::taeda::KeySet keys_;
};

inline DispatchKey DispatchKeySet::highestPriorityTypeId() const {
  if (keys_.empty()) return DispatchKey::Undefined;
#define TAEDA_KEY(name, functionality, device)                                                   \
  if (keys_.top() == ::taeda::Functionality::functionality &&                                    \
      (!::taeda::is_per_backend(keys_.top()) || keys_.backend() == ::taeda::DeviceType::device)) \
    return DispatchKey::name;
  TAEDA_FORALL_DISPATCH_KEYS(TAEDA_KEY)
#undef TAEDA_KEY
  return DispatchKey::Undefined;
}

constexpr DispatchKeySet autograd_dispatch_keyset{::taeda::KeySet(::taeda::Functionality::Autograd)};
constexpr DispatchKeySet autograd_dispatch_keyset_with_ADInplaceOrView(::taeda::kAutogradKeys);
constexpr DispatchKeySet after_autograd_keyset(::taeda::KeySet::below(::taeda::Functionality::Autograd));
constexpr DispatchKeySet after_ADInplaceOrView_keyset(::taeda::KeySet::below(::taeda::Functionality::ADInplaceOrView));
inline DispatchKey computeDispatchKey(DeviceType type) {
  return DispatchKeySet(::taeda::KeySet(::taeda::Functionality::Dense) | type).highestPriorityTypeId();
}

namespace impl {
// In the scope calls skip, or take on, the functionalities of some keys.
class ExcludeDispatchKeyGuard : ::taeda::Below {
 public:
  explicit ExcludeDispatchKeyGuard(DispatchKeySet keys) : Below(functionalities(keys)) {}
  explicit ExcludeDispatchKeyGuard(DispatchKey key) : Below(DispatchKeySet::functionality_of(key)) {}

 private:
  static ::taeda::KeySet functionalities(::taeda::KeySet keys) {
    return ::taeda::KeySet(keys.bits() & ~((uint64_t{1} << ::taeda::kBackendBits) - 1));
  }
};
class IncludeDispatchKeyGuard : ::taeda::Scoped<::taeda::KeySet> {
 public:
  explicit IncludeDispatchKeyGuard(DispatchKeySet keys)
      : Scoped(::taeda::t_state.include, ::taeda::t_state.include | keys) {}
};
struct LocalDispatchKeySet {
  DispatchKeySet included_, excluded_;
};
inline LocalDispatchKeySet tls_local_dispatch_key_set() {
  return {DispatchKeySet(::taeda::t_state.include), DispatchKeySet(::taeda::t_state.exclude)};
}
inline bool tls_is_dispatch_key_excluded(DispatchKey key) {
  return !(::taeda::t_state.exclude & DispatchKeySet::functionality_of(key)).empty();
}
inline bool tls_is_dispatch_key_included(DispatchKey key) {
  return !(::taeda::t_state.include & DispatchKeySet::functionality_of(key)).empty();
}
inline bool tls_is_dispatch_keyset_excluded(DispatchKeySet keys) {
  return DispatchKeySet(::taeda::t_state.exclude).has_all(keys);
}
inline bool tls_is_dispatch_keyset_included(DispatchKeySet keys) {
  return DispatchKeySet(::taeda::t_state.include).has_all(keys);
}
}  // namespace impl

}  // namespace c10

namespace at {
// What a kernel of the Autograd key calls the kernels below itself in.
struct AutoDispatchBelowAutograd : ::taeda::Below {
  AutoDispatchBelowAutograd() : Below(::taeda::Functionality::Autograd) {}
};
struct AutoDispatchBelowADInplaceOrView : ::taeda::Below {
  AutoDispatchBelowADInplaceOrView() : Below(::taeda::kAutogradKeys) {}
};
using AutoNonVariableTypeMode = AutoDispatchBelowAutograd;
struct AutoDispatchSkipFunctionalize : ::taeda::Below {
  AutoDispatchSkipFunctionalize() : Below(::taeda::Functionality::Functionalize) {}
};
}  // namespace at

template <>
struct std::hash<c10::DispatchKey> {
  size_t operator()(c10::DispatchKey key) const { return static_cast<size_t>(key); }
};
