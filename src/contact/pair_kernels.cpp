// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "contact/pair_kernels.hpp"

#include <cmath>
#include <cstdio>
#include <limits>

#include "contact/pair_access.hpp"

namespace diffsim::contact {
namespace {

/// Computes the adjoint of the rest shape from the adjoint `weight_bar` of the weight of pair p, and stores the result
/// in the entries of `bar` for the a-th active pair.
KOKKOS_INLINE_FUNCTION void store_rest_adjoint(const PairView& pairs, int p, double weight_bar, int a,
                                               const Vectors& rest, const RestAdjoint& bar) {
  for (int i = 12 * a; i < 12 * (a + 1); ++i) bar.areas(i) = bar.positions(i) = 0.0;
  if (pairs.is_point_triangle(p)) {
    bar.areas(12 * a) = 0.5 * pairs.share(p) * weight_bar;
    return;
  }
  // The mollifier's threshold ε is linear in the squared rest length of each of the two edges.
  Vec3<double> points[4];
  load(pairs, p, rest, points);
  for (int e = 0; e < 2; ++e) {
    const Vec3<double> way = points[2 * e] - points[2 * e + 1], other = points[2 - 2 * e] - points[3 - 2 * e];
    const double factor = 2.0 * weight_bar * mollifier_threshold(1.0, dot(other, other));
    for (int c = 0; c < 3; ++c) {
      bar.positions(12 * a + 6 * e + c) = factor * way[c];
      bar.positions(12 * a + 6 * e + 3 + c) = -factor * way[c];
    }
  }
}

/// Derivative of a pair's weight along a direction of the rest shape.
KOKKOS_INLINE_FUNCTION double weight_tangent(const PairView& pairs, int p, const RestTangent& rest) {
  if (pairs.is_point_triangle(p)) {
    const auto point = static_cast<std::size_t>(pairs.points(pairs.point_triangle(p).query));
    return point < rest.areas.size() ? 0.5 * pairs.share(p) * rest.areas(point) : 0.0;
  }
  Vec3<double> points[4], ways[4];
  load(pairs, p, rest.positions, points);
  load(pairs, p, rest.direction, ways);
  const Vec3<double> a = points[0] - points[1], b = points[2] - points[3];
  const double da = 2.0 * dot(a, ways[0] - ways[1]), db = 2.0 * dot(b, ways[2] - ways[3]);
  return mollifier_threshold(da, dot(b, b)) + mollifier_threshold(dot(a, a), db);
}

/// Computes the adjoints of pairs without friction. The Jacobian J = ∂f/∂x is symmetric, so x̄ = Jᵀw = J w is the
/// derivative of f along w. The function also computes the derivatives of w·f with respect to κ, d̂ and the weight of
/// the pair.
LawSums adjoints_without_friction(const PairView& pairs, const DeviceArray<int>& active, const LawPart& part,
                                  const Vectors& x, const Vectors& w, const Vectors& rest, const Vectors& x_bar,
                                  const RestAdjoint& rest_bar) {
  const LawAddresses law = part.law;
  LawSums sums;
  Kokkos::parallel_reduce(
      "diffsim::contact::pair_adjoints", part.range(),
      KOKKOS_LAMBDA(int a, LawSums& s) {
        using Scalar = Dual<double, 4>;
        Vec3<double> points[4], weights[4];
        load(pairs, active(a), x, points);
        load(pairs, active(a), w, weights);
        Vec3<Scalar> seeded[4], f[4];
        for (int k = 0; k < 4; ++k)
          for (int c = 0; c < 3; ++c) {
            seeded[k][c] = Scalar(points[k][c]);
            seeded[k][c].derivative[0] = weights[k][c];
            f[k][c] = Scalar(0.0);
          }
        const ContactLaw<Scalar> seeded_law = {Scalar::variable(law.at(0), 1),
                                               Scalar::variable(law.at(1), 2),
                                               Scalar(0.0),
                                               Scalar(1.0),
                                               law.thickness(),
                                               Scalar(0.0),
                                               law.is_penalty};
        add_force_of(pairs, active(a), Scalar::variable(weight_of(pairs, active(a)), 3), seeded,
                     static_cast<const Vec3<Scalar>*>(nullptr), seeded_law, f);
        double weight_bar = 0.0;
        for (int k = 0; k < 4; ++k) {
          store({{f[k][0].derivative[0], f[k][1].derivative[0], f[k][2].derivative[0]}}, a, k, x_bar);
          for (int c = 0; c < 3; ++c) {
            for (int i = 0; i < 2; ++i) s.of[i] += weights[k][c] * f[k][c].derivative[1 + i];
            weight_bar += weights[k][c] * f[k][c].derivative[3];
          }
        }
        if (rest.size() > 0) store_rest_adjoint(pairs, active(a), weight_bar, a, rest, rest_bar);
      },
      sums);
  return sums;
}

/// Computes the adjoints of pairs with friction or damping: the gradient of w·f with respect to 12 coordinates, 12
/// components of velocities, κ, d̂, µ, ε_v, c, and the weight.
LawSums adjoints_with_friction(const PairView& pairs, const DeviceArray<int>& active, const LawPart& part,
                               const Vectors& x, const Vectors& v, const Vectors& w, const Vectors& rest,
                               const Vectors& x_bar, const Vectors& v_bar, const RestAdjoint& rest_bar) {
  const LawAddresses law = part.law;
  LawSums sums;
  Kokkos::parallel_reduce(
      "diffsim::contact::pair_adjoints_with_friction", part.range(),
      KOKKOS_LAMBDA(int a, LawSums& s) {
        using Scalar = Dual<double, 30>;
        Vec3<double> points[4], speeds[4], weights[4];
        load(pairs, active(a), x, points);
        load(pairs, active(a), v, speeds);
        load(pairs, active(a), w, weights);
        Vec3<Scalar> seeded[4], moving[4], f[4];
        for (int k = 0; k < 4; ++k)
          for (int c = 0; c < 3; ++c) {
            seeded[k][c] = Scalar::variable(points[k][c], 3 * k + c);
            moving[k][c] = Scalar::variable(speeds[k][c], 12 + 3 * k + c);
            f[k][c] = Scalar(0.0);
          }
        const ContactLaw<Scalar> seeded_law = {Scalar::variable(law.at(0), 24),
                                               Scalar::variable(law.at(1), 25),
                                               Scalar::variable(law.at(2), 26),
                                               Scalar::variable(law.at(3), 27),
                                               law.thickness(),
                                               Scalar::variable(law.at(4), 28),
                                               law.is_penalty};
        add_force_of(pairs, active(a), Scalar::variable(weight_of(pairs, active(a)), 29), seeded, moving, seeded_law,
                     f);
        double gradient[30] = {};
        for (int k = 0; k < 4; ++k)
          for (int c = 0; c < 3; ++c)
            for (int i = 0; i < 30; ++i) gradient[i] += weights[k][c] * f[k][c].derivative[i];
        for (int k = 0; k < 4; ++k) {
          store({{gradient[3 * k], gradient[3 * k + 1], gradient[3 * k + 2]}}, a, k, x_bar);
          store({{gradient[12 + 3 * k], gradient[13 + 3 * k], gradient[14 + 3 * k]}}, a, k, v_bar);
        }
        for (int i = 0; i < 5; ++i) s.of[i] += gradient[24 + i];
        if (rest.size() > 0) store_rest_adjoint(pairs, active(a), gradient[29], a, rest, rest_bar);
      },
      sums);
  return sums;
}

/// Returns the sum, over near pairs, of the values that `add(pair, law, sum)` adds to `sum`.
template <class Add>
double sum_over_pairs(const char* label, const NearPairs& near, const Add& add) {
  const DeviceArray<int> active = near.pairs;
  double sum = 0.0;
  for (const LawPart& part : near.parts) {
    const LawAddresses law = part.law;
    double of_part = 0.0;
    Kokkos::parallel_reduce(
        label, part.range(), KOKKOS_LAMBDA(int a, double& s) { add(active(a), law.law(), s); }, of_part);
    sum += of_part;
  }
  return sum;
}

/// Functor that adds the energy E of a pair to `sum` (J). For a point and a triangle, E = κ a (d̂/2)^codimension Σ_j w_j
/// ψ(d_j²); for two edges, E = κ A m(c) ψ(d²), where A is the area of their patch (contact/pair_force.hpp).
struct EnergyOfPair {
  PairView pairs;
  Vectors x;

