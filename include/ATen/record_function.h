// RECORD_FUNCTION("name", inputs): a scope that the profiler shows.
#pragma once
#include <ATen/core/ivalue.h>

namespace at {

enum class RecordScope : uint8_t { FUNCTION, BACKWARD_FUNCTION, TORCHSCRIPT_FUNCTION, USER_SCOPE };

class TORCH_API RecordFunction {
 public:
  explicit RecordFunction(std::string name);
  ~RecordFunction();
  RecordFunction(const RecordFunction&) = delete;

 private:
  uint64_t event_;
};

}  // namespace at

#define RECORD_FUNCTION(name, ...) ::at::RecordFunction C10_CONCATENATE(taeda_record_, __LINE__)(name)
#define RECORD_USER_SCOPE(name) RECORD_FUNCTION(name, )
#define RECORD_FUNCTION_WITH_SCOPE(scope, name, ...) RECORD_FUNCTION(name, )
