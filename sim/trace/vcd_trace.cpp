#include "sim/trace/vcd_trace.h"

#include <algorithm>

#include <fmt/format.h>

namespace tessera::trace {

VcdTrace::VcdTrace(std::ostream& out, const Settings& settings, const program::Images& images)
    : settings_(settings), images_(images), writer_(out) {
  for (std::size_t i = 0; i < states_.size(); ++i) states_[i] = word(kStateNames[i]);
  idle_ = word("idle");
  declare();
  for (const VcdWriter::Signal tile : tiles_)
    for (std::uint32_t i = 1; i < signals_a_tile_; ++i)
      pending_.push_back({Cycle(0), tile + i, true, idle_});
}

void VcdTrace::declare() {
  writer_.comment(fmt::format("a cycle is {} fs", settings_.cycle_femtoseconds));
  writer_.begin_scope("machine");
  number_ = writer_.add_number("superstep", 64);
  step_ = writer_.add_text("step");
  phase_ = writer_.add_text("phase_of_last_tile");
  counters_ = {writer_.add_number("active_tiles", 32), writer_.add_number("bytes_in_flight", 64),
               writer_.add_number("sram_in_use_on_fullest_tile", 32)};
  writer_.end_scope();
  if (settings_.workers) signals_a_tile_ += settings_.contexts;
  for (const TileId tile : settings_.tiles) {
    writer_.begin_scope(fmt::format("tile_{}", index(tile)));
    tiles_.push_back(writer_.add_text("state"));
    for (std::uint32_t worker = 0; worker + 1 < signals_a_tile_; ++worker)
      writer_.add_text(fmt::format("worker_{}", worker));
    writer_.end_scope();
  }
  writer_.end_declarations();
}

void VcdTrace::counter(Counter counter, const std::vector<StepCounter::Sample>& samples) {
  const VcdWriter::Signal signal = counters_[static_cast<std::size_t>(counter)];
  for (const StepCounter::Sample& sample : samples)
    pending_.push_back({sample.at, signal, false, static_cast<std::uint64_t>(sample.value)});
}

void VcdTrace::superstep(const Superstep& superstep, const TileLog& last) {
  write_before(superstep.start());
  const Cycle start = superstep.start();
  pending_.push_back({start, number_, false, superstep.number});
  const Word name = word(superstep.step == nullptr ? "no_step" : superstep.step->name);
  pending_.push_back({start, step_, true, name});
  states(phase_, last, superstep);
}

void VcdTrace::states(VcdWriter::Signal signal, const TileLog& log, const Superstep& superstep) {
  visit_states(log, superstep.start(), superstep.end(), [&](State state, Cycle begin, Cycle) {
    pending_.push_back({begin, signal, true, states_[static_cast<std::size_t>(state)]});
  });
  if (log.ended && log.arrived >= superstep.start())
    pending_.push_back(
        {log.arrived, signal, true, states_[static_cast<std::size_t>(State::ended)]});
}

void VcdTrace::tile(std::size_t chosen, const TileLog& log, const Superstep& superstep) {
  states(tiles_[chosen], log, superstep);
  for (const WorkerSpan& span : log.workers) {
    const VcdWriter::Signal worker = tiles_[chosen] + 1 + span.worker;
    pending_.push_back({span.begin, worker, true, codelet(settings_.tiles[chosen], span.pc)});
    pending_.push_back({span.end, worker, true, idle_});
  }
}

void VcdTrace::end_tiles(Cycle at) {
  write_before(at);
  const auto of_tile = [this](const Change& one) { return one.signal >= tiles_.front(); };
  pending_.erase(std::remove_if(pending_.begin(), pending_.end(), of_tile), pending_.end());
  const Word unknown = word("x");
  for (const VcdWriter::Signal tile : tiles_)
    for (std::uint32_t i = 0; i < signals_a_tile_; ++i)
      pending_.push_back({at, tile + i, true, unknown});
}

void VcdTrace::finish(Cycle at, const std::string& left_out) {
  Cycle last = at;  // a worker may run on
  for (const Change& change : pending_) last = std::max(last, change.at);
  write_before(Cycle(UINT64_MAX));
  writer_.at(last.count() * settings_.cycle_femtoseconds);
  if (!left_out.empty()) writer_.comment("left out: " + left_out);
  writer_.flush();
}

std::uint64_t VcdTrace::most_pending_bytes() const {
  constexpr std::uint64_t kMostUnknown = 16;  // a signal's change to x, in end_tiles()
  return pending_.size() * kMostBytes + tiles_.size() * signals_a_tile_ * kMostUnknown;
}

void VcdTrace::write_before(Cycle until) {
  const auto later = std::stable_partition(pending_.begin(), pending_.end(),
                                           [until](const Change& one) { return one.at < until; });
  std::stable_sort(pending_.begin(), later,
                   [](const Change& a, const Change& b) { return a.at < b.at; });
  for (auto change = pending_.begin(); change != later; ++change) {
    writer_.at(change->at.count() * settings_.cycle_femtoseconds);
    if (change->text) {
      writer_.text(change->signal, words_[change->value]);
    } else {
      writer_.number(change->signal, change->value);
    }
  }
  pending_.erase(pending_.begin(), later);
}

VcdTrace::Word VcdTrace::word(std::string_view text) {
  const auto known = known_words_.find(text);
  if (known != known_words_.end()) return known->second;
  words_.push_back(VcdWriter::word_of(text));
  known_words_.emplace(text, words_.size() - 1);
  return words_.size() - 1;
}

VcdTrace::Word VcdTrace::codelet(TileId tile, std::uint32_t pc) {
  const program::CodeImage* const code = images_.tiles[index(tile)].code.get();
  const auto [known, is_new] = codelets_.try_emplace({code, pc}, 0);
  if (is_new) known->second = word(code->symbol_of(pc));
  return known->second;
}

}  // namespace tessera::trace
