#pragma once

#include <bit>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/layout.h"
#include "sim/elf/codelet.h"
#include "sim/machine/machine_config.h"
#include "sim/program/program.h"

namespace tessera::training {

using program::BufferId;
using program::ComputeSet;
using program::Exchange;
using program::Place;
using Contents = std::function<void(std::span<std::byte>)>;
using Arguments = std::vector<program::Argument>;

constexpr std::uint32_t kElementBytes = 4;  ///< of f32
constexpr std::uint64_t kWordBytes = 8;     ///< what elementwise code takes at once

/// The value as f32, as an argument of a vertex.
constexpr std::uint32_t bits_of(double value) {
  return std::bit_cast<std::uint32_t>(static_cast<float>(value));
}

void fill_zeros(std::span<std::byte> into);

/// Adds buffers, calls and steps to a program.
class Builder {
 public:
  /// `code`: the kernel whose tile code is called beside this folder's and that of transpositions.
  /// `program` and `machine` outlive it.
  Builder(program::Program& program, const MachineConfig& machine, std::string code = "training")
      : program_(program), machine_(machine), own_(std::move(code)), sequence_(&program.main()) {}

  /// Where steps are added from here on; at first the program's main sequence. Buffers used inside
  /// a loop carry nothing from one turn to the next unless they are filled or kept.
  void add_to(program::Sequence& sequence, bool measured = true);
  /// `body` adds the steps of a loop.
  template <class Body>
  void repeat(std::uint32_t count, const Body& body) {
    program::Sequence inner;
    program::Sequence* const outer = std::exchange(sequence_, &inner);
    body();
    sequence_ = outer;
    add_step(program::Repeat{count, std::move(inner)});
  }
  template <class Action>
  void add_step(Action action) {
    sequence_->steps.push_back({std::move(action), measured_});
  }

  /// Without contents undefined; called after the builder is gone.
  BufferId buffer(std::uint32_t tile, std::uint64_t bytes, std::string_view name,
                  Contents contents = {}, bool keep = false);
  BufferId zeros(std::uint32_t tile, std::uint64_t bytes, std::string_view name,
                 bool keep = false) {
    return buffer(tile, bytes, name, fill_zeros, keep);
  }
  template <class T>
  BufferId list(std::uint32_t tile, const std::vector<T>& values, std::string_view name) {
    return buffer(tile, values.size() * sizeof(T), name, [values](std::span<std::byte> into) {
      std::memcpy(into.data(), values.data(), values.size() * sizeof(T));
    });
  }

  std::uint32_t codelet(const std::string& name);
  /// A call by all workers of a tile, or by one.
  program::Vertex all(std::uint32_t tile, const std::string& name, Arguments arguments);
  program::Vertex one(std::uint32_t tile, const std::string& name, Arguments arguments);
  /// The same with the words of `bytes` divided among the workers, as last arguments.
  program::Vertex all_of(std::uint32_t tile, const std::string& name, Arguments arguments,
                         std::uint64_t bytes);
  program::Vertex clearing(BufferId buffer);

  [[nodiscard]] program::Program& program() { return program_; }
  [[nodiscard]] const MachineConfig& machine() const { return machine_; }
  [[nodiscard]] program::Sequence& sequence() { return *sequence_; }
  [[nodiscard]] bool measured() const { return measured_; }
  [[nodiscard]] std::uint32_t contexts() const { return machine_.tile.contexts; }
  [[nodiscard]] std::uint32_t tile_of(BufferId buffer) const {
    return index(program_.buffer(buffer).tile);
  }

 private:
  program::Program& program_;
  const MachineConfig& machine_;
  std::string own_;
  program::Sequence* sequence_;
  bool measured_ = true;
  std::map<std::string, elf::KernelCode> codes_;  ///< by folder
  std::map<std::string, std::uint32_t> codelets_;
};

}  // namespace tessera::training
