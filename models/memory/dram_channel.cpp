#include "models/memory/dram_channel.h"

#include <algorithm>

namespace tessera {

DramChannel::DramChannel(const DramConfig& config, double chip_ghz, std::uint32_t window)
    : config_(config),
      clocks_(chip_ghz, config.clock_ghz),
      window_(window),
      burst_clocks_(ceil_div<std::uint64_t>(config.burst_bytes, config.bytes_per_clock)),
      lead_(std::uint64_t{config.rp_clocks} + config.rcd_clocks +
            std::max(config.cl_clocks, config.cwl_clocks)),
      banks_(config.banks),
      refresh_at_(config.refi_clocks) {}

void DramChannel::push(const Request& request) {
  const std::uint64_t row = request.address / config_.row_bytes;
  queue_.push({request, clocks_.clock(request.arrival), row / config_.banks,
               static_cast<std::uint32_t>(row % config_.banks), 0});
  if (queue_.size() == 1) settle();
}

std::optional<Cycle> DramChannel::next() const {
  if (queue_.empty()) return std::nullopt;
  return clocks_.cycle_of(chooses_at_);
}

DramChannel::Service DramChannel::serve() {
  const std::size_t number = choose();
  for (std::size_t i = 0; i < number; ++i) ++queue_[i].overtaken;
  const Waiting waiting = queue_.take(number);
  const bool write = waiting.request.write;
  Bank& bank = banks_[waiting.bank];
  const std::uint64_t begin = data_from(open(bank, waiting.row), write);
  const std::uint64_t column = waiting.request.address % config_.burst_bytes;
  const std::uint64_t bursts =
      ceil_div<std::uint64_t>(column + waiting.request.bytes, config_.burst_bytes);
  const std::uint64_t end = begin + bursts * burst_clocks_;
  const std::uint64_t used_until =
      write ? end + config_.wr_clocks
            : end - burst_clocks_ - config_.cl_clocks + config_.rtp_clocks;
  bank.precharge_from = std::max(bank.precharge_from, used_until);
  count(waiting.request, end - begin);
  bus_free_ = end;
  free_from_ = std::max(chooses_at_, bus_free_ - std::min(bus_free_, lead_));
  settle();
  return {waiting.request.tag, write, clocks_.cycle(begin), clocks_.cycle(end)};
}

/// Computes the time of the next choice. A refresh that is due by then goes first.
void DramChannel::settle() {
  if (queue_.empty()) return;
  chooses_at_ = std::max(queue_[0].arrival, free_from_);
  while (config_.refi_clocks > 0 && chooses_at_ >= refresh_at_) {
    refresh();
    chooses_at_ = std::max(chooses_at_, free_from_);
  }
}

/// Closes all banks as early as allowed; the refresh begins tRP later.
void DramChannel::refresh() {
  if (!any_open_ && refreshed_ <= refresh_at_) {
    // With no row open, refreshes begin when due: skips to the last of them.
    const std::uint64_t whole = (chooses_at_ - refresh_at_) / config_.refi_clocks;
    statistics_.refreshes += whole;
    refresh_at_ += whole * config_.refi_clocks;
  }
  std::uint64_t begin = std::max(refresh_at_, refreshed_);
  for (Bank& bank : banks_) {
    if (!any_open_) break;
    if (bank.row == kClosed) continue;
    begin = std::max(begin, std::max(refresh_at_, bank.precharge_from) + config_.rp_clocks);
    bank.row = kClosed;
  }
  any_open_ = false;
  refreshed_ = begin + config_.rfc_clocks;
  free_from_ = std::max(free_from_, refreshed_);
  refresh_at_ += config_.refi_clocks;
  ++statistics_.refreshes;
}

std::size_t DramChannel::choose() const {
  if (queue_[0].overtaken >= window_) return 0;
  const std::size_t seen = std::min<std::size_t>(queue_.size(), window_);
  std::size_t chosen = 0;
  bool hit = false;
  for (std::size_t i = 0; i < seen && queue_[i].arrival <= chooses_at_; ++i) {
    const Waiting& waiting = queue_[i];
    if (banks_[waiting.bank].row != waiting.row) continue;
    if (used_ && waiting.request.write == writes_) return i;
    if (!hit) chosen = i;
    hit = true;
  }
  return chosen;
}

/// Opens the row unless it is open; returns the first clock at which it may be read or written.
std::uint64_t DramChannel::open(Bank& bank, std::uint64_t row) {
  if (bank.row == row) {
    ++statistics_.row_hits;
    return std::max(chooses_at_, bank.column_from);
  }
  std::uint64_t activate = std::max(chooses_at_, refreshed_);
  if (bank.row == kClosed) {
    ++statistics_.row_misses;
  } else {
    ++statistics_.row_conflicts;
    activate = std::max(chooses_at_, bank.precharge_from) + config_.rp_clocks;
  }
  bank = {row, activate + config_.rcd_clocks, activate + config_.ras_clocks};
  any_open_ = true;
  return bank.column_from;
}

/// First clock of the data of a request whose read or write command may issue at `column_from`.
std::uint64_t DramChannel::data_from(std::uint64_t column_from, bool write) const {
  if (write) {
    const std::uint64_t turned = used_ && !writes_ ? bus_free_ + config_.rtw_clocks : bus_free_;
    return std::max(column_from + config_.cwl_clocks, turned);
  }
  if (used_ && writes_) column_from = std::max(column_from, bus_free_ + config_.wtr_clocks);
  return std::max(column_from + config_.cl_clocks, bus_free_);
}

void DramChannel::count(const Request& request, std::uint64_t data_clocks) {
  (request.write ? statistics_.bytes_written : statistics_.bytes_read) += request.bytes;
  if (used_ && request.write != writes_) ++statistics_.turnarounds;
  used_ = true;
  writes_ = request.write;
  statistics_.busy_clocks += data_clocks;
}

}  // namespace tessera
