#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/trace/span.h"

namespace tessera::trace {

/// A trace of `tessera run`, read back. Both file formats have the same content, except that a VCD
/// writes names as words (VcdWriter::word_of).
struct Recording {
  /// An interval with one activity.
  struct Slice {
    Cycle begin, end;
    Name name;
  };
  struct Superstep {
    Cycle begin, end;
    Name name;
    std::uint64_t number;
    Bytes bytes;  ///< exchanged by all tiles
  };
  /// Bytes received.
  struct Arrival {
    Cycle begin, end;
    std::uint32_t from;
    Bytes bytes;
  };
  /// A set of tiles with its own supersteps; most programs have one of all tiles.
  struct Zone {
    std::vector<Superstep> supersteps;
    std::vector<Slice> phases;  ///< phases of the last-arriving tiles
  };
  struct Tile {
    std::vector<Slice> states;
    std::map<std::uint32_t, std::vector<Slice>> workers;
    std::vector<Arrival> transfers;
  };

  /// Higher tile numbers are not tiles: no machine has more.
  static constexpr std::uint32_t kMostTiles = 1U << 24;

  std::string file;
  std::string timescale;  ///< VCD timescale: "1 fs, 540541 fs a cycle"; else empty
  std::vector<std::string> names;
  std::map<std::uint32_t, Zone> zones;
  std::map<std::uint32_t, Tile> tiles;
  std::vector<std::string> remarks;  ///< what was omitted, and why the run stopped
  Cycle end;                         ///< end of the last slice

  /// `of`: the file. The first names are those of kStateNames, as in written traces.
  explicit Recording(std::string of);
  /// The number of a name, which is added if it is new.
  Name name(std::string_view text);

 private:
  std::map<std::string, Name, std::less<>> known_;
};

/// True if the file is named like a trace: *.pftrace or *.vcd.
bool is_trace(const std::string& file);

/// Throws UserError, naming file and position, for content that `tessera run` does not write.
Recording read_trace(const std::string& file);

Recording read_perfetto(const std::string& bytes, const std::string& file);
Recording read_vcd(const std::string& text, const std::string& file);

}  // namespace tessera::trace
