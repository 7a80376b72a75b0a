// One function of several, for std::visit.
#pragma once

namespace c10 {

template <class... Fs>
struct overloaded_t : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
overloaded_t<Fs...> overloaded(Fs... functions) {
  return {functions...};
}

}  // namespace c10
