// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "body/assembly.hpp"

// petscblaslapack.h uses types of petscsys.h.
// clang-format off
#include <petscsys.h>
#include <petscblaslapack.h>
// clang-format on

#include <algorithm>
#include <cmath>
#include <map>
#include <type_traits>
#include <utility>

#include "diffsim/core/error.hpp"

namespace diffsim::body {
namespace {

std::size_t index(int i) { return static_cast<std::size_t>(i); }

template <class T>
Vec3<T> vector_of(const std::array<T, 3>& v) {
  return {{v[0], v[1], v[2]}};
}

/// Returns the constraint with coefficients of the type Along, whose derivatives are zero.
ConstraintOf<Along> without_derivatives(const Constraint& g) {
  const auto constant = [](const std::array<double, 3>& v) { return std::array<Along, 3>{v[0], v[1], v[2]}; };
  ConstraintOf<Along> along{{}, constant(g.a), constant(g.b)};
  for (const Constraint::Entry& entry : g.entries)
    along.entries.push_back({entry.node, entry.rest, Along(entry.a), Along(entry.b), constant(entry.linear)});
  return along;
}

/// Returns the displacement of the entry's node at the positions x.
template <class T>
Vec3<T> displacement(const typename ConstraintOf<T>::Entry& entry, const NodeVectors<T>& x) {
  Vec3<T> u = x[index(entry.node)];
  for (std::size_t c = 0; c < 3; ++c) u[static_cast<int>(c)] = u[static_cast<int>(c)] - entry.rest[c];
  return u;
}

/// Returns the factors A and B of the constraint g (see Constraint) at x. If `with_constants` is false, x is a velocity
/// or a change of positions, and the constants a₀, b₀ and X_k are omitted.
template <class T>
std::pair<Vec3<T>, Vec3<T>> factors_of(const ConstraintOf<T>& g, const NodeVectors<T>& x, bool with_constants) {
  const Vec3<T> zero{{T(0.0), T(0.0), T(0.0)}};
  Vec3<T> A = with_constants ? vector_of(g.a) : zero, B = with_constants ? vector_of(g.b) : zero;
  for (const auto& entry : g.entries) {
    const Vec3<T> u = with_constants ? displacement<T>(entry, x) : x[index(entry.node)];
    A = A + entry.a * u;
    B = B + entry.b * u;
  }
  return {A, B};
}

/// Returns the gradient of g with respect to the position of one node. `AB`: factors A and B of the constraint.
template <class T>
Vec3<T> gradient_at(const typename ConstraintOf<T>::Entry& entry, const std::pair<Vec3<T>, Vec3<T>>& AB) {
  return entry.a * AB.second + entry.b * AB.first + vector_of(entry.linear);
}

/// Returns g(x) = a₀·dB + dA·b₀ + dA·dB + Σ_k l_k·u_k, where dA = A - a₀ and dB = B - b₀.
template <class T>
T evaluate(const ConstraintOf<T>& g, const NodeVectors<T>& x) {
  const Vec3<T> zero{{T(0.0), T(0.0), T(0.0)}};
  Vec3<T> dA = zero, dB = zero;
  T linear(0.0);
  for (const auto& entry : g.entries) {
    const Vec3<T> u = displacement<T>(entry, x);
    dA = dA + entry.a * u;
    dB = dB + entry.b * u;
    linear = linear + dot(vector_of(entry.linear), u);
  }
  return dot(vector_of(g.a), dB) + dot(dA, vector_of(g.b)) + dot(dA, dB) + linear;
}

/// Returns the linear function Σ_k l_k·w_k of the constraint, with the node vectors w_k.
template <class T>
T linear_part(const ConstraintOf<T>& g, const NodeVectors<T>& w) {
  T sum(0.0);
  for (const auto& entry : g.entries) sum = sum + dot(vector_of(entry.linear), w[index(entry.node)]);
  return sum;
}

BodyVector<Along> without_derivatives(const BodyVector<double>& v) {
  BodyVector<Along> along;
  std::copy(std::begin(v.weights), std::end(v.weights), along.weights);
  std::copy(std::begin(v.at_rest), std::end(v.at_rest), along.at_rest);
  for (std::size_t k = 0; k < 4; ++k) std::copy(std::begin(v.rest[k]), std::end(v.rest[k]), along.rest[k]);
  return along;
}

JointCoordinateOf<Along> without_derivatives(const JointCoordinate& q) {
  return {q.is_rotation,
          without_derivatives(q.own),
          without_derivatives(q.other_point),
          without_derivatives(q.first),
          without_derivatives(q.second),
          q.start};
}

JointCouplingOf<Along> without_derivatives(const JointCoupling& g) {
  return {without_derivatives(g.follower), without_derivatives(g.leader), g.nodes, g.alpha, g.beta, g.is_periodic};
}

template <class T>
using NodeValues = JointCoupling::NodeValues<T>;

/// Returns Σ_k a_k·b_k.
template <class T>
T sum_of_products(const NodeValues<T>& a, const NodeValues<T>& b) {
  T sum(0.0);
  for (std::size_t k = 0; k < a.size(); ++k) sum = sum + dot(a[k], b[k]);
  return sum;
}

/// Adds factor · `values` to `forces` at the nodes of the coupling.
template <class T>
void add_at(const JointCouplingOf<T>& coupling, const T& factor, const NodeValues<T>& values, NodeVectors<T>& forces) {
  for (std::size_t k = 0; k < values.size(); ++k) {
    Vec3<T>& force = forces[index(coupling.nodes[k])];
    force = force + factor * values[k];
  }
}

/// Dense LU factors of a matrix whose rows and columns are scaled by 1/√|diagonal|.
class ScaledFactors {
 public:
  /// `matrix`: [n, n], column-major.
  explicit ScaledFactors(std::vector<double> matrix) : factors_(std::move(matrix)) {
    const auto n = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(factors_.size()))));
    for (std::size_t k = 0; k < n; ++k) {
      const double size = std::sqrt(std::abs(factors_[k * n + k]));
      scale_.push_back(size > 0.0 ? 1.0 / size : 1.0);
    }
    for (std::size_t l = 0; l < n; ++l)
      for (std::size_t k = 0; k < n; ++k) factors_[l * n + k] *= scale_[k] * scale_[l];
    pivots_.resize(n);
    auto count = static_cast<PetscBLASInt>(n);
    PetscBLASInt info = 0;
    LAPACKgetrf_(&count, &count, factors_.data(), &count, pivots_.data(), &info);
    constexpr double dependent = 1e-11;
    is_regular_ = info == 0;
    for (std::size_t k = 0; k < n; ++k) {  // a NaN pivot sets is_regular_ to false
      const double pivot = std::abs(factors_[k * n + k]);
      is_regular_ = is_regular_ && pivot > dependent && std::isfinite(pivot);
    }
  }
  bool is_regular() const { return is_regular_; }
  void solve(bool transposed, std::vector<double>& r) {
    for (std::size_t k = 0; k < r.size(); ++k) r[k] *= scale_[k];
    auto count = static_cast<PetscBLASInt>(r.size());
    PetscBLASInt one = 1, info = 0;
    LAPACKgetrs_(transposed ? "T" : "N", &count, &one, factors_.data(), &count, pivots_.data(), r.data(), &count,
                 &info);
    for (std::size_t k = 0; k < r.size(); ++k) r[k] *= scale_[k];
  }

 private:
  std::vector<double> factors_, scale_;
  std::vector<PetscBLASInt> pivots_;
  bool is_regular_ = false;
};

}  // namespace

