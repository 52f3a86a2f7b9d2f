// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "mesh/scotch_parts.hpp"

#include <cstdint>
#include <cstdio>
// scotch.h requires the two headers above.
#include <scotch.h>

#include <string>
#include <type_traits>
#include <utility>

#include "diffsim/core/error.hpp"

namespace diffsim {
namespace {

void check(int code, const char* what) {
  if (code != 0) throw Error(std::string("Scotch cannot ") + what + " (out of memory?)", ErrorKind::system);
}

/// Owner of a Scotch strategy.
struct Strategy {
  Strategy() { check(SCOTCH_stratInit(&strategy), "initialise"); }
  ~Strategy() { SCOTCH_stratExit(&strategy); }
  Strategy(const Strategy&) = delete;
  Strategy& operator=(const Strategy&) = delete;
  SCOTCH_Strat strategy;
};

/// Owner of a Scotch graph.
struct Graph {
  Graph() { check(SCOTCH_graphInit(&graph), "initialise"); }
  ~Graph() { SCOTCH_graphExit(&graph); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  SCOTCH_Graph graph;
};

/// Scotch context with one thread and its own random state, independent of the rest of the process.
class Context {
 public:
  Context() {
    check(SCOTCH_contextInit(&context_), "initialise");
    check(SCOTCH_contextThreadSpawn(&context_, 1, nullptr), "use one thread");
    check(SCOTCH_contextRandomClone(&context_), "have a random state");
    SCOTCH_contextRandomSeed(&context_, 1);
    SCOTCH_contextRandomReset(&context_);
  }
  ~Context() { SCOTCH_contextExit(&context_); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  void bind(const Graph& graph, Graph& bound) {
    check(SCOTCH_contextBindGraph(&context_, &graph.graph, &bound.graph), "use one thread");
  }

 private:
  SCOTCH_Context context_;
};

/// Converts a vector to another integer type. Moves the vector if the types are equal.
template <class To, class From>
std::vector<To> converted(std::vector<From>&& values) {
  if constexpr (std::is_same_v<To, From>)
    return std::move(values);
  else
    return {values.begin(), values.end()};
}

}  // namespace

std::vector<int> scotch_parts(DualGraph graph, const std::vector<PetscInt>& weights, int parts) {
  constexpr double imbalance = 0.01;
  std::vector<SCOTCH_Num> begin = converted<SCOTCH_Num>(std::move(graph.begin));
  std::vector<SCOTCH_Num> neighbours = converted<SCOTCH_Num>(std::move(graph.neighbours));
  std::vector<SCOTCH_Num> part(begin.size() - 1), loads(weights.begin(), weights.end());
  Graph whole, bound;
  check(SCOTCH_graphBuild(&whole.graph, 0, static_cast<SCOTCH_Num>(part.size()), begin.data(), begin.data() + 1,
                          loads.empty() ? nullptr : loads.data(), nullptr, static_cast<SCOTCH_Num>(neighbours.size()),
                          neighbours.data(), nullptr),
        "take the graph of cells");
  Strategy strategy;
  check(SCOTCH_stratGraphMapBuild(&strategy.strategy, SCOTCH_STRATDEFAULT, static_cast<SCOTCH_Num>(parts), imbalance),
        "choose a strategy");
  Context context;
  context.bind(whole, bound);
  check(SCOTCH_graphPart(&bound.graph, static_cast<SCOTCH_Num>(parts), &strategy.strategy, part.data()),
        "partition the mesh");
  return converted<int>(std::move(part));
}

}  // namespace diffsim
