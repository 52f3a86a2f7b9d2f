// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "diffsim/core/device.hpp"
#include "diffsim/core/profiling.hpp"
#include "diffsim/elastic/elastic_term.hpp"
#include "diffsim/elastic/law.hpp"
#include "diffsim/mesh/cell_scatter_impl.hpp"

namespace diffsim {
namespace elastic {

/// Linear tetrahedra of one law, by value in kernels. Arrays are grouped by pack: [packs, entries, pack_width].
template <Law L>
struct Elements {
  static constexpr int K = L::num_moduli;
  DeviceArray<double> dm_inverse;  // Dm⁻¹ = [X1-X0, X2-X0, X3-X0]⁻¹, row-major, 1/m
  DeviceArray<double> volume;      // m³; 0 for the copies that fill the last pack
  DeviceArray<double> moduli;      // one row for all packs where the moduli are uniform
  int moduli_stride = 0;           // 0: uniform; else K·pack_width
  DeviceArray<int> cells;          // local cell of each entry; empty: all cells of the mesh, in order
  int num_cells = 0;

  DIFFSIM_FUNCTION Mat3<Pack> inverse_at(int pack) const {
    Mat3<Pack> a;
    for (int i = 0; i < 9; ++i) a(i / 3, i % 3) = load(&dm_inverse(pack_width * (9 * pack + i)));
    return a;
  }
  DIFFSIM_FUNCTION Pack volume_at(int pack) const { return load(&volume(pack_width * pack)); }
  DIFFSIM_FUNCTION void moduli_at(int pack, Pack (&m)[K]) const {
    for (int k = 0; k < K; ++k) m[k] = load(&moduli(moduli_stride * pack + pack_width * k));
  }
  /// Local cell of a lane; the copies in the last pack stand for the last cell.
  DIFFSIM_FUNCTION int cell_at(int pack, int i) const {
    const int entry = pack_width * pack + i;
    const int cell = entry < num_cells ? entry : num_cells - 1;
    return cells.size() == 0 ? cell : cells(cell);
  }
};

/// Ds = [x1-x0, x2-x0, x3-x0].
DIFFSIM_FUNCTION Mat3<Pack> edges(const int* vertices, const double* field) {
  Vec3<Pack> x[4];
  gather_corners(vertices, field, x);
  return Mat3<Pack>::from_columns(x[1] - x[0], x[2] - x[0], x[3] - x[0]);
}

/// Corner values from the derivative A = ∂/∂F of a sum over the cell: -V A Dm⁻ᵀ by columns, and minus their sum at
/// corner 0.
DIFFSIM_FUNCTION void corner_values(const Mat3<Pack>& A, const Mat3<Pack>& dm_inverse, const Pack& volume,
                                    Vec3<Pack> (&value)[4]) {
  const Mat3<Pack> H = times_transpose(A, dm_inverse);
  for (int i = 0; i < 3; ++i) {
    for (int a = 0; a < 3; ++a) value[a + 1][i] = -(volume * H(i, a));
    value[0][i] = -(value[1][i] + value[2][i] + value[3][i]);
  }
}

template <Law L>
struct Force {
  Elements<L> elements;
  const double* x;
  std::int32_t* invalid_cell;

  KOKKOS_INLINE_FUNCTION void operator()(int pack, const int* vertices, Vec3<Pack> (&value)[4]) const {
    const Mat3<Pack> dm_inverse = elements.inverse_at(pack);
    const Mat3<Pack> F = edges(vertices, x) * dm_inverse;
    Pack moduli[L::num_moduli];
    elements.moduli_at(pack, moduli);
    if (invalid_cell) check(pack, F);
    corner_values(stress_of<L>(F, moduli), dm_inverse, elements.volume_at(pack), value);
  }

  /// A cell is at fault where J is not a number, or not positive though the law needs it to be.
  KOKKOS_INLINE_FUNCTION void check(int pack, const Mat3<Pack>& F) const {
    constexpr double bound = L::needs_positive_jacobian ? 0.0 : -1.7976931348623157e308;
    const Pack J = determinant(F);
    if (!any_not_greater(J, bound)) return;
    for (int i = 0; i < pack_width; ++i)
      if (!(lane(J, i) > bound)) Kokkos::atomic_fetch_min(invalid_cell, elements.cell_at(pack, i));
  }
};

template <Law L>
struct ForceTangent {
  Elements<L> elements;
  const double* x;
  const double* dx;
  const double* dmoduli;  // [packs, K, pack_width], or nullptr