/// Gradients of all constraints of an assembly at positions x.
template <class T>
class Assembly::Gradients {
 public:
  Gradients(const Assembly& assembly, const NodeVectors<T>& x) : assembly_(assembly) {
    for (const auto& constraint : assembly.constraints<T>()) factors_.push_back(factors_of(constraint, x, true));
    for (const auto& coupling : assembly.couplings<T>())
      coupling.evaluate(coupling.at_nodes(x), of_couplings_.emplace_back());
  }
  /// Gradient of a constraint with respect to the position of the node at `place`.
  Vec3<T> operator()(const Place& place) const {
    const std::size_t k = index(place.constraint), entry = index(place.entry);
    return k < factors_.size() ? gradient_at<T>(assembly_.constraints<T>()[k].entries[entry], factors_[k])
                               : of_couplings_[k - factors_.size()][entry];
  }

 private:
  const Assembly& assembly_;
  std::vector<std::pair<Vec3<T>, Vec3<T>>> factors_;
  std::vector<NodeValues<T>> of_couplings_;
};

Assembly::Assembly(std::string name, std::vector<Constraint> constraints, std::vector<JointCoupling> couplings)
    : name_(std::move(name)), constraints_(std::move(constraints)), couplings_(std::move(couplings)) {
  for (const Constraint& constraint : constraints_) along_.push_back(without_derivatives(constraint));
  for (const JointCoupling& coupling : couplings_) along_couplings_.push_back(without_derivatives(coupling));
  std::map<int, std::vector<Place>> places;
  const auto add = [&](int node, std::size_t k, std::size_t entry) {
    places[node].push_back({static_cast<int>(k), static_cast<int>(entry)});
  };
  for (std::size_t k = 0; k < constraints_.size(); ++k)
    for (std::size_t e = 0; e < constraints_[k].entries.size(); ++e) add(constraints_[k].entries[e].node, k, e);
  for (std::size_t k = 0; k < couplings_.size(); ++k)
    for (std::size_t e = 0; e < couplings_[k].nodes.size(); ++e)
      add(couplings_[k].nodes[e], constraints_.size() + k, e);
  for (auto& [number, of_node] : places) nodes_.push_back({number, std::move(of_node)});
}