  KOKKOS_INLINE_FUNCTION void operator()(int p, const ContactLaw<double>& law, double& sum) const {
    Vec3<double> points[4];
    load(pairs, p, x, points);
    sum += pairs.is_point_triangle(p) ? pair_energy(pairs.point_triangle_weights(p), points, law)
                                      : pair_energy(pairs.edge_edge_weights(p), points, law);
  }
};

/// Functor that adds the dissipation potential D of friction in a pair to `sum` (W): D = Σ_j µ N_j S(|u_j|) over the
/// features j of the pair, with the normal forces N_j = -2 d_j ∂E/∂(d_j²) and the sliding velocities u_j.
struct DissipationOfPair {
  PairView pairs;
  Vectors x, v;

  KOKKOS_INLINE_FUNCTION void operator()(int p, const ContactLaw<double>& law, double& sum) const {
    Vec3<double> points[4], speeds[4];
    load(pairs, p, x, points);
    load(pairs, p, v, speeds);
    sum += pairs.is_point_triangle(p) ? pair_dissipation(pairs.point_triangle_weights(p), points, speeds, law)
                                      : pair_dissipation(pairs.edge_edge_weights(p), points, speeds, law);
  }
};

/// Functor that adds the power dissipated by friction in a pair, -Σ_k f_k·v_k, to `sum` (W). The friction force f_k at
/// point k is the difference between the forces with and without velocities.
struct FrictionPowerOfPair {
  PairView pairs;
  Vectors x, v;

