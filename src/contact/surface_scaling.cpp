// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "contact/surface_scaling.hpp"

#include <utility>

#include "core/add_to_entries.hpp"
#include "core/to_index.hpp"

namespace diffsim {
namespace {

std::vector<PointStencil> changes_of(const std::vector<ScaledStencil>& stencils) {
  std::vector<PointStencil> changes;
  for (const ScaledStencil& point : stencils) changes.push_back(point.change);
  return changes;
}

}  // namespace

SurfaceScaling::SurfaceScaling(std::vector<std::string> names, std::shared_ptr<const Entities> nodes,
                               std::shared_ptr<const Entities> points, const std::vector<ScaledStencil>& stencils)
    : names_(std::move(names)),
      stencils_(stencils),
      nodes_(std::move(nodes)),
      points_(std::move(points)),
      change_(nodes_, points_, changes_of(stencils_)) {}

std::vector<double> SurfaceScaling::values(const ParameterSet& set) const {
  std::vector<double> scales;
  for (const std::string& name : names_) {
    const Parameter* const parameter = set.find(name);
    scales.push_back(parameter ? parameter->field.to_host().at(0) : 0.0);
  }
  return scales;
}

bool SurfaceScaling::is_in(const ParameterSet& set) const {
  for (const std::string& name : names_)
    if (set.find(name)) return true;
  return false;
}

std::shared_ptr<const PointMap> SurfaceScaling::map(const std::vector<double>& scales) const {
  std::vector<PointStencil> scaled;
  for (const ScaledStencil& point : stencils_) {
    scaled.push_back(point.stencil);
    if (point.scale < 0) continue;
    const double factor = scales[to_index(point.scale)] - 1.0;
    for (std::size_t k = 0; k < to_index(point.stencil.count); ++k)
      scaled.back().weights[k] += factor * point.change.weights[k];
  }
  return std::make_shared<const PointMap>(nodes_, points_, std::move(scaled));
}

void SurfaceScaling::multiply(const std::vector<double>& factors, Field& field) const {
  std::vector<double> values = field.to_host();
  for (std::size_t p = 0; p < stencils_.size(); ++p) {
    const int scale = stencils_[p].scale;
    for (std::size_t c = 0; c < 3; ++c) values[3 * p + c] *= scale < 0 ? 0.0 : factors[to_index(scale)];
  }
  field.from_host(values);
}

void SurfaceScaling::add_products(const Field& a, const Field& b, ParameterSet& gradient) const {
  const std::vector<double> of_a = a.to_host(), of_b = b.to_host();
  std::vector<double> sums(names_.size(), 0.0);
  for (std::size_t p = 0; p < stencils_.size(); ++p) {
    if (stencils_[p].scale < 0) continue;
    for (std::size_t i = 3 * p; i < 3 * p + 3; ++i) sums[to_index(stencils_[p].scale)] += of_a[i] * of_b[i];
  }
  for (std::size_t k = 0; k < names_.size(); ++k)
    if (Parameter* const parameter = gradient.find(names_[k])) add_to_entries(parameter->field, 0, {sums[k]});
}

}  // namespace diffsim
