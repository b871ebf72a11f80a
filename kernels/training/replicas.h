#pragma once

#include "kernels/training/parameters.h"

/// Copies of what is trained on groups of tiles, each with its part of a batch (plan::Copies): what
/// they tell each other. Steps are of all tiles.
namespace tessera::training {

/// States that each copy sums the gradients of its shares, its own first and then the others' in
/// order (reduce-scatter). What a copy's tiles add up among themselves they have done.
void add_sums(Statement& statement, const std::vector<Parameters>& parameters);
/// States that all copies take the weights of all shares (all-gather).
void add_weights(Statement& statement, const std::vector<Parameters>& parameters);
/// States that the copies' losses are added up, as cross_entropy() gives them: on tile 0.
BufferId add_totals(Statement& statement, BufferId totals, plan::Copies copies);

}  // namespace tessera::training
