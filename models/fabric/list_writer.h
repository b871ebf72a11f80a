#pragma once

#include <cstdint>

#include "models/fabric/list_scheduler.h"
#include "sim/program/exchange_compiler.h"

namespace tessera::fabric {

/// The descriptor lists of `schedule`, by tile, for every tile that sends or receives. Send::start
/// is written unchanged. Throws UserError if a start does not fit into its 32-bit word.
std::vector<program::DescriptorList> write_lists(std::uint32_t exchange, const Traffic& traffic,
                                                 const Schedule& schedule);

/// Sizes of write_lists()'s lists. Throws the same error.
std::vector<program::ExchangeUsage::List> list_sizes(const Traffic& traffic,
                                                     const Schedule& schedule);

}  // namespace tessera::fabric
