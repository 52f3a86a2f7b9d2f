// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/elastic/impl/element_stiffness_impl.hpp"
#include "diffsim/elastic/impl/second_derivatives_impl.hpp"

// Explicit instantiations of functions that the kernels of all laws share.

namespace diffsim::elastic {

template void gradients_at<Tet4>(const CellGeometry<Tet4>&, int, int, const int*, const double*,
                                 Mat3<Pack> (&)[Tet4::points_at_once]);
template void add_point_forces<Tet4>(const CellGeometry<Tet4>&, int, int, const Mat3<Pack>&,
                                     Vec3<Pack> (&)[Tet4::nodes]);
template Pack largest_eigenvalue<Tet4>(const CellGeometry<Tet4>&, int, const Pack (&)[9][9]);
template void gradients_at<Tet10>(const CellGeometry<Tet10>&, int, int, const int*, const double*,
                                  Mat3<Pack> (&)[Tet10::points_at_once]);
template void gradients_at<FineTet10>(const CellGeometry<FineTet10>&, int, int, const int*, const double*,
                                      Mat3<Pack> (&)[FineTet10::points_at_once]);
template void add_point_forces<Tet10>(const CellGeometry<Tet10>&, int, int, const Mat3<Pack>&,
                                      Vec3<Pack> (&)[Tet10::nodes]);
template void add_point_forces<FineTet10>(const CellGeometry<FineTet10>&, int, int, const Mat3<Pack>&,
                                          Vec3<Pack> (&)[FineTet10::nodes]);
template Pack largest_eigenvalue<Tet10>(const CellGeometry<Tet10>&, int, const Pack (&)[9][9]);
template Pack largest_eigenvalue<FineTet10>(const CellGeometry<FineTet10>&, int, const Pack (&)[9][9]);
template void add_stiffness<Tet4>(const CellGeometry<Tet4>&, int, int, double, bool,
                                  const Mat3<Pack> (&)[Tet4::points_at_once], Pack (&)[Tet4::points_at_once][9][9],
                                  const BlockSink&);
template void add_stiffness<Tet10>(const CellGeometry<Tet10>&, int, int, double, bool,
                                   const Mat3<Pack> (&)[Tet10::points_at_once], Pack (&)[Tet10::points_at_once][9][9],
                                   const BlockSink&);
template void add_stiffness<FineTet10>(const CellGeometry<FineTet10>&, int, int, double, bool,
                                       const Mat3<Pack> (&)[FineTet10::points_at_once],
                                       Pack (&)[FineTet10::points_at_once][9][9], const BlockSink&);
template void dual_gradients_at<Tet4>(const CellGeometry<Tet4>&, int, int, const int*, const double*, const double*,
                                      Mat3<PackDual> (&)[Tet4::points_at_once]);
template void dual_gradients_at<Tet10>(const CellGeometry<Tet10>&, int, int, const int*, const double*, const double*,
                                       Mat3<PackDual> (&)[Tet10::points_at_once]);
template void dual_gradients_at<FineTet10>(const CellGeometry<FineTet10>&, int, int, const int*, const double*,
                                           const double*, Mat3<PackDual> (&)[FineTet10::points_at_once]);
template Mat3<Pack> called_gradient<FineTet10>(const Vec3<Pack> (&)[FineTet10::nodes], const FineTet10::Rule&, int,
                                               const Mat3<Pack>&);
template void add_called_forces<FineTet10>(const Mat3<Pack>&, const Mat3<Pack>&, const Pack&, const FineTet10::Rule&,
                                           int, Vec3<Pack> (&)[FineTet10::nodes]);

}  // namespace diffsim::elastic