void Assembly::replace(std::size_t first, const std::vector<Constraint>& constraints,
                       const std::vector<ConstraintOf<Along>>& along) {
  std::copy(constraints.begin(), constraints.end(), constraints_.begin() + static_cast<std::ptrdiff_t>(first));
  std::copy(along.begin(), along.end(), along_.begin() + static_cast<std::ptrdiff_t>(first));
}

void Assembly::replace_coupling(std::size_t k, const JointCoupling& coupling, const JointCouplingOf<Along>& along) {
  couplings_[k] = coupling;
  along_couplings_[k] = along;
}

template <class T>
const std::vector<JointCouplingOf<T>>& Assembly::couplings() const {
  if constexpr (std::is_same_v<T, double>)
    return couplings_;
  else
    return along_couplings_;
}

template <class T>
const std::vector<ConstraintOf<T>>& Assembly::constraints() const {
  if constexpr (std::is_same_v<T, double>)
    return constraints_;
  else
    return along_;
}

template <class T>
std::vector<T> Assembly::values(const NodeVectors<T>& x) const {
  std::vector<T> g;
  for (const auto& constraint : constraints<T>()) {
    g.push_back(evaluate(constraint, x));
  }
  for (const auto& coupling : couplings<T>()) {
    NodeValues<T> gradient;
    g.push_back(coupling.evaluate(coupling.at_nodes(x), gradient));
  }
  return g;
}

template <class T>
std::vector<T> Assembly::products(const NodeVectors<T>& x, bool with_constants, const NodeVectors<T>& w) const {
  std::vector<T> products;
  for (const auto& constraint : constraints<T>()) {
    const auto [A, B] = factors_of(constraint, x, with_constants);
    const auto [dA, dB] = factors_of(constraint, w, false);
    const T sum = dot(dA, B) + dot(A, dB);
    products.push_back(with_constants ? sum + linear_part(constraint, w) : sum);
  }
  return products;
}

