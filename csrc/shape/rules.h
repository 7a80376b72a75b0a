// The shape rules that declarations name. A rule takes an op's arguments and answers its results' geometry or raises.
#pragma once
#include "shape/conv_rules.h"
#include "shape/create_rules.h"
#include "shape/embedding_rules.h"
#include "shape/index_rules.h"
#include "shape/join_rules.h"
#include "shape/linalg_rules.h"
#include "shape/nn_rules.h"
#include "shape/random_rules.h"
#include "shape/rnn_rules.h"
#include "shape/sort_rules.h"
#include "shape/view_rules.h"
