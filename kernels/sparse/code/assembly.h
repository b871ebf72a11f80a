#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/gemm/vertices.h"
#include "kernels/sparse/code/statement.h"
#include "sim/program/program.h"

/// A program while it is put together.
namespace tessera::sparse {

class Assembly {
 public:
  using Contents = std::function<void(std::span<std::byte>)>;
  /// Writes what lies from a byte on; called after the assembly is gone.
  using Fill = std::function<void(std::uint64_t first, std::span<std::byte>)>;

  /// `program` outlives it, as does `code`.
  Assembly(const TileCode& code, program::Program& program, std::uint32_t contexts)
      : code_(code), program_(program), contexts_(contexts), sequence_(&program.main()) {}

  /// Where steps are added from here on; at first the program's main sequence. Only if `measured`
  /// they are so.
  void add_to(program::Sequence& sequence, bool measured) {
    sequence_ = &sequence;
    measured_ = measured;
  }

  [[nodiscard]] std::uint32_t contexts() const { return contexts_; }
  program::Program& program() { return program_; }

  BufferId buffer(std::uint64_t tile, std::uint64_t bytes, std::string_view name,
                  Contents contents = {}, bool keep = false) {
    return program_.add_buffer({TileId(word(tile)), bytes, 8, keep, program::Category::tensors,
                                std::move(contents), name});
  }
  /// A buffer of these bytes, which nobody writes; steps that are alike share it.
  template <class T>
  BufferId list(std::uint64_t tile, const std::vector<T>& list, std::string_view name) {
    std::string text(std::max<std::size_t>(list.size() * sizeof(T), 8), '\0');
    std::memcpy(text.data(), list.data(), list.size() * sizeof(T));
    const auto [known, is_new] = lists_.try_emplace({tile, text});
    if (is_new)
      known->second = buffer(tile, text.size(), name, [text](std::span<std::byte> into) {
        std::memcpy(into.data(), text.data(), text.size());
      });
    return known->second;
  }
  /// What tiles 0, 1, ... hold of it, by tile.
  std::vector<BufferId> stored(const EvenStorage& storage, std::string_view name,
                               const Fill& fill = {}) {
    std::vector<BufferId> buffers;
    for (std::uint32_t tile = 0; tile < storage.tiles(); ++tile) {
      Contents contents;
      if (fill) {
        contents = [fill, first = storage.begin(tile)](auto into) { fill(first, into); };
      }
      buffers.push_back(buffer(tile, storage.bytes_on(tile), name, std::move(contents)));
    }
    return buffers;
  }
  std::uint32_t codelet(const std::string& name) {
    const auto found = codelets_.find(name);
    if (found != codelets_.end()) return found->second;
    return codelets_.emplace(name, program_.add_codelet(code_.sparse[name])).first->second;
  }
  /// Calls of gemm's tile code.
  gemm::Vertices dense() { return {code_.gemm, program_, contexts_}; }
  template <class Action>
  void add_step(Action action, bool measured = true) {
    sequence_->steps.push_back({std::move(action), measured && measured_});
  }

 private:
  const TileCode& code_;
  program::Program& program_;
  std::uint32_t contexts_;
  program::Sequence* sequence_;
  bool measured_ = true;
  std::map<std::string, std::uint32_t> codelets_;
  std::map<std::pair<std::uint64_t, std::string>, BufferId> lists_;  ///< by tile and bytes
};

/// Copies what begins at `from` to bytes [begin, end) of what is stored in `into`, by tile.
inline void scatter(program::Exchange& exchange, const Place& from, const EvenStorage& storage,
                    const std::vector<BufferId>& into, std::uint64_t begin, std::uint64_t end) {
  for (const auto& piece : storage.pieces(begin, end)) {
    exchange.copies.push_back(
        {{from.buffer, from.offset + piece.at}, piece.bytes, {{into[piece.tile], piece.offset}}});
  }
}

}  // namespace tessera::sparse
