#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sim/base/few.h"
#include "sim/base/types.h"

/// The seam between programs and fabrics: a fabric turns placed copies into the descriptor lists
/// that its tiles hold in SRAM. Implemented in models/fabric, one class per fabric kind.
namespace tessera::program {

/// One end of a placed copy.
struct Port {
  TileId tile;
  Address address;
};

struct PlacedCopy {
  Port source;
  std::uint32_t bytes;
  Few<Port> destinations;
};

/// The list that one tile gives to `exch`: bytes exactly as in SRAM.
struct DescriptorList {
  TileId tile;
  std::vector<std::byte> bytes;
};

/// Lower bound on the bytes that all tiles' ports move in one exchange.
struct PortBytes {
  Bytes sent;      ///< each counted once, for any number of receivers
  Bytes received;  ///< bytes that both tiles of a pair receive together count once
};

struct CompiledExchange {
  std::vector<DescriptorList> lists;  ///< one for each tile that sends or receives, by tile
  Cycle makespan;                     ///< achieved, without the fixed cost
  Cycle bound;                        ///< lower bound, from the busiest port
  PortBytes ports = {};               ///< zero where ports limit nothing
};

/// By tile: cycle at which it has sent and received its part, without the fixed cost; tiles after
/// the last entry take no part.
using ExchangeEnds = std::vector<std::uint32_t>;

/// A compiled exchange without its lists' bytes.
struct ExchangeUsage {
  struct List {
    TileId tile;
    std::uint64_t bytes;
  };
  std::vector<List> lists;
  Cycle makespan;
  Cycle bound;
  PortBytes ports = {};
  std::shared_ptr<const ExchangeEnds> ends = {};  ///< null: not known
};

/// Bytes of a descriptor list in SRAM, for planners: a header, then one entry per sent or received
/// fragment.
constexpr std::uint64_t kListHeaderBytes = 16;
constexpr std::uint64_t kSendBytes = 12;
constexpr std::uint64_t kReceiveBytes = 16;

/// Computes the resource usage of exchanges without compiling them.
class ExchangeSizer {
 public:
  virtual ~ExchangeSizer() = default;
  /// Resource usage of the exchange that ExchangeCompiler::compile would make; throws the same
  /// errors.
  [[nodiscard]] virtual ExchangeUsage resource_usage(std::uint32_t exchange,
                                                     std::span<const PlacedCopy> copies) const = 0;
  /// A sizer (an ExchangeCompiler if this is one) that makes the shortest possible lists, whatever
  /// time exchanges take; null: this one already does.
  [[nodiscard]] virtual std::unique_ptr<ExchangeSizer> shortest() const { return nullptr; }

  /// Host threads that may call this at the same time; results do not depend on them.
  [[nodiscard]] unsigned threads() const { return threads_; }
  void use_threads(unsigned threads) { threads_ = threads; }

 private:
  unsigned threads_ = 1;
};

class ExchangeCompiler : public ExchangeSizer {
 public:
  /// `exchange` numbers the exchange within its program (in every descriptor list's header).
  [[nodiscard]] virtual CompiledExchange compile(std::uint32_t exchange,
                                                 std::span<const PlacedCopy> copies) const = 0;
  [[nodiscard]] ExchangeUsage resource_usage(std::uint32_t exchange,
                                             std::span<const PlacedCopy> copies) const override;
  /// Cycles of the exchange from its last participant's start on, including the fixed cost.
  [[nodiscard]] virtual Cycle cycles(std::span<const PlacedCopy> copies) const = 0;
};

}  // namespace tessera::program
