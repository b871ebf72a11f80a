#pragma once

#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "sim/base/whole_file.h"
#include "sim/trace/format.h"
#include "sim/trace/settings.h"

namespace tessera::trace {

/// Counts what a trace would take from where something is left out of it: the same written to
/// nowhere.
class UnlimitedTrace {
 public:
  using MakeFormat = std::unique_ptr<Format> (*)(std::ostream&, const Settings&);
  /// `names`: those told before. `bytes` were written before.
  UnlimitedTrace(MakeFormat make, const Settings& settings, std::span<const std::string> names,
                 std::uint64_t bytes);

  void add_name(std::string_view text) { format_->add_name(text); }
  void counter(Counter counter, std::span<const StepCounter::Sample> samples);
  void superstep(const Superstep& superstep, const Told& told);
  void nothing_before(Cycle until) { format_->nothing_before(until); }
  /// A limit, in MiB, within which nothing is left out.
  [[nodiscard]] std::uint64_t limit_mib() const;

 private:
  [[nodiscard]] std::uint64_t bytes() const;

  std::ostream nowhere_{nullptr};
  std::unique_ptr<Format> format_;
  std::uint64_t before_;
  std::uint64_t most_tiles_, most_ = 0;  ///< bytes in which the tiles' part, and all, must fit
};

/// A trace file of bounded size. What would make it too large is left out from some superstep on:
/// the tiles first, then the machine too; what was left out is said in it, and the limit that would
/// do.
class TraceFile {
 public:
  using MakeFormat = UnlimitedTrace::MakeFormat;
  /// Throws UserError if it cannot be written.
  TraceFile(const std::string& folder, const std::string& name, const Settings& settings,
            MakeFormat make);

  /// Those that come when all is left out are of nothing.
  void add_name(std::string_view text);
  void counter(Counter counter, std::span<const StepCounter::Sample> samples);
  /// `told`: of all lanes, in the lanes' order.
  void superstep(const Superstep& superstep, const Told& told);
  void nothing_before(Cycle until);
  /// Ends the file under its temporary name. `stopped`: why the run did not end; else empty.
  void finish(Cycle at, const std::string& stopped);
  void commit() { file_.commit(); }

  /// True if it holds tiles, or counts what they would take.
  [[nodiscard]] bool takes_tiles() const { return takes_tiles_ || unlimited_ != nullptr; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::uint64_t bytes() const { return format_->bytes(); }
  /// "tiles from cycle 100 on"; empty: nothing.
  [[nodiscard]] std::string left_out() const;

 private:
  [[nodiscard]] bool has_room(std::size_t spans, std::uint64_t most) const;
  void leave_out_tiles(const Superstep& superstep);
  void count_on(std::uint64_t bytes);

  std::string name_;
  const Settings wanted_;
  const MakeFormat make_;
  std::vector<std::string> left_out_;
  Settings settings_;  ///< made after left_out_, to which it adds
  WholeFile file_;
  std::unique_ptr<Format> format_;
  std::vector<std::string> names_;
  Cycle settled_;                              ///< nothing earlier will be told
  std::unique_ptr<UnlimitedTrace> unlimited_;  ///< once something is left out
  bool takes_tiles_;
  bool takes_machine_ = true;
};

/// The settings for a file in which the declaration of all chosen tiles takes no more than its
/// share; `left_out` then names the others.
Settings within_limit(Settings settings, std::vector<std::string>& left_out);

}  // namespace tessera::trace
