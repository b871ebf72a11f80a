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

/// Measures the size of an untruncated trace by writing it to nowhere.
class UnlimitedTrace {
 public:
  using MakeFormat = std::unique_ptr<Format> (*)(std::ostream&, const Settings&);
  /// `names`: the names so far; `bytes`: already written.
  UnlimitedTrace(MakeFormat make, const Settings& settings, std::span<const std::string> names,
                 std::uint64_t bytes);

  void add_name(std::string_view text) { format_->add_name(text); }
  void counter(Counter counter, std::span<const StepCounter::Sample> samples);
  void superstep(const Superstep& superstep, const SuperstepDetail& detail);
  void nothing_before(Cycle until) { format_->nothing_before(until); }
  /// A limit, in MiB, with which nothing is omitted.
  [[nodiscard]] std::uint64_t limit_mib() const;

 private:
  [[nodiscard]] std::uint64_t bytes() const;

  std::ostream nowhere_{nullptr};
  std::unique_ptr<Format> format_;
  std::uint64_t before_;
  std::uint64_t most_tiles_, most_ = 0;  ///< required bytes: for the tiles' part, in all
};

/// A trace file of bounded size. To stay within it, omits the tiles from some superstep on, then
/// the machine too; the file says what was omitted and which limit would suffice.
class TraceFile {
 public:
  using MakeFormat = UnlimitedTrace::MakeFormat;
  /// Throws UserError if the file cannot be written.
  TraceFile(const std::string& folder, const std::string& name, const Settings& settings,
            MakeFormat make);

  /// Names after everything is omitted have no effect.
  void add_name(std::string_view text);
  void counter(Counter counter, std::span<const StepCounter::Sample> samples);
  /// `detail`: all lanes, in order.
  void superstep(const Superstep& superstep, const SuperstepDetail& detail);
  void nothing_before(Cycle until);
  /// Completes the temporary file. `stopped`: why the run did not end; else empty.
  void finish(Cycle at, const std::string& stopped);
  void commit() { file_.commit(); }

  /// True if it holds tiles, or counts their size.
  [[nodiscard]] bool takes_tiles() const { return takes_tiles_ || unlimited_ != nullptr; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::uint64_t bytes() const { return format_->bytes(); }
  /// "tiles from cycle 100 on"; empty if nothing was omitted.
  [[nodiscard]] std::string left_out() const;

 private:
  [[nodiscard]] bool has_room(std::size_t spans, std::uint64_t most) const;
  void leave_out_tiles(const Superstep& superstep);
  void count_on(std::uint64_t bytes);

  std::string name_;
  const Settings wanted_;
  const MakeFormat make_;
  std::vector<std::string> left_out_;
  Settings settings_;  ///< initialised after left_out_, to which it adds
  WholeFile file_;
  std::unique_ptr<Format> format_;
  std::vector<std::string> names_;
  Cycle settled_;                              ///< nothing earlier will be reported
  std::unique_ptr<UnlimitedTrace> unlimited_;  ///< set once something is omitted
  bool takes_tiles_;
  bool takes_machine_ = true;
};

/// Limits the chosen tiles so that their declarations keep to their share of the file; adds the
/// others to `left_out`.
Settings within_limit(Settings settings, std::vector<std::string>& left_out);

}  // namespace tessera::trace
