#pragma once

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/base/errors.h"
#include "sim/program/control.h"
#include "sim/program/exchange_compiler.h"
#include "sim/program/outline.h"
#include "sim/program/placement.h"
#include "sim/program/tile_work.h"
#include "sim/program/transfer_list.h"

/// Compiles a program to images: code, buffers, lists. Internal: users include image.h and
/// outline.h.
namespace tessera::program {

/// Data and code shared by all tiles of one control signature.
struct ControlGroup {
  ControlData data;
  ControlCode code;
  std::shared_ptr<const CodeImage> image;
};

/// Inputs for a tile's image.
struct TileState {
  TileWork work;
  const ControlGroup* group = nullptr;
  std::vector<BufferId> buffers;
  std::uint64_t lists_begin = 0;
  std::vector<std::byte> control_data;  ///< list table, argument blocks
  std::vector<std::byte> lists;
  std::uint64_t list_bytes = 0;  ///< size of `lists`, even if their bytes are not made
  std::size_t exchanges = 0;     ///< number of lists
};

/// An exchange between tiles: compiled, or only sized.
using MadeExchange = std::variant<CompiledExchange, ExchangeUsage>;

/// Thrown when a watch returns false.
struct Stopped {};

constexpr std::uint32_t kListAlign = 8;

inline void write_word(std::vector<std::byte>& bytes, std::size_t at, std::uint32_t word) {
  std::memcpy(bytes.data() + at, &word, sizeof word);
}

class Compiler {
 public:
  /// Without `compiler`, images have sizes but no bytes.
  Compiler(const Program& program, const MachineConfig& machine, const ExchangeSizer& sizer,
           const ExchangeCompiler* compiler, const Watch& watch)
      : program_(program),
        machine_(machine),
        sizer_(sizer),
        compiler_(compiler),
        watch_(watch),
        flow_(flatten(program)),
        tiles_(program.tiles()) {}

  /// Returns true if the program fits with its lists.
  bool compile() {
    start();
    emit_code();
    if (!fits()) throw UserError(overflow("without buffers and lists the program does not fit"));
    place_buffers();
    place_outers();
    if (compiler_ != nullptr) write_arguments();
    fits_without_lists_ = fits();
    compile_exchanges();
    finish_tiles();
    if (!fits()) return false;
    add_idle_nodes();
    return true;
  }
  [[nodiscard]] Images take() { return std::move(images_); }
  [[nodiscard]] bool fits_without_lists() const { return fits_without_lists_; }
  [[noreturn]] void fail() const { throw UserError(overflow(kOverflow)); }

 private:
  static constexpr std::string_view kOverflow = "the program does not fit";

  // compile.cpp
  void start();
  void require_workers(TileId tile) const;
  void emit_code();
  void add_idle_nodes();
  void place_buffers();
  void place_outers();
  void note_live(const Layout& layout, std::uint32_t zone);
  void write_arguments();
  [[nodiscard]] std::uint32_t word_of(const Argument& argument) const;
  [[nodiscard]] Port port(Place place) const;
  void finish_tiles();
  [[nodiscard]] bool fits() const;
  [[nodiscard]] std::string overflow(std::string_view what) const;

  // compile_lists.cpp
  void compile_exchanges();
  [[nodiscard]] std::vector<PlacedCopy> placed(const Exchange& exchange) const;
  [[nodiscard]] std::vector<MadeExchange> made_ahead() const;
  [[nodiscard]] MadeExchange made_exchange(std::uint32_t number) const;
  void enter_exchange(std::uint32_t step, const MadeExchange& made);
  void compile_transfer(std::uint32_t number);
  void compile_outer_transfer(std::uint32_t number);
  void compile_host_transfer(std::uint32_t number);
  void compile_streams(std::uint32_t number);
  [[nodiscard]] StreamEntry entry_of(const Walk& walk) const;
  void add_transfer_list(std::uint32_t number, TileId tile, TransferHeader header,
                         std::span<const std::byte> entries);
  void add_list(std::uint32_t number, const DescriptorList& list);
  TileState& enter_list(std::uint32_t number, TileId tile, std::uint64_t bytes);

  const Program& program_;
  const MachineConfig& machine_;
  const ExchangeSizer& sizer_;
  const ExchangeCompiler* compiler_;  ///< null: no bytes are made
  const Watch& watch_;                ///< may be empty
  Flow flow_;
  std::vector<TileState> tiles_;
  std::map<std::vector<std::uint32_t>, ControlGroup> groups_;
  std::vector<Port> buffers_;  ///< start of each
  Images images_;
  bool fits_without_lists_ = false;
};

}  // namespace tessera::program
