#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/base/whole_file.h"
#include "sim/trace/format.h"
#include "sim/trace/settings.h"

namespace tessera::trace {

/// A trace file of bounded size. What would make it too large is left out from some superstep on:
/// the tiles first, then the machine too; what was left out is said in it.
class TraceFile {
 public:
  using MakeFormat = std::unique_ptr<Format> (*)(std::ostream&, const Settings&);
  /// Throws UserError if it cannot be written.
  TraceFile(const std::string& folder, const std::string& name, const Settings& settings,
            MakeFormat make);

  /// Those that come when all is left out are of nothing.
  void add_name(std::string_view text) {
    if (takes_machine_) format_->add_name(text);
  }
  void counter(Counter counter, std::span<const StepCounter::Sample> samples);
  /// `spans`: those of all lanes, in the lanes' order.
  void superstep(const Superstep& superstep, std::span<const Span> spans);
  /// Ends the file under its temporary name. `stopped`: why the run did not end; else empty.
  void finish(Cycle at, const std::string& stopped);
  void commit() { file_.commit(); }

  [[nodiscard]] bool takes_tiles() const { return takes_tiles_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::uint64_t bytes() const { return format_->bytes(); }
  /// "tiles from cycle 100 on"; empty: nothing.
  [[nodiscard]] std::string left_out() const;

 private:
  [[nodiscard]] bool has_room(std::size_t spans, std::uint64_t most) const;
  void leave_out_tiles(const Superstep& superstep);

  std::string name_;
  std::vector<std::string> left_out_;
  Settings settings_;  ///< made after left_out_, to which it adds
  WholeFile file_;
  std::unique_ptr<Format> format_;
  bool takes_tiles_;
  bool takes_machine_ = true;
};

/// The settings for a file in which the declaration of all chosen tiles takes no more than its
/// share; `left_out` then names the others.
Settings within_limit(Settings settings, std::vector<std::string>& left_out);

}  // namespace tessera::trace
