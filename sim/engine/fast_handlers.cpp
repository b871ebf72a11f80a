#include "sim/engine/fusion.h"
#include "sim/engine/handler_set.h"

namespace tessera::engine {

const HandlerSet& fast_handlers() {
  static constexpr HandlerSet kHandlers = {
      .plain = plain_handlers<Fast>(EveryMnemonic{}),
      .directed = directed_handlers(EveryMnemonic{}),
      .fused = fused,
      .host_rounding = true,
  };
  return kHandlers;
}

}  // namespace tessera::engine
