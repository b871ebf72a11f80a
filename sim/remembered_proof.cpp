#include "sim/remembered_proof.h"

#include <set>
#include <span>
#include <utility>
#include <vector>

namespace tessera {
namespace {

using program::Fingerprint;

/// Fingerprint of all loaded bytes and their addresses.
Fingerprint fingerprint(const program::Images& images) {
  std::vector<Fingerprint> parts;
  const auto add = [&parts](const auto& values) {
    parts.push_back(program::fingerprint(std::as_bytes(std::span(values))));
  };
  add(images.buffer_address);
  add(images.outer_address);
  std::set<const program::CodeImage*> seen;
  for (const program::TileImage& tile : images.tiles) {
    const program::CodeImage& code = *tile.code;
    for (const program::Segment& segment : tile.segments) {
      parts.push_back({segment.address.count(), segment.bytes.size()});
      add(segment.bytes);
    }
    const bool is_new = seen.insert(&code).second;
    parts.push_back({tile.segments.size(), is_new ? 1U : 0U});
    if (!is_new) continue;
    parts.push_back({code.entry.count(), code.worker_stacks.count()});
    add(code.bytes);
  }
  return program::fingerprint(std::as_bytes(std::span(parts)));
}

std::string without_sram(config::Json resolved) {
  resolved["machine"]["tile"].erase("sram_kib");
  return resolved.dump();
}

}  // namespace

std::shared_ptr<const TimingProof> RememberedProof::proof(
    const config::Config& config, const report::Built& built,
    const std::function<TimingProof()>& prove) {
  std::string its = without_sram(config.resolved);
  const std::uint32_t sram_kib = config.machine.tile.sram_kib;
  const Fingerprint program = program::fingerprint(built.program);
  const Fingerprint images = fingerprint(built.images);
  const bool same = proof_ && sram_kib_ <= sram_kib && program_ == program && images_ == images &&
                    config_ == its && config::input_files(config).empty();
  if (!same) {
    proof_ = std::make_shared<const TimingProof>(prove());
    config_ = std::move(its);
    sram_kib_ = sram_kib;
    program_ = program;
    images_ = images;
  }
  return proof_;
}

}  // namespace tessera