template <class T>
void Assembly::add_transposed_products(const NodeVectors<T>& x, bool with_constants, const std::vector<T>& lambda,
                                       double scale, NodeVectors<T>& forces) const {
  const std::vector<ConstraintOf<T>>& all = constraints<T>();
  for (std::size_t k = 0; k < all.size(); ++k) {
    const auto AB = factors_of(all[k], x, with_constants);
    for (typename ConstraintOf<T>::Entry entry : all[k].entries) {
      if (!with_constants) entry.linear = {};
      forces[index(entry.node)] = forces[index(entry.node)] + T(scale) * lambda[k] * gradient_at<T>(entry, AB);
    }
  }
}

template <class T>
std::vector<T> Assembly::project(const NodeVectors<T>& x, const NodeVectors<T>& w) const {
  std::vector<T> result = products(x, true, w);
  for (const auto& coupling : couplings<T>()) {
    NodeValues<T> gradient;
    coupling.evaluate(coupling.at_nodes(x), gradient);
    result.push_back(sum_of_products(gradient, coupling.at_nodes(w)));
  }
  return result;
}

template <class T>
void Assembly::add_forces(const NodeVectors<T>& x, const std::vector<T>& lambda, double scale,
                          NodeVectors<T>& forces) const {
  add_transposed_products(x, true, lambda, scale, forces);
  const std::vector<JointCouplingOf<T>>& all = couplings<T>();
  for (std::size_t k = 0; k < all.size(); ++k) {
    NodeValues<T> gradient;
    all[k].evaluate(all[k].at_nodes(x), gradient);
    add_at(all[k], T(scale) * lambda[constraints_.size() + k], gradient, forces);
  }
}

template <class T>
void Assembly::add_curvature(const NodeVectors<T>& x, const std::vector<T>& lambda, const NodeVectors<T>& w,
                             double scale, NodeVectors<T>& forces) const {
  add_transposed_products(w, false, lambda, scale, forces);
  const std::vector<JointCouplingOf<T>>& all = couplings<T>();
  for (std::size_t k = 0; k < all.size(); ++k)
    add_at(all[k], T(scale) * lambda[constraints_.size() + k],
           all[k].hessian_product(all[k].at_nodes(x), all[k].at_nodes(w)), forces);
}

std::vector<int> Assembly::node_numbers() const {
  std::vector<int> numbers;
  for (const Node& node : nodes_) numbers.push_back(node.number);
  return numbers;
}

std::vector<double> Assembly::projector(const NodeVectors<double>& x) const {
  const std::size_t n = size(), width = 3 * nodes_.size();
  // Matrix G(x), row-major.
  std::vector<double> G(n * width, 0.0);
  const Gradients<double> gradients(*this, x);
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    for (const Place& place : nodes_[i].places) {
      const auto k = index(place.constraint);
      const Vec3<double> gradient = gradients(place);
      for (std::size_t c = 0; c < 3; ++c) G[k * width + 3 * i + c] += gradient[static_cast<int>(c)];
    }
  ScaledFactors factors(multiplier_matrix(x, x, std::vector<double>(x.size(), 1.0)));
  if (!factors.is_regular()) throw Error(too_large());
  std::vector<double> P(width * width, 0.0), column(n);
  for (std::size_t j = 0; j < width; ++j) {
    for (std::size_t k = 0; k < n; ++k) column[k] = G[k * width + j];
    factors.solve(false, column);
    for (std::size_t i = 0; i <= j; ++i) {
      double sum = i == j ? 1.0 : 0.0;
      for (std::size_t k = 0; k < n; ++k) sum -= G[k * width + i] * column[k];
      P[i * width + j] = P[j * width + i] = sum;
    }
  }
  return P;
}

