// Hash maps are the standard library's.
#pragma once
#include <unordered_map>
#include <unordered_set>

namespace ska {
template <class K, class V, class H = std::hash<K>, class E = std::equal_to<K>>
using flat_hash_map = std::unordered_map<K, V, H, E>;
template <class K, class H = std::hash<K>, class E = std::equal_to<K>>
using flat_hash_set = std::unordered_set<K, H, E>;
}  // namespace ska
namespace ska_ordered {
using ska::flat_hash_map;
}
