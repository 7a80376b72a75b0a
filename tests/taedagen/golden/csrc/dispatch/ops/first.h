// Made by taedagen from tests/taedagen/tiny/first.py.

#pragma once
#include "dispatch/op.h"

namespace taeda::table {
TAEDA_API extern const Op first[];
enum FirstEntry { twice_plain, twice__plain, twice_out, turned_plain, stretch_plain, four_times_plain };
}  // namespace taeda::table
