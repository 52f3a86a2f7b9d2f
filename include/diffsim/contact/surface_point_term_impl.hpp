// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "diffsim/contact/impl/surface_areas.hpp"
#include "diffsim/core/point_term_impl.hpp"

namespace diffsim {

/// Force term (PointTerm) on all or some vertices of a mesh's surface. The template parameter F is the type of the
/// force on one vertex; the force may depend on an area weight of the vertex. The area weight of a vertex is computed
/// in the rest shape: a third of the sum of the areas of the triangles at the vertex (m²), half of the sum of the
/// lengths of the segments at the vertex (m), or the number of cells that consist of the vertex (SurfaceAreas). A
/// SurfacePointTerm has first but no second derivatives with respect to the parameter `rest_positions`.
template <class F, class Base = ForceTerm>
class SurfacePointTerm : public PointTerm<F, Base> {
  using Points = PointTerm<F, Base>;

 public:
  /// Makes a force term on all vertices of the triangles of the mesh's surface; on each rank, the term acts on the
  /// vertices that the rank owns. Collective.
  SurfacePointTerm(std::string name, const F& force, std::vector<PointParameter> parameters,
                   std::shared_ptr<const TetrahedralMesh> mesh)
      : SurfacePointTerm(std::move(name), force, std::move(parameters), mesh, contact::surface_areas(*mesh).vertices) {}
  /// Makes a force term on the vertices with the local indices `vertices`, which are vertices of the mesh's surface and
  /// are owned by this rank. Collective.
  SurfacePointTerm(std::string name, const F& force, std::vector<PointParameter> parameters,
                   std::shared_ptr<const TetrahedralMesh> mesh, std::vector<int> vertices)
      : Points(std::move(name), force, std::move(parameters), vertices),
        mesh_(std::move(mesh)),
        rest_areas_(*mesh_),
        vertices_(std::move(vertices)) {}

  void prepare(const ParameterSet& parameters) override {
    Points::prepare(parameters);
    areas_ = on_surface(rest_areas_.areas(parameters.at("rest_positions").field));
    this->weights().values = areas_.data();
  }
  void prepare_tangent(const ParameterSet& parameters, const ParameterSet& direction) override {
    Points::prepare_tangent(parameters, direction);
    const Parameter* const rest = direction.find("rest_positions");
    area_tangent_ = {};
    if (rest) area_tangent_ = on_surface(rest_areas_.tangent(parameters.at("rest_positions").field, rest->field));
    this->weights().tangent = area_tangent_.data();
  }
  void begin_adjoint(const ParameterSet& gradient) override {
    Points::begin_adjoint(gradient);
    area_gradient_ = {};
    if (gradient.find("rest_positions"))
      area_gradient_ = make_zeroed_device_array<double>("diffsim::contact::area_gradient", vertices_.size());
    this->weights().gradient = area_gradient_.data();
  }
  void prepare_adjoint(const ParameterSet& parameters, ParameterSet& gradient) override {
    if (!gradient.find("rest_positions")) return;
    Field by_areas("area_gradient", mesh_->vertex_entities(), 3);
    std::vector<double> all(by_areas.size(), 0.0);
    const auto host = host_view(area_gradient_);
    for (std::size_t i = 0; i < vertices_.size(); ++i) all[3 * static_cast<std::size_t>(vertices_[i])] = host(i);
    by_areas.from_host(all);
    rest_areas_.add_gradient(parameters.at("rest_positions").field, by_areas, gradient.at("rest_positions").field);
  }
  void begin_adjoint_tangent(const ParameterSet& gradient, const ParameterSet& direction) override {
    Points::begin_adjoint_tangent(gradient, direction);
    if (gradient.find("rest_positions") || direction.find("rest_positions"))
      throw Error("no second derivative of the " + this->name() + " with respect to rest_positions", ErrorKind::input);
  }

 protected:
  const TetrahedralMesh& mesh() const { return *mesh_; }         ///< mesh to whose surface the force term is applied
  const std::vector<int>& surface() const { return vertices_; }  ///< local indices of the force term's vertices

 private:
  /// Returns those entries of the array `all` [owned vertices] that belong to the force term's vertices.
  DeviceArray<double> on_surface(const std::vector<double>& all) const {
    std::vector<double> some;
    for (const int v : vertices_) some.push_back(all[static_cast<std::size_t>(v)]);
    return to_device("diffsim::contact::areas", some);
  }

  std::shared_ptr<const TetrahedralMesh> mesh_;
  contact::RestAreas rest_areas_;
  std::vector<int> vertices_;
  DeviceArray<double> areas_, area_tangent_, area_gradient_;  // weights; tangent and gradient may be empty
};

}  // namespace diffsim
