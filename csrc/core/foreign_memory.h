// Memory that others write without a word, as other processes do: no storage may promise that it stays as it is.
#pragma once
#include "taeda/core/allocator.h"

namespace taeda {

// Said once of the deleter that all such memory has.
TAEDA_API void declare_foreign(DataPtr::Deleter deleter);

}  // namespace taeda
