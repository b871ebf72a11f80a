#pragma once

#include <array>
#include <string>
#include <string_view>

#include "sim/config/fields.h"

/// Kinds of evidence behind published numbers, and the accuracy that each demands of a set.
namespace tessera::command {

enum class Evidence { silicon, vendor_model, datasheet, derived, goal, indirect };

/// A ratio within 1 / kNear to kNear counts as near.
constexpr double kNear = 1.25;

/// Limits on each set of a kind; 0: no limit.
struct AccuracyGate {
  double median_low = 0;  ///< lower limit of the median ratio simulated / published
  double median_high = 0;
  double share_near = 0;  ///< least share of near points; every slope must be near
  double each_low = 0;
  double each_high = 0;
  double exponent_within = 0;   ///< deviation of fitted exponents
  double rank_correlation = 0;  ///< least correlation; only with enough points

  [[nodiscard]] bool asks() const { return median_high > 0 || each_low > 0; }
};

struct EvidenceKind {
  Evidence evidence;
  std::string_view name;
  std::string_view meaning;
  AccuracyGate gate;
  std::string_view reason;  ///< why the gate has these limits
};

constexpr std::size_t kEvidences = 6;
const std::array<EvidenceKind, kEvidences>& evidence_kinds();
const EvidenceKind& kind_of(Evidence evidence);
config::Names<Evidence, kEvidences> evidence_names();

/// "median 0.9 to 1.1, 80 % of points within 1.25x"
std::string text_of(const AccuracyGate& gate);

}  // namespace tessera::command
