#include "models/costs/remembered_exchanges.h"

#include "models/fabric/fabric.h"
#include "sim/config/writers.h"
#include "sim/sweep/sha256.h"

namespace tessera {
namespace {

/// Digits that differ where fabric, number or copies do.
std::string content_of(const FabricConfig& fabric, std::uint32_t exchange,
                       std::span<const program::PlacedCopy> copies) {
  std::vector<std::uint64_t> words = {exchange};
  const auto add = [&](const program::Port& port) {
    words.push_back(index(port.tile));
    words.push_back(port.address.count());
  };
  for (const program::PlacedCopy& copy : copies) {
    add(copy.source);
    words.push_back(copy.bytes);
    words.push_back(copy.destinations.size());
    for (const program::Port& port : copy.destinations) add(port);
  }
  sweep::Sha256 hash;
  hash.add(config::resolved(fabric).dump());
  hash.add(std::as_bytes(std::span(words)));
  return hash.finish();
}

}  // namespace

class RememberedExchanges::Compiler final : public program::ExchangeCompiler {
 public:
  Compiler(RememberedExchanges& store, const FabricConfig& fabric)
      : store_(store), fabric_(fabric), inner_(fabric::make_exchange_compiler(fabric)) {}

  [[nodiscard]] program::CompiledExchange compile(
      std::uint32_t exchange, std::span<const program::PlacedCopy> copies) const override {
    const std::string content = content_of(fabric_, exchange, copies);
    {
      const std::lock_guard lock(store_.mutex_);
      const auto found = store_.known_.find(content);
      if (found != store_.known_.end()) return *found->second;
    }
    program::CompiledExchange made = inner_->compile(exchange, copies);
    if (store_.sealed_) return made;
    const std::lock_guard lock(store_.mutex_);
    store_.known_.emplace(content, std::make_shared<program::CompiledExchange>(made));
    return made;
  }
  [[nodiscard]] Cycle cycles(std::span<const program::PlacedCopy> copies) const override {
    return inner_->cycles(copies);
  }

 private:
  RememberedExchanges& store_;
  const FabricConfig& fabric_;
  std::unique_ptr<program::ExchangeCompiler> inner_;
};

std::unique_ptr<program::ExchangeCompiler> RememberedExchanges::compiler(
    const FabricConfig& fabric) {
  return std::make_unique<Compiler>(*this, fabric);
}

}  // namespace tessera
