#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/base/few.h"
#include "sim/base/types.h"
#include "sim/program/tensor.h"
#include "sim/program/transfer_list.h"

/// A program for a machine: buffers on tiles, compute sets, exchanges, transfers from and to the
/// host, and the control around them.
/// A value without addresses; image.h places it in SRAM and compiles it to bytes.
namespace tessera::program {

/// The category of a buffer's bytes in the memory report.
enum class Category : std::uint8_t { code, control, exchange, arguments, tensors, stack };

/// Bytes on one tile. A buffer is live from its first use (from the start if it has contents) to
/// its last (to the end if `keep`); one used in a loop and live before or after it is live during
/// the whole loop. Buffers of one tile that are never live together may share bytes, so a buffer
/// used only inside a loop body, without contents or keep, carries nothing from one iteration to
/// the next.
struct Buffer {
  TileId tile;
  std::uint64_t bytes;  ///< compile() throws UserError if a tile cannot hold them
  std::uint32_t align = 8;
  bool keep = false;  ///< read by the host after the run
  Category category = Category::tensors;
  /// Writes the initial contents into the buffer's bytes; absent: undefined (zero) until written.
  /// Called once per load, from any host thread.
  std::function<void(std::span<std::byte>)> contents;
  std::string_view name;  ///< for the memory table; a literal
  /// Instead of `contents`, if the program runs several times (Workload::runs): the contents before
  /// run number `run`.
  std::function<void(std::span<std::byte>, std::uint32_t)> inputs = {};

