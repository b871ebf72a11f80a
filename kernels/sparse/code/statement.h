#pragma once

#include <cstring>
#include <string>
#include <string_view>

#include "kernels/codelet.h"
#include "kernels/stored.h"

namespace tessera::sparse {

using kernels::Codelet;
using kernels::pull;
using plan::Tile;

/// Tile code of this folder and of gemm.
struct TileCode {
  elf::KernelCode sparse{"sparse/code"};
  elf::KernelCode gemm{"gemm"};
};

/// A description to which steps of sparse products are added. Steps hold no reference to it.
struct Statement {
  plan::Description& description;
  const TileCode& code;
  std::uint32_t contexts;

  [[nodiscard]] Codelet codelet(const std::string& name) const {
    return Codelet::of(code.sparse, description, name, contexts);
  }
  using Contents = std::function<void(Tile, std::span<std::byte>)>;
  BufferId stored(const EvenStorage& storage, std::string_view name, Contents contents = {},
                  bool keep = false) const {
    return description.array(
        {name, [storage](Tile tile) -> std::uint64_t { return storage.bytes_on(tile); }, keep,
         std::move(contents)});
  }
  /// Constants of each tile: `count(tile)` of them, in the vector make(tile).
  template <class Count, class Make>
  BufferId list(std::string_view name, const Count& count, const Make& make) const {
    using Entry = typename decltype(make(Tile{}))::value_type;
    return description.array(
        {name, [count](Tile tile) -> std::uint64_t { return count(tile) * sizeof(Entry); }, false,
         [make](Tile tile, std::span<std::byte> into) {
           const auto all = make(tile);
           std::memcpy(into.data(), all.data(), all.size() * sizeof(Entry));
         }});
  }
};

}  // namespace tessera::sparse
