// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/load/surface_traction.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "diffsim/core/add_to_entries.hpp"
#include "diffsim/core/device.hpp"
#include "load/face_weights.hpp"

namespace diffsim {

struct SurfaceTraction::Data {
  std::vector<Face> faces;
  std::vector<int> loaded;    // local vertices of the faces, each once, ascending
  DeviceArray<int> vertices;  // likewise, on the device
  DeviceArray<double> areas;  // ∫ N dA of each, m²
  DeviceArray<double> area_tangent, area_gradient;
  const Field* rest = nullptr;  // where the load's work is zero
  const Parameter* traction = nullptr;
  bool has_tangent = false, has_gradient = false;

  std::size_t place(int vertex) const {
    return static_cast<std::size_t>(std::lower_bound(loaded.begin(), loaded.end(), vertex) - loaded.begin());
  }
};

namespace {

Vec3<double> at(const std::vector<double>& field, int vertex) {
  const auto i = 3 * static_cast<std::size_t>(vertex);
  return {{field[i], field[i + 1], field[i + 2]}};
}

/// force[v] += a area_v t.
void add_loads(double a, const DeviceArray<int>& vertices, const DeviceArray<double>& areas, const double* traction,
               Field& force) {
  double* const f = force.data();
  Kokkos::parallel_for(
      "diffsim::load::traction", Range(0, static_cast<int>(vertices.size())), KOKKOS_LAMBDA(int i) {
        for (int c = 0; c < 3; ++c) f[3 * vertices(i) + c] += a * areas(i) * traction[c];
      });
  Kokkos::fence();
}

/// gradient_v += a t · w_v.
void add_area_gradient(double a, const DeviceArray<int>& vertices, const double* traction, const Field& w,
                       const DeviceArray<double>& gradient) {
  const double* const by_force = w.data();
  Kokkos::parallel_for(
      "diffsim::load::traction_areas", Range(0, static_cast<int>(vertices.size())), KOKKOS_LAMBDA(int i) {
        for (int c = 0; c < 3; ++c) gradient(i) += a * traction[c] * by_force[3 * vertices(i) + c];
      });
  Kokkos::fence();
}

/// Σ_v area_v (w_v - w0_v), one component; w0 may be nullptr.
double weighted_sum(const DeviceArray<int>& vertices, const DeviceArray<double>& areas, const double* w,
                    const double* w0, int component) {
  double sum = 0.0;
  Kokkos::parallel_reduce(
      "diffsim::load::traction_adjoint", Range(0, static_cast<int>(vertices.size())),
      KOKKOS_LAMBDA(int i, double& s) {
        const int entry = 3 * vertices(i) + component;
        s += areas(i) * (w[entry] - (w0 ? w0[entry] : 0.0));
      },
      sum);
  return sum;
}

}  // namespace

SurfaceTraction::SurfaceTraction(std::string parameter, std::vector<Face> faces)
    : parameter_(std::move(parameter)), data_(std::make_unique<Data>()) {
  data_->faces = std::move(faces);
  for (const Face& face : data_->faces)
    for (int a = 0; a < face.num_nodes(); ++a) data_->loaded.push_back(face.node(a));
  std::sort(data_->loaded.begin(), data_->loaded.end());
  data_->loaded.erase(std::unique(data_->loaded.begin(), data_->loaded.end()), data_->loaded.end());
  data_->vertices = to_device("diffsim::load::vertices", data_->loaded);
}

SurfaceTraction::~SurfaceTraction() = default;

void SurfaceTraction::prepare(const ParameterSet& parameters) {
  data_->rest = &parameters.at("rest_positions").field;
  data_->traction = &parameters.at(parameter_);
  const std::vector<double> X = data_->rest->to_host();
  std::vector<double> areas(data_->loaded.size(), 0.0);
  for (const Face& face : data_->faces) {
    Vec3<double> x[6];
    double w[6];
    for (int a = 0; a < face.num_nodes(); ++a) x[a] = at(X, face.node(a));
    face_weights(x, face.num_nodes(), w);
    for (int a = 0; a < face.num_nodes(); ++a) areas[data_->place(face.node(a))] += w[a];
  }
  data_->areas = to_device("diffsim::load::areas", areas);
}

void SurfaceTraction::prepare_tangent(const ParameterSet&, const ParameterSet& direction) {
  const Parameter* const rest = direction.find("rest_positions");
  data_->has_tangent = rest != nullptr;
  if (!rest) return;
  const std::vector<double> X = data_->rest->to_host(), dX = rest->field.to_host();
  std::vector<double> areas(data_->loaded.size(), 0.0);
  for (const Face& face : data_->faces) {
    Vec3<Dual<double, 1>> x[6];
    Dual<double, 1> w[6];
    for (int a = 0; a < face.num_nodes(); ++a)
      for (int c = 0; c < 3; ++c) {
        x[a][c].value = at(X, face.node(a))[c];
        x[a][c].derivative[0] = at(dX, face.node(a))[c];
      }
    face_weights(x, face.num_nodes(), w);
    for (int a = 0; a < face.num_nodes(); ++a) areas[data_->place(face.node(a))] += w[a].derivative[0];
  }
  data_->area_tangent = to_device("diffsim::load::area_tangent", areas);
}

void SurfaceTraction::begin_adjoint(const ParameterSet& gradient) {
  data_->has_gradient = gradient.find("rest_positions") != nullptr;
  data_->area_gradient = {};
  if (data_->has_gradient)
    data_->area_gradient = make_zeroed_device_array<double>("diffsim::load::area_gradient", data_->loaded.size());
}

void SurfaceTraction::prepare_adjoint(const ParameterSet&, ParameterSet& gradient) {
  if (!data_->has_gradient) return;
  Field& target = gradient.at("rest_positions").field;
  const std::vector<double> X = data_->rest->to_host();
  std::vector<double> sums = target.to_host();
  const auto by_area = host_view(data_->area_gradient);
  using Variable = Dual<double, 18>;
  for (const Face& face : data_->faces) {
    Vec3<Variable> x[6];
    Variable w[6];
    const int nodes = face.num_nodes();
    for (int a = 0; a < nodes; ++a)
      for (int c = 0; c < 3; ++c) x[a][c] = Variable::variable(at(X, face.node(a))[c], 3 * a + c);
    face_weights(x, nodes, w);
    for (int a = 0; a < nodes; ++a)
      for (int b = 0; b < nodes; ++b)
        for (int c = 0; c < 3; ++c)
          sums[3 * static_cast<std::size_t>(face.node(b)) + static_cast<std::size_t>(c)] +=
              by_area(data_->place(face.node(a))) * w[a].derivative[3 * b + c];
  }
  target.from_host(sums);
}

double SurfaceTraction::area() const {
  const auto areas = host_view(data_->areas);
  return std::accumulate(areas.data(), areas.data() + areas.size(), 0.0);
}

double SurfaceTraction::energy(const Configuration& at, const ParameterSet& parameters) {
  const Parameter& traction = parameters.at(parameter_);
  const std::vector<double> t = traction.field.to_host();
  double sum = 0.0;
  for (int c = 0; c < 3; ++c)
    sum -= t[3 * traction.offset(at.step) + static_cast<std::size_t>(c)] *
           weighted_sum(data_->vertices, data_->areas, at.positions.data(), data_->rest->data(), c);
  return at.factor_of(traction) * sum;
}

void SurfaceTraction::add_force(const Configuration& at, const ParameterSet& parameters, Field& force) {
  const Parameter& traction = parameters.at(parameter_);
  add_loads(at.factor_of(traction), data_->vertices, data_->areas, traction.field.data() + 3 * traction.offset(at.step),
            force);
}

void SurfaceTraction::add_force_tangent(const Configuration& at, const ConfigurationTangent&,
                                        const ParameterSet& direction, Field& force_tangent) {
  if (const Parameter* traction = direction.find(parameter_))
    add_loads(at.factor_of(*traction), data_->vertices, data_->areas,
              traction->field.data() + 3 * traction->offset(at.step), force_tangent);
  if (data_->has_tangent)
    add_loads(at.factor_of(*data_->traction), data_->vertices, data_->area_tangent,
              data_->traction->field.data() + 3 * data_->traction->offset(at.step), force_tangent);
}

void SurfaceTraction::add_force_adjoint(const Configuration& at, const Field& w, const ConfigurationAdjoint&,
                                        ParameterSet& gradient) {
  if (data_->has_gradient)
    add_area_gradient(at.factor_of(*data_->traction), data_->vertices,
                      data_->traction->field.data() + 3 * data_->traction->offset(at.step), w, data_->area_gradient);
  Parameter* const traction = gradient.find(parameter_);
  if (!traction) return;
  std::vector<double> sums;
  for (int c = 0; c < 3; ++c)
    sums.push_back(at.factor_of(*traction) * weighted_sum(data_->vertices, data_->areas, w.data(), nullptr, c));
  add_to_entries(traction->field, 3 * traction->offset(at.step), sums);
}

void SurfaceTraction::begin_adjoint_tangent(const ParameterSet& gradient, const ParameterSet& direction) {
  if (gradient.find("rest_positions") || direction.find("rest_positions"))
    throw Error("no second derivative by 'rest_positions'", ErrorKind::input);
}

void SurfaceTraction::add_force_adjoint_tangent(const Configuration& at, const ConfigurationTangent&,
                                                const ParameterSet&, const Field*, const Field* dw,
                                                const ConfigurationAdjoint& adjoint_tangent,
                                                ParameterSet& gradient_tangent) {
  if (dw) add_force_adjoint(at, *dw, adjoint_tangent, gradient_tangent);
}

}  // namespace diffsim