  KOKKOS_INLINE_FUNCTION void operator()(int pack, const int* vertices, Vec3<Pack> (&value)[4]) const {
    constexpr int K = L::num_moduli;
    const Mat3<Pack> dm_inverse = elements.inverse_at(pack);
    const Mat3<Pack> F = edges(vertices, x) * dm_inverse;
    const Mat3<Pack> dF = edges(vertices, dx) * dm_inverse;
    Pack moduli[K];
    elements.moduli_at(pack, moduli);
    Mat3<Pack> dP = stress_tangent_of<L>(F, dF, moduli);
    if (dmoduli) {
      Mat3<Pack> A[K];
      stress_moduli_of<L>(F, moduli, A);
      for (int k = 0; k < K; ++k) dP = dP + load(dmoduli + pack_width * (K * pack + k)) * A[k];
    }
    corner_values(dP, dm_inverse, elements.volume_at(pack), value);
  }
};

template <Law L>
struct ForceAdjoint {
  Elements<L> elements;
  const double* x;
  const double* w;
  double* moduli_gradient;  // [packs, K, pack_width], or nullptr

  KOKKOS_INLINE_FUNCTION void operator()(int pack, const int* vertices, Vec3<Pack> (&value)[4]) const {
    constexpr int K = L::num_moduli;
    const Mat3<Pack> dm_inverse = elements.inverse_at(pack);
    const Mat3<Pack> F = edges(vertices, x) * dm_inverse;
    const Mat3<Pack> G = edges(vertices, w) * dm_inverse;
    const Pack volume = elements.volume_at(pack);
    Pack moduli[K];
    elements.moduli_at(pack, moduli);
    corner_values(stress_tangent_of<L>(F, G, moduli), dm_inverse, volume, value);
    if (!moduli_gradient) return;
    Pack along[K];
    stress_moduli_of<L>(F, G, moduli, along);
    for (int k = 0; k < K; ++k) {
      double* const sum = moduli_gradient + pack_width * (K * pack + k);
      store(sum, load(sum) - volume * along[k]);
    }
  }
};

template <Law L>
struct Energy {
  Elements<L> elements;
  DeviceArray<int> vertices;
  const double* x;

  KOKKOS_INLINE_FUNCTION void operator()(int pack, double& sum) const {
    const Mat3<Pack> F = edges(&vertices(4 * pack_width * pack), x) * elements.inverse_at(pack);
    Pack moduli[L::num_moduli];
    elements.moduli_at(pack, moduli);
    const Pack energy = elements.volume_at(pack) * L::energy(F, moduli);
    for (int i = 0; i < pack_width; ++i) sum += lane(energy, i);
  }
};

/// Largest eigenvalue of each element's stiffness at rest, by power iteration, at its four corners.
template <Law L>
struct StiffnessBound {
  static constexpr int iterations = 40;
  Elements<L> elements;

