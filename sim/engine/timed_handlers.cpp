#include "sim/engine/handler_set.h"

namespace tessera::engine {

const HandlerSet& timed_handlers() {
  static constexpr HandlerSet kHandlers = {
      .plain = plain_handlers<Timed>(EveryMnemonic{}),
      .directed = directed_handlers(EveryMnemonic{}),
      .fall_through = handler::fall_through<Timed>,
      .loop_end = handler::loop_end<Timed>,
      .host_rounding = true,
  };
  return kHandlers;
}

}  // namespace tessera::engine
