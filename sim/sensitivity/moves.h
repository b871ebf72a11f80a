#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/config/config.h"
#include "sim/config/fields.h"
#include "sim/sensitivity/answer.h"

namespace tessera::sensitivity {

/// One end of a key's range: a value other than the config's.
struct End {
  std::optional<double> value = {};  ///< none: no value is allowed on this side
  Answer answer = {};
};

/// A number of the machine with a lower and a higher value.
struct Key {
  config::NumberKey number;
  End low, high;
  std::string held;                          ///< why no other value is allowed; empty: one is
  bool area_model = true;                    ///< has_area_model
  std::vector<config::NumberKey> with = {};  ///< keys scaled by the same factor

  /// "machine.fabric.a", or with further keys "machine.fabric.a+fabric.b".
  [[nodiscard]] std::string path() const;
};

/// The config with `key` set to `value`, and the keys `with` it scaled by the same factor. Throws
/// UserError if that is not allowed.
config::Config config_at(const config::Config& base, const config::NumberKey& key, double value,
                         const Catalogue& catalogue, config::Presets machines,
                         std::span<const config::NumberKey> with = {});

/// A Key of the first of `numbers`, scaled together with the others as by moved_keys().
Key moved_key(const config::Config& base, std::vector<config::NumberKey> numbers, double by,
              const Catalogue& catalogue, config::Presets machines);

/// Every numeric key of the config's machine, in declaration order, at 1/by and by times its value.
/// If the config does not allow these, at the nearest allowed values on the same side (by ratio;
/// for integers up to 64 are tried).
std::vector<Key> moved_keys(const config::Config& base, double by, const Catalogue& catalogue,
                            config::Presets machines);

}  // namespace tessera::sensitivity
