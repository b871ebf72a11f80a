#include "kernels/training/builder.h"

#include <algorithm>

namespace tessera::training {

void fill_zeros(std::span<std::byte> into) { std::memset(into.data(), 0, into.size()); }

void Builder::add_to(program::Sequence& sequence, bool measured) {
  sequence_ = &sequence;
  measured_ = measured;
}

BufferId Builder::buffer(std::uint32_t tile, std::uint64_t bytes, std::string_view name,
                         Contents contents, bool keep) {
  return program_.add_buffer({TileId(tile), std::max(bytes, kWordBytes), 8, keep,
                              program::Category::tensors, std::move(contents), name});
}

std::uint32_t Builder::codelet(const std::string& name) {
  const auto [entry, is_new] = codelets_.try_emplace(name);
  if (!is_new) return entry->second;
  const std::string folder = name.starts_with("training_")    ? "training"
                             : name.starts_with("transpose_") ? "sparse/code"
                                                              : own_;
  const elf::KernelCode& code = codes_.try_emplace(folder, folder).first->second;
  return entry->second = program_.add_codelet(code[name]);
}

program::Vertex Builder::all(std::uint32_t tile, const std::string& name, Arguments arguments) {
  return {TileId(tile), codelet(name), program::Executor::all_workers, 0, std::move(arguments)};
}

program::Vertex Builder::one(std::uint32_t tile, const std::string& name, Arguments arguments) {
  return {TileId(tile), codelet(name), program::Executor::one_worker, 0, std::move(arguments)};
}

program::Vertex Builder::all_of(std::uint32_t tile, const std::string& name, Arguments arguments,
                                std::uint64_t bytes) {
  const kernels::EvenSplit words{bytes / kWordBytes, contexts()};
  for (std::uint32_t w = 0; w < contexts(); ++w) {
    arguments.emplace_back(word(words.begin(w) * kWordBytes));
    arguments.emplace_back(word(words.part(w).size()));
  }
  return all(tile, name, std::move(arguments));
}

program::Vertex Builder::clearing(BufferId buffer) {
  return all_of(tile_of(buffer), "training_clear", {Place{buffer}, 0U},
                program_.buffer(buffer).bytes);
}

}  // namespace tessera::training
