#include "backend/cpu/convert_loops.h"
