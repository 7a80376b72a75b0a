// C++ values as the 64 bits of the stable interface, and back: torch::stable::detail::from and to.
#pragma once
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <torch/csrc/stable/generator.h>
#include <torch/csrc/stable/tensor.h>

namespace torch::stable::detail {

template <class T>
StableIValue from(const T& value);
template <class T>
T to(StableIValue value);

template <class T>
struct Is {  // which containers a type is
  static constexpr bool optional = false, list = false;
};
template <class T>
struct Is<std::optional<T>> {
  static constexpr bool optional = true, list = false;
};
template <class T>
struct Is<std::vector<T>> {
  static constexpr bool optional = false, list = true;
};
template <class T>
struct Is<headeronly::HeaderOnlyArrayRef<T>> {
  static constexpr bool optional = false, list = true;
};
template <class T>
constexpr bool is_enum = std::is_enum_v<T>;

// Numbers, truths and pointers as they are.
template <class T>
StableIValue bits(T value) {
  static_assert(sizeof(T) <= sizeof(StableIValue) && std::is_trivially_copyable_v<T>,
                "the stable interface has no place for a value of this type");
  StableIValue made = 0;
  std::memcpy(&made, &value, sizeof(T));
  return made;
}
template <class T>
T from_bits(StableIValue value) {
  static_assert(sizeof(T) <= sizeof(StableIValue) && std::is_trivially_copyable_v<T>,
                "the stable interface has no place for a value of this type");
  T made;
  std::memcpy(&made, &value, sizeof(T));
  return made;
}

// Boxes of optionals come from the library where it has a function for it, and from `new` before that.
inline StableIValue* new_box(StableIValue content) {
#if TORCH_FEATURE_VERSION >= TORCH_VERSION_2_13_0
  StableIValue* box = nullptr;
  STABLE_TORCH_ERROR_CODE_CHECK(torch_new_stable_ivalue(&box));
  *box = content;
  return box;
#else
  return new StableIValue(content);
#endif
}
inline void delete_box(StableIValue* box) {
#if TORCH_FEATURE_VERSION >= TORCH_VERSION_2_13_0
  torch_delete_stable_ivalue(box);
#else
  delete box;
#endif
}

#if TORCH_FEATURE_VERSION >= TORCH_VERSION_2_10_0
struct OwnedList {
  StableListHandle handle = nullptr;
  ~OwnedList() {
    if (handle) torch_delete_list(handle);
  }
};

template <class Items>
StableIValue from_list(const Items& items) {
  OwnedList list;
  STABLE_TORCH_ERROR_CODE_CHECK(torch_new_list_reserve_size(items.size(), &list.handle));
  for (const auto& item : items) STABLE_TORCH_ERROR_CODE_CHECK(torch_list_push_back(list.handle, from(item)));
  return bits(std::exchange(list.handle, nullptr));
}
template <class T>
std::vector<T> to_list(StableIValue value) {
  OwnedList list{from_bits<StableListHandle>(value)};
  size_t size = 0;
  STABLE_TORCH_ERROR_CODE_CHECK(torch_list_size(list.handle, &size));
  std::vector<T> items;
  items.reserve(size);
  for (size_t i = 0; i < size; ++i) {
    StableIValue item = 0;
    STABLE_TORCH_ERROR_CODE_CHECK(torch_list_get_item(list.handle, i, &item));
    items.push_back(to<T>(item));
  }
  return items;
}

inline StableIValue from_text(const std::string& text) {
  StringHandle handle = nullptr;
  STABLE_TORCH_ERROR_CODE_CHECK(torch_new_string_handle(text.data(), text.size(), &handle));
  return bits(handle);
}
inline std::string to_text(StableIValue value) {
  auto handle = from_bits<StringHandle>(value);
  size_t size = 0;
  const char* data = nullptr;
  STABLE_TORCH_ERROR_CODE_CHECK(torch_string_length(handle, &size));
  STABLE_TORCH_ERROR_CODE_CHECK(torch_string_c_str(handle, &data));
  std::string text(data, size);
  torch_delete_string(handle);
  return text;
}
#endif

template <class T>
StableIValue from(const T& value) {
  if constexpr (std::is_same_v<T, Tensor>) {
    AtenTensorHandle handle = nullptr;
    STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_new_tensor_handle(value.get(), &handle));
    return bits(handle);
  } else if constexpr (std::is_same_v<T, std::nullopt_t> || std::is_same_v<T, std::nullptr_t>) {
    return 0;
  } else if constexpr (Is<T>::optional) {
    return value ? bits(new_box(from(*value))) : 0;
  } else if constexpr (is_enum<T>) {
    return bits(number_of(value));
#if TORCH_FEATURE_VERSION >= TORCH_VERSION_2_10_0
  } else if constexpr (std::is_same_v<T, Device>) {
    return static_cast<StableIValue>(static_cast<uint32_t>(number_of(value.type()))) << 32 |
           static_cast<uint32_t>(value.index());
  } else if constexpr (std::is_convertible_v<const T&, std::string>) {
    return from_text(value);
  } else if constexpr (Is<T>::list) {
    return from_list(value);
#endif
#if TORCH_FEATURE_VERSION >= TORCH_VERSION_2_13_0
  } else if constexpr (std::is_same_v<T, Generator>) {
    AtenGeneratorHandle handle = nullptr;
    STABLE_TORCH_ERROR_CODE_CHECK(torch_new_generator_handle(value.get(), &handle));
    return bits(handle);
#endif
  } else {
    return bits(value);
  }
}

template <class T>
T to(StableIValue value) {
  if constexpr (std::is_same_v<T, Tensor>) {
    return Tensor(from_bits<AtenTensorHandle>(value));
  } else if constexpr (std::is_same_v<T, std::nullopt_t>) {
    return std::nullopt;
  } else if constexpr (Is<T>::optional) {
    auto* box = from_bits<StableIValue*>(value);
    if (!box) return std::nullopt;
    const StableIValue content = *box;
    delete_box(box);
    return to<typename T::value_type>(content);
  } else if constexpr (is_enum<T>) {
    return enum_numbered<T>(from_bits<int32_t>(value));
#if TORCH_FEATURE_VERSION >= TORCH_VERSION_2_10_0
  } else if constexpr (std::is_same_v<T, Device>) {
    return Device(enum_numbered<DeviceType>(static_cast<int32_t>(value >> 32)), static_cast<int32_t>(value));
  } else if constexpr (std::is_same_v<T, std::string>) {
    return to_text(value);
  } else if constexpr (Is<T>::list) {
    return to_list<typename T::value_type>(value);
#endif
#if TORCH_FEATURE_VERSION >= TORCH_VERSION_2_13_0
  } else if constexpr (std::is_same_v<T, Generator>) {
    return Generator(from_bits<AtenGeneratorHandle>(value));
#endif
  } else {
    return from_bits<T>(value);
  }
}

}  // namespace torch::stable::detail
