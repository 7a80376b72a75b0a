// What backends check and compute of their arguments. `Fail` is what is done with the complaint: it should throw.
#pragma once
#include <ATen/ATen.h>
#include <c10/util/accumulate.h>

#include <cstdlib>

namespace c10d {

using Fail = std::function<void(const std::string&)>;
using RankType = uint32_t;
using SizeType = uint64_t;

inline size_t getTensorsNumel(const std::vector<at::Tensor>& tensors) {
  size_t count = 0;
  for (const at::Tensor& tensor : tensors) count += static_cast<size_t>(tensor.numel());
  return count;
}
inline std::string toString(at::IntArrayRef sizes) { return c10::str(sizes); }
inline std::string toString(const c10::Layout& layout) { return c10::str(layout); }

// --- Environment: the first of the variables that is set
inline std::vector<std::string> split(char separator, const std::string& text) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}
inline std::string getCvarString(const std::vector<std::string>& names, const char* otherwise) {
  for (const std::string& name : names)
    if (const char* value = std::getenv(name.c_str())) return value;
  return otherwise;
}
inline int getCvarInt(const std::vector<std::string>& names, int otherwise) {
  const std::string value = getCvarString(names, "");
  try {
    return value.empty() ? otherwise : std::stoi(value);
  } catch (const std::exception&) {
    TORCH_CHECK(false, c10::Join(" or ", names), ": a whole number is wanted; got ", value);
  }
}
inline bool getCvarBool(const std::vector<std::string>& names, bool otherwise) {
  std::string value = getCvarString(names, "");
  for (char& letter : value) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  if (value.empty()) return otherwise;
  if (value == "y" || value == "yes" || value == "1" || value == "t" || value == "true") return true;
  TORCH_CHECK(value == "n" || value == "no" || value == "0" || value == "f" || value == "false",
              c10::Join(" or ", names), ": yes or no is wanted; got ", value);
  return false;
}

