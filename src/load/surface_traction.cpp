// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "load/surface_traction.hpp"

#include <algorithm>
#include <utility>

#include "diffsim/core/point_term_impl.hpp"
#include "load/face_weights.hpp"

namespace diffsim {
namespace {

/// Force t A of a traction t on the rest area A lumped to a vertex. The energy is -A t · (x - X).
struct Traction {
  static constexpr int num_values = 6;  // traction t, rest position X
  static constexpr bool uses_positions = false;

  template <class T>
  DIFFSIM_FUNCTION Vec3<T> force(const PointValues<T, num_values>& at) const {
    const auto& t = at.p;
    return {{at.weight * t[0], at.weight * t[1], at.weight * t[2]}};
  }
  DIFFSIM_FUNCTION double energy(const PointValues<double, num_values>& at) const {
    return -at.weight * dot(at.vector(0), at.x - at.vector(3));
  }
};

Vec3<double> at(const std::vector<double>& field, int vertex) {
  const auto i = 3 * static_cast<std::size_t>(vertex);
  return {{field[i], field[i + 1], field[i + 2]}};
}

/// Distinct vertices of `faces`, in ascending order.
std::vector<int> vertices_of(const std::vector<Face>& faces) {
  std::vector<int> vertices;
  for (const Face& face : faces)
    for (int a = 0; a < face.num_nodes(); ++a) vertices.push_back(face.node(a));
  std::sort(vertices.begin(), vertices.end());
  vertices.erase(std::unique(vertices.begin(), vertices.end()), vertices.end());
  return vertices;
}

std::vector<PointParameter> parameters_of(const std::string& traction) {
  PointParameter load{traction, 3};
  load.is_dead_load = true;
  return {load, {"rest_positions", 3}};
}

/// Force term of a traction. The point weights are the lumped areas Σ_faces ∫ N_i dA of the rest shape.
class SurfaceTraction : public PointTerm<Traction> {
 public:
  SurfaceTraction(std::string parameter, std::vector<Face> faces, const std::vector<int>& loaded)
      : PointTerm(parameter, Traction(), parameters_of(parameter), loaded), faces_(std::move(faces)), loaded_(loaded) {}

  void prepare(const ParameterSet& parameters) override;
  void prepare_tangent(const ParameterSet& parameters, const ParameterSet& direction) override;
  void begin_adjoint(const ParameterSet& gradient) override;
  void prepare_adjoint(const ParameterSet& parameters, ParameterSet& gradient) override;
  void begin_adjoint_tangent(const ParameterSet& gradient, const ParameterSet& direction) override;

 private:
  std::size_t place(int vertex) const {
    return static_cast<std::size_t>(std::lower_bound(loaded_.begin(), loaded_.end(), vertex) - loaded_.begin());
  }

  std::vector<Face> faces_;
  std::vector<int> loaded_;
  const Field* rest_ = nullptr;
  DeviceArray<double> areas_, area_tangent_, area_gradient_;  // lumped areas (m²), their tangents, and ∂L/∂area
};

void SurfaceTraction::prepare(const ParameterSet& parameters) {
  PointTerm::prepare(parameters);
  rest_ = &parameters.at("rest_positions").field;
  const std::vector<double> X = rest_->to_host();
  std::vector<double> areas(loaded_.size(), 0.0);
  for (const Face& face : faces_) {
    Vec3<double> x[6];
    double w[6];
    for (int a = 0; a < face.num_nodes(); ++a) x[a] = at(X, face.node(a));
    face_weights(x, face.num_nodes(), w);
    for (int a = 0; a < face.num_nodes(); ++a) areas[place(face.node(a))] += w[a];
  }
  areas_ = to_device("diffsim::load::areas", areas);
  weights() = {areas_.data()};
}

void SurfaceTraction::prepare_tangent(const ParameterSet&, const ParameterSet& direction) {
  const Parameter* const rest = direction.find("rest_positions");
  weights().tangent = nullptr;
  if (!rest) return;
  const std::vector<double> X = rest_->to_host(), dX = rest->field.to_host();
  std::vector<double> areas(loaded_.size(), 0.0);
  for (const Face& face : faces_) {
    Vec3<Dual<double, 1>> x[6];
    Dual<double, 1> w[6];
    for (int a = 0; a < face.num_nodes(); ++a)
      for (int c = 0; c < 3; ++c) {
        x[a][c].value = at(X, face.node(a))[c];
        x[a][c].derivative[0] = at(dX, face.node(a))[c];
      }
    face_weights(x, face.num_nodes(), w);
    for (int a = 0; a < face.num_nodes(); ++a) areas[place(face.node(a))] += w[a].derivative[0];
  }
  area_tangent_ = to_device("diffsim::load::area_tangent", areas);
  weights().tangent = area_tangent_.data();
}

void SurfaceTraction::begin_adjoint(const ParameterSet& gradient) {
  area_gradient_ = {};
  weights().gradient = nullptr;
  if (!gradient.find("rest_positions")) return;
  area_gradient_ = make_zeroed_device_array<double>("diffsim::load::area_gradient", loaded_.size());
  weights().gradient = area_gradient_.data();
}

void SurfaceTraction::prepare_adjoint(const ParameterSet&, ParameterSet& gradient) {
  if (!weights().gradient) return;
  Field& target = gradient.at("rest_positions").field;
  const std::vector<double> X = rest_->to_host();
  std::vector<double> sums = target.to_host();
  const auto by_area = host_view(area_gradient_);
  using Variable = Dual<double, 18>;
  for (const Face& face : faces_) {
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
              by_area(place(face.node(a))) * w[a].derivative[3 * b + c];
  }
  target.from_host(sums);
}

void SurfaceTraction::begin_adjoint_tangent(const ParameterSet& gradient, const ParameterSet& direction) {
  if (gradient.find("rest_positions") || direction.find("rest_positions"))
    throw Error("there is no second derivative with respect to 'rest_positions'", ErrorKind::input);
  weights().tangent = weights().gradient_tangent = nullptr;
}

}  // namespace

std::unique_ptr<ForceTerm> make_surface_traction(const std::string& parameter, std::vector<Face> faces) {
  const std::vector<int> loaded = vertices_of(faces);
  return std::make_unique<SurfaceTraction>(parameter, std::move(faces), loaded);
}

}  // namespace diffsim
