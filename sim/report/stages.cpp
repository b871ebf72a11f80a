#include "sim/report/stages.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/machine/nodes.h"
#include "sim/program/flow.h"

namespace tessera::report {

using Json = nlohmann::ordered_json;

namespace {

/// The load of the ports of one kind of stream.
struct StreamLoad {
  std::map<std::pair<std::uint32_t, bool>, std::uint64_t> busy;  ///< by node; true: sending
  std::uint64_t bytes = 0;

  void move(const StreamConfig& kind, const program::Program& program,
            const program::Stream& stream) {
    const std::uint64_t moved = program::stream_bytes(stream.source.unit, stream.source.extents);
    const auto use = [&](const program::Walk& end, bool sends) {
      const std::uint32_t ports = sends ? kind.send_ports : kind.receive_ports;
      if (ports == 0) return;  // unlimited ports
      busy[{index(program.buffer(end.place.buffer).tile), sends}] +=
          stream_cycles(kind, moved) / ports;
    };
    bytes += moved;
    use(stream.source, true);
    for (const program::Walk& to : stream.destinations) use(to, false);
  }
  [[nodiscard]] std::uint64_t busiest() const {
    std::uint64_t most = 0;
    for (const auto& [port, cycles] : busy) most = std::max(most, cycles);
    return most;
  }
};

using Streams = std::map<std::uint32_t, StreamLoad>;  ///< by kind

/// Adds the data moved by the exchanges of a superstep.
void add(const MachineConfig& machine, const program::Program& program, const program::Flow& flow,
         const SuperstepRecord& step, Streams& streams) {
  for (const std::uint32_t number : step.exchanges)
    for (const program::Stream& stream : flow.exchanges.at(number)->streams) {
      const std::uint32_t kind = stream_number(machine, stream.name).value();
      streams[kind].move(machine.fabric.streams[kind], program, stream);
    }
}

struct Stage {
  std::string name;
  Cycle end = {};                 ///< end of the last compute tile
  Cycle end_of_others = {};       ///< end of the last node of another class
  bool computes = false;          ///< compute tiles take part
  Cycle most = {}, waiting = {};  ///< of the tile that computes most
  Streams streams = {};
  Cycle exchange = {};  ///< in supersteps that all tiles take together
  Bytes exchanged = {};

