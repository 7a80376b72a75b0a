// What a backend answers to what it does not override.
#include <torch/csrc/distributed/c10d/Backend.hpp>

#include <atomic>
#include <cstdlib>

namespace c10d {

namespace {
std::atomic<int> g_debug_level{-1};  // before anyone asks
}

void setDebugLevel(DebugLevel level) { g_debug_level = static_cast<int>(level); }
void setDebugLevelFromEnvironment() {
  const char* given = std::getenv("TORCH_DISTRIBUTED_DEBUG");
  std::string word = given ? given : "OFF";
  for (char& letter : word) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  TORCH_CHECK(word == "OFF" || word == "INFO" || word == "DETAIL",
              "TORCH_DISTRIBUTED_DEBUG: OFF, INFO or DETAIL is wanted; got ", word);
  setDebugLevel(word == "OFF" ? DebugLevel::Off : word == "INFO" ? DebugLevel::Info : DebugLevel::Detail);
}
DebugLevel debug_level() noexcept {
  if (g_debug_level < 0) try {
      setDebugLevelFromEnvironment();
    } catch (const std::exception& error) {
      TORCH_WARN(error.what());
      setDebugLevel(DebugLevel::Off);
    }
  return static_cast<DebugLevel>(g_debug_level.load());
}

void Backend::absent(const char* what) const {
  TORCH_CHECK(false, "c10d: the backend '", getBackendName(), "' has no ", what);
}

#define TAEDA_ABSENT(R, name, ...) \
  R Backend::name(__VA_ARGS__) { absent(#name); }
TAEDA_ABSENT(c10::intrusive_ptr<Backend::Options>, getBackendOptions)
TAEDA_ABSENT(void, startCoalescing)
TAEDA_ABSENT(Backend::WorkPtr, endCoalescing)
TAEDA_ABSENT(c10::intrusive_ptr<Backend>, split, const c10::intrusive_ptr<Store>&, const std::vector<int>&,
             const c10::intrusive_ptr<Options>&)
TAEDA_ABSENT(c10::intrusive_ptr<Backend>, merge, const c10::intrusive_ptr<Store>&, const c10::intrusive_ptr<Options>&,
             const int&, const int&)
TAEDA_ABSENT(c10::intrusive_ptr<Backend>, shrink, const std::vector<int64_t>&, int, const c10::intrusive_ptr<Options>&)
TAEDA_ABSENT(void, setTimeout, std::chrono::milliseconds)
TAEDA_ABSENT(void, setSequenceNumberForGroup)
TAEDA_ABSENT(uint64_t, getSequenceNumberForGroup)
TAEDA_ABSENT(void, registerOnCompletionHook, std::function<void(std::shared_ptr<WorkInfo>)>&&)
TAEDA_ABSENT(void, waitForPendingWorks)
TAEDA_ABSENT(void, enableCollectivesTiming)
TAEDA_ABSENT(ErrorType, getError)
TAEDA_ABSENT(std::shared_ptr<c10::Allocator>, getMemAllocator)
TAEDA_ABSENT(at::Tensor, allocateTensor, long, at::TensorOptions)
#undef TAEDA_ABSENT

}  // namespace c10d