  [[nodiscard]] bool initialised() const { return contents || inputs; }
  void fill(std::span<std::byte> into, std::uint32_t run) const {
    contents ? contents(into) : inputs(into, run);
  }
};

/// A buffer in external memory: the chip's, or a tile's own where each tile has some
/// (ExternalReach).
struct OuterBuffer {
  std::string_view name;  ///< a literal
  std::uint64_t bytes;
  TileId tile{};      ///< its owner, where each tile has its own
  bool keep = false;  ///< read by the host after the run
  /// Writes the initial contents from byte `offset` on; absent: zero. Called piece by piece, from
  /// any host thread.
  std::function<void(std::uint64_t offset, std::span<std::byte>)> contents = {};
};

/// A word of a vertex's argument block: a constant, or the address of a place on the vertex's tile
/// or in its external memory, which workers access themselves (machine.external.worker_dma).
using Argument = std::variant<std::uint32_t, Place, OuterPlace>;

/// The executor of a vertex: all workers at once (each reads CSR worker), one worker, or the
/// supervisor itself (which may load weights and run workers, and joins them before it returns).
enum class Executor : std::uint8_t { all_workers, one_worker, supervisor };

/// One call of a codelet on one tile. The codelet receives in a0 the address of its argument block:
/// the words of `arguments` in order, 8-byte aligned and read-only. A codelet may access only the
/// buffers named here: liveness depends on it.
struct Vertex {
  TileId tile;
  std::uint32_t codelet;  ///< index in Program::codelets
  Executor executor = Executor::all_workers;
  std::uint32_t worker = 0;  ///< for one_worker
  std::vector<Argument> arguments;
};

/// The vertices that run between two barriers. Vertices of one tile run in order, each after the
/// previous one has ended; but adjacent `one_worker` vertices run concurrently. All are joined at
/// the end.
struct ComputeSet {
  std::string name;
  std::vector<Vertex> vertices;
  bool syncs = false;      ///< begins with a barrier even directly after an exchange
  std::string stage = {};  ///< stage of its superstep in reports, e.g. a layer
};

/// An exchange with separate start and wait: its index in Program::exchanges.
enum class ExchangeId : std::uint32_t {};

/// A copy of `bytes` (at least 1) from one source to any number of destinations on any tiles.
struct Copy {
  Place source;
  std::uint32_t bytes;
  Few<Place> destinations;
};

/// A copy by a tile's DMA between a buffer of the tile and external memory: `rows` rows of
/// `row_bytes`, contiguous in the buffer, `pitch` bytes apart in external memory.
struct OuterCopy {
  Place place;
  OuterPlace outside;
  std::uint32_t row_bytes;
  std::uint32_t rows = 1;
  std::uint64_t pitch = 0;
  std::uint64_t steps[3] = {};  ///< bytes added to `outside` per digit of a turn (Turns)
  bool outward = false;         ///< from the tile to external memory
};

/// The order in which a DMA accesses a buffer: units of contiguous bytes, along up to four extents,
/// the last one fastest.
struct Walk {
  Place place;  ///< of the first unit
  std::uint32_t unit = 1;
  StreamExtent extents[kStreamExtents];
  std::uint32_t steps[3] = {};  ///< bytes added to `place` per digit of a turn (Turns)
};

/// A stream of bytes from a buffer of one node to buffers of others, over a `streams` fabric. A
/// sending DMA may pad with zeros (StreamExtent); a receiving one may not. All walks have the same
/// number of bytes, zeros included.
struct Stream {
  std::string_view name;  ///< key in the machine's fabric.streams
  Walk source;
  std::vector<Walk> destinations;
};

/// A place whose bytes the host writes or reads.
struct HostPiece {
  Place place;
  std::uint32_t bytes;
  /// Writes the bytes that the host sends in turn `number`. Called once per turn, on one host
  /// thread at a time.
  std::function<void(std::span<std::byte>, std::uint64_t number)> contents = {};
};

/// Bytes between tiles and the host over its link: they move when all tiles with pieces have
/// started the transfer. Bytes sent to the host are in MemoryReader::written under the exchange's
/// name, in order.
struct HostTransfer {
  enum class Direction : std::uint8_t { read, write };  ///< as seen by the program
  Direction direction = Direction::read;
  std::vector<HostPiece> pieces;
};

/// Copies that happen together: every source is read before any destination is written. A step
/// Exchange starts and waits at once. Instead of copies: streams, which begin together; or
/// transfers with external memory, independent on each tile; or one host transfer.
struct Exchange {
  std::string name;
  std::vector<Copy> copies;
  std::vector<OuterCopy> outside = {};    ///< if not empty there are no copies
  Turns turns = {};                       ///< for `outside`, `host` and `streams`
  std::optional<HostTransfer> host = {};  ///< if given there is nothing else
  std::vector<Stream> streams = {};       ///< if not empty there is nothing else
};

/// Calls `use` with every place that the exchange names in a tile's memory.
template <class Use>
void for_each_place(const Exchange& exchange, const Use& use) {
  for (const Copy& copy : exchange.copies) {
    if (copy.destinations.empty()) continue;
    use(copy.source);
    for (const Place destination : copy.destinations) use(destination);
  }
  for (const OuterCopy& copy : exchange.outside) use(copy.place);
  if (exchange.host)
    for (const HostPiece& piece : exchange.host->pieces) use(piece.place);
  for (const Stream& stream : exchange.streams) {
    use(stream.source.place);
    for (const Walk& walk : stream.destinations) use(walk.place);
  }
}
/// Turns of a transfer that moves bytes at every start.
constexpr Turns kEveryStart{UINT32_MAX};

/// Starts an exchange on the zone's participating tiles, which then continue. The exchange owns its
/// sources and destinations until the wait; its bytes move when all its tiles, in any zone, have
/// started it. On every path through a zone's steps, across loop iterations too, starts and waits
/// alternate.
struct Start {
  ExchangeId exchange;
};
struct Wait {
  ExchangeId exchange;
};

constexpr std::uint32_t kMaxLoopDepth = 10;  ///< one saved register per loop counter

struct Step;
struct Sequence {
  std::vector<Step> steps;
};
/// Runs body `count` times; zero times is allowed. Loops nest up to kMaxLoopDepth deep.
struct Repeat {
  std::uint32_t count;
  Sequence body;
};
/// Runs `test`; then, while each tile's word at `decisions` is not zero, `body` and `test` again.
/// Every tile branches on its own word (while_any of sim/plan makes words that agree); tiles that
/// branch apart end the run as NoProgress. As in Repeat, a buffer used only inside carries nothing
/// from one iteration to the next, but a buffer used in both `test` and `body` does.
struct While {
  std::string name;
  Sequence test;  ///< at least one step
  Sequence body;
  std::vector<Place> decisions;  ///< a 32-bit word on each tile of the zone, by tile of the program
};
struct Step {
  std::variant<ComputeSet, Exchange, Repeat, While, Start, Wait> action;
  bool measured = true;  ///< inside the measured region
};

/// A compiled tile function: position-independent bytes (see elf/codelet.h).
struct Codelet {
  std::string name;
  std::vector<std::byte> code;
};

class Program {
 public:
  /// `tiles` includes the nodes of other classes, after the compute tiles, that the program names.
  explicit Program(std::uint32_t tiles) : tiles_(tiles) {}

