// The shape rules that declarations name. A rule takes an op's arguments and answers its results' geometry or raises.
#pragma once
#include "shape/index_rules.h"
#include "shape/linalg_rules.h"
#include "shape/nn_rules.h"
#include "shape/sort_rules.h"
#include "shape/view_rules.h"
