#include "sim/engine/handler_set.h"

namespace tessera::engine {

const HandlerSet& counting_handlers() {
  static constexpr HandlerSet kHandlers = {
      .plain = plain_handlers<Counting>(EveryMnemonic{}),
      .directed = directed_handlers(EveryMnemonic{}),
      .fall_through = handler::fall_through<Counting>,
      .loop_end = handler::loop_end<Counting>,
      .host_rounding = true,
  };
  return kHandlers;
}

}  // namespace tessera::engine
