#include "backend/cpu/optim_loops.h"
