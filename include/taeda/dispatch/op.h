// An op: its constant description and, once called, a table of kernels by functionality and backend.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "taeda/dispatch/value.h"

namespace taeda {

enum class ArgType : uint8_t {
  Tensor,
  TensorList,
  OptTensorList,
  Scalar,
  ScalarList,
  Int,
  IntList,
  Float,
  FloatList,
  Bool,
  BoolList,
  String,
  DType,
  Device,
  Layout,
  MemoryFormat,
  Generator,
  Any
};

// One parameter of a schema, as constant data.
struct Param {
  const char* name;
  ArgType type;
  const char* default_text = nullptr;  // as in the schema, null without one
  bool optional = false;               // the type ends in '?'
  bool keyword_only = false;
  bool is_mutable = false;  // written to: (a!)
  int8_t list_size = 0;     // int[2]: a lone int stands for both; 0 when any length
  bool has_default() const { return default_text; }
};

class Op;
// A boxed kernel reads its arguments from the top of the stack and leaves the results there.
using BoxedFunction = std::function<void(const Op&, KeySet, Stack&)>;

// The calling convention of a signature, shared by all ops that have it (made by boxing.h).
struct Signature {
  // Pops arguments, calls `kernel` (told the key set when it is a layer's), pushes results.
  void (*call_unboxed)(void* kernel, bool is_layer, KeySet, Stack&);
};

// In place of a device: all that have no kernel of their own.
constexpr DeviceType kEveryDevice = static_cast<DeviceType>(kDeviceTypes);
// In place of a functionality: whatever holds data, and autograd. Such a kernel is made of other ops.
constexpr Functionality kComposite = Functionality::Count;

// A statically known kernel: what it serves, and on which device. Layers serve every device.
struct StaticKernel {
  Functionality functionality;
  DeviceType device;
  void* function;
};

// Constant data of a built-in op; owned strings of one that was defined at run time.
struct OpInfo {
  const char* name;      // "aten::add"
  const char* overload;  // "Tensor", "" for the plain one
  const char* schema;    // "aten::add.Tensor(Tensor self, ...) -> Tensor"
  const Param* params;
  const StaticKernel* kernels;
  const Signature* signature;
  const char* file;  // of the declaration
  uint16_t line;
  uint8_t param_count;
  uint8_t return_count;
  uint8_t kernel_count;
  uint8_t out_count;        // trailing out parameters
  uint8_t returns_mutable;  // the results are the mutable arguments (in-place, out)
  uint16_t tags;            // OpTag bits
};
enum OpTag : uint16_t {
  kNondeterministicSeeded = 1,
  kViewOp = 2,
  kInplaceOp = 4,
  kOutOp = 8,
  kDataDependent = 16,
  kPointwise = 64,
  kReduction = 128,
  kGeometryOnly = 256  // neither reads nor writes elements of its tensors
};

// A kernel that was registered at run time.
struct Kernel {
  BoxedFunction boxed;  // always set, unless it falls through
  std::string where;    // "file:line" for messages and explain
  bool fallthrough = false;
  // The same without boxing, used where `signature` is the op's own (it is not when another library made it).
  void* unboxed = nullptr;
  const Signature* signature = nullptr;
  bool takes_keys = false;  // the unboxed function's first parameter is the key set
};

// A filled slot of the table: a function's address, of which the highest bits, that no address of a process uses, say
// how it is called.
using Slot = std::atomic<uintptr_t>;
constexpr uintptr_t kBoxedBit = uintptr_t{1} << 63;  // the address of a Kernel instead
constexpr uintptr_t kLayerBit = uintptr_t{1} << 62;  // a function whose first parameter is the key set
constexpr uintptr_t kSlotBits = kBoxedBit | kLayerBit;
constexpr uintptr_t kPass = kSlotBits;  // no function: the call goes on to the next functionality

// Slots that exist only for registration: they stand for many, and each yields to a kernel of a more exact slot.
enum AliasSlot : int {
  kCompositeExplicitSlot = kSlots,  // every backend; the derivative is its own
  kCompositeImplicitSlot,           // every backend and autograd: made of other ops
  kAutogradSlot,                    // autograd of every backend
  kRegistrationSlots
};

class TAEDA_API Op {
 public:
  constexpr explicit Op(const OpInfo& info) : info_(&info) {}
  const OpInfo& info() const { return *info_; }
  std::string qualified_name() const;   // aten::add.Tensor
  std::string_view plain_name() const;  // add

