#include "backend/cpu/engine/row_kernels_loop.h"
