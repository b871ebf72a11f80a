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
/// its last (to the end if `keep`); one that is used in a loop and live before or after it is live
/// during the whole loop. Buffers of one tile that are never live together may share bytes, so a
/// buffer used only inside a loop body, without contents or keep, carries nothing from one
/// iteration to the next.
struct Buffer {
  TileId tile;
  std::uint64_t bytes;  ///< compile() refuses more than a tile can have
  std::uint32_t align = 8;
  bool keep = false;  ///< read by the host after the run
  Category category = Category::tensors;
  /// Writes the initial contents into the buffer's bytes; absent: undefined (zero) until written.
  /// Called once per load, from any host thread.
  std::function<void(std::span<std::byte>)> contents;
  std::string_view name;  ///< for the memory table; a literal
  /// Instead of `contents`, where the program runs several times (Workload::runs): the contents
  /// before the run of that number.
  std::function<void(std::span<std::byte>, std::uint32_t)> inputs = {};

  [[nodiscard]] bool initialised() const { return contents || inputs; }
  void fill(std::span<std::byte> into, std::uint32_t run) const {
    contents ? contents(into) : inputs(into, run);
  }
};

/// Bytes of memory outside the tiles: of the chip's, or of a tile's own where each has some
/// (ExternalReach).
struct OuterBuffer {
  std::string_view name;  ///< a literal
  std::uint64_t bytes;
  TileId tile{};      ///< its owner, where each tile has its own
  bool keep = false;  ///< read by the host after the run
  /// Writes the initial contents from byte `offset` on; absent: zero. Called for pieces of it, from
  /// any host thread.
  std::function<void(std::uint64_t offset, std::span<std::byte>)> contents = {};
};

/// A word of a vertex's argument block: a constant, or the address of a place on the vertex's tile
/// or in its memory outside, which workers reach by themselves (machine.external.worker_dma).
using Argument = std::variant<std::uint32_t, Place, OuterPlace>;

/// Who runs a vertex: all workers at once (each reads CSR worker), one worker, or the supervisor
/// itself (which may load weights and run workers, and joins what it has run before it returns).
enum class Executor : std::uint8_t { all_workers, one_worker, supervisor };

/// One call of a codelet on one tile. The codelet receives in a0 the address of its argument block:
/// the words of `arguments` in order, 8-byte aligned and read-only. Liveness knows only of the
/// buffers named here: a codelet touches no others.
struct Vertex {
  TileId tile;
  std::uint32_t codelet;  ///< index in Program::codelets
  Executor executor = Executor::all_workers;
  std::uint32_t worker = 0;  ///< for one_worker
  std::vector<Argument> arguments;
};

/// The vertices that run between two barriers. Vertices of one tile run in the order given, each
/// after the one before has ended; but neighbouring `one_worker` vertices run at the same time. All
/// are joined at the end.
struct ComputeSet {
  std::string name;
  std::vector<Vertex> vertices;
  bool syncs = false;      ///< a barrier is before it even directly behind an exchange
  std::string stage = {};  ///< stage of its superstep in reports, such as a layer of a network
};

/// An exchange that is started and waited for apart: its index in Program::exchanges.
enum class ExchangeId : std::uint32_t {};

/// One source range to any number of destinations of other tiles (or the same one), all of `bytes`
/// (at least one).
struct Copy {
  Place source;
  std::uint32_t bytes;
  Few<Place> destinations;
};

/// Bytes that a tile's DMA moves between a buffer of the tile and memory outside: `rows` rows of
/// `row_bytes`, one behind the other in the buffer, `pitch` bytes apart outside.
struct OuterCopy {
  Place place;
  OuterPlace outside;
  std::uint32_t row_bytes;
  std::uint32_t rows = 1;
  std::uint64_t pitch = 0;
  std::uint64_t steps[3] = {};  ///< bytes that each digit of a turn moves `outside` by (Turns)
  bool outward = false;         ///< from the tile to memory outside
};

/// Bytes of a buffer in the order in which a DMA goes through them: units of bytes that lie side by
/// side, along up to four extents, the last of them fastest.
struct Walk {
  Place place;  ///< the first unit's
  std::uint32_t unit = 1;
  StreamExtent extents[kStreamExtents];
  std::uint32_t steps[3] = {};  ///< bytes that each digit of a turn moves `place` by (Turns)
};