  KOKKOS_INLINE_FUNCTION void operator()(int pack, const int*, Vec3<Pack> (&value)[4]) const {
    const Mat3<Pack> dm_inverse = elements.inverse_at(pack);
    const Pack volume = elements.volume_at(pack);
    const Mat3<Pack> rest = Mat3<Pack>::identity();
    Pack moduli[L::num_moduli];
    elements.moduli_at(pack, moduli);
    Vec3<Pack> u[4];
    for (int a = 0; a < 4; ++a)
      for (int c = 0; c < 3; ++c) u[a][c] = Pack(1.0 / (1.0 + 3.0 * a + 7.0 * c) - 0.2 * (a == c ? 1.0 : 0.0));
    Pack eigenvalue = 0.0;
    for (int i = 0; i < iterations; ++i) {
      const Mat3<Pack> dF = Mat3<Pack>::from_columns(u[1] - u[0], u[2] - u[0], u[3] - u[0]) * dm_inverse;
      corner_values(stress_tangent_of<L>(rest, dF, moduli), dm_inverse, volume, value);
      Pack norm = 1e-300;
      for (int a = 0; a < 4; ++a) norm += dot(value[a], value[a]);
      using std::sqrt;
      eigenvalue = sqrt(norm);
      const Pack inverse_norm = Pack(1.0) / eigenvalue;
      for (int a = 0; a < 4; ++a)
        for (int c = 0; c < 3; ++c) u[a][c] = value[a][c] * inverse_norm;
    }
    for (int a = 0; a < 4; ++a)
      for (int c = 0; c < 3; ++c) value[a][c] = eigenvalue;
  }
};

/// The data of a law's parameters, by number: what the kernels between parameters and moduli take.
template <Law L>
struct ParameterPointers {
  const double* value[L::parameters.size()] = {};
  DIFFSIM_FUNCTION void at(int cell, double (&p)[L::parameters.size()]) const {
    for (std::size_t i = 0; i < L::parameters.size(); ++i) p[i] = value[i] ? value[i][cell] : 0.0;
  }
};

/// Where the gradient by each of a law's parameters is added; nullptr where nobody asks.
template <Law L>
struct GradientPointers {
  double* value[L::parameters.size()] = {};
};

/// Counts the cells whose value is not that of the first.
template <Law L>
struct DiffersFromFirst {
  Elements<L> elements;
  const double* value;
  KOKKOS_INLINE_FUNCTION void operator()(int entry, int& count) const {
    if (value[elements.cell_at(entry / pack_width, entry % pack_width)] != value[elements.cell_at(0, 0)]) ++count;
  }
};

/// moduli = L::moduli(parameters), one lane a cell; the copies in the last pack repeat the last cell.
template <Law L>
void compute_moduli(const Elements<L>& elements, const ParameterPointers<L>& parameters, int lanes,
                    const DeviceArray<double>& moduli) {
  constexpr int K = L::num_moduli;
  Kokkos::parallel_for(
      "diffsim::elastic::moduli", Range(0, lanes), KOKKOS_LAMBDA(int entry) {
        double p[L::parameters.size()], m[K];
        parameters.at(elements.cell_at(entry / pack_width, entry % pack_width), p);
        L::moduli(p, m);
        for (int k = 0; k < K; ++k) moduli(pack_width * (K * (entry / pack_width) + k) + entry % pack_width) = m[k];
      });
}

/// dmoduli = ∂moduli/∂parameters · direction.
template <Law L>
void compute_moduli_tangent(const Elements<L>& elements, const ParameterPointers<L>& parameters,
                            const ParameterPointers<L>& direction, int lanes, const DeviceArray<double>& dmoduli) {
  constexpr int K = L::num_moduli;
  constexpr int P = static_cast<int>(L::parameters.size());
  Kokkos::parallel_for(
      "diffsim::elastic::moduli_tangent", Range(0, lanes), KOKKOS_LAMBDA(int entry) {
        const int cell = elements.cell_at(entry / pack_width, entry % pack_width);
        double p[P], dp[P];
        parameters.at(cell, p);
        direction.at(cell, dp);
        Dual<double, 1> along[P], m[K];
        for (int i = 0; i < P; ++i) {
          along[i].value = p[i];
          along[i].derivative[0] = dp[i];
        }
        L::moduli(along, m);
        for (int k = 0; k < K; ++k)
          dmoduli(pack_width * (K * (entry / pack_width) + k) + entry % pack_width) = m[k].derivative[0];
      });
}

/// gradient_i += Σ_k moduli_gradient_k ∂moduli_k/∂parameter_i, for the parameters that have a gradient.
template <Law L>
void add_parameter_gradient(const Elements<L>& elements, const ParameterPointers<L>& parameters,
                            const DeviceArray<double>& moduli_gradient, const GradientPointers<L>& gradient) {
  constexpr int K = L::num_moduli;
  constexpr int P = static_cast<int>(L::parameters.size());
  Kokkos::parallel_for(
      "diffsim::elastic::moduli_adjoint", Range(0, elements.num_cells), KOKKOS_LAMBDA(int entry) {
        const int cell = elements.cell_at(entry / pack_width, entry % pack_width);
        double p[P];
        parameters.at(cell, p);
        Dual<double, P> variable[P], m[K];
        for (int i = 0; i < P; ++i) variable[i] = Dual<double, P>::variable(p[i], i);
        L::moduli(variable, m);
        for (int k = 0; k < K; ++k) {
          const double g = moduli_gradient(pack_width * (K * (entry / pack_width) + k) + entry % pack_width);
          for (int i = 0; i < P; ++i)
            if (gradient.value[i]) gradient.value[i][cell] += g * m[k].derivative[i];
        }
      });
}

}  // namespace elastic

/// The force term of a law on linear tetrahedra: E = Σ_cells V W(F), F = Ds Dm⁻¹ (Sifakis & Barbič 2012).
template <Law L>
class ElasticTerm : public ForceTerm {
 public:
  static constexpr int K = L::num_moduli;

