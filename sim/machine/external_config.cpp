#include "sim/machine/external_config.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/counted.h"
#include "sim/config/fields.h"

namespace tessera {
namespace {

using config::Fields;

constexpr config::Names<ExternalModel, 2> kModels{
    {{"dram", ExternalModel::dram}, {"platform", ExternalModel::platform}}};
constexpr config::Names<ExternalReach, 2> kReaches{
    {{"chip", ExternalReach::chip}, {"tile", ExternalReach::tile}}};
constexpr config::Range<std::uint32_t> kClocks{0, 100'000};
constexpr std::uint64_t kAlignments[] = {1, 2, 4, 8, 16, 32, 64};
constexpr std::uint64_t kPowers[] = {8,    16,   32,   64,    128,   256,   512,    1024,
                                     2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144};

void describe_banks(Fields& fields, DramConfig& dram) {
  const auto clocks = [&](std::string_view key, std::string_view sentence, std::uint32_t& value) {
    fields.field({key, sentence, "clocks"}, value, kClocks);
  };
  clocks("rcd_clocks", "tRCD: from an activate to a read or write of the row", dram.rcd_clocks);
  clocks("rp_clocks", "tRP: from a precharge to an activate of the bank", dram.rp_clocks);
  clocks("ras_clocks", "tRAS: from an activate to a precharge", dram.ras_clocks);
  clocks("cl_clocks", "tCL: from a read to its first data", dram.cl_clocks);
  clocks("cwl_clocks", "tCWL: from a write to its first data", dram.cwl_clocks);
  clocks("wr_clocks", "tWR: from the last data written to a precharge", dram.wr_clocks);
  clocks("rtp_clocks", "tRTP: from a read to a precharge", dram.rtp_clocks);
  clocks("wtr_clocks", "tWTR: from the last data written to a read", dram.wtr_clocks);
  clocks("rtw_clocks", "turnaround: from the last data read to the first data written",
         dram.rtw_clocks);
  clocks("refi_clocks", "tREFI: between refreshes of all banks; 0: none", dram.refi_clocks);
  clocks("rfc_clocks", "tRFC: duration of a refresh", dram.rfc_clocks);
  fields.require(dram.refi_clocks == 0 || dram.rfc_clocks < dram.refi_clocks, "rfc_clocks",
                 "found {}, allowed less than the {} clocks between refreshes", dram.rfc_clocks,
                 dram.refi_clocks);
  fields.require(dram.refi_clocks > 0 || dram.rfc_clocks == 0, "rfc_clocks",
                 "found {}, allowed 0 (which is not used) without refi_clocks", dram.rfc_clocks);
}

/// The keys that are unused with a platform's memory.
void describe_channels(Fields& fields, ExternalConfig& external) {
  const std::string_view unused = external.has_channels() ? "" : "model";
  fields.field({"channels", "DRAM channels of the chip, or of each tile", "", false, unused},
               external.channels, {1, 1024});
  fields.field({"interleave_bytes",
                "consecutive bytes in one channel before the address space continues in the next; "
                "0: a whole channel",
                "bytes", false, unused},
               external.interleave_bytes, {0, 1U << 30});
  fields.field(
      {"window", "size of the window of waiting requests in which a channel serves open rows first",
       "", false, unused},
      external.window, {1, 4096});
  fields.group({"dram", "timing of a channel", "", false, unused}, external.dram);
}

void require_whole_requests(Fields& fields, const ExternalConfig& external) {
  if (!external.has_channels()) return;
  fields.require(external.interleave_bytes % external.request_bytes == 0, "interleave_bytes",
                 "found {}, allowed multiples of the {} bytes of a request",
                 external.interleave_bytes, external.request_bytes);
  fields.require(external.dram.row_bytes >= external.request_bytes, "request_bytes",
                 "found {}, allowed at most a row of {} bytes", external.request_bytes,
                 external.dram.row_bytes);
}

/// A worker's transfer must depend on its own tile alone, so tiles must not share channels; and
/// workers give addresses in 32 bits.
void describe_worker_dma(Fields& fields, ExternalConfig& external) {
  constexpr std::uint64_t kMostMib = 4095;
  fields.optional_group({"worker_dma",
                         "workers start transfers (ldma, sdma) and supervisors do not; not given "
                         "or null: only supervisors do"},
                        external.worker_dma);
  if (!external.worker_dma) return;
  fields.require(external.reach == ExternalReach::tile, "worker_dma",
                 "found with reach chip, allowed with reach tile: memory that tiles share is "
                 "reached by their supervisors");
  fields.require(external.has_channels(), "worker_dma",
                 "found with model platform, allowed with model dram: a platform's memory is "
                 "reached by supervisors");
  fields.require(external.bytes() >> 20U <= kMostMib, "worker_dma",
                 "found with {} MiB a tile, allowed with at most {}: workers' addresses "
                 "have 32 bits",
                 external.bytes() >> 20U, kMostMib);
}

}  // namespace

std::string ExternalConfig::shown_capacity() const {
  return has_channels() ? fmt::format("{} of {} MiB", counted(channels, "channel"), mib_per_channel)
                        : fmt::format("{} MiB of the platform's", mib_per_channel);
}

std::uint64_t ExternalConfig::least_cycles(std::uint64_t moved, std::uint32_t tiles,
                                           double clock_ghz) const {
  const double by_tiles = double{1} * dma_bytes_per_cycle * tiles;
  if (!has_channels()) return static_cast<std::uint64_t>(static_cast<double>(moved) / by_tiles);
  const double buses = reach == ExternalReach::chip ? channels : double{1} * channels * tiles;
  const double by_channels = buses * dram.bytes_per_clock * dram.clock_ghz / clock_ghz;
  return static_cast<std::uint64_t>(static_cast<double>(moved) / std::min(by_channels, by_tiles));
}

void describe(Fields& fields, DramConfig& dram) {
  fields.field({"clock_ghz", "clock of the channel, in which its other timings count", "GHz"},
               dram.clock_ghz, {1e-3, 1e2});
  fields.field({"bytes_per_clock", "rate of the data bus", "bytes a clock"}, dram.bytes_per_clock,
               {1, 4096});
  fields.field({"burst_bytes",
                "bytes of one read or write burst; a partial burst takes the same time", "bytes"},
               dram.burst_bytes, config::one_of(kPowers));
  fields.field({"banks", "banks of a channel, each with one open row"}, dram.banks, {1, 1024});
  fields.field({"row_bytes", "size of a bank's row", "bytes"}, dram.row_bytes,
               config::one_of(kPowers));
  fields.require(dram.row_bytes >= dram.burst_bytes, "row_bytes",
                 "found {}, allowed at least a burst of {} bytes", dram.row_bytes,
                 dram.burst_bytes);
  describe_banks(fields, dram);
}

void describe(Fields& fields, WorkerDmaConfig& dma) {
  fields.field({"align_bytes", "alignment of addresses and sizes", "bytes"}, dma.align_bytes,
               config::one_of(kAlignments));
  fields.field({"max_bytes", "maximum bytes of one instruction", "bytes"}, dma.max_bytes,
               {1, 1U << 20U});
  fields.require(dma.max_bytes % dma.align_bytes == 0, "max_bytes",
                 "found {}, allowed multiples of the {} bytes of align_bytes", dma.max_bytes,
                 dma.align_bytes);
}

void describe(Fields& fields, ExternalConfig& external) {
  fields.field({"model",
                "dram: channels as described here; platform: a TLM target of the enclosing SystemC "
                "platform"},
               external.model, kModels);
  fields.field({"reach", "chip: every tile accesses all channels; tile: each tile has its own"},
               external.reach, kReaches);
  fields.field({"mib_per_channel", "capacity of a channel, or of the platform's memory", "MiB"},
               external.mib_per_channel, {1, 1U << 20});
  describe_channels(fields, external);
  fields.field({"request_bytes", "size and alignment of the requests that a transfer is split into",
                "bytes"},
               external.request_bytes, config::one_of(kPowers));
  require_whole_requests(fields, external);
  fields.field({"outstanding", "maximum outstanding requests of a tile's DMA"},
               external.outstanding, {1, 4096});
  fields.field(
      {"dma_bytes_per_cycle", "rate of a tile's DMA, both directions together", "bytes a cycle"},
      external.dma_bytes_per_cycle, {1, 1024});
  fields.field(
      {"setup_cycles", "set-up cost of a tile's transfer, before its first request", "cycles"},
      external.setup_cycles, {0, 1'000'000});
  fields.field(
      {"way_cycles", "latency from a tile's DMA to a channel, and the same back", "cycles"},
      external.way_cycles, {0, 1'000'000});
  fields.require(external.has_channels() || external.way_cycles > 0, "way_cycles",
                 "found 0, allowed 1 to 1000000 cycles where machine.external.model is platform: "
                 "the platform hears of a request the cycle after it is made, at the earliest");
  describe_worker_dma(fields, external);
}

}  // namespace tessera
