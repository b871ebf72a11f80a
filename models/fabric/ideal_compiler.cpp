#include "models/fabric/ideal_compiler.h"

#include "models/fabric/list_writer.h"

namespace tessera::fabric {

program::CompiledExchange IdealCompiler::compile(
    std::uint32_t exchange, std::span<const program::PlacedCopy> copies) const {
  const Traffic traffic = gather_traffic(exchange, copies, false);
  std::vector<std::uint32_t> sent(traffic.tiles);
  Schedule schedule;
  for (std::uint32_t i = 0; i < traffic.streams.size(); ++i) {
    const Stream& stream = traffic.streams[i];
    schedule.sends.push_back({i, static_cast<std::uint32_t>(schedule.receptions.size()),
                              stream.sinks, sent[stream.source]++});
    for (std::uint32_t k = 0; k < stream.sinks; ++k) {
      const std::uint32_t sink = stream.first_sink + k;
      schedule.receptions.push_back({sink, traffic.sinks[sink].tile});
    }
  }
  return {write_lists(exchange, traffic, schedule), Cycle(0), Cycle(0)};
}

}  // namespace tessera::fabric
