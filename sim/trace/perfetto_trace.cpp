#include "sim/trace/perfetto_trace.h"

#include <fmt/format.h>

namespace tessera::trace {

PerfettoTrace::PerfettoTrace(std::ostream& out, const Settings& settings,
                             const program::Images& images)
    : settings_(settings),
      images_(images),
      writer_(out),
      machine_(writer_.add_track(PerfettoWriter::kNoParent, "machine")),
      supersteps_(writer_.add_track(machine_, "supersteps, phases of the last tile")) {
  using Unit = PerfettoWriter::Unit;
  counters_ = {writer_.add_counter(machine_, "active tiles", Unit::count),
               writer_.add_counter(machine_, "bytes in flight", Unit::bytes),
               writer_.add_counter(machine_, "SRAM in use on the fullest tile", Unit::bytes)};
  for (std::size_t i = 0; i < states_.size(); ++i) states_[i] = writer_.event_name(kStateNames[i]);
  const auto name = [this](const char* text) { return writer_.annotation_name(text); };
  annotations_ = {name("cycle"),     name("cycles"), name("superstep"),    name("measured"),
                  name("last_tile"), name("bytes"),  name("instructions"), name("flops")};
  add_tiles();
}

void PerfettoTrace::add_tiles() {
  if (settings_.tiles.empty()) return;
  const PerfettoWriter::Track all = writer_.add_track(PerfettoWriter::kNoParent, "tiles");
  for (const TileId tile : settings_.tiles) {
    tiles_.push_back(writer_.add_track(all, fmt::format("tile {}", index(tile))));
    for (std::uint32_t worker = 0; settings_.workers && worker < settings_.contexts; ++worker)
      writer_.add_track(tiles_.back(), fmt::format("worker {}", worker));
  }
}

void PerfettoTrace::counter(Counter counter, const std::vector<StepCounter::Sample>& samples) {
  const PerfettoWriter::Track track = counters_[static_cast<std::size_t>(counter)];
  for (const StepCounter::Sample& sample : samples)
    writer_.counter(track, nanoseconds(sample.at), sample.value);
}

void PerfettoTrace::superstep(const Superstep& superstep, const TileLog& last) {
  const SuperstepRecord& record = superstep.record;
  const PerfettoWriter::Name name =
      writer_.event_name(superstep.step == nullptr ? "no step" : superstep.step->name);
  writer_.begin(supersteps_, nanoseconds(superstep.start()), name,
                {{annotations_.cycle, superstep.start().count()},
                 {annotations_.cycles, record.time.total().count()},
                 {annotations_.superstep, superstep.number},
                 {annotations_.measured, superstep.measured ? 1U : 0U},
                 {annotations_.last_tile, index(record.last_tile)},
                 {annotations_.bytes, record.exchanged.count()},
                 {annotations_.instructions, record.instructions},
                 {annotations_.flops, record.flops}});
  states(supersteps_, last, superstep);
  writer_.end(supersteps_, nanoseconds(superstep.end()));
}

void PerfettoTrace::states(PerfettoWriter::Track track, const TileLog& log,
                           const Superstep& superstep) {
  visit_states(log, superstep.start(), superstep.end(), [&](State state, Cycle begin, Cycle end) {
    writer_.begin(
        track, nanoseconds(begin), states_[static_cast<std::size_t>(state)],
        {{annotations_.cycle, begin.count()}, {annotations_.cycles, (end - begin).count()}});
    writer_.end(track, nanoseconds(end));
  });
}

void PerfettoTrace::tile(std::size_t chosen, const TileLog& log, const Superstep& superstep) {
  const PerfettoWriter::Track track = tiles_[chosen];
  states(track, log, superstep);
  for (const WorkerSpan& span : log.workers) {
    const PerfettoWriter::Track worker = track + 1 + span.worker;
    writer_.begin(worker, nanoseconds(span.begin), codelet(settings_.tiles[chosen], span.pc),
                  {{annotations_.cycle, span.begin.count()},
                   {annotations_.cycles, (span.end - span.begin).count()}});
    writer_.end(worker, nanoseconds(span.end));
  }
}

PerfettoWriter::Name PerfettoTrace::codelet(TileId tile, std::uint32_t pc) {
  const program::CodeImage* const code = images_.tiles[index(tile)].code.get();
  const auto [known, is_new] = codelets_.try_emplace({code, pc}, 0);
  if (is_new) known->second = writer_.event_name(code->symbol_of(pc));
  return known->second;
}

void PerfettoTrace::end_tiles(Cycle /*at*/) {}

void PerfettoTrace::finish(Cycle at, const std::string& left_out) {
  if (!left_out.empty()) writer_.instant(supersteps_, nanoseconds(at), "left out: " + left_out);
  writer_.flush();
}

}  // namespace tessera::trace