  ElasticTerm(const TetrahedralMesh& mesh, const std::vector<int>& cells)
      : scatter_(connectivity(mesh, cells), mesh.num_vertices()) {
    elements_.num_cells = scatter_.num_cells();
    if (cells.size() != static_cast<std::size_t>(mesh.num_cells()))
      elements_.cells = to_device("diffsim::elastic::cells", cells);
    compute_geometry(mesh, cells);
  }

  std::string name() const override { return L::name; }

  void prepare(const ParameterSet& parameters) override {
    pointers_ = pointers(parameters);
    const bool uniform = is_uniform(parameters);
    const int lanes = uniform ? pack_width : pack_width * scatter_.num_packs();
    elements_.moduli_stride = uniform ? 0 : K * pack_width;
    const std::size_t size = static_cast<std::size_t>(K) * static_cast<std::size_t>(lanes);
    if (elements_.moduli.size() != size) elements_.moduli = make_device_array<double>("diffsim::elastic::moduli", size);
    if (elements_.num_cells > 0) elastic::compute_moduli<L>(elements_, pointers_, lanes, elements_.moduli);
    Kokkos::fence();
  }

  void prepare_tangent(const ParameterSet& parameters, const ParameterSet& direction) override {
    bool any = false;
    for (const char* name : L::parameters) any = any || direction.find(name) != nullptr;
    has_moduli_tangent_ = any;
    if (!any) return;
    allocate_moduli(moduli_tangent_);
    if (elements_.num_cells > 0)
      elastic::compute_moduli_tangent<L>(elements_, pointers(parameters), pointers(direction),
                                         pack_width * scatter_.num_packs(), moduli_tangent_);
    Kokkos::fence();
  }

  void begin_adjoint(const ParameterSet& gradient) override {
    bool any = false;
    for (const char* name : L::parameters) any = any || gradient.find(name) != nullptr;
    if (any) {
      allocate_moduli(moduli_gradient_);
      Kokkos::deep_copy(moduli_gradient_, 0.0);
    } else {
      moduli_gradient_ = {};
    }
  }

  void prepare_adjoint(const ParameterSet& parameters, ParameterSet& gradient) override {
    elastic::GradientPointers<L> targets;
    for (std::size_t i = 0; i < L::parameters.size(); ++i)
      if (Parameter* found = gradient.find(L::parameters[i])) targets.value[i] = found->field.data();
    if (moduli_gradient_.size() == 0) return;
    elastic::add_parameter_gradient<L>(elements_, pointers(parameters), moduli_gradient_, targets);
    Kokkos::fence();
  }

  double energy(const Configuration& at, const ParameterSet&) override {
    double sum = 0.0;
    Kokkos::parallel_reduce("diffsim::elastic::energy", Range(0, scatter_.num_packs()),
                            elastic::Energy<L>{elements_, scatter_.data().vertices, at.positions.data()}, sum);
    return sum;
  }

  void add_force(const Configuration& at, const ParameterSet&, Field& force) override {
    const ProfilingRegion region("diffsim::elastic::force");
    for_each_cell("diffsim::elastic::force", scatter_, force.data(),
                  elastic::Force<L>{elements_, at.positions.data(), at.invalid_cell});
  }

  void add_force_tangent(const Configuration& at, const ConfigurationTangent& tangent, const ParameterSet&,
                         Field& force_tangent) override {
    const ProfilingRegion region("diffsim::elastic::force_tangent");
    for_each_cell("diffsim::elastic::force_tangent", scatter_, force_tangent.data(),
                  elastic::ForceTangent<L>{elements_, at.positions.data(), tangent.positions.data(),
                                           has_moduli_tangent_ ? moduli_tangent_.data() : nullptr});
  }

  void add_force_adjoint(const Configuration& at, const Field& w, const ConfigurationAdjoint& adjoint,
                         ParameterSet&) override {
    const ProfilingRegion region("diffsim::elastic::force_adjoint");
    for_each_cell("diffsim::elastic::force_adjoint", scatter_, adjoint.positions.data(),
                  elastic::ForceAdjoint<L>{elements_, at.positions.data(), w.data(), moduli_gradient_.data()});
  }