// --- Checks of lists of tensors
inline void assertSameType(const at::DeprecatedTypeProperties& type, const std::vector<at::Tensor>& tensors) {
  for (const at::Tensor& tensor : tensors)
    TORCH_CHECK_VALUE(tensor.options().type_equal(type.options()), "tensors of one type are wanted");
}
inline void assertSameSizes(const at::IntArrayRef& sizes, const std::vector<at::Tensor>& tensors) {
  for (const at::Tensor& tensor : tensors)
    TORCH_CHECK_VALUE(tensor.sizes() == sizes, "tensors of the sizes ", sizes, " are wanted; one has ", tensor.sizes());
}
inline void assertSameSizeAndType(const std::vector<at::Tensor>& tensors) {
  TORCH_CHECK_VALUE(!tensors.empty(), "at least one tensor is wanted");
  for (const at::Tensor& tensor : tensors)
    TORCH_CHECK_VALUE(tensor.sizes() == tensors[0].sizes() && tensor.options().type_equal(tensors[0].options()),
                      "tensors of one type and size are wanted");
}
inline void assertTypeMatch(const Fail& fail, const at::TensorOptions& options, at::ArrayRef<at::Tensor> tensors,
                            size_t index) {
  if (!tensors[index].options().type_equal(options)) fail(c10::str("tensor ", index, " is of another type"));
}
inline void assertTypeMatch(const Fail& fail, const at::DeprecatedTypeProperties& type,
                            at::ArrayRef<at::Tensor> tensors, size_t index) {
  assertTypeMatch(fail, type.options(), tensors, index);
}
inline void assertSizesMatch(const Fail& fail, const at::IntArrayRef& sizes, at::ArrayRef<at::Tensor> tensors,
                             size_t index) {
  if (tensors[index].sizes() != sizes)
    fail(c10::str("tensor ", index, ": the sizes ", sizes, " are wanted; got ", tensors[index].sizes()));
}
inline void assertLayoutMatch(const Fail& fail, const c10::Layout& layout, at::ArrayRef<at::Tensor> tensors,
                              size_t index) {
  if (tensors[index].layout() != layout)
    fail(c10::str("tensor ", index, ": the layout ", layout, " is wanted; got ", tensors[index].layout()));
}
inline void assertLayoutMatch(const Fail& fail, at::ArrayRef<at::Tensor> tensors) {
  for (size_t i = 0; i < tensors.size(); ++i) assertLayoutMatch(fail, tensors[0].layout(), tensors, i);
}
inline void assertNonEmpty(const Fail& fail, at::ArrayRef<at::Tensor> tensors) {
  if (tensors.empty()) fail("at least one tensor is wanted");
}
inline void assertSingleElement(const Fail& fail, at::ArrayRef<at::Tensor> tensors) {
  if (tensors.size() != 1) fail(c10::str("one tensor is wanted; got ", tensors.size()));
}
inline void assertSingleElementInput(const Fail& fail, at::ArrayRef<at::Tensor> tensors) {
  if (tensors.size() != 1) fail(c10::str("one input is wanted; got ", tensors.size()));
}
inline void assertSingleElementOutput(const Fail& fail, at::ArrayRef<at::Tensor> tensors) {
  if (tensors.size() != 1) fail(c10::str("one output is wanted; got ", tensors.size()));
}
inline void assertRootRank(const Fail& fail, int64_t rank, int64_t size) {
  if (rank < 0 || rank >= size) fail(c10::str("there is no root ", rank, " among ", size, " processes"));
}
inline void assertRootTensor(const Fail& fail, int64_t index, int64_t size) {
  if (index < 0 || index >= size) fail(c10::str("there is no root tensor ", index, " among ", size));
}
inline void assertGatherOutputTensorList(const Fail& fail, const std::vector<std::vector<at::Tensor>>& outputs,
                                         int64_t size) {
  if (outputs.size() != 1 || static_cast<int64_t>(outputs[0].size()) != size)
    fail(c10::str("outputs: one list of ", size, " tensors is wanted"));
}
inline void assertScatterInputTensorList(const Fail& fail, const std::vector<std::vector<at::Tensor>>& inputs,
                                         int64_t size) {
  if (inputs.size() != 1 || static_cast<int64_t>(inputs[0].size()) != size)
    fail(c10::str("inputs: one list of ", size, " tensors is wanted"));
}
template <class List>
void assertEmptyOutputTensorList(const Fail& fail, const List& outputs) {
  if (!outputs.empty()) fail("outputs: none are wanted but on the root");
}
template <class List>
void assertEmptyInputTensorList(const Fail& fail, const List& inputs) {
  if (!inputs.empty()) fail("inputs: none are wanted but on the root");
}
inline void assertNonEmptyInputTensorList(const Fail& fail, size_t count) {
  if (count == 0) fail("inputs: at least one is wanted");
}
inline void assertInputOutputTensorListsSameSize(const Fail& fail, size_t outputs, size_t inputs) {
  if (outputs != inputs) fail(c10::str("as many outputs as inputs are wanted; got ", outputs, " and ", inputs));
}
inline void assertInputTensorListSizeEqualsWorldSize(const Fail& fail, size_t inputs, int64_t size) {
  if (static_cast<int64_t>(inputs) != size) fail(c10::str("inputs: ", size, " are wanted; got ", inputs));
}
inline void assertAllgatherCoalescedOutputTensorLists(const Fail& fail,
                                                      const std::vector<std::vector<at::Tensor>>& outputs,
                                                      size_t inputs, int64_t size) {
  if (static_cast<int64_t>(outputs.size()) != size) fail(c10::str("outputs: ", size, " lists are wanted"));
  for (const auto& list : outputs)
    if (list.size() != inputs) fail(c10::str("outputs: lists of ", inputs, " tensors are wanted"));
}
inline void assertAllToAllTensorListSizes(const Fail& fail, size_t outputs, size_t inputs, int64_t size) {
  if (static_cast<int64_t>(outputs) != size || static_cast<int64_t>(inputs) != size)
    fail(c10::str(size, " outputs and inputs are wanted; got ", outputs, " and ", inputs));
}
inline void assertDense(const Fail& fail, at::ArrayRef<at::Tensor> tensors) {
  if (!tensors.empty() && tensors[0].layout() != at::kStrided) fail("dense tensors are wanted");
}
inline void assertCPU(const Fail& fail, at::ArrayRef<at::Tensor> tensors) {
  if (!tensors.empty() && !tensors[0].device().is_cpu()) fail("tensors on the CPU are wanted");
}
inline void assertSameDevice(const Fail& fail, at::ArrayRef<at::Tensor> tensors) {
  for (const at::Tensor& tensor : tensors)
    if (tensor.device() != tensors[0].device()) fail("tensors on one device are wanted");
}
inline void assertTypeAndSizesMatch(const Fail& fail, at::ArrayRef<at::Tensor> tensors,
                                    const at::TensorOptions& options, const at::IntArrayRef& sizes) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    assertTypeMatch(fail, options, tensors, i);
    assertSizesMatch(fail, sizes, tensors, i);
  }
}
inline void assertTypeAndSizesMatch(const Fail& fail, at::ArrayRef<at::Tensor> tensors,
                                    const at::DeprecatedTypeProperties& type, const at::IntArrayRef& sizes) {
  assertTypeAndSizesMatch(fail, tensors, type.options(), sizes);
}
inline void assertTypeAndSizesMatch(const Fail& fail, at::ArrayRef<at::Tensor> tensors) {
  if (!tensors.empty()) assertTypeAndSizesMatch(fail, tensors, tensors[0].options(), tensors[0].sizes());
}

