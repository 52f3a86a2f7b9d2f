// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/load/surface_traction.hpp"

#include <cmath>
#include <map>
#include <utility>

#include "diffsim/core/device.hpp"
#include "diffsim/core/small_tensor.hpp"

namespace diffsim {

struct SurfaceTraction::Data {
  DeviceArray<int> vertices;  // local, each once
  DeviceArray<double> areas;  // m², of each
  Field rest;                 // [local vertices, 3], where the load's work is zero
};

namespace {

/// force[v] += area_v t.
void add_loads(const DeviceArray<int>& vertices, const DeviceArray<double>& areas, const double* traction,
               Field& force) {
  double* const f = force.data();
  Kokkos::parallel_for(
      "diffsim::load::traction", Range(0, static_cast<int>(vertices.size())), KOKKOS_LAMBDA(int i) {
        for (int c = 0; c < 3; ++c) f[3 * vertices(i) + c] += areas(i) * traction[c];
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

SurfaceTraction::SurfaceTraction(std::string parameter, const std::vector<double>& rest_positions,
                                 const std::vector<Face>& faces)
    : parameter_(std::move(parameter)), data_(std::make_unique<Data>()) {
  std::map<int, double> area_of;
  for (const Face& face : faces) {
    Vec3<double> x[3];
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t c = 0; c < 3; ++c)
        x[a].v[c] = rest_positions[3 * static_cast<std::size_t>(face.vertices[a]) + c];
    const Vec3<double> normal = cross(x[1] - x[0], x[2] - x[0]);
    const double area = 0.5 * std::sqrt(dot(normal, normal));
    area_ += area;
    for (const int v : face.vertices) area_of[v] += area / 3.0;
  }
  std::vector<int> vertices;
  std::vector<double> areas;
  for (const auto& [v, area] : area_of) {
    vertices.push_back(v);
    areas.push_back(area);
  }
  data_->vertices = to_device("diffsim::load::vertices", vertices);
  data_->areas = to_device("diffsim::load::areas", areas);
  data_->rest = Field("rest", rest_positions.size() / 3, 3);
  data_->rest.from_host(rest_positions);
}

SurfaceTraction::~SurfaceTraction() = default;

double SurfaceTraction::energy(const Configuration& at, const ParameterSet& parameters) {
  const Parameter& traction = parameters.at(parameter_);
  const std::vector<double> t = traction.field.to_host();
  double sum = 0.0;
  for (int c = 0; c < 3; ++c)
    sum -= t[3 * traction.offset(at.step) + static_cast<std::size_t>(c)] *
           weighted_sum(data_->vertices, data_->areas, at.positions.data(), data_->rest.data(), c);
  return sum;
}

void SurfaceTraction::add_force(const Configuration& at, const ParameterSet& parameters, Field& force) {
  const Parameter& traction = parameters.at(parameter_);
  add_loads(data_->vertices, data_->areas, traction.field.data() + 3 * traction.offset(at.step), force);
}

void SurfaceTraction::add_force_tangent(const Configuration& at, const ConfigurationTangent&,
                                        const ParameterSet& direction, Field& force_tangent) {
  if (const Parameter* traction = direction.find(parameter_))
    add_loads(data_->vertices, data_->areas, traction->field.data() + 3 * traction->offset(at.step), force_tangent);
}

void SurfaceTraction::add_force_adjoint(const Configuration& at, const Field& w, const ConfigurationAdjoint&,
                                        ParameterSet& gradient) {
  Parameter* const traction = gradient.find(parameter_);
  if (!traction) return;
  std::vector<double> all = traction->field.to_host();
  for (int c = 0; c < 3; ++c)
    all[3 * traction->offset(at.step) + static_cast<std::size_t>(c)] +=
        weighted_sum(data_->vertices, data_->areas, w.data(), nullptr, c);
  traction->field.from_host(all);
}

}  // namespace diffsim
