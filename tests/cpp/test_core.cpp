#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "taeda/core/fork.h"
#include "taeda/core/tensor.h"
#include "test_main.h"

using namespace taeda;

namespace {
using Sizes = std::vector<int64_t>;
bool same(IntList a, const Sizes& b) { return Sizes(a.begin(), a.end()) == b; }
Tensor floats(const Sizes& sizes) { return new_tensor(sizes, DType::Float32); }
constexpr Device kCpu{};

struct Limit {  // also leaves no idle blocks behind
  explicit Limit(uint64_t bytes) { cpu_set_memory_limit(bytes); }
  ~Limit() { cpu_set_memory_limit(0); }
};
}  // namespace

TEST(allocator_aligns_and_reuses_every_size) {
  for (size_t bytes = 1; bytes < (size_t{8} << 20); bytes = bytes * 5 / 4 + 1) {
    void* first;
    {
      DataPtr block = allocator(DeviceType::CPU).allocate(bytes, kCpu);
      first = block.get();
      CHECK(reinterpret_cast<uintptr_t>(first) % kAlignment == 0);
      std::memset(first, 0, bytes);
    }
    DataPtr again = allocator(DeviceType::CPU).allocate(bytes, kCpu);
    CHECK(again.get() == first);
    std::memset(first, 1, bytes);
    DataPtr other = allocator(DeviceType::CPU).allocate(bytes, kCpu);
    CHECK(other.get() != first);
    std::memset(other.get(), 2, bytes);
    CHECK(static_cast<char*>(first)[bytes - 1] == 1);
  }
}

TEST(allocator_counts) {
  cpu_empty_cache();
  cpu_reset_peak();
  MemoryStats before = cpu_memory_stats();
  {
    Tensor t = floats({1 << 20});
    MemoryStats during = cpu_memory_stats();
    CHECK(during.allocated - before.allocated >= size_t{4} << 20);
    CHECK(during.allocations > before.allocations);
  }
  MemoryStats after = cpu_memory_stats();
  CHECK(after.allocated == before.allocated);
  CHECK(after.cached >= size_t{4} << 20);
  CHECK(after.peak_allocated >= before.allocated + (size_t{4} << 20));
  cpu_empty_cache();
  CHECK(cpu_memory_stats().cached == 0);
}

TEST(allocator_bounds_what_it_keeps) {
  cpu_empty_cache();
  cpu_reset_peak();
  uint64_t start = cpu_memory_stats().peak_allocated;
  for (int64_t mib = 1; mib <= 256; mib += 5) floats({mib << 18});
  MemoryStats stats = cpu_memory_stats();
  CHECK(stats.cached <= stats.peak_allocated * 5 / 4 + (size_t{64} << 20) - start);
  cpu_empty_cache();
  cpu_reset_peak();
}

TEST(allocator_limit_and_absurd_sizes) {
  cpu_empty_cache();
  Limit limit(cpu_memory_stats().allocated + (size_t{16} << 20));
  Tensor kept = floats({1 << 20});
  CHECK_ERROR(floats({8 << 20}), Runtime, "the limit");
  floats({2 << 20});  // idle blocks are given back before the limit says no
  floats({2500000});
  CHECK_ERROR(floats({int64_t{1} << 50}), Runtime, "a size must be wrong");
  CHECK_ERROR(new_storage(SIZE_MAX, kCpu), Runtime, "Free tensors");
}

TEST(allocator_of_empty_and_meta) {
  CHECK(floats({0, 3}).data() == nullptr);
  Tensor meta = new_tensor(Sizes{1 << 20, 1 << 20}, DType::Float64, {DeviceType::Meta});
  CHECK(meta.data() == nullptr);
  CHECK(meta->storage()->nbytes() == size_t{8} << 40);
  CHECK(meta->storage()->device().type == DeviceType::Meta);
  CHECK_ERROR(new_tensor(Sizes{1}, DType::Bool, {DeviceType::PrivateUse3}), NotImplemented, "no allocator");
}

TEST(blocks_cross_threads) {
  uint64_t before = cpu_memory_stats().allocated;
  std::vector<Tensor> made;
  std::thread([&] {
    for (int i = 0; i < 3000; ++i) made.push_back(floats({i % 500 + 1}));
  }).join();
  std::thread([&] { made.clear(); }).join();
  CHECK(cpu_memory_stats().allocated == before);
}