// --- Shapes and memory
template <class F, class T>
auto fmap(T& inputs, const F& function) -> std::vector<decltype(function(*inputs.begin()))> {
  std::vector<decltype(function(*inputs.begin()))> results;
  results.reserve(inputs.size());
  for (auto& input : inputs) results.push_back(function(input));
  return results;
}
// All elements one after the other.
inline at::Tensor flattenDenseTensors(at::TensorList tensors) {
  std::vector<at::Tensor> flat;
  for (const at::Tensor& tensor : tensors) flat.push_back(tensor.contiguous().view({-1}));
  return flat.size() == 1 ? flat[0] : at::cat(flat);
}
// Memory for as many tensors like the first.
inline at::Tensor newLikeFlat(std::vector<at::Tensor>& tensors) {
  TORCH_CHECK(!tensors.empty(), "newLikeFlat: at least one tensor is wanted");
  std::vector<int64_t> sizes = tensors[0].sizes().vec();
  sizes.insert(sizes.begin(), static_cast<int64_t>(tensors.size()));
  return at::empty(sizes, tensors[0].options());
}
inline at::Tensor newLikeFlat(std::vector<std::vector<at::Tensor>>& tensors, size_t which) {
  TORCH_CHECK(which < tensors.size(), "newLikeFlat: there is no list ", which);
  return newLikeFlat(tensors[which]);
}
inline std::vector<std::vector<int64_t>> getSizes(const std::vector<at::Tensor>& tensors) {
  return fmap(tensors, [](const at::Tensor& tensor) { return tensor.sizes().vec(); });
}
inline std::vector<int> getDevices(const std::vector<at::Tensor>& tensors) {
  return fmap(tensors, [](const at::Tensor& tensor) { return tensor.is_cpu() ? -1 : int{tensor.device().index()}; });
}
template <class T>
T* getDataPointer(const at::Tensor& tensor) {
  return tensor.data_ptr<T>();
}
template <class T>
std::vector<T*> getDataPointers(const std::vector<at::Tensor>& tensors) {
  return fmap(tensors, [](const at::Tensor& tensor) { return tensor.data_ptr<T>(); });
}
// How many rows go to each process; none given means equal parts.
inline void checkSplitSizes(const std::vector<int64_t>& split_sizes, const at::Tensor& tensor, int group_size) {
  if (split_sizes.empty()) {
    TORCH_CHECK(tensor.size(0) % group_size == 0, "the first dimension (", tensor.size(0),
                ") does not divide equally among ", group_size, " processes");
    return;
  }
  TORCH_CHECK(static_cast<int>(split_sizes.size()) == group_size, group_size, " sizes of parts are wanted; got ",
              split_sizes.size());
  const int64_t rows = c10::sum_integers(split_sizes);
  TORCH_CHECK(rows == tensor.size(0), "the sizes of the parts make ", rows, " rows; the tensor has ", tensor.size(0));
}
// Of each process's part: how many elements, and where it begins; gives their number.
template <class T>
size_t computeLengthsAndOffsets(const std::vector<int64_t>& split_sizes, const at::Tensor& tensor,
                                std::vector<T>* lengths, std::vector<T>* offsets) {
  const size_t parts = lengths->size();
  const int64_t rows = tensor.size(0), row = rows ? tensor.numel() / rows : 1;
  size_t offset = 0;
  for (size_t i = 0; i < parts; ++i) {
    const int64_t own = split_sizes.empty() ? rows / static_cast<int64_t>(parts) : split_sizes[i];
    (*lengths)[i] = static_cast<T>(own * row);
    (*offsets)[i] = static_cast<T>(offset);
    offset += static_cast<size_t>(own * row);
  }
  return offset;
}
template <class T>
size_t computeLengthsAndOffsets(const std::vector<at::Tensor>& tensors, std::vector<T>* lengths,
                                std::vector<T>* offsets) {
  size_t offset = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    (*lengths)[i] = static_cast<T>(tensors[i].numel());
    (*offsets)[i] = static_cast<T>(offset);
    offset += static_cast<size_t>(tensors[i].numel());
  }
  return offset;
}

}  // namespace c10d
