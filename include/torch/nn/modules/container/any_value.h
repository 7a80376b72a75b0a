// A value of any C++ type, as containers of modules hand it from one to the next.
#pragma once
#include <any>
#include <typeinfo>

#include <c10/util/Type.h>
#include <torch/types.h>

namespace torch::nn {

class AnyValue {
 public:
  AnyValue() = default;
  template <class T>
    requires(!std::is_same_v<std::decay_t<T>, AnyValue>)
  explicit AnyValue(T&& value) : content_(std::forward<T>(value)) {}

  // The value if it is of that very type, else null.
  template <class T>
  T* try_get() {
    return std::any_cast<T>(&content_);
  }
  template <class T>
  T get() {
    T* found = try_get<T>();
    TORCH_CHECK(found, "AnyValue: it holds a ", c10::demangle(type_info().name()), "; got a request for ",
                c10::demangle(typeid(T).name()));
    return *found;
  }
  const std::type_info& type_info() const noexcept { return content_.type(); }

 private:
  std::any content_;
};

}  // namespace torch::nn
