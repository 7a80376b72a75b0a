#include "core/thread_state.h"

namespace taeda {

constinit thread_local ThreadState t_state TAEDA_TLS;

}  // namespace taeda
