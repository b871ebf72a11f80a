#include "sim/engine/handler_set.h"

namespace tessera::engine {

const HandlerSet& checked_handlers() {
  static constexpr HandlerSet kHandlers = {
      .plain = plain_handlers<Checked>(EveryMnemonic{}),
      .directed = {},
      .fall_through = handler::fall_through<Checked>,
      .loop_end = handler::loop_end<Checked>,
      .host_rounding = false,
  };
  return kHandlers;
}

}  // namespace tessera::engine
