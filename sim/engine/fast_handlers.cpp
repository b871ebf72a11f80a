#include "sim/engine/handler_set.h"

namespace tessera::engine {

const HandlerSet& fast_handlers() {
  static constexpr HandlerSet kHandlers = {
      .plain = plain_handlers<Fast>(EveryMnemonic{}),
      .directed = directed_handlers(EveryMnemonic{}),
      .fall_through = handler::fall_through<Fast>,
      .loop_end = handler::loop_end<Fast>,
      .host_rounding = true,
  };
  return kHandlers;
}

}  // namespace tessera::engine