std::vector<double> Assembly::curvature(const NodeVectors<double>& x, const std::vector<double>& lambda) const {
  const std::size_t width = 3 * nodes_.size();
  std::map<int, std::size_t> place;
  for (std::size_t i = 0; i < nodes_.size(); ++i) place[nodes_[i].number] = i;
  std::vector<double> matrix(width * width, 0.0);
  // ∂²(A·B)/∂x_k∂x_l = (a_k b_l + b_k a_l) I
  for (std::size_t k = 0; k < constraints_.size(); ++k)
    for (const Constraint::Entry& row : constraints_[k].entries)
      for (const Constraint::Entry& column : constraints_[k].entries) {
        const double value = lambda[k] * (row.a * column.b + row.b * column.a);
        const std::size_t i = 3 * place[row.node], j = 3 * place[column.node];
        for (std::size_t c = 0; c < 3; ++c) matrix[(i + c) * width + j + c] += value;
      }
  for (std::size_t k = 0; k < couplings_.size(); ++k) {
    const JointCoupling& coupling = couplings_[k];
    const NodeValues<double> at = coupling.at_nodes(x);
    for (std::size_t column = 0; column < 3 * at.size(); ++column) {
      NodeValues<double> unit{};
      unit[column / 3][static_cast<int>(column % 3)] = lambda[constraints_.size() + k];
      const NodeValues<double> product = coupling.hessian_product(at, unit);
      const std::size_t j = 3 * place[coupling.nodes[column / 3]] + column % 3;
      for (std::size_t row = 0; row < 3 * at.size(); ++row)
        matrix[(3 * place[coupling.nodes[row / 3]] + row % 3) * width + j] +=
            product[row / 3][static_cast<int>(row % 3)];
    }
  }
  return matrix;
}

template <class T>
std::vector<T> Assembly::multiplier_matrix(const NodeVectors<T>& y, const NodeVectors<T>& x,
                                           const std::vector<T>& factors) const {
  const std::size_t n = size();
  const Gradients<T> at_y(*this, y), at_x(*this, x);
  std::vector<T> matrix(n * n, T(0.0));
  for (const Node& node : nodes_) {
    const T& factor = factors[index(node.number)];
    for (const Place& column : node.places) {
      const Vec3<T> right = factor * at_x(column);
      for (const Place& row : node.places) {
        T& entry = matrix[index(column.constraint) * n + index(row.constraint)];
        entry = entry + dot(at_y(row), right);
      }
    }
  }
  return matrix;
}

std::string Assembly::too_large() const {
  return "the constraints of " + name_ +
         " cannot be satisfied at the end of the time step; the motion per step is too large, or the constraints "
         "depend "
         "on one another at the present positions; use a smaller dt (explicit steps: or more substeps)";
}

void Assembly::require_independent(const NodeVectors<double>& x, const std::vector<double>& ones) const {
  if (ScaledFactors(multiplier_matrix(x, x, ones)).is_regular()) return;
  throw Error("the constraints of " + name_ +
                  " depend on one another, for example in a loop of bodies in a plane; remove a joint of the loop, or "
                  "replace a joint by one with more degrees of freedom",
              ErrorKind::input);
}

template <class T>
std::vector<T> Assembly::solve(const NodeVectors<T>& y, const NodeVectors<T>& x, const std::vector<T>& factors,
                               bool transposed, const std::vector<T>& r) const {
  const std::size_t n = size();
  const std::vector<T> matrix = multiplier_matrix(y, x, factors);
  std::vector<double> values(n * n), solution(n);
  for (std::size_t i = 0; i < n * n; ++i) values[i] = value_of(matrix[i]);
  for (std::size_t k = 0; k < n; ++k) solution[k] = value_of(r[k]);
  ScaledFactors lu(std::move(values));
  if (!lu.is_regular()) throw Error(too_large());
  lu.solve(transposed, solution);
  if constexpr (std::is_same_v<T, double>) {
    return solution;
  } else {
    // Derivative of S z = r: S dz = dr - dS z.
    std::vector<double> change(n);
    for (std::size_t k = 0; k < n; ++k) {
      change[k] = r[k].derivative[0];
      for (std::size_t l = 0; l < n; ++l)
        change[k] -= matrix[transposed ? k * n + l : l * n + k].derivative[0] * solution[l];
    }
    lu.solve(transposed, change);
    std::vector<T> z(n);
    for (std::size_t k = 0; k < n; ++k) {
      z[k] = T(solution[k]);
      z[k].derivative[0] = change[k];
    }
    return z;
  }
}

