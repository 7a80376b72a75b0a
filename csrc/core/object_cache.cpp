#include "core/object_cache.h"

namespace taeda {

namespace {

struct ThreadLists {
  static constexpr int kMax = 24;
  ObjectList* lists[kMax] = {};
  int count = 0;
  bool finished = false;
  ~ThreadLists() {
    finished = true;
    for (int i = 0; i < count; ++i) {
      lists[i]->registered = false;
      for (void* block = lists[i]->head; block;) {
        void* next = *static_cast<void**>(block);
        ::operator delete(block);
        block = next;
      }
      *lists[i] = {};
    }
  }
};
thread_local ThreadLists t_lists;

}  // namespace

bool register_list(ObjectList& list) noexcept {
  if (t_lists.finished || t_lists.count == ThreadLists::kMax) return false;
  t_lists.lists[t_lists.count++] = &list;
  return list.registered = true;
}

}  // namespace taeda
