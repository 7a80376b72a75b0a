// What a shape rule answers: the geometry of results, or of a view.
#pragma once
#include <array>
#include <initializer_list>

#include "taeda/core/tensor.h"

namespace taeda::shape {

// A short list of sizes that needs no heap up to eight dimensions.
class Dims {
 public:
  Dims() = default;
  Dims(IntList values) { assign(values); }
  Dims(std::initializer_list<int64_t> values) { assign({values.begin(), values.size()}); }
  Dims(const std::vector<int64_t>& values) { assign(values); }
  Dims(const Dims& other) { assign(other); }
  Dims(Dims&& other) noexcept = default;
  Dims& operator=(const Dims& other) {
    if (this != &other) assign(other);
    return *this;
  }
  Dims& operator=(Dims&& other) noexcept = default;

  void assign(IntList values) {
    if (values.size() > kInline || !heap_.empty()) [[unlikely]]
      return assign_many(values);
    size_ = 0;
    for (int64_t v : values) inline_[size_++] = v;
  }
  void push_back(int64_t value) {
    if (size_ == kInline || !heap_.empty()) [[unlikely]]
      return push_many(value);
    inline_[size_++] = value;
  }
  void insert(size_t position, int64_t value) {
    push_back(value);
    for (size_t i = size_ - 1; i > position; --i) std::swap((*this)[i], (*this)[i - 1]);
  }
  void erase(size_t position) {
    for (size_t i = position; i + 1 < size_; ++i) (*this)[i] = (*this)[i + 1];
    if (!heap_.empty()) heap_.pop_back();
    --size_;
  }
  int64_t* data() { return heap_.empty() ? inline_.data() : heap_.data(); }
  const int64_t* data() const { return heap_.empty() ? inline_.data() : heap_.data(); }
  int64_t& operator[](size_t i) { return data()[i]; }
  int64_t operator[](size_t i) const { return data()[i]; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int64_t* begin() { return data(); }
  int64_t* end() { return data() + size_; }
  const int64_t* begin() const { return data(); }
  const int64_t* end() const { return data() + size_; }
  operator IntList() const { return {data(), size_}; }

 private:
  // Apart, so that the usual few dimensions cost a loop of a few instructions wherever rules are compiled.
  TAEDA_API void assign_many(IntList values);
  TAEDA_API void push_many(int64_t value);

  static constexpr size_t kInline = 8;
  size_t size_ = 0;
  std::array<int64_t, kInline> inline_;
  std::vector<int64_t> heap_;
};

// A result: strides are empty for a contiguous one.
struct Spec {
  Dims sizes;
  DType dtype = DType::Undefined;
  Dims strides = {};
  bool flat = false;  // out= of another shape and as many elements keeps its shape
};

// A view of its first argument.
struct View {
  Dims sizes;
  Dims strides;
  int64_t offset;
  DType dtype = DType::Undefined;  // Undefined: the same
  // Given with a dtype: what the view has if its base lacks it, and the other way round. Count: nothing.
  Functionality toggled = Functionality::Count;
  bool is_within = false;  // reaches no element that its base does not: is not checked again

  // Not an aggregate: the compiler would first clear all of one.
  View(IntList sizes, IntList strides, int64_t offset, DType dtype = DType::Undefined)
      : sizes(sizes), strides(strides), offset(offset), dtype(dtype) {}
};
// The geometry of the tensor itself.
struct Same {
  const Tensor& self;
  operator View() const { return {self.sizes(), self.strides(), self.storage_offset()}; }
};

TAEDA_API Tensor make(const Spec& spec, Device device);
std::vector<Tensor> make_all(const std::vector<Spec>& specs, Device device);
Tensor alias(const Tensor& base, const View& view);
Tensor alias(const Tensor& base, const Same& view);
std::vector<Tensor> alias(const Tensor& base, const std::vector<View>& views);
inline Device device_of(const Tensor& t) { return t.defined() ? t.device() : Device(); }
inline Device device_of(TensorList list) { return list.empty() ? Device() : device_of(list[0]); }

// An out= argument about to be filled: resized if need be (with a warning when it was not empty); a temporary stands
// in while its dtype or strides are not what the kernel writes.
class Out {
 public:
  Out(const Tensor& out, const Spec& spec);
  const Tensor& tensor() const { return temporary_.defined() ? temporary_ : out_; }
  void finish();

 private:
  const Tensor& out_;
  Tensor temporary_;
};

void check_floating(const Tensor& t);  // or NotImplementedError
void copy_to_out(const Tensor& result, const Tensor& out, bool checks_dtype = true);
// RuntimeError unless a result of these sizes and dtype may be written into `self`.
void check_inplace_result(const Tensor& self, IntList sizes, DType dtype);
// Resizes out= to `sizes`, warning when that discards elements.
void resize_out(const Tensor& out, IntList sizes);

}  // namespace taeda::shape