  KOKKOS_INLINE_FUNCTION void operator()(int p, const ContactLaw<double>& law, double& sum) const {
    Vec3<double> points[4], speeds[4], with[4] = {}, without[4] = {};
    load(pairs, p, x, points);
    load(pairs, p, v, speeds);
    add_force_of(pairs, p, points, speeds, law, with);
    add_force_of(pairs, p, points, static_cast<const Vec3<double>*>(nullptr), law, without);
    for (int k = 0; k < 4; ++k) sum -= dot(with[k] - without[k], speeds[k]);
  }
};

/// Sign of the volume of the tetrahedron a b c d: -1 or 1, or 0 if the absolute value of the computed volume does not
/// exceed the bound of its rounding error.
KOKKOS_INLINE_FUNCTION int orientation(const Vec3<double>& a, const Vec3<double>& b, const Vec3<double>& c,
                                       const Vec3<double>& d) {
  const Vec3<double> ad = a - d, bd = b - d, cd = c - d;
  const double volume = dot(ad, cross(bd, cd));
  const double error = 32.0 * 0x1p-53 * std::sqrt(dot(ad, ad) * dot(bd, bd) * dot(cd, cd));
  return volume > error ? 1 : volume < -error ? -1 : 0;
}

/// Returns true if edge e0 e1 and triangle t0 t1 t2 have a point in common. The result follows from the signs of
/// volumes (`orientation`). If rounding errors make these signs uncertain, the function returns true if the distance
/// between the edge and a side of the triangle, or between an end of the edge and the triangle, is nearly zero.
KOKKOS_INLINE_FUNCTION bool intersect(const Vec3<double>* e, const Vec3<double>* t) {
  const int a = orientation(t[0], t[1], t[2], e[0]), b = orientation(t[0], t[1], t[2], e[1]);
  if (a * b > 0) return false;
  const int s[3] = {orientation(e[0], e[1], t[0], t[1]), orientation(e[0], e[1], t[1], t[2]),
                    orientation(e[0], e[1], t[2], t[0])};
  if ((s[0] < 0 || s[1] < 0 || s[2] < 0) && (s[0] > 0 || s[1] > 0 || s[2] > 0)) return false;
  if (a * b < 0 && s[0] * s[1] * s[2] != 0) return true;
  double nearest = std::numeric_limits<double>::infinity(), size = 0.0;
  for (int k = 0; k < 3; ++k) {
    const Vec3<double> rim[4] = {e[0], e[1], t[k], t[(k + 1) % 3]};
    nearest = std::fmin(nearest, edge_edge_distance(rim).squared);
    size = std::fmax(size, dot(t[k] - e[0], t[k] - e[0]));
  }
  for (int k = 0; k < 2; ++k) {
    const Vec3<double> end[4] = {e[k], t[0], t[1], t[2]};
    nearest = std::fmin(nearest, point_triangle_distance(end).squared);
  }
  return nearest <= 1e-28 * size;
}

/// Sets marks(i) to 1 if the edge and the triangle of candidate i intersect, else to 0.
void mark_intersecting(const PairView& pairs, const DeviceArray<CandidatePair>& candidates, const Vectors& x,
                       const DeviceArray<std::int64_t>& marks) {
  Kokkos::parallel_for(
      "diffsim::contact::mark_intersecting", over(candidates.size()), KOKKOS_LAMBDA(int i) {
        Vec3<double> e[2], t[3];
        for (int k = 0; k < 2; ++k) e[k] = vector_at(x, pairs.edges(2 * candidates(i).query + k));
        for (int k = 0; k < 3; ++k) t[k] = vector_at(x, pairs.triangles(3 * candidates(i).leaf + k));
        marks(i) = intersect(e, t) ? 1 : 0;
      });
}

/// Copies the marked candidates to `found`, in their order. `begin`: exclusive sums of the marks; candidate i is marked
/// if begin(i + 1) > begin(i), and is then copied to found(begin(i)).
void collect_pairs(const DeviceArray<std::int64_t>& begin, const DeviceArray<CandidatePair>& candidates,
                   const DeviceArray<CandidatePair>& found) {
  Kokkos::parallel_for(
      "diffsim::contact::collect_intersecting", over(candidates.size()), KOKKOS_LAMBDA(int i) {
        if (begin(i + 1) > begin(i)) found(begin(i)) = candidates(i);
      });
  Kokkos::fence();
}

}  // namespace

bool have_same_values(const Vectors& a, const Vectors& b) {
  int others = 0;
  Kokkos::parallel_reduce(
      "diffsim::contact::compare", over(a.size()), KOKKOS_LAMBDA(int i, int& sum) { sum += a(i) == b(i) ? 0 : 1; },
      others);
  return others == 0;
}

DeviceArray<int> targets_of(const PairView& pairs, const DeviceArray<int>& active, ArrayPool& pool) {
  const auto targets = pool.take<int>("diffsim::contact::targets", 4 * active.size());
  Kokkos::parallel_for(
      "diffsim::contact::targets", over(active.size()), KOKKOS_LAMBDA(int a) {
        int v[4];
        pairs.vertices(active(a), v);
        for (int k = 0; k < 4; ++k) targets(4 * a + k) = v[k];
      });
  return targets;
}

double sum_energies(const PairView& pairs, const NearPairs& near, const Vectors& x) {
  return sum_over_pairs("diffsim::contact::pair_energies", near, EnergyOfPair{pairs, x});
}

double sum_dissipations(const PairView& pairs, const NearPairs& near, const Vectors& x, const Vectors& v) {
  return sum_over_pairs("diffsim::contact::pair_dissipations", near, DissipationOfPair{pairs, x, v});
}

double friction_power(const PairView& pairs, const NearPairs& near, const Vectors& x, const Vectors& v) {
  return sum_over_pairs("diffsim::contact::friction_power", near, FrictionPowerOfPair{pairs, x, v});
}

void pair_forces(const PairView& pairs, const NearPairs& near, const Vectors& x, const Vectors& v,
                 const Vectors& forces) {
  const DeviceArray<int> active = near.pairs;
  const bool friction = v.size() > 0;
  for (const LawPart& part : near.parts) {
    const LawAddresses law = part.law;
    Kokkos::parallel_for(
        "diffsim::contact::pair_forces", part.range(), KOKKOS_LAMBDA(int a) {
          Vec3<double> points[4], speeds[4], f[4] = {};
          load(pairs, active(a), x, points);
          if (friction) load(pairs, active(a), v, speeds);
          add_force_of(pairs, active(a), points, friction ? speeds : nullptr, law.law(), f);
          for (int k = 0; k < 4; ++k) store(f[k], a, k, forces);
        });
  }
}

void pair_tangents(const PairView& pairs, const NearPairs& near, const Vectors& x, const Vectors& v, const Vectors& dx,
                   const Vectors& dv, const std::vector<LawAddresses>& dlaws, const RestTangent& rest,
                   const Vectors& tangents) {
  const DeviceArray<int> active = near.pairs;
  const bool friction = v.size() > 0;
  for (std::size_t l = 0; l < near.parts.size(); ++l) {
    const LawPart& part = near.parts[l];
    const LawAddresses law = part.law, dlaw = dlaws[l];
    Kokkos::parallel_for(
        "diffsim::contact::pair_tangents", part.range(), KOKKOS_LAMBDA(int a) {
          using Scalar = Dual<double, 1>;
          Vec3<double> points[4], ways[4], speeds[4] = {}, changes[4] = {};
          load(pairs, active(a), x, points);
          load(pairs, active(a), dx, ways);
          if (friction) {
            load(pairs, active(a), v, speeds);
            load(pairs, active(a), dv, changes);
          }
          Vec3<Scalar> seeded[4], moving[4], f[4];
          for (int k = 0; k < 4; ++k)
            for (int c = 0; c < 3; ++c) {
              seeded[k][c].value = points[k][c];
              seeded[k][c].derivative[0] = ways[k][c];
              moving[k][c].value = speeds[k][c];
              moving[k][c].derivative[0] = changes[k][c];
              f[k][c] = Scalar(0.0);
            }
          Scalar seeded_law[5];
          for (int i = 0; i < 5; ++i) {
            seeded_law[i].value = law.at(i);
            seeded_law[i].derivative[0] = dlaw.at(i);
          }
          Scalar weight = weight_of(pairs, active(a));
          if (rest.positions.size() > 0) weight.derivative[0] = weight_tangent(pairs, active(a), rest);
          add_force_of(pairs, active(a), weight, seeded, friction ? moving : nullptr,
                       ContactLaw<Scalar>{seeded_law[0], seeded_law[1], seeded_law[2], seeded_law[3], law.thickness(),
                                          seeded_law[4], law.is_penalty},
                       f);
          for (int k = 0; k < 4; ++k)
            store({{f[k][0].derivative[0], f[k][1].derivative[0], f[k][2].derivative[0]}}, a, k, tangents);
        });
  }
  add_thickness_tangents(pairs, near, x, v, dlaws, tangents);
}

std::vector<LawSums> pair_adjoints(const PairView& pairs, const NearPairs& near, const Vectors& x, const Vectors& v,
                                   const Vectors& w, const Vectors& rest, const Vectors& x_bar, const Vectors& v_bar,
                                   const RestAdjoint& rest_bar) {
  std::vector<LawSums> sums;
  for (const LawPart& part : near.parts)
    sums.push_back(v.size() > 0 ? adjoints_with_friction(pairs, near.pairs, part, x, v, w, rest, x_bar, v_bar, rest_bar)
                                : adjoints_without_friction(pairs, near.pairs, part, x, w, rest, x_bar, rest_bar));
  add_thickness_sums(pairs, near, x, v, w, sums);
  return sums;
}

std::string text_of(const std::array<double, 3>& place) {
  char text[100];
  std::snprintf(text, sizeof(text), "(%.6g, %.6g, %.6g)", place[0], place[1], place[2]);
  return text;
}

std::string middle_of(const Vectors& x, int a, int b) {
  const auto host = host_view(x);
  std::array<double, 3> middle{};
  for (int c = 0; c < 3; ++c) middle[static_cast<std::size_t>(c)] = 0.5 * (host(3 * a + c) + host(3 * b + c));
  return text_of(middle);
}

DeviceArray<CandidatePair> find_intersections(const PairView& pairs,
                                              const DeviceArray<CandidatePair>& edges_and_triangles, const Vectors& x) {
  const DeviceArray<std::int64_t> begin("diffsim::contact::marks", edges_and_triangles.size() + 1);
  mark_intersecting(pairs, edges_and_triangles, x, begin);
  const std::int64_t total = detail::exclusive_sums(begin);
  const auto found =
      make_device_array<CandidatePair>("diffsim::contact::intersections", static_cast<std::size_t>(total));
  collect_pairs(begin, edges_and_triangles, found);
  return found;
}

}  // namespace diffsim::contact