  void add_stiffness_bound(const ParameterSet&, Field& stiffness) override {
    for_each_cell("diffsim::elastic::stiffness_bound", scatter_, stiffness.data(),
                  elastic::StiffnessBound<L>{elements_});
  }

 private:
  static std::vector<int> connectivity(const TetrahedralMesh& mesh, const std::vector<int>& cells) {
    if (cells.size() == static_cast<std::size_t>(mesh.num_cells())) return mesh.cells();
    std::vector<int> result;
    result.reserve(4 * cells.size());
    for (const int cell : cells)
      for (int a = 0; a < 4; ++a) result.push_back(mesh.cells()[static_cast<std::size_t>(4 * cell + a)]);
    return result;
  }

  void compute_geometry(const TetrahedralMesh& mesh, const std::vector<int>& cells) {
    const auto entries = static_cast<std::size_t>(pack_width * scatter_.num_packs());
    std::vector<double> inverses(9 * entries), volumes(entries);
    const std::vector<double>& X = mesh.rest_positions();
    for (std::size_t e = 0; e < entries; ++e) {
      const std::size_t entry = std::min(e, static_cast<std::size_t>(elements_.num_cells) - 1);
      const auto cell = static_cast<std::size_t>(cells[entry]);
      Mat3<double> Dm;
      for (std::size_t a = 0; a < 3; ++a)
        for (std::size_t c = 0; c < 3; ++c)
          Dm(static_cast<int>(c), static_cast<int>(a)) =
              X[3 * static_cast<std::size_t>(mesh.cells()[4 * cell + a + 1]) + c] -
              X[3 * static_cast<std::size_t>(mesh.cells()[4 * cell]) + c];
      const Mat3<double> inverse_Dm = inverse(Dm);
      volumes[e] = entry == e ? determinant(Dm) / 6.0 : 0.0;
      for (std::size_t i = 0; i < 9; ++i)
        inverses[pack_width * (9 * (e / pack_width) + i) + e % pack_width] =
            inverse_Dm(static_cast<int>(i) / 3, static_cast<int>(i) % 3);
    }
    elements_.dm_inverse = to_device("diffsim::elastic::dm_inverse", inverses);
    elements_.volume = to_device("diffsim::elastic::volume", volumes);
  }

  void allocate_moduli(DeviceArray<double>& moduli) {
    const std::size_t size = static_cast<std::size_t>(K * pack_width) * static_cast<std::size_t>(scatter_.num_packs());
    if (moduli.size() != size) moduli = make_device_array<double>("diffsim::elastic::moduli_derivative", size);
  }

  static elastic::ParameterPointers<L> pointers(const ParameterSet& parameters) {
    elastic::ParameterPointers<L> result;
    for (std::size_t i = 0; i < L::parameters.size(); ++i)
      if (const Parameter* found = parameters.find(L::parameters[i])) result.value[i] = found->field.data();
    return result;
  }

  /// Whether this rank's cells all have the same parameters.
  bool is_uniform(const ParameterSet& parameters) const {
    const elastic::Elements<L> elements = elements_;
    int differing = 0;
    for (const char* name : L::parameters) {
      const double* const value = parameters.at(name).field.data();
      int count = 0;
      Kokkos::parallel_reduce("diffsim::elastic::is_uniform", Range(0, elements.num_cells),
                              elastic::DiffersFromFirst<L>{elements, value}, count);
      differing += count;
    }
    return differing == 0;
  }

  CellScatter scatter_;
  elastic::Elements<L> elements_;
  elastic::ParameterPointers<L> pointers_;
  DeviceArray<double> moduli_tangent_, moduli_gradient_;
  bool has_moduli_tangent_ = false;
};

/// A law as `elastic_laws` lists it.
template <Law L>
ElasticLaw describe_law() {
  return {L::name,
          {L::parameters.begin(), L::parameters.end()},
          [](const TetrahedralMesh& mesh, const std::vector<int>& cells) -> std::unique_ptr<ForceTerm> {
            return std::make_unique<ElasticTerm<L>>(mesh, cells);
          }};
}

/// Makes a law known by its name to `DifferentiableMaterial` and to scenes; one line in a user's program.
template <Law L>
void register_law() {
  add_elastic_law(describe_law<L>());
}

}  // namespace diffsim