  /// Partitions the tiles into zones, each with its own steps and barriers. `zone_of`: by tile,
  /// zone numbers from 0 without gaps. By default all tiles are in zone 0. Call it before adding
  /// steps.
  void part(std::vector<std::uint32_t> zone_of);

  /// Returns the index of a codelet with these bytes; adds it if there is none yet.
  std::uint32_t add_codelet(Codelet codelet);
  /// The tile must exist and the alignment must be a power of two; 0 bytes are allowed.
  BufferId add_buffer(Buffer buffer);
  OuterId add_outer(OuterBuffer buffer);
  void add_tensor(Tensor tensor) { tensors_.push_back(std::move(tensor)); }
  /// For Start and Wait.
  ExchangeId add_exchange(Exchange exchange);
  /// The steps of a zone.
  Sequence& steps(std::uint32_t zone) { return steps_[zone]; }
  Sequence& main() { return steps_[0]; }
  /// Uses only `workers` worker contexts on each compute tile; 0: all.
  void start_workers(std::uint32_t workers) { workers_ = workers; }

  [[nodiscard]] std::uint32_t tiles() const { return tiles_; }
  [[nodiscard]] std::uint32_t workers() const { return workers_; }
  [[nodiscard]] std::uint32_t zones() const { return static_cast<std::uint32_t>(steps_.size()); }
  /// By tile; empty: all are of zone 0.
  [[nodiscard]] const std::vector<std::uint32_t>& zone_of() const { return zone_of_; }
  [[nodiscard]] std::uint32_t zone_of(TileId tile) const {
    return zone_of_.empty() ? 0 : zone_of_[index(tile)];
  }
  [[nodiscard]] const Sequence& steps(std::uint32_t zone) const { return steps_[zone]; }
  [[nodiscard]] const Sequence& main() const { return steps_[0]; }
  [[nodiscard]] const std::vector<Exchange>& exchanges() const { return exchanges_; }
  [[nodiscard]] const Exchange& exchange(ExchangeId id) const {
    return exchanges_[static_cast<std::size_t>(id)];
  }
  [[nodiscard]] const std::vector<Codelet>& codelets() const { return codelets_; }
  [[nodiscard]] const std::vector<Buffer>& buffers() const { return buffers_; }
  [[nodiscard]] const Buffer& buffer(BufferId id) const {
    return buffers_[static_cast<std::size_t>(id)];
  }
  [[nodiscard]] const std::vector<OuterBuffer>& outers() const { return outers_; }
  [[nodiscard]] const OuterBuffer& outer(OuterId id) const {
    return outers_[static_cast<std::size_t>(id)];
  }
  [[nodiscard]] const std::vector<Tensor>& tensors() const { return tensors_; }

 private:
  std::uint32_t tiles_;
  std::uint32_t workers_ = 0;
  std::vector<Codelet> codelets_;
  std::vector<Buffer> buffers_;
  std::vector<OuterBuffer> outers_;
  std::vector<Tensor> tensors_;
  std::vector<Exchange> exchanges_;
  std::vector<std::uint32_t> zone_of_;
  std::vector<Sequence> steps_{1};  ///< by zone
};

/// Checks that every id, tile, place and range named in the program exists, that a zone's steps
/// name its own tiles, and that starts and waits alternate; throws Defect otherwise. The exchange
/// compiler checks for overlapping destinations.
void validate(const Program& program);

/// Bytes that the host writes before a run (initialised buffers) and reads after it (kept ones);
/// transfers during the run are not included.
struct HostBytes {
  Bytes written, read;
  [[nodiscard]] Bytes total() const { return written + read; }
};
HostBytes host_bytes(const Program& program);

}  // namespace tessera::program
