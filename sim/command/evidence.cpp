#include "sim/command/evidence.h"

#include <fmt/format.h>

namespace tessera::command {
namespace {

constexpr AccuracyGate kMeasured = {.median_low = 0.9,
                                    .median_high = 1.1,
                                    .share_near = 0.8,
                                    .exponent_within = 0.15,
                                    .rank_correlation = 0.9};

constexpr std::array<EvidenceKind, kEvidences> kKinds = {{
    {Evidence::silicon, "silicon", "measured on the machine that is simulated", kMeasured,
     "figures are read to 1-4 %, and designs that differ by a quarter must not change places"},
    {Evidence::vendor_model,
     "vendor_model",
     "the vendor's own estimate, restated from its sources",
     {.median_low = 1 / kNear, .median_high = kNear, .share_near = 0.8},
     "an estimate is itself off silicon, and its code is not ours"},
    {Evidence::datasheet,
     "datasheet",
     "an identity of a datasheet or of a design's sources: the preset holds the numbers, a run "
     "must "
     "show them",
     {.each_low = 0.99, .each_high = 1.01},
     "nothing is predicted, so only starting and ending a run may differ"},
    {Evidence::derived, "derived", "worked out from published numbers, not itself published",
     kMeasured, "as near as what it is worked out from"},
    {Evidence::goal,
     "goal",
     "a goal of ours, published by nobody",
     {.each_low = 1},
     "a goal is reached or not"},
    {Evidence::indirect,
     "indirect",
     "published of another machine, or of a configuration that is not published",
     {},
     "it shows where ours stands; no accuracy is claimed"},
}};

}  // namespace

const std::array<EvidenceKind, kEvidences>& evidence_kinds() { return kKinds; }

const EvidenceKind& kind_of(Evidence evidence) {
  return kKinds.at(static_cast<std::size_t>(evidence));
}

config::Names<Evidence, kEvidences> evidence_names() {
  config::Names<Evidence, kEvidences> names;
  for (std::size_t i = 0; i < kEvidences; ++i)
    names.at(i) = {kKinds.at(i).name, kKinds.at(i).evidence};
  return names;
}

std::string text_of(const AccuracyGate& gate) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (gate.median_high > 0)
    add(fmt::format("median {:g} to {:g}", gate.median_low, gate.median_high));
  if (gate.share_near > 0)
    add(fmt::format("{:.0f} % of points and every slope within {:g}x", 100 * gate.share_near,
                    kNear));
  if (gate.each_low > 0)
    add(gate.each_high > 0 ? fmt::format("each {:g} to {:g}", gate.each_low, gate.each_high)
                           : fmt::format("each {:g} or more", gate.each_low));
  if (gate.exponent_within > 0) add(fmt::format("exponents within {:g}", gate.exponent_within));
  if (gate.rank_correlation > 0)
    add(fmt::format("rank correlation {:g} or more", gate.rank_correlation));
  return text.empty() ? "none" : text;
}

}  // namespace tessera::command
