#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/config/config.h"
#include "sim/config/fields.h"
#include "sim/sensitivity/answer.h"

namespace tessera::sensitivity {

/// A key at another value than the config's.
struct End {
  std::optional<double> value = {};  ///< none: the config allows none on this side
  Answer answer = {};
};

/// A number of the machine, less and more of it.
struct Key {
  config::NumberKey number;
  End low, high;
  std::string held;                          ///< why no other value is allowed; empty: one is
  bool area_model = true;                    ///< has_area_model
  std::vector<config::NumberKey> with = {};  ///< further keys, moved by the same factor

  /// "machine.fabric.a", or with others "machine.fabric.a+fabric.b"
  [[nodiscard]] std::string path() const;
};

/// The config with that key at that value, and those `with` it moved by the same factor. Throws
/// UserError where that is not allowed.
config::Config config_at(const config::Config& base, const config::NumberKey& key, double value,
                         const Catalogue& catalogue, config::Presets machines,
                         std::span<const config::NumberKey> with = {});

/// The first of `numbers` with the others, moved as below.
Key moved_key(const config::Config& base, std::vector<config::NumberKey> numbers, double by,
              const Catalogue& catalogue, config::Presets machines);

/// Every numeric key of the config's machine, in the order of their declarations, with a `by`-th
/// and `by` times its value: where the config does not allow these, with the nearest values on the
/// same side that it does (by ratio; of integers, up to 64 tried).
std::vector<Key> moved_keys(const config::Config& base, double by, const Catalogue& catalogue,
                            config::Presets machines);

}  // namespace tessera::sensitivity
