// A thread that no signal goes to: the program's handlers run in threads of its own.
#pragma once
#include <csignal>
#include <thread>

namespace taeda::distributed {

template <class F>
std::thread quiet_thread(F body) {
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(std::move(body));
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace taeda::distributed