/// A stream of bytes from a buffer of one node to buffers of others, over a fabric of that kind.
/// The DMA that sends may put zeros around what it reads (StreamExtent); one that receives may not.
/// All walks have the same number of bytes, zeros included.
struct Stream {
  std::string_view name;  ///< key in the machine's fabric.streams
  Walk source;
  std::vector<Walk> destinations;
};

/// A place whose bytes the host gives or takes.
struct HostPiece {
  Place place;
  std::uint32_t bytes;
  /// Writes the bytes of turn `number` of a piece that the host gives. Called on one host thread at
  /// a time, once a turn.
  std::function<void(std::span<std::byte>, std::uint64_t number)> contents = {};
};

/// Bytes between tiles and the host over its link: they move when all tiles that have pieces have
/// started the transfer. What the host takes stands in MemoryReader::written under the exchange's
/// name, in order.
struct HostTransfer {
  enum class Direction : std::uint8_t { read, write };  ///< the program reads from, writes to it
  Direction direction = Direction::read;
  std::vector<HostPiece> pieces;
};

/// Copies that happen together: every source is read before any destination is written. As a step
/// it is started and waited for at once. Or streams, which begin together. Or transfers with memory
/// outside: each tile's goes on by itself. Or one with the host.
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
/// As often as it is started.
constexpr Turns kEveryStart{UINT32_MAX};

/// Begins an exchange of the program on the tiles of the zone that take part in it, which go on. It
/// owns what it sends and receives until they wait for it; its bytes move when all its tiles, of
/// whatever zone, have started it. On every way through a zone's steps starts and waits take turns,
/// a loop's end with its beginning too.
struct Start {
  ExchangeId exchange;
};
struct Wait {
  ExchangeId exchange;
};

constexpr std::uint32_t kMaxLoopDepth = 10;  ///< a saved register a loop counts in

struct Step;
struct Sequence {
  std::vector<Step> steps;
};
/// Runs body `count` times; zero times is allowed. Loops nest up to kMaxLoopDepth deep.
struct Repeat {
  std::uint32_t count;
  Sequence body;
};
/// Runs `test`; then, for as long as the word of each tile at `decisions` is not zero, `body` and
/// `test` again. Every tile branches on its own word (while_any of sim/plan makes words that
/// agree); tiles that branch apart end the run as NoProgress. As in Repeat, a buffer used only
/// inside carries nothing from one iteration to the next, but from `test` to `body` and back it
/// does.
struct While {
  std::string name;
  Sequence test;  ///< one step at least
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
  /// `tiles` counts nodes of other classes behind the compute tiles too, as far as it names them.
  explicit Program(std::uint32_t tiles) : tiles_(tiles) {}

  /// Parts the tiles into zones, each with steps and barriers of its own: by tile the number of
  /// its zone, from 0 on without gaps. Until then there is one zone of all tiles. No steps may
  /// have been added.
  void part(std::vector<std::uint32_t> zone_of);

  /// The index of a codelet with these bytes, added if there is none yet.
  std::uint32_t add_codelet(Codelet codelet);
  /// The tile must exist and the alignment be a power of two; a buffer may be of no bytes.
  BufferId add_buffer(Buffer buffer);
  OuterId add_outer(OuterBuffer buffer);
  void add_tensor(Tensor tensor) { tensors_.push_back(std::move(tensor)); }
  /// For Start and Wait.
  ExchangeId add_exchange(Exchange exchange);
  /// The steps of a zone.
  Sequence& steps(std::uint32_t zone) { return steps_[zone]; }
  Sequence& main() { return steps_[0]; }
  /// Starts so many worker contexts on each compute tile, as if there were no others; 0: all.
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
/// name its own tiles, and that starts and waits take turns: our own bug otherwise. Overlapping
/// destinations are the exchange compiler's to find.
void validate(const Program& program);

/// Bytes that the host writes before a run (initialised buffers) and reads after it (kept ones);
/// what it transfers during the run is apart.
struct HostBytes {
  Bytes written, read;
  [[nodiscard]] Bytes total() const { return written + read; }
};
HostBytes host_bytes(const Program& program);

}  // namespace tessera::program
