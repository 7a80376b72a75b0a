#include "backend/cpu/engine/convert_loops.h"
