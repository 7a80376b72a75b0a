// oneDNN's objects as values, and the cache of its primitives: making one costs microseconds to milliseconds.
#pragma once
#include <csignal>

#include <memory>
#include <string>
#include <vector>

#include "backend/cpu/libraries/bundled_libraries.h"
#include "backend/cpu/libraries/gemm.h"

namespace taeda::cpu::onednn {

// RuntimeError unless the call succeeded.
void check(dnnl_status_t status);
inline bool ok(dnnl_status_t status) { return status == dnnl_success; }
dnnl_engine_t engine();
dnnl_data_type_t data_type(DType dtype);
// Whether this machine multiplies the half type natively; if not, float stands in for it. Of 8-bit integers: whether
// sums of their products are exact, which they are not before VNNI.
bool has_native(DType dtype);

// For its lifetime, oneDNN uses this many threads when called from this one.
class Threads {
 public:
  explicit Threads(int count);
  ~Threads();

 private:
  int saved_;
};

// For its lifetime, signal handlers do not run on this thread. oneDNN's products let the stack pointer lead into a
// buffer of the heap, so that the frame of a handler would overwrite what lies before the buffer.
class HandlersWait {
 public:
  HandlersWait();
  ~HandlersWait();

 private:
  sigset_t saved_;
};

class MemoryDesc {
 public:
  MemoryDesc() = default;
  MemoryDesc(DType dtype, IntList sizes, IntList strides);
  static MemoryDesc any(DType dtype, IntList sizes) {  // the primitive chooses the layout
    return tagged(dtype, sizes, dnnl_format_tag_any);
  }
  static MemoryDesc tagged(DType dtype, IntList sizes, dnnl_format_tag_t tag);
  static MemoryDesc copy_of(const_dnnl_memory_desc_t desc);
  MemoryDesc(MemoryDesc&& other) noexcept : desc_(std::exchange(other.desc_, nullptr)) {}
  MemoryDesc& operator=(MemoryDesc&& other) noexcept {
    std::swap(desc_, other.desc_);
    return *this;
  }
  ~MemoryDesc();
  dnnl_memory_desc_t get() const { return desc_; }
  size_t bytes() const { return desc_ ? dnnl().memory_desc_get_size(desc_) : 0; }
  bool operator==(const MemoryDesc& other) const { return dnnl().memory_desc_equal(desc_, other.desc_); }

 private:
  dnnl_memory_desc_t desc_ = nullptr;
};

struct MemoryArgument {
  int name;  // DNNL_ARG_...
  void* data;
  const MemoryDesc* desc;
};

// A primitive with the layouts that it settled on. Threads may share it: what an execution needs is made for each run.
class Primitive {
 public:
  explicit Primitive(dnnl_primitive_desc_t desc);  // takes the descriptor
  Primitive(Primitive&& other) noexcept;
  Primitive& operator=(Primitive&&) = delete;
  ~Primitive();
  MemoryDesc argument(int name) const;
  // The same names and descriptors in every run.
  void run(std::span<const MemoryArgument> arguments) const;

 private:
  class Bindings;
  class Spare;
  dnnl_primitive_desc_t desc_;
  dnnl_primitive_t primitive_ = nullptr;
  MemoryDesc scratch_;
  std::unique_ptr<Spare> spare_;
};

// A primitive as an op calls it: with the caller's layouts, reordered to and from the primitive's own.
class Operation {
 public:
  struct Operand {
    int name;
    MemoryDesc given;  // the caller's layout
    bool is_result;
  };
  Operation(Primitive primitive, std::vector<Operand> operands);
  bool wants(size_t operand, const MemoryDesc& layout) const { return slots_[operand].wanted == layout; }
  // Whether what this one settled serves the other, too.
  bool settled_like(const Operation& other, size_t operand) const {
    return slots_[operand].reorder && slots_[operand].wanted == other.slots_[operand].wanted;
  }
  // Of that operand in the primitive's own layout.
  int64_t bytes(size_t operand) const { return static_cast<int64_t>(slots_[operand].wanted.bytes()); }
  // An input in the primitive's own layout, for calls that share it; undefined where it is in that layout already.
  Tensor settle(size_t operand, void* data) const;
  // Memory for a result in the primitive's own layout, for calls that sum it up; and that into the caller's layout.
  Tensor place(size_t operand) const;
  void deliver(size_t operand, const Tensor& placed, void* data) const;
  // `data` in the order of the operands, of which one may be settled or placed.
  void run(std::span<void* const> data, int settled = -1) const;

 private:
  struct Slot {
    int name;
    bool is_result;
    MemoryDesc given, wanted;
    std::unique_ptr<Primitive> reorder;  // null where the layouts agree
  };
  Primitive primitive_;
  std::vector<Slot> slots_;
};

// Attributes of all primitives here: scratch memory is the caller's.
class Attributes {
 public:
  Attributes();
  ~Attributes();
  const_dnnl_primitive_attr_t get() const { return attr_; }

 private:
  dnnl_primitive_attr_t attr_ = nullptr;
};

// --- the cache: least recently used operations give way
class Key {
 public:
  Key() { bytes_.reserve(512); }  // a 2-d convolution's
  Key& add(int64_t value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Key& add(IntList values) {
    add(static_cast<int64_t>(values.size()));
    for (int64_t v : values) add(v);
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

using Maker = std::shared_ptr<Operation> (*)(const void* context);
std::shared_ptr<Operation> cached(const Key& key, Maker make, const void* context);
template <class F>
std::shared_ptr<Operation> cached(const Key& key, const F& make) {
  return cached(key, [](const void* f) { return (*static_cast<const F*>(f))(); }, &make);
}

// A gemm of a half type.
void half_gemm(const Gemm& g);

}  // namespace taeda::cpu::onednn
