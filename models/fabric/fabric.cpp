#include "models/fabric/fabric.h"

#include "models/fabric/ideal_compiler.h"
#include "models/fabric/ideal_fabric.h"
#include "models/fabric/ports.h"
#include "models/fabric/scheduled_compiler.h"
#include "models/fabric/scheduled_fabric.h"
#include "models/fabric/streams_compiler.h"
#include "models/fabric/streams_fabric.h"
#include "sim/base/errors.h"

namespace tessera::fabric {
namespace {

struct Kind {
  const char* name;
  std::unique_ptr<program::ExchangeCompiler> (*compiler)(const FabricConfig&, const NodePorts&,
                                                         KeptSchedules*);
  std::unique_ptr<Fabric> (*fabric)(const FabricConfig&, const Floorplan&);
  Cycle (*estimate)(const FabricConfig&, const ExchangeLoad&);
};

constexpr Kind kKinds[] = {
    {"scheduled",
     [](const FabricConfig& config, const NodePorts& nodes,
        KeptSchedules* kept) -> std::unique_ptr<program::ExchangeCompiler> {
       return std::make_unique<ScheduledCompiler>(config, nodes, kept);
     },
     [](const FabricConfig& config, const Floorplan& floorplan) -> std::unique_ptr<Fabric> {
       return std::make_unique<ScheduledFabric>(config, floorplan);
     },
     ScheduledFabric::estimate},
    {"ideal",
     [](const FabricConfig& config, const NodePorts& /*nodes*/,
        KeptSchedules* /*kept*/) -> std::unique_ptr<program::ExchangeCompiler> {
       return std::make_unique<IdealCompiler>(config);
     },
     [](const FabricConfig& config, const Floorplan& floorplan) -> std::unique_ptr<Fabric> {
       return std::make_unique<IdealFabric>(config, floorplan);
     },
     IdealFabric::estimate},
    {"streams",
     [](const FabricConfig& /*config*/, const NodePorts& /*nodes*/,
        KeptSchedules* /*kept*/) -> std::unique_ptr<program::ExchangeCompiler> {
       return std::make_unique<StreamsCompiler>();
     },
     [](const FabricConfig& config, const Floorplan& /*floorplan*/) -> std::unique_ptr<Fabric> {
       return std::make_unique<StreamsFabric>(config);
     },
     StreamsCompiler::estimate},
};

const Kind& find_kind(const FabricConfig& config) {
  if (config.send_bytes_per_cycle == 0 || config.receive_bytes_per_cycle == 0) {
    throw UserError("machine.fabric: found a rate of 0 bytes per cycle, allowed: 1 and more");
  }
  for (const Kind& kind : kKinds) {
    if (config.kind == kind.name) return kind;
  }
  throw UserError("machine.fabric.kind: found \"{}\", allowed: {}", config.kind,
                  fmt::join(fabric_kinds(), ", "));
}

}  // namespace

std::vector<std::string> fabric_kinds() {
  std::vector<std::string> names;
  for (const Kind& kind : kKinds) names.emplace_back(kind.name);
  return names;
}

std::unique_ptr<program::ExchangeCompiler> make_exchange_compiler(const FabricConfig& config,
                                                                  const NodePorts& nodes,
                                                                  KeptSchedules* kept) {
  return find_kind(config).compiler(config, nodes, kept);
}

Cycle estimate(const FabricConfig& config, const ExchangeLoad& load) {
  return find_kind(config).estimate(config, load);
}

Cycle way(const FabricConfig& config, std::uint32_t from, std::uint32_t to) {
  return config.kind == "scheduled" ? Cycle(Ports(config).way_cycles(from, to)) : Cycle(0);
}

std::unique_ptr<Fabric> make_fabric(const FabricConfig& config, const Floorplan& floorplan) {
  return find_kind(config).fabric(config, floorplan);
}

}  // namespace tessera::fabric
