// Optimizers in files; see optimizer.h.
#pragma once
#include <torch/optim/optimizer.h>