  /// A superstep that all tiles take together.
  void add(const SuperstepRecord& step) {
    computes = true;
    end = std::max(end, step.start + step.time.total());
    most += step.time.compute;
    waiting += step.time.total() - step.time.compute;
    exchange += step.time.exchange;
    exchanged += step.exchanged;
  }
};

/// The stages of a program, and the stage of each step: set by a node's superstep that begins one,
/// or by the step itself.
class Stages {
 public:
  explicit Stages(const program::Flow& flow) {
    std::uint32_t now = kNone;
    for (std::uint32_t step = 0; step < flow.steps.size(); ++step) {
      if (std::ranges::binary_search(flow.end_of_zone, step)) now = kNone;
      const program::ComputeSet* const compute = flow.steps[step].compute;
      if (compute != nullptr && compute->vertices.empty() && compute->syncs)
        now = number_of(compute->name);
      stage_of_.push_back(now);
      if (compute == nullptr || compute->stage.empty()) continue;
      // Includes the exchange before it, from which a tile without work may never return.
      const bool exchanges = step > 0 && flow.steps[step - 1].compute == nullptr;
      for (std::uint32_t i = exchanges ? step - 1 : step; i <= step; ++i) {
        stage_of_[i] = number_of(compute->stage);
        together_.insert(i);
      }
    }
  }
  [[nodiscard]] std::vector<Stage>& all() { return stages_; }
  /// The stage of a step; null if it has none.
  [[nodiscard]] Stage* at(std::uint32_t step) {
    return step < stage_of_.size() && stage_of_[step] != kNone ? &stages_[stage_of_[step]]
                                                               : nullptr;
  }
  /// True if all tiles take the step together.
  [[nodiscard]] bool together(std::uint32_t step) const { return together_.contains(step); }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  std::uint32_t number_of(const std::string& name) {
    const auto found = std::ranges::find(stages_, name, &Stage::name);
    if (found == stages_.end()) {
      stages_.push_back({.name = name});
      return static_cast<std::uint32_t>(stages_.size() - 1);
    }
    return static_cast<std::uint32_t>(found - stages_.begin());
  }
  std::vector<Stage> stages_;
  std::vector<std::uint32_t> stage_of_;  ///< by step
  std::set<std::uint32_t> together_;
};

/// The start of the zone that ends last.
Cycle begin_of_last(const std::vector<SuperstepRecord>& steps) {
  std::map<std::uint32_t, std::pair<Cycle, Cycle>> zones;  // begin, end
  for (const SuperstepRecord& step : steps)
    zones.try_emplace(step.zone, step.start, step.start).first->second.second =
        step.start + step.time.total();
  return std::ranges::max_element(zones, {}, [](const auto& zone) { return zone.second.second; })
      ->second.first;
}

}  // namespace

Json stages_section(const MachineConfig& machine, const program::Program& program,
                    const RunResult& result) {
  const program::Flow flow = program::flatten(program);
  Stages stages(flow);
  if (stages.all().empty() || result.steps.empty()) return nullptr;
  Cycle begin = begin_of_last(result.steps);
  for (const SuperstepRecord& step : result.steps) {
    Stage* const stage = stages.at(step.program_step);
    if (stage == nullptr) continue;
    if (stages.together(step.program_step)) {
      stage->add(step);
      continue;
    }
    add(machine, program, flow, step, stage->streams);
    const Cycle all = step.time.total();
    if (index(step.last_tile) >= machine.tiles) {
      stage->end_of_others = std::max(stage->end_of_others, step.start + all);
      continue;
    }
    stage->computes |= !step.exchanges.empty();  // such records carry the first participating node
    stage->end = std::max(stage->end, step.start + all);
    if (step.most_compute < stage->most) continue;
    stage->most = step.most_compute;
    stage->waiting = all - std::min(all, step.most_compute);
  }
  Json section = Json::object();
  for (const Stage& stage : stages.all()) {
    const Cycle end = std::max(begin, stage.computes ? stage.end : stage.end_of_others);
    const Cycle cycles = end - begin;
    Json streams = Json::object();
    for (const auto& [kind, carried] : stage.streams)
      streams[machine.fabric.streams[kind].name] = {{"cycles", carried.busiest()},
                                                    {"bytes", carried.bytes}};
    if (stage.exchanged.count() > 0)
      streams["exchange"] = {{"cycles", stage.exchange.count()},
                             {"bytes", stage.exchanged.count()}};
    section[stage.name] = {
        {"cycles", cycles.count()},
        {"compute_cycles", stage.most.count()},
        {"wait_cycles", std::min(stage.waiting, cycles - std::min(cycles, stage.most)).count()},
        {"streams", std::move(streams)}};
    begin = end;
  }
  return section;
}

namespace {

/// The data moved by all exchanges of a run, if the machine has streams.
Streams streams_of(const MachineConfig& machine, const program::Program& program,
                   const RunResult& result) {
  Streams streams;
  if (machine.fabric.streams.empty()) return streams;
  const program::Flow flow = program::flatten(program);
  for (const SuperstepRecord& step : result.steps) add(machine, program, flow, step, streams);
  return streams;
}

}  // namespace

Cycle busiest_stream(const MachineConfig& machine, const program::Program& program,
                     const RunResult& result) {
  std::uint64_t most = 0;
  for (const auto& [kind, carried] : streams_of(machine, program, result))
    most = std::max(most, carried.busiest());
  return Cycle(most);
}

std::set<std::uint32_t> streams_sent(const MachineConfig& machine, const program::Program& program,
                                     const RunResult& result) {
  std::set<std::uint32_t> sent;
  for (const auto& [kind, carried] : streams_of(machine, program, result)) sent.insert(kind);
  return sent;
}

}  // namespace tessera::report
