#include "models/costs/remembered_exchanges.h"

#include "models/fabric/fabric.h"
#include "sim/config/writers.h"

namespace tessera {

/// Asks the fabric's own compiler for what is not known yet.
class RememberedExchanges::Sizer final : public program::ExchangeSizer {
 public:
  Sizer(RememberedExchanges& store, const FabricConfig& fabric)
      : store_(store), own_(fabric::make_exchange_compiler(fabric, {}, &store.schedules_)) {
    MachineConfig machine;
    machine.fabric = fabric;
    fabric_ = config::resolved(machine).dump();
  }
  Sizer(RememberedExchanges& store, std::unique_ptr<program::ExchangeSizer> own, std::string fabric)
      : store_(store), own_(std::move(own)), fabric_(std::move(fabric)) {}

  [[nodiscard]] program::ExchangeNeeds needs(
      std::uint32_t exchange, std::span<const program::PlacedCopy> copies) const override {
    const Key key{program::fingerprint(copies), fabric_};
    {
      const std::lock_guard lock(store_.mutex_);
      const auto found = store_.known_.find(key);
      if (found != store_.known_.end()) return found->second;
    }
    program::ExchangeNeeds made = own_->needs(exchange, copies);
    const std::lock_guard lock(store_.mutex_);
    return store_.known_.emplace(key, std::move(made)).first->second;
  }

  [[nodiscard]] std::unique_ptr<program::ExchangeSizer> shortest() const override {
    auto own = own_->shortest();
    if (!own) return nullptr;
    return std::make_unique<Sizer>(store_, std::move(own), fabric_ + ", shortest lists");
  }

 private:
  RememberedExchanges& store_;
  std::unique_ptr<program::ExchangeSizer> own_;
  std::string fabric_;
};

std::unique_ptr<program::ExchangeSizer> RememberedExchanges::of(const FabricConfig& fabric) {
  return std::make_unique<Sizer>(*this, fabric);
}

std::unique_ptr<program::ExchangeCompiler> RememberedExchanges::compiler(
    const MachineConfig& machine) {
  return fabric::make_exchange_compiler(machine.fabric, fabric::NodePorts(machine), &schedules_);
}

}  // namespace tessera
