// Lists, strings, optionals and generators of the stable interface; its loops over threads.
#include <ATen/Parallel.h>

#include "frontend/stable/guarded.h"

using namespace taeda::stable;

namespace {
StableIValue& item_of(StableListHandle handle, size_t index) {
  auto& items = list_of(handle).items;
  TORCH_CHECK_INDEX(index < items.size(), "the list has ", items.size(), " items; it was asked for number ", index);
  return items[index];
}
}  // namespace

extern "C" {

AOTITorchError torch_new_list_reserve_size(size_t size, StableListHandle* ret) {
  return guarded([&] {
    auto list = std::make_unique<StableList>();
    list->items.reserve(size);
    *ret = reinterpret_cast<StableListHandle>(list.release());
  });
}
AOTITorchError torch_list_size(StableListHandle list, size_t* size) {
  return guarded([&] { *size = list_of(list).items.size(); });
}
AOTITorchError torch_list_get_item(StableListHandle list, size_t index, StableIValue* element) {
  return guarded([&] { *element = item_of(list, index); });
}
AOTITorchError torch_list_set_item(StableListHandle list, size_t index, StableIValue element) {
  return guarded([&] { item_of(list, index) = element; });
}
AOTITorchError torch_list_push_back(StableListHandle list, StableIValue element) {
  return guarded([&] { list_of(list).items.push_back(element); });
}
AOTITorchError torch_delete_list(StableListHandle list) {
  return guarded([&] { delete reinterpret_cast<StableList*>(list); });
}

AOTITorchError torch_new_string_handle(const char* data, size_t length, StringHandle* handle) {
  return guarded([&] { *handle = reinterpret_cast<StringHandle>(new std::string(data, length)); });
}
AOTITorchError torch_delete_string(StringHandle handle) {
  return guarded([&] { delete reinterpret_cast<std::string*>(handle); });
}
AOTITorchError torch_string_length(StringHandle handle, size_t* length) {
  return guarded([&] { *length = string_of(handle).size(); });
}
AOTITorchError torch_string_c_str(StringHandle handle, const char** data) {
  return guarded([&] { *data = string_of(handle).c_str(); });
}

AOTITorchError torch_new_stable_ivalue(StableIValue** ret) {
  return guarded([&] { *ret = new StableIValue(0); });
}
AOTITorchError torch_delete_stable_ivalue(StableIValue* value) {
  return guarded([&] { delete value; });
}

AOTITorchError torch_new_generator_handle(AtenGeneratorHandle self, AtenGeneratorHandle* ret) {
  return guarded([&] { *ret = reinterpret_cast<AtenGeneratorHandle>(new at::Generator(generator_of(self))); });
}
AOTITorchError torch_delete_generator(AtenGeneratorHandle generator) {
  return guarded([&] { delete reinterpret_cast<at::Generator*>(generator); });
}
AOTITorchError torch_generator_get_device(AtenGeneratorHandle generator, int32_t* type, int32_t* index) {
  return guarded([&] {
    at::Device device = generator_of(generator).device();
    *type = number_of(device.type());
    *index = device.index();
  });
}

AOTITorchError torch_parallel_for(int64_t begin, int64_t end, int64_t grain, ParallelFunc func, void* context) {
  return guarded(
      [&] { at::parallel_for(begin, end, grain, [&](int64_t from, int64_t to) { func(from, to, context); }); });
}
AOTITorchError torch_get_thread_idx(uint32_t* index) {
  return guarded([&] { *index = static_cast<uint32_t>(at::get_thread_num()); });
}
AOTITorchError torch_get_num_threads(uint32_t* count) {
  return guarded([&] { *count = static_cast<uint32_t>(at::get_num_threads()); });
}
}
