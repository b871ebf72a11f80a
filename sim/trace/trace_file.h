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
  using MakeFormat = std::unique_ptr<Format> (*)(std::ostream&, const Settings&,
                                                 const program::Images&);
  /// Throws UserError if it cannot be written. `images` outlives it.
  TraceFile(const std::string& folder, const std::string& name, const Settings& settings,
            const program::Images& images, MakeFormat make);

  void counter(Counter counter, const std::vector<StepCounter::Sample>& samples);
  /// `logs`: by tile.
  void superstep(const Superstep& superstep, const std::vector<TileLog>& logs);
  /// Ends the file under its temporary name.
  void finish(Cycle at);
  void commit() { file_.commit(); }

  [[nodiscard]] bool takes_tiles() const { return takes_tiles_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::uint64_t bytes() const { return format_->bytes(); }
  /// "tiles from cycle 100 on"; empty: nothing.
  [[nodiscard]] std::string left_out() const;

 private:
  [[nodiscard]] bool has_room(std::uint64_t stretches, std::uint64_t most) const;
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
