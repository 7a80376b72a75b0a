#include "taeda/core/fork.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <thread>
#include <vector>

namespace taeda {

namespace {

struct Registry {
  std::mutex mutex;
  std::vector<Mutex*> mutexes;
  std::vector<ForkHandler> handlers;
  std::vector<bool> held;  // of mutexes, while a fork is under way
};

// How long a fork waits for locks. A holder that itself waits for the forking thread must not hang it.
constexpr auto kPatience = std::chrono::seconds(1);

Registry& registry();

bool lock_all(Registry& r) {
  r.held.assign(r.mutexes.size(), false);
  bool all = true;
  for (size_t i = 0; i < r.mutexes.size(); ++i) {
    r.held[i] = r.mutexes[i]->try_lock();
    all = all && r.held[i];
  }
  return all;
}

void unlock_held(Registry& r) {
  for (size_t i = 0; i < r.mutexes.size(); ++i)
    if (r.held[i]) r.mutexes[i]->unlock();
}

void prepare() {
  Registry& r = registry();
  for (auto it = r.handlers.rbegin(); it != r.handlers.rend(); ++it)
    if (it->prepare) it->prepare();
  // Taken all or none, so that no order between the locks can make a deadlock.
  for (auto deadline = std::chrono::steady_clock::now() + kPatience;;) {
    r.mutex.lock();
    if (lock_all(r) || std::chrono::steady_clock::now() > deadline) return;
    unlock_held(r);
    r.mutex.unlock();
    std::this_thread::yield();
  }
}

void after_in_parent() {
  Registry& r = registry();
  unlock_held(r);
  r.mutex.unlock();
  for (const ForkHandler& handler : r.handlers)
    if (handler.parent) handler.parent();
}

void after_in_child() {
  Registry& r = registry();
  unlock_held(r);
  for (size_t i = 0; i < r.mutexes.size(); ++i)
    if (!r.held[i]) new (static_cast<std::mutex*>(r.mutexes[i])) std::mutex;  // its holder is gone
  r.mutex.unlock();
  for (const ForkHandler& handler : r.handlers)
    if (handler.child) handler.child();
}

Registry& registry() {
  // Never destroyed: mutexes with static lifetime leave it at exit.
  static Registry* instance = [] {
    pthread_atfork(prepare, after_in_parent, after_in_child);
    return new Registry;
  }();
  return *instance;
}

}  // namespace

Mutex::Mutex() {
  Registry& r = registry();
  Lock lock(r.mutex);
  r.mutexes.push_back(this);
}

Mutex::~Mutex() {
  Registry& r = registry();
  Lock lock(r.mutex);
  auto it = std::find(r.mutexes.rbegin(), r.mutexes.rend(), this);
  *it = r.mutexes.back();
  r.mutexes.pop_back();
}

void at_fork(ForkHandler handler) {
  Registry& r = registry();
  Lock lock(r.mutex);
  r.handlers.push_back(handler);
}

}  // namespace taeda
