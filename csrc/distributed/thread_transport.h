#pragma once
#include <algorithm>
#include <optional>
#include <string>

#include "distributed/transport.h"

namespace taeda::distributed {

Ref<Transport> make_thread_transport(const std::string& key, int rank, int size);
// What a receive says to a message of another size.
std::string wrong_size(int from, std::optional<size_t> sent, size_t wanted);

}  // namespace taeda::distributed
