#include "models/costs/program_activity.h"

#include <algorithm>
#include <optional>

#include "models/costs/projection.h"
#include "models/costs/tile_sampler.h"
#include "models/energy/area.h"
#include "sim/config/writers.h"
#include "sim/sweep/sha256.h"

namespace tessera {

using program::Place;
using program::Program;
using program::Sequence;
using program::Step;

namespace {

/// The steps that a tile takes part in, and its vertices there.
using Kind = std::vector<std::uint64_t>;

constexpr std::size_t kMostKinds = 48;  // run

/// Finds the kind of each tile, and the bytes that exchanges move.
class Survey {
 public:
  Survey(const Program& program, const fabric::Floorplan& plan)
      : program_(program),
        plan_(plan),
        seen_(program.tiles()),
        kinds(program.tiles()),
        moved(program.tiles()) {
    for (const program::Buffer& buffer : program.buffers()) tile_of_.push_back(index(buffer.tile));
  }

  /// Returns false if a loop's iteration count is unknown.
  bool add(const Sequence& sequence, std::uint64_t times) {
    for (const Step& step : sequence.steps) {
      if (std::holds_alternative<program::While>(step.action)) return false;
      if (const auto* repeat = std::get_if<program::Repeat>(&step.action)) {
        if (!add(repeat->body, times * repeat->count)) return false;
        continue;
      }
      ++step_;
      if (const auto* set = std::get_if<program::ComputeSet>(&step.action)) {
        for (const program::Vertex& vertex : set->vertices) add(vertex);
      } else if (const auto* exchange = std::get_if<program::Exchange>(&step.action)) {
        add(*exchange, step.measured ? times : 0);
      }
    }
    return true;
  }

 private:
  [[nodiscard]] std::uint32_t tile_of(Place place) const {
    return tile_of_[static_cast<std::size_t>(place.buffer)];
  }

  void add(const program::Vertex& vertex) {
    Kind& kind = kinds[index(vertex.tile)];
    kind.insert(kind.end(), {step_, vertex.codelet, static_cast<std::uint64_t>(vertex.executor),
                             vertex.worker});
    for (const program::Argument& argument : vertex.arguments) {
      if (const auto* word = std::get_if<std::uint32_t>(&argument))
        kind.push_back(*word);
      else if (const auto* place = std::get_if<Place>(&argument))
        kind.insert(kind.end(), {program_.buffer(place->buffer).bytes, place->offset});
      else if (const auto* outside = std::get_if<program::OuterPlace>(&argument))
        kind.insert(kind.end(), {program_.outer(outside->buffer).bytes, outside->offset});
    }
  }

  void take_part(std::uint32_t tile) {
    if (seen_[tile] == step_) return;
    seen_[tile] = step_;
    kinds[tile].push_back(step_);
  }

  void add(const program::Exchange& exchange, std::uint64_t times) {
    program::for_each_place(exchange, [&](Place place) { take_part(tile_of(place)); });
    for (const program::Copy& copy : exchange.copies) {
      const std::uint32_t source = tile_of(copy.source);
      std::uint32_t farthest = 0;
      for (const Place& place : copy.destinations) {
        const std::uint32_t tile = tile_of(place);
        farthest = std::max(farthest, plan_.distance_um(source, tile));
        moved[tile].received += times * copy.bytes;
      }
      moved[source].sent += times * copy.bytes;
      moved[source].byte_micrometres += times * copy.bytes * farthest;
    }
  }

  const Program& program_;
  const fabric::Floorplan& plan_;
  std::vector<std::uint32_t> tile_of_;  ///< by buffer
  std::vector<std::uint64_t> seen_;     ///< each tile's last exchange step, from 1
  std::uint64_t step_ = 0;

