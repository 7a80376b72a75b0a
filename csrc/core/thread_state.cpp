#include "taeda/core/thread_state.h"

namespace taeda {

// Outside of inference mode a write is looked at even where no argument asks for it: see autograd::bump.
constinit thread_local ThreadState t_state TAEDA_TLS{.include = Functionality::ADInplaceOrView};

}  // namespace taeda
