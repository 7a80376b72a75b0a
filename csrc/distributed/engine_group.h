// The process group that all transports share.
#pragma once
#include "distributed/transport.h"
#include "taeda/distributed/process_group.h"

namespace taeda::distributed {

Ref<ProcessGroup> make_engine_group(Ref<Transport> transport);

}  // namespace taeda::distributed