 public:
  std::vector<Kind> kinds;  ///< by tile
  std::vector<ProgramActivity::Moved> moved;
};

/// The settings that decide which instructions run and what they do, without timing (latencies,
/// intervals, supervisor costs). Includes the program: tiles of one kind may hold other lists in
/// another program.
std::string functional(const MachineConfig& machine, const program::Fingerprint& identity) {
  TileConfig tile = machine.tile;
  sweep::Sha256 hash;
  if (workers_start_transfers(machine)) {
    hash.add(config::resolved(machine.external).dump());
    hash.add(std::as_bytes(std::span(&machine.clock_ghz, 1)));
  } else {
    tile.latency = {};
    tile.interval = {};
    tile.supervisor = {};
  }
  hash.add(config::resolved(tile).dump());
  hash.add(std::as_bytes(std::span(&identity, 1)));
  return hash.finish();
}

std::string digest(const Kind& kind, const std::string& functional) {
  sweep::Sha256 hash;
  hash.add(functional);
  hash.add(std::as_bytes(std::span(kind)));
  return hash.finish();
}

}  // namespace

std::shared_ptr<const ProgramActivity::Surveyed> ProgramActivity::survey(
    const Program& program, const program::Fingerprint& identity, const MachineConfig& machine) {
  const fabric::Floorplan plan = energy::floorplan(machine);
  const Key key{identity, {plan.columns, plan.column_um, plan.row_um}};
  {
    const std::lock_guard lock(mutex_);
    const auto found = surveyed_.find(key);
    if (found != surveyed_.end()) return found->second;
  }
  std::shared_ptr<Surveyed> made;
  Survey survey(program, plan);
  const bool one_list = program.zones() == 1 && program.exchanges().empty();
  if (one_list && survey.add(program.main(), 1)) {
    made = std::make_shared<Surveyed>();
    std::map<Kind, std::size_t> numbers;  // kind numbers, by first tile
    for (std::uint32_t tile = 0; tile < program.tiles(); ++tile) {
      const auto [known, is_new] = numbers.try_emplace(survey.kinds[tile], made->first.size());
      if (is_new) made->first.push_back(tile);
      made->kind.push_back(known->second);
    }
    for (std::size_t i = 0; i < std::min(made->first.size(), kMostKinds); ++i)
      made->sampled.push_back(survey.kinds[made->sample(i)]);
    made->moved = std::move(survey.moved);
  }
  const std::lock_guard lock(mutex_);
  return surveyed_.emplace(key, std::move(made)).first->second;
}

/// The first tile of sampled kind `i`; the samples are spread over all kinds.
std::uint32_t ProgramActivity::Surveyed::sample(std::size_t i) const {
  return first[i * first.size() / std::min(first.size(), kMostKinds)];
}

std::vector<ProgramActivity::Done> ProgramActivity::counts(const Program& program,
                                                           const program::Fingerprint& identity,
                                                           const MachineConfig& whole,
                                                           const Surveyed& surveyed) {
  const MachineConfig machine = program::started_by(program, whole);
  const std::string same = functional(machine, identity);
  std::optional<TileSampler> sampler;
  std::optional<Participants> participants;
  std::vector<Done> counts;
  for (std::size_t i = 0; i < surveyed.sampled.size(); ++i) {
    const std::string key = digest(surveyed.sampled[i], same);
    {
      const std::lock_guard lock(mutex_);
      const auto found = known_.find(key);
      if (found != known_.end()) {
        counts.push_back(found->second);
        continue;
      }
    }
    if (!sampler) {
      sampler.emplace(machine, true);
      std::vector<std::uint32_t> tiles;
      for (std::size_t k = 0; k < surveyed.sampled.size(); ++k) tiles.push_back(surveyed.sample(k));
      participants.emplace(program, tiles);
    }
    TileSampler::Activity activity;
    const Projection projection(program, TileId{surveyed.sample(i)}, *participants, i);
    sampler->run(sampler->prepare(projection.sample()), &activity);
    counts.push_back({activity.account.measured.counts, activity.outside});
    const std::lock_guard lock(mutex_);
    known_.emplace(key, counts.back());
  }
  return counts;
}

bool ProgramActivity::estimate(const Program& program, const program::Fingerprint& identity,
                               const MachineConfig& machine, RunResult& into) {
  const std::shared_ptr<const Surveyed> surveyed = survey(program, identity, machine);
  into.tiles.assign(program.tiles(), {});
  into.activity.assign(program.tiles(), {});
  if (!surveyed) return false;
  const std::vector<Done> done = counts(program, identity, machine, *surveyed);
  for (std::uint32_t tile = 0; tile < program.tiles(); ++tile) {
    const Moved& moved = surveyed->moved[tile];
    into.tiles[tile].sent = Bytes(moved.sent);
    into.tiles[tile].received = Bytes(moved.received);
    const Done& its = done[surveyed->kind[tile] * done.size() / surveyed->first.size()];
    into.activity[tile] = {its.counts, moved.byte_micrometres};
    if (workers_start_transfers(machine)) into.channels.push_back(its.outside);
    into.external_read += Bytes(its.outside.bytes_read);
    into.external_written += Bytes(its.outside.bytes_written);
  }
  return true;
}

}  // namespace tessera