  // Functionalities that let every call of this op pass, so that a call need not look at them.
  KeySet skipped() const { return KeySet(skipped_.load(std::memory_order_relaxed)); }
  // 0 when the slot has not been resolved yet.
  uintptr_t slot(int index) const {
    const Slot* table = slots_.load(std::memory_order_acquire);
    return table ? table[index].load(std::memory_order_acquire) : 0;
  }
  // Finds what serves the key set and fills the slot; NotImplementedError that lists what there is otherwise.
  // Kernels that fall through are skipped; `keys` comes back without them.
  uintptr_t resolve(KeySet& keys) const;

  void call_boxed(Stack& stack) const;  // dispatches on the arguments
  void call_boxed(KeySet keys, Stack& stack) const;
  void call_boxed(uintptr_t slot, KeySet keys, Stack& stack) const;  // what `resolve` found
  KeySet keys_of_arguments(const Stack& stack) const;

  // Registration (taeda/dispatch/library.h): replaces the kernel of a slot or alias slot; null takes it away.
  void set_kernel(int slot_index, std::shared_ptr<Kernel> kernel) const;
  std::shared_ptr<Kernel> kernel_at(int slot_index) const;  // only what was registered at run time
  void forget_slots() const;

 private:
  uintptr_t fill(int index) const;
  void make_table() const;
  [[noreturn]] void no_kernel(KeySet keys) const;

  const OpInfo* info_;
  mutable std::atomic<Slot*> slots_{nullptr};
  mutable std::atomic<uint64_t> skipped_{0};
};

// After an unboxed in-place or out kernel has run: leaves the mutable arguments as the results.
TAEDA_API void keep_mutable_arguments(const Op& op, Stack& stack);
// Whether its C++ function returns nothing.
inline bool returns_void(const OpInfo& info) { return info.returns_mutable || info.return_count == 0; }

// --- the table of all ops
TAEDA_API const Op* find_op(std::string_view name, std::string_view overload);  // null if unknown
TAEDA_API std::vector<const Op*> ops_named(std::string_view name);              // all overloads, in declaration order
TAEDA_API std::vector<const Op*> all_ops();

// Generated families announce themselves; nothing is copied.
struct OpFamily {
  const char* name;
  const Op* ops;
  size_t count;
  const OpFamily* next;
};
TAEDA_API void add_family(OpFamily* family);
// Ops that are defined at run time. They are never freed, as others may hold them; a removed one is not found any more.
TAEDA_API void add_op(const Op* op);  // RuntimeError if the name is taken
TAEDA_API void remove_op(const Op* op);

// What an op does about lazily conjugated or negated tensors, unless that is a matter of its parts or of geometry. It
// calls other ops, so it is defined where layers are (autograd/lazy.cpp).
TAEDA_API extern const Kernel lazy_kernel;

// Runs instead of an absent kernel for a whole (functionality, backend), e.g. a device's CPU fallback.
TAEDA_API void set_fallback(int slot_index, std::shared_ptr<Kernel> kernel);
TAEDA_API std::shared_ptr<Kernel> fallback_at(int slot_index);

// Called on every dispatch while a recorder is set (explain_calls); null otherwise.
struct CallRecorder {
  virtual ~CallRecorder() = default;
  virtual void hop(const Op& op, KeySet keys, int slot_index) = 0;
};
TAEDA_API void set_recorder(CallRecorder* recorder);  // of this thread

}  // namespace taeda
