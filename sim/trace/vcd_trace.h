#pragma once

#include <array>
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
  VcdTrace(std::ostream& out, const Settings& settings);

  void add_name(std::string_view text) override;
  void counter(Counter counter, std::span<const StepCounter::Sample> samples) override;
  void superstep(const Superstep& superstep) override;
  void spans(std::span<const Span> spans) override;
  void transfers(std::span<const Received> transfers) override;
  void nothing_before(Cycle until) override;
  void end_spans(Cycle at) override;
  void end_supersteps(Cycle at) override;
  void finish(Cycle at, std::span<const std::string> remarks) override;
  [[nodiscard]] std::uint64_t bytes() const override { return writer_.bytes(); }
  [[nodiscard]] std::uint64_t most_pending_bytes() const override;

 private:
  using Word = std::uint32_t;  ///< a Name, or:
  static constexpr Word kUnknown = UINT32_MAX, kNumber = UINT32_MAX - 1, kBegins = UINT32_MAX - 2,
                        kEnds = UINT32_MAX - 3;
  struct Change {
    Cycle at;
    VcdWriter::Signal signal;
    Word word;
    std::uint64_t number;  ///< of a kNumber; bytes of a transfer that kBegins or kEnds
    TileId from{};         ///< of a transfer
  };

  void declare(const Settings& settings);
  void declare_zone();
  /// A tile's signals are those of its lanes and then what it receives.
  [[nodiscard]] VcdWriter::Signal signal_of(Lane lane) const {
    return first_tile_ + lane + lane / lanes_a_tile_;
  }
  void change(VcdWriter::Signal signal, const Span& span);
  void change(VcdWriter::Signal signal, Cycle at, Word word) {
    pending_.push_back({at, signal, word, 0});
  }
  void write_before(Cycle until);
  void write(const Change& change);
  std::size_t write_transfers(std::size_t first);

  const std::uint64_t cycle_femtoseconds_;
  VcdWriter writer_;
  struct ZoneSignals {
    VcdWriter::Signal number, step, phase, exchanged;
  };
  std::vector<ZoneSignals> zones_;
  std::array<VcdWriter::Signal, kCounters> counters_{};
  VcdWriter::Signal first_tile_ = 0, end_of_tiles_ = 0;
  const Lane lanes_a_tile_;
  Cycle written_;  ///< all before it is
  std::vector<Change> pending_, due_, spare_;
  std::vector<std::string> words_;
  std::string text_;
};

}  // namespace tessera::trace
