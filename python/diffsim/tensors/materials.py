# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Stable Neo-Hookean materials (Smith, De Goes and Kim 2018, Stable Neo-Hookean Flesh Simulation) of tensors."""

import torch

from .._core import InputError


def _check(youngs_modulus, poissons_ratio):
    E, nu = torch.as_tensor(youngs_modulus).detach(), torch.as_tensor(poissons_ratio).detach()
    if not bool(torch.isfinite(E).all()) or bool((E <= 0.0).any()):
        raise InputError("youngs_modulus must be positive and finite")
    if not bool(torch.isfinite(nu).all()) or bool(((nu <= -1.0) | (nu >= 0.5)).any()):
        raise InputError("poissons_ratio must be greater than -1 and less than 0.5")


class _Law:
    """Stable Neo-Hookean law with Young's modulus E (Pa) and Poisson's ratio nu: scalars, or one value per tetrahedron."""

    @property
    def mu(self):
        """Shear modulus E/(2 (1 + nu)), Pa."""
        return self.E / (2.0 * (1.0 + self.nu))

    @property
    def lam(self):
        """Lamé's first parameter E nu/((1 + nu) (1 - 2 nu)), Pa."""
        return self.E * self.nu / ((1.0 + self.nu) * (1.0 - 2.0 * self.nu))

    def _constants(self):
        """Return the constants 4/3 mu and lambda + 5/6 mu, with which small strains have the moduli mu and lambda."""
        return 4.0 / 3.0 * self.mu, self.lam + 5.0 / 6.0 * self.mu

    def energy_density(self, F):
        """Return the energy density of deformation gradients F [n, 3, 3], [n], J/m³.

        Psi = mu/2 (I_C - 3 - log((I_C + 1)/4)) + lambda/2 (J - 1)² - 3/4 mu (J - 1), with I_C = F:F, J = det F and the
        constants of ``_constants``. Psi and its derivative are zero at F = 1.
        """
        mu, lam = self._constants()
        strain, change = (F * F).sum((-2, -1)) - 3.0, torch.linalg.det(F) - 1.0
        return 0.5 * mu * (strain - torch.log1p(0.25 * strain)) + (0.5 * lam * change - 0.75 * mu) * change

    def first_piola_kirchhoff_stress(self, F):
        """Return the stress ∂Psi/∂F of deformation gradients F [n, 3, 3], [n, 3, 3], Pa."""
        mu, lam = (torch.as_tensor(value, dtype=F.dtype)[..., None, None] for value in self._constants())
        a, b, c = F.unbind(-1)
        cofactor = torch.stack([torch.linalg.cross(b, c), torch.linalg.cross(c, a), torch.linalg.cross(a, b)], -1)
        change = (a * cofactor[..., 0]).sum(-1)[..., None, None] - 1.0
        strain = (F * F).sum((-2, -1))[..., None, None]
        return mu * (1.0 - 1.0 / (strain + 1.0)) * F + (lam * change - 0.75 * mu) * cofactor


class StableNeoHookean(_Law):
    """Stable Neo-Hookean material with constants. youngs_modulus: Pa. poissons_ratio: dimensionless."""

    def __init__(self, youngs_modulus=1e6, poissons_ratio=0.45):
        _check(youngs_modulus, poissons_ratio)
        self.E = float(youngs_modulus)
        self.nu = float(poissons_ratio)


class DifferentiableMaterial(_Law, torch.nn.Module):
    """Stable Neo-Hookean material whose E (Pa) and nu are parameters of PyTorch.

    youngs_modulus, poissons_ratio: scalars, or one value per tetrahedron. requires_grad: whether E and nu have gradients.
    """

    def __init__(self, youngs_modulus, poissons_ratio, requires_grad=True):
        super().__init__()
        _check(youngs_modulus, poissons_ratio)
        for name, value in (("E", youngs_modulus), ("nu", poissons_ratio)):
            value = torch.as_tensor(value, dtype=torch.float64).detach().clone()
            self.register_parameter(name, torch.nn.Parameter(value, requires_grad=requires_grad))


class SpatiallyVaryingMaterial(_Law, torch.nn.Module):
    """Stable Neo-Hookean material with the parameters log_E, logarithm of E in Pa, and nu, one value per tetrahedron.

    num_elements: number of tetrahedra. base_youngs: initial E, Pa. base_poisson: initial nu.
    """

    def __init__(self, num_elements, base_youngs=1e5, base_poisson=0.4):
        super().__init__()
        _check(base_youngs, base_poisson)
        ones = torch.ones(num_elements, dtype=torch.float64)
        self.log_E = torch.nn.Parameter(ones * torch.log(torch.as_tensor(base_youngs, dtype=torch.float64)))
        self.nu = torch.nn.Parameter(ones * base_poisson)

    @property
    def E(self):
        """Young's modulus of each tetrahedron, exp(log_E), Pa."""
        return torch.exp(self.log_E)
