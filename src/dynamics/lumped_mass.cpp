// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/dynamics/lumped_mass.hpp"

#include "diffsim/core/error.hpp"
#include "diffsim/core/small_tensor.hpp"

namespace diffsim {

LumpedMass::LumpedMass(const TetrahedralMesh& mesh)
    : mesh_(&mesh),
      volumes_(static_cast<std::size_t>(mesh.num_cells())),
      mass_("mass", static_cast<std::size_t>(mesh.num_owned_vertices())),
      mass_tangent_("mass_tangent", static_cast<std::size_t>(mesh.num_owned_vertices())) {
  const std::vector<double>& X = mesh.rest_positions();
  for (std::size_t cell = 0; cell < volumes_.size(); ++cell) {
    Vec3<double> x[4];
    for (std::size_t a = 0; a < 4; ++a)
      for (std::size_t c = 0; c < 3; ++c)
        x[a].v[c] = X[3 * static_cast<std::size_t>(mesh.cells()[4 * cell + a]) + c];
    volumes_[cell] = dot(x[1] - x[0], cross(x[2] - x[0], x[3] - x[0])) / 6.0;
  }
}

std::vector<double> LumpedMass::at_vertices(const Field& density) const {
  const std::vector<double> rho = density.to_host();
  // Halo exchange works on three components; the first one holds the mass.
  std::vector<double> values(3 * static_cast<std::size_t>(mesh_->num_vertices()), 0.0);
  for (std::size_t cell = 0; cell < volumes_.size(); ++cell)
    for (std::size_t a = 0; a < 4; ++a)
      values[3 * static_cast<std::size_t>(mesh_->cells()[4 * cell + a])] += 0.25 * rho[cell] * volumes_[cell];
  Field field("mass", static_cast<std::size_t>(mesh_->num_vertices()), 3, mesh_->num_owned_vertices());
  field.from_host(values);
  mesh_->halo().add_to_owners(field);
  values = field.to_host();
  std::vector<double> owned(static_cast<std::size_t>(mesh_->num_owned_vertices()));
  for (std::size_t v = 0; v < owned.size(); ++v) owned[v] = values[3 * v];
  return owned;
}

void LumpedMass::compute(const Field& density) {
  collectively(mesh_->comm(), [&] {
    const std::vector<double> rho = density.to_host();
    for (std::size_t cell = 0; cell < rho.size(); ++cell)
      if (!(rho[cell] > 0.0))
        throw Error("density is " + std::to_string(rho[cell]) + " kg/m³ in cell " +
                        std::to_string(mesh_->cell_order().file_index()[cell]) + "; it must be positive",
                    ErrorKind::input);
  });
  mass_.from_host(at_vertices(density));
}

void LumpedMass::compute_tangent(const Field& density_tangent) { mass_tangent_.from_host(at_vertices(density_tangent)); }

void LumpedMass::add_density_gradient(const Field& mass_gradient, Field& density_gradient) const {
  const std::vector<double> owned = mass_gradient.to_host();
  std::vector<double> values(3 * static_cast<std::size_t>(mesh_->num_vertices()), 0.0);
  for (std::size_t i = 0; i < owned.size(); ++i) values[3 * (i / 3)] += owned[i];
  Field field("mass_gradient", static_cast<std::size_t>(mesh_->num_vertices()), 3, mesh_->num_owned_vertices());
  field.from_host(values);
  mesh_->halo().copy_to_ghosts(field);
  values = field.to_host();
  std::vector<double> gradient = density_gradient.to_host();
  for (std::size_t cell = 0; cell < volumes_.size(); ++cell)
    for (std::size_t a = 0; a < 4; ++a)
      gradient[cell] += 0.25 * volumes_[cell] * values[3 * static_cast<std::size_t>(mesh_->cells()[4 * cell + a])];
  density_gradient.from_host(gradient);
}

}  // namespace diffsim
