#include "backend/cpu/rows_loop.h"
