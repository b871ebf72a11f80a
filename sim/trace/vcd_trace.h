#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "sim/trace/format.h"
#include "sim/trace/settings.h"
#include "sim/trace/vcd_writer.h"

namespace tessera::trace {

/// trace.vcd: what is in trace.pftrace as signals. Its times are those of the simulated clock in
/// femtoseconds, a whole number of them a cycle. Changes are kept until nothing earlier can come.
class VcdTrace : public Format {
 public:
  /// `images` outlives it.
  VcdTrace(std::ostream& out, const Settings& settings, const program::Images& images);

  void counter(Counter counter, const std::vector<StepCounter::Sample>& samples) override;
  void superstep(const Superstep& superstep, const TileLog& last) override;
  void tile(std::size_t chosen, const TileLog& log, const Superstep& superstep) override;
  void end_tiles(Cycle at) override;
  void finish(Cycle at, const std::string& left_out) override;
  [[nodiscard]] std::uint64_t bytes() const override { return writer_.bytes(); }
  [[nodiscard]] std::uint64_t most_pending_bytes() const override;

 private:
  using Word = std::uint64_t;  ///< index in words_
  struct Change {
    Cycle at;
    VcdWriter::Signal signal;
    bool text;
    std::uint64_t value;  ///< a word's index if it is a text
  };

  void declare();
  void write_before(Cycle until);
  void states(VcdWriter::Signal signal, const TileLog& log, const Superstep& superstep);
  Word word(std::string_view text);
  Word codelet(TileId tile, std::uint32_t pc);

  const Settings settings_;
  const program::Images& images_;
  VcdWriter writer_;
  VcdWriter::Signal number_ = 0, step_ = 0, phase_ = 0;
  std::array<VcdWriter::Signal, kCounters> counters_{};
  std::vector<VcdWriter::Signal> tiles_;  ///< those of their workers follow each
  std::size_t signals_a_tile_ = 1;
  std::vector<Change> pending_;
  std::vector<std::string> words_;
  std::map<std::string, Word, std::less<>> known_words_;
  std::array<Word, std::size(kStateNames)> states_{};
  Word idle_ = 0;
  std::map<std::pair<const program::CodeImage*, std::uint32_t>, Word> codelets_;
};

}  // namespace tessera::trace
