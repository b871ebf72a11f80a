#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "kernels/block_shape.h"
#include "sim/base/errors.h"

/// Keys of pinned plans that several kernels share.
namespace tessera::kernels {

/// Describes the key `unit`.
inline void describe_unit(config::Fields& fields, Form& unit) {
  fields.field(
      {"unit", "inputs and outputs of the matrix unit's blocks, or vector code; auto: chosen"},
      unit, kForms);
}

/// Throws KeyError naming a key of the plan unless `holds`.
template <class Found>
void require_pinned(bool holds, std::string_view key, const Found& found,
                    std::string_view allowed) {
  if (!holds)
    throw KeyError(fmt::format("workload.plan.{}", key), "found {}, allowed {}", found, allowed);
}
template <class Found, class First, class... Args>
void require_pinned(bool holds, std::string_view key, const Found& found,
                    fmt::format_string<First, Args...> allowed, First&& first, Args&&... args) {
  if (!holds)
    require_pinned(false, key, found,
                   fmt::format(allowed, std::forward<First>(first), std::forward<Args>(args)...));
}

/// Throws KeyError unless the number of parts is 1 to `most`; `what` names that limit.
inline void require_parts(std::string_view key, std::uint64_t found, std::uint64_t most,
                          std::string_view what) {
  require_pinned(found >= 1 && found <= most, key, found, "1 to {} ({})", most, what);
}

/// Throws KeyError naming `key` if a pinned number exceeds `most`, which `what` explains. 0 means
/// that the planner chooses.
inline void require_at_most(const std::string& key, std::uint64_t found, std::uint64_t most,
                            std::string_view what = "") {
  if (found <= most) return;
  const std::string limit = what.empty() ? "" : fmt::format(" ({})", what);
  throw KeyError(key, "found {}, allowed 0 to {}{}", found, most, limit);
}

}  // namespace tessera::kernels
