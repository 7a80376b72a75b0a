// Rules of the layers of neural networks.
#pragma once
#include "shape/attention_rules.h"
#include "shape/ctc_rules.h"
#include "shape/distance_rules.h"
#include "shape/loss_rules.h"
#include "shape/norm_rules.h"
#include "shape/pad_rules.h"
#include "shape/pool_rules.h"
#include "shape/sampling_rules.h"
#include "shape/softmax_rules.h"
