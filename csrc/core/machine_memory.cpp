#include "core/machine_memory.h"

#include <sys/sysinfo.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace taeda {

namespace {

constexpr uint64_t kUnlimited = UINT64_MAX;

// The number in a control file; without one ("max", or no such file), no limit.
uint64_t limit_in(const std::string& path) {
  std::ifstream file(path);
  uint64_t limit;
  return file >> limit ? limit : kUnlimited;
}

uint64_t sum(uint64_t a, uint64_t b) { return a > kUnlimited - b ? kUnlimited : a + b; }

// A group's limit is that of the groups around it, too.
uint64_t limit_of_group(const std::string& root, std::string group, const char* memory, const char* swap,
                        uint64_t all_swap) {
  uint64_t limit = kUnlimited;
  for (;;) {
    std::string folder = root + group + "/";
    limit =
        std::min(limit, sum(limit_in(folder + memory), swap ? std::min(all_swap, limit_in(folder + swap)) : all_swap));
    size_t slash = group.rfind('/');
    if (slash == std::string::npos) return limit;
    group.resize(slash);
  }
}

// Lines of /proc/self/cgroup are "number:controllers:/group", with no controllers in version 2.
uint64_t limit_of_groups(uint64_t all_swap) {
  uint64_t limit = kUnlimited;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    std::string controllers = line.substr(first + 1, second - first - 1), group = line.substr(second + 1);
    while (group.ends_with('/')) group.pop_back();
    if (controllers.empty())
      limit = std::min(limit, limit_of_group("/sys/fs/cgroup", group, "memory.max", "memory.swap.max", all_swap));
    else if (controllers.find("memory") != std::string::npos)
      limit =
          std::min(limit, limit_of_group("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes", nullptr, all_swap));
  }
  return limit;
}

}  // namespace

uint64_t machine_memory() {
  static const uint64_t g_bytes = [] {
    struct sysinfo info{};
    if (sysinfo(&info) != 0) return kUnlimited;
    uint64_t memory = uint64_t{info.totalram} * info.mem_unit, swap = uint64_t{info.totalswap} * info.mem_unit;
    return std::min(memory + swap, limit_of_groups(swap));
  }();
  return g_bytes;
}

}  // namespace taeda