TEST(threads_allocate_at_once) {
  uint64_t before = cpu_memory_stats().allocated;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      std::vector<Tensor> kept(64);
      for (int i = 0; i < 4000; ++i) {
        Tensor fresh = floats({(i * 7919 + t) % 40000 + 1});
        fresh.data<float>()[0] = static_cast<float>(i);
        kept[i % 64] = fresh;
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(cpu_memory_stats().allocated == before);
}

TEST(fork_finds_locks_free) {
  static Mutex mutex;
  static int child_calls = 0;
  at_fork({.child = [] { ++child_calls; }});
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) {
      Lock lock(mutex);
      floats({100000});
    }
  });
  for (int i = 0; i < 5; ++i) {
    pid_t pid = fork();
    if (pid == 0) {
      alarm(20);
      {
        Lock lock(mutex);
      }
      floats({200000});
      floats({20});
      _exit(child_calls == 1 ? 0 : 1);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  stop = true;
  busy.join();
}

TEST(storage_resizes) {
  Storage storage = new_storage(8, kCpu);
  std::memcpy(storage->data(), "abcdefg", 8);
  storage->resize(1 << 20);
  CHECK(std::strcmp(static_cast<char*>(storage->data()), "abcdefg") == 0);
  storage->resize(3);
  CHECK(storage->nbytes() == 3 && std::memcmp(storage->data(), "abc", 3) == 0);
  static char foreign[4];
  Storage fixed = make_ref<StorageImpl>(DataPtr(foreign, nullptr, nullptr, kCpu), 4, false);
  CHECK_ERROR(fixed->resize(8), Runtime, "came from elsewhere");
}

TEST(geometry) {
  Tensor t = floats({2, 3, 4});
  CHECK(same(t.strides(), {12, 4, 1}) && t.is_contiguous() && t.numel() == 24);
  CHECK(t.size(-1) == 4 && t.stride(0) == 12);
  CHECK_ERROR(t.size(3), Index, "dimension 3");
  CHECK_ERROR(floats({}).size(0), Index, "0-dimensional");
  CHECK(wrap_dim(-1, 0) == 0 && wrap_dim(0, 0) == 0);
  CHECK_ERROR(wrap_dim(1, 0), Index, "out of range");
  CHECK_ERROR(floats({2, -1}), Runtime, "negative");
  CHECK_ERROR(floats({int64_t{1} << 62, 4}), Runtime, "64 bits");
  CHECK_ERROR(floats({int64_t{1} << 61}), Runtime, "bytes");
  CHECK_ERROR(floats({0, int64_t{1} << 62, 4}), Runtime, "strides");
  CHECK_ERROR(floats(Sizes(65, 0)), Runtime, "at most 64");
  CHECK_ERROR(floats(Sizes(65, 2)), Runtime, "64 bits");
  CHECK(floats(Sizes(64, 1)).dim() == 64 && floats(Sizes(65, 1)).dim() == 65);
  Tensor deep = floats({1, 2, 1, 2, 1, 2, 1});
  deep->set_contiguous(deep.sizes());
  deep->set_geometry(deep.strides(), deep.sizes(), 0);
  CHECK(same(deep.sizes(), {8, 4, 4, 2, 2, 1, 1}) && same(deep.strides(), {1, 2, 1, 2, 1, 2, 1}));
}

TEST(memory_formats_match_the_field) {
  struct Row {
    Sizes sizes, strides;
    bool plain, last;
  };
  // Recorded from torch.empty(sizes, memory_format=torch.channels_last).
  const Row rows[] = {{{2, 0, 3, 4}, {0, 1, 0, 0}, true, true},   {{0, 3, 4, 5}, {60, 1, 15, 3}, true, true},
                      {{2, 3, 0, 5}, {0, 1, 15, 3}, true, true},  {{1, 1, 1, 1}, {1, 1, 1, 1}, true, true},
                      {{2, 1, 3, 3}, {9, 1, 3, 1}, true, true},   {{2, 3, 1, 1}, {3, 1, 3, 3}, true, true},
                      {{2, 3, 4, 5}, {60, 1, 15, 3}, false, true}};
  for (const Row& row : rows) {
    CHECK(contiguous_strides(row.sizes, MemoryFormat::ChannelsLast) == row.strides);
    Tensor t = new_tensor_strided(row.sizes, row.strides, DType::Float32);
    CHECK(t.is_contiguous() == row.plain);
    CHECK(t.is_contiguous(MemoryFormat::ChannelsLast) == row.last);
    CHECK(t->is_non_overlapping_and_dense());
  }
  CHECK(!floats({2, 0, 3, 4}).is_contiguous(MemoryFormat::ChannelsLast));
  CHECK(!floats({3, 4, 5}).is_contiguous(MemoryFormat::ChannelsLast));
  CHECK_ERROR(contiguous_strides(Sizes{2, 3, 4}, MemoryFormat::ChannelsLast), Runtime, "channels_last");
  CHECK((contiguous_strides(Sizes{2, 3, 4, 5, 6}, MemoryFormat::ChannelsLast3d) == Sizes{360, 1, 90, 18, 3}));
  CHECK(!new_tensor_strided(Sizes{3}, Sizes{2}, DType::Float32)->is_non_overlapping_and_dense());
  CHECK(!new_tensor_strided(Sizes{3, 3}, Sizes{1, 0}, DType::Float32)->is_non_overlapping_and_dense());
}

TEST(aliases_stay_inside) {
  Tensor t = floats({4});
  CHECK(new_alias(t, Sizes{2, 2}, Sizes{1, 2}, 0)->storage() == t->storage());
  CHECK(new_alias(t, Sizes{1}, Sizes{1}, 3).data<float>() == t.data<float>() + 3);
  CHECK(new_alias(t, Sizes{0}, Sizes{1}, 9).numel() == 0);
  CHECK_ERROR(new_alias(t, Sizes{5}, Sizes{1}, 0), Runtime, "20 bytes into a storage of 16");
  CHECK_ERROR(new_alias(t, Sizes{2}, Sizes{-1}, 1), Runtime, "strides cannot be negative");
  CHECK_ERROR(new_alias(t, Sizes{2}, Sizes{1}, -1), Runtime, "offset");
  CHECK_ERROR(new_alias(t, Sizes{3}, Sizes{INT64_MAX / 2}, 0), Runtime, "bytes");
  CHECK_ERROR(new_alias(t, Sizes{4}, Sizes{INT64_MAX / 2}, 0), Runtime, "64 bits");
  CHECK_ERROR(from_storage(t->storage(), DType::Float64, Sizes{3}, Sizes{1}, 0), Runtime, "24 bytes");
}

TEST(resize_in_place_grows_and_keeps) {
  Tensor t = floats({2});
  t.data<float>()[1] = 7;
  resize_in_place(t, Sizes{3, 4});
  CHECK(same(t.sizes(), {3, 4}) && t.data<float>()[1] == 7 && t->storage()->nbytes() == 48);
  resize_in_place(t, Sizes{1});
  CHECK(t->storage()->nbytes() == 48);
}

TEST(versions_are_shared_once) {
  Tensor t = floats({1}), view = new_alias(t, Sizes{1}, Sizes{1}, 0);
  t->bump_version();
  view->share_versions_of(*t.impl());
  view->bump_version();
  CHECK(t->version() == 2 && view->version() == 2);
  view->set_versions(make_ref<VersionCounter>());
  CHECK(t->version() == 2 && view->version() == 0);
}

TEST(copies_of_the_handle) {
  Tensor t = floats({2, 3}), copy(t->shallow_copy());
  CHECK(copy->storage() == t->storage() && same(copy.sizes(), {2, 3}) && !copy.is(t));
  Tensor ints = new_tensor(Sizes{5}, DType::Int64);
  copy->take_data_of(*ints.impl());
  CHECK(copy.dtype() == DType::Int64 && copy.numel() == 5 && copy->storage() == ints->storage());
}

namespace {
Tensor g_rescued;
int g_deaths = 0;
}  // namespace

TEST(python_owned_tensors_can_be_rescued) {
  python_hooks.tensor_died = [](TensorImpl* impl) {
    {
      Tensor passing{Ref<TensorImpl>(impl)};
    }
    impl->owns_python_object = false;
    if (++g_deaths == 1) g_rescued = Tensor(Ref<TensorImpl>(impl));
  };
  Tensor t = floats({3});
  t->owns_python_object = true;
  t.reset();
  CHECK(g_deaths == 1 && g_rescued.defined() && g_rescued.numel() == 3);
  g_rescued->owns_python_object = true;
  g_rescued.reset();
  CHECK(g_deaths == 2);
  python_hooks.tensor_died = nullptr;
}

TEST(inference_mode_drops_autograd_keys) {
  Scoped inference(t_state.inference_mode, true);
  Tensor t = floats({1});
  CHECK(t->is_inference());
  CHECK(new_alias(t, Sizes{1}, Sizes{1}, 0)->is_inference());
}