std::vector<double> Assembly::values_since(const NodeVectors<double>& start, const NodeVectors<double>& x) const {
  std::vector<double> all = values(x);
  for (std::size_t k = 0; k < couplings_.size(); ++k)
    all[constraints_.size() + k] += whole_turns(couplings_[k], start, x);
  return all;
}

std::vector<double> Assembly::correct_positions(const NodeVectors<double>& x, const std::vector<double>& factors,
                                                NodeVectors<double>& y, NodeVectors<double>& scratch,
                                                const NodeVectors<double>* start) const {
  std::vector<double> lambda(size(), 0.0);
  double last = 0.0;
  constexpr int most = 30;
  for (int iteration = 0; iteration < most; ++iteration) {
    std::vector<double> r = values_since(start ? *start : x, iteration == 0 ? x : y);
    if (iteration == 0) {
      // The first iteration linearises g at x, because g(y₀) may be far from 0. For example, forces on an almost flat
      // body move the nodes by much more than the thickness of the body.
      for (const Node& node : nodes_) scratch[index(node.number)] = y[index(node.number)] - x[index(node.number)];
      const std::vector<double> change = project(x, scratch);
      for (std::size_t k = 0; k < r.size(); ++k) r[k] += change[k];
    }
    for (double& value : r) value = -value;
    const std::vector<double> step = solve(iteration == 0 ? x : y, x, factors, false, r);
    for (const Node& node : nodes_) scratch[index(node.number)] = {{0.0, 0.0, 0.0}};
    add_forces(x, step, 1.0, scratch);
    double change = 0.0, extent = 0.0;
    for (const Node& node : nodes_) {
      const auto i = index(node.number);
      for (int c = 0; c < 3; ++c) {
        const double d = factors[i] * scratch[i][c];
        y[i][c] += d;
        change = std::max(change, std::abs(d));
        extent = std::max(extent, std::abs(y[i][c]));
      }
    }
    for (std::size_t k = 0; k < lambda.size(); ++k) lambda[k] += step[k];
    if (!(extent < 1e150)) break;
    // The iteration has converged if the changes are as small as rounding errors, or if rounding errors prevent a
    // further decrease of the changes.
    if (iteration == 0) continue;
    if (change <= 1e-16 * extent || (iteration > 1 && change <= 1e-11 * extent && change >= 0.25 * last)) return lambda;
    last = change;
  }
  throw Error(too_large());
}

template std::vector<double> Assembly::values(const NodeVectors<double>&) const;
template std::vector<Along> Assembly::values(const NodeVectors<Along>&) const;
template std::vector<double> Assembly::project(const NodeVectors<double>&, const NodeVectors<double>&) const;
template std::vector<Along> Assembly::project(const NodeVectors<Along>&, const NodeVectors<Along>&) const;
template void Assembly::add_forces(const NodeVectors<double>&, const std::vector<double>&, double,
                                   NodeVectors<double>&) const;
template void Assembly::add_forces(const NodeVectors<Along>&, const std::vector<Along>&, double,
                                   NodeVectors<Along>&) const;
template void Assembly::add_curvature(const NodeVectors<double>&, const std::vector<double>&,
                                      const NodeVectors<double>&, double, NodeVectors<double>&) const;
template void Assembly::add_curvature(const NodeVectors<Along>&, const std::vector<Along>&, const NodeVectors<Along>&,
                                      double, NodeVectors<Along>&) const;
template std::vector<double> Assembly::solve(const NodeVectors<double>&, const NodeVectors<double>&,
                                             const std::vector<double>&, bool, const std::vector<double>&) const;
template std::vector<Along> Assembly::solve(const NodeVectors<Along>&, const NodeVectors<Along>&,
                                            const std::vector<Along>&, bool, const std::vector<Along>&) const;

}  // namespace diffsim::body
