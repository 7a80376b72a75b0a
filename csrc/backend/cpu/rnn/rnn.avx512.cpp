#include "backend/cpu/rnn/rnn_loops.h"
