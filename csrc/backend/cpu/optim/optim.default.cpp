#include "backend/cpu/optim/optim_loops.h"
