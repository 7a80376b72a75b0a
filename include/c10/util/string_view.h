// Views of strings are the standard library's.
#pragma once
#include <string_view>

#include <c10/macros/Macros.h>

namespace c10 {
using string_view = std::string_view;
template <class CharT>
using basic_string_view = std::basic_string_view<CharT>;
}  // namespace c10
