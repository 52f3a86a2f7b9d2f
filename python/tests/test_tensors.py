# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Classes of diffsim.tensors: states, gradients, the ground, changes of inputs between steps."""

import sys

import diffsim
import numpy as np
import pytest

torch = pytest.importorskip("torch")

from diffsim import tensors  # noqa: E402


def cube(resolution=3, height=0.0):
    mesh = tensors.TetrahedralMesh.create_cube(resolution, size=0.5)
    mesh.vertices[:, 1] += height
    mesh.compute_rest_state()
    return mesh


def simulator_of(mesh, material, **options):
    solver = tensors.DifferentiableSolver(**({"dt": 0.005, "damping": 0.98, "substeps": 2} | options))
    return tensors.DifferentiableSimulator(mesh, material, solver)


def hanging(material=None, **options):
    """Return a simulator of a cube above the ground, whose upper side is fixed."""
    mesh = cube(height=1.0)
    simulator = simulator_of(mesh, material or tensors.DifferentiableMaterial(2e4, 0.35), **options)
    simulator.set_fixed_vertices(torch.nonzero(mesh.vertices[:, 1] > 1.49).reshape(-1))
    return simulator


def steps(simulator, count):
    for _ in range(count):
        simulator.step()
    return simulator.positions


def test_cube_has_vertices_and_tetrahedra_of_both_orientations():
    mesh = cube(4)
    assert (mesh.num_vertices, mesh.num_elements) == (64, 162)
    assert mesh.rest_volume.sum().item() == pytest.approx(0.125)
    assert (torch.linalg.det(mesh.Dm) < 0).any() and (torch.linalg.det(mesh.Dm) > 0).any()
    motion = torch.tensor([[1.1, 0.2, 0.0], [0.0, 0.9, 0.1], [0.3, 0.0, 1.2]], dtype=torch.float64)
    F = mesh.compute_deformation_gradient(mesh.vertices @ motion.T + 0.5)
    assert torch.allclose(F, motion.expand_as(F), atol=1e-12)


def test_mesh_from_a_file_keeps_the_order_of_the_vertices(tmp_path):
    numbers = np.random.default_rng(3).permutation(64)
    cells = np.argsort(numbers)[cube(4)._oriented()]
    vertices = cube(4).vertices.numpy()[numbers]
    path = tmp_path / "cube.msh"
    lines = ["$MeshFormat", "2.2 0 8", "$EndMeshFormat", "$Nodes", "64"]
    lines += [f"{i + 1} {x} {y} {z}" for i, (x, y, z) in enumerate(vertices)]
    lines += ["$EndNodes", "$Elements", "162"]
    lines += [f"{i + 1} 4 2 0 1 {a + 1} {b + 1} {c + 1} {d + 1}" for i, (a, b, c, d) in enumerate(cells)]
    path.write_text("\n".join([*lines, "$EndElements", ""]))
    mesh = tensors.TetrahedralMesh.from_file(path)
    assert np.array_equal(mesh.vertices.numpy(), vertices)
    assert np.array_equal(np.sort(mesh.tetrahedra.numpy(), axis=1), np.sort(cells, axis=1))
    assert torch.linalg.det(mesh.Dm).min() > 0


@pytest.mark.parametrize("E, nu", [(1e5, 0.4), (3.0, 0.0)])
def test_stress_is_the_derivative_of_the_energy(E, nu):
    torch.manual_seed(1)
    F = torch.eye(3, dtype=torch.float64) + 0.8 * torch.randn(20, 3, 3, dtype=torch.float64)
    assert (torch.linalg.det(F) < 0).any()
    F.requires_grad_()
    material = tensors.StableNeoHookean(E, nu)
    (stress,) = torch.autograd.grad(material.energy_density(F).sum(), F)
    assert torch.allclose(material.first_piola_kirchhoff_stress(F.detach()), stress, rtol=1e-11, atol=1e-11 * E)
    identity = torch.eye(3, dtype=torch.float64)[None]
    assert material.first_piola_kirchhoff_stress(identity).abs().max() < 1e-12 * E
    strain = 1e-6 * torch.tensor([[[1.0, 0.5, 0.0], [0.5, -2.0, 0.3], [0.0, 0.3, 0.7]]], dtype=torch.float64)
    linear = 2.0 * material.mu * strain + material.lam * strain.diagonal(dim1=1, dim2=2).sum() * identity
    assert torch.allclose(material.first_piola_kirchhoff_stress(identity + strain), linear, rtol=2e-5, atol=1e-9 * E)


def test_steps_are_those_of_the_library():
    mesh = cube(height=1.0)
    simulator = hanging()
    positions = steps(simulator, 12)
    inner = diffsim.TetrahedralMesh(mesh.vertices.numpy(), mesh._oriented())
    values = {"density": 1000.0, "youngs_modulus": 2e4, "poisson_ratio": 0.35}
    material = diffsim.DifferentiableMaterial("stable_neo_hookean", values)
    other = diffsim.Simulator(inner, material, diffsim.DifferentiableSolver(dt=0.005, damping=0.98, substeps=2))
    other.set_fixed_vertices(simulator.fixed_vertices.numpy())
    other.step(12)
    expected = np.empty(positions.shape)
    expected[inner.global_vertices] = other.positions
    assert np.abs(positions.detach().numpy() - expected).max() < 1e-15
    assert np.abs(expected - mesh.vertices.numpy()).max() > 1e-3
    assert simulator.time == pytest.approx(0.06)
    assert simulator.masses.sum().item() == pytest.approx(125.0)


def test_gradients_with_respect_to_material_and_initial_state():
    torch.manual_seed(2)
    weights = torch.randn(27, 3, dtype=torch.float64)

    def loss_of(E, nu, move):
        simulator = hanging()
        simulator.material = tensors.DifferentiableMaterial(2e4, 0.35)
        del simulator.material.E, simulator.material.nu
        simulator.material.E, simulator.material.nu = E, nu
        simulator.positions = simulator.mesh.vertices + move
        return (weights * (steps(simulator, 6) - simulator.mesh.vertices)).sum() + simulator.velocities.sum()

    E = torch.tensor(2e4, dtype=torch.float64, requires_grad=True)
    nu = torch.tensor(0.35, dtype=torch.float64, requires_grad=True)
    move = (0.01 * torch.randn(27, 3, dtype=torch.float64)).requires_grad_()
    loss_of(E, nu, move).backward()
    change = torch.randn(27, 3, dtype=torch.float64)
    with torch.no_grad():
        for at, step, gradient in (
            ((1.0, 0.0, 0.0), 2.0, E.grad),
            ((0.0, 1.0, 0.0), 1e-4, nu.grad),
            ((0.0, 0.0, 1.0), 1e-4, (move.grad * change).sum()),
        ):
            slopes = [
                (loss_of(*(x + s * step * k * d for x, k, d in zip((E, nu, move), at, (1.0, 1.0, change))))) * w
                for s, w in ((-2, 1 / 12), (-1, -8 / 12), (1, 8 / 12), (2, -1 / 12))
            ]
            assert sum(slopes).item() / step == pytest.approx(gradient.item(), rel=1e-7)


def test_gradients_with_respect_to_gravity():
    simulator = hanging()

    def function(gravity):
        simulator.reset()
        simulator.solver.gravity = gravity
        middle = steps(simulator, 3)
        simulator.solver.gravity = torch.flip(gravity, (0,))
        end = steps(simulator, 3)
        return 1e3 * ((end - simulator.mesh.vertices) ** 2).sum() + (middle * simulator.velocities).sum()

    gravity = torch.tensor([1.0, -9.8, 0.5], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(function, gravity, eps=1e-3, atol=1e-8, rtol=1e-6)
    assert torch.autograd.gradgradcheck(function, gravity, eps=1e-3, atol=1e-8, rtol=1e-6)
    engine = simulator._engine()
    simulator.solver.gravity = 2.0 * gravity.detach()
    assert simulator._engine() is engine  # gravity is an input of the steps
    simulator.solver.gravity = torch.zeros(2)
    with pytest.raises(diffsim.InputError, match=r"gravity must have the shape \[3\], not \[2\]"):
        simulator.step()


def test_reading_the_state_between_steps_changes_nothing():
    once, often = hanging(), hanging()
    for _ in range(7):
        often.step()
        often.positions
    losses = [(steps(once, 7) ** 2).sum(), (often.positions**2).sum()]
    for loss in losses:
        loss.backward()
    assert losses[0].item() == losses[1].item()
    assert once.material.E.grad.item() == pytest.approx(often.material.E.grad.item(), rel=1e-11)
    assert once.material.nu.grad.item() == pytest.approx(often.material.nu.grad.item(), rel=1e-11)


@pytest.mark.parametrize("change", ["E", "data", "dt", "gravity", "fixed", "velocities", "rest"])
def test_changes_between_steps_take_effect(change):
    def run(read):
        simulator = hanging()
        for n in range(6):
            if n == 3 and change == "E":
                with torch.no_grad():
                    simulator.material.E.mul_(0.3)
            if n == 3 and change == "data":
                simulator.material.E.data.mul_(0.3)  # without a new version of E
            if n == 3 and change == "dt":
                simulator.solver.dt = 0.003
            if n == 3 and change == "gravity":
                simulator.solver.gravity[0] = 5.0
            if n == 3 and change == "fixed":
                simulator.set_fixed_vertices(None)
            if n == 3 and change == "velocities":
                simulator.velocities = simulator.velocities + 0.1
            if n == 3 and change == "rest":
                simulator.mesh.vertices[:, 0] *= 1.1
                simulator.mesh.compute_rest_state()
            simulator.step()
            if read:
                simulator.positions
        return simulator.positions.detach()

    assert torch.equal(run(True), run(False))
    assert (run(False) - steps(hanging(), 6)).abs().max() > 1e-5


def test_material_of_each_tetrahedron():
    mesh = cube(height=1.0)
    material = tensors.SpatiallyVaryingMaterial(mesh.num_elements, 2e4, 0.35)
    simulator = hanging(material)
    uniform = hanging()
    assert torch.allclose(steps(simulator, 5), steps(uniform, 5), atol=1e-13)
    simulator.compute_loss(mesh.vertices).backward()
    uniform.compute_loss(mesh.vertices).backward()
    assert material.log_E.grad.sum().item() == pytest.approx(2e4 * uniform.material.E.grad.item(), rel=1e-9)
    cell = 5
    with torch.no_grad():
        losses = []
        for change in (-1e-3, 1e-3):
            material.log_E[cell] += change
            simulator.reset()
            steps(simulator, 5)
            losses.append(simulator.compute_loss(mesh.vertices))
            material.log_E[cell] -= change
    assert (losses[1] - losses[0]).item() / 2e-3 == pytest.approx(material.log_E.grad[cell].item(), rel=1e-5)


def test_stiffness_of_each_tetrahedron_is_that_of_the_library():
    mesh = cube(height=1.0)
    log_E = torch.linspace(9.0, 11.0, mesh.num_elements, dtype=torch.float64)
    material = tensors.SpatiallyVaryingMaterial(mesh.num_elements, 1.0, 0.35)
    with torch.no_grad():
        material.log_E.copy_(log_E)
    simulator = hanging(material)
    positions = steps(simulator, 12).detach().numpy()
    inner = diffsim.TetrahedralMesh(mesh.vertices.numpy(), mesh._oriented())
    values = {"density": 1000.0, "youngs_modulus": log_E.exp().numpy()[inner.global_cells], "poisson_ratio": 0.35}
    inner_material = diffsim.DifferentiableMaterial("stable_neo_hookean", values)
    other = diffsim.Simulator(inner, inner_material, diffsim.DifferentiableSolver(dt=0.005, damping=0.98, substeps=2))
    other.set_fixed_vertices(simulator.fixed_vertices.numpy())
    other.step(12)
    assert np.abs(positions[inner.global_vertices] - other.positions).max() < 1e-14
    assert np.abs(positions - steps(hanging(), 12).detach().numpy()).max() > 1e-4


def test_rollout_and_losses():
    simulator = hanging()
    trajectory = simulator.rollout(4, checkpoint_every=2)
    assert len(trajectory) == 5 and simulator.time == 0.0
    other = hanging()
    for n in range(5):
        assert torch.allclose(trajectory[n][0], other.positions, atol=1e-15)
        assert torch.allclose(trajectory[n][1], other.velocities, atol=1e-15)
        other.step()
    points = torch.tensor([[0.0, 1.0, 0.0], [9.0, 1.0, 0.0]], dtype=torch.float64)
    simulator.positions = torch.tensor([[0.0, 0.0, 0.0], [9.0, 1.0, 3.0], [9.0, 1.0, 0.0]])
    assert simulator.compute_loss(points, "chamfer").item() == pytest.approx((1.0 + 3.0 + 0.0) / 3 + (1.0 + 0.0) / 2)
    with pytest.raises(diffsim.InputError, match="loss_type"):
        simulator.compute_loss(points, "huber")
    simulator.reset()
    assert torch.equal(simulator.positions, simulator.mesh.vertices)


def test_penalty_of_the_ground():
    mesh = cube()
    simulator = simulator_of(mesh, tensors.DifferentiableMaterial(1e6, 0.3), damping=0.99, substeps=8)
    heights = [steps(simulator, 40)[:, 1].mean().item() for _ in range(6)]
    assert heights[-1] == pytest.approx(heights[-2], abs=1e-4)
    handler = simulator.solver.contact_handler
    # The vertices of the lower side carry the weight. A third of the area of each face belongs to each of its vertices:
    # to the vertices of the lower side, 0.25 m² of the lower side and 0.25 m² of the four other sides.
    gap = simulator.positions[mesh.vertices[:, 1] == 0.0][:, 1].mean().item()
    num_mean_vertices = 0.5 / (1.5 / 26.0)  # area in mean areas of the 26 vertices of the surface
    assert num_mean_vertices * handler.kappa * (handler.d_hat - gap) ** 2 == pytest.approx(125.0 * 9.8, rel=0.02)
    assert handler.barrier_potential(torch.tensor([0.0, 1.0])).tolist() == pytest.approx([1e4 / 3 * 0.02**3, 0.0])
    simulator.solver.contact_handler = None
    assert steps(simulator, 40)[:, 1].mean().item() < heights[-1] - 0.05


def test_simulator_without_derivatives():
    mesh = cube(height=0.05)
    simulator = tensors.Simulator(
        mesh, tensors.StableNeoHookean(5e4, 0.3), tensors.SemiImplicitSolver(dt=0.004, damping=0.995)
    )
    simulator.add_velocity([0, 1], [1.0, 0.0, 0.0])
    before = sum(simulator.compute_energy())
    assert before == pytest.approx(
        0.5 * simulator.masses[:2].sum().item() + 9.8 * (simulator.masses * mesh.vertices[:, 1]).sum().item()
    )
    positions = steps(simulator, 60)
    assert not positions.requires_grad
    assert positions[:, 1].min() >= -1e-9 and sum(simulator.compute_energy()) < before
    points, faces = simulator.get_surface_mesh()
    assert points.shape == (27, 3) and faces.shape == (48, 3)
    simulator.fix_bottom_vertices(0.1)
    assert len(simulator.fixed_vertices) == 9
    simulator.reset()
    simulator.warmstart(3)
    assert simulator.time == 0.0 and (simulator.solver.dt, simulator.solver.damping) == (0.004, 0.995)
    slow = tensors.Simulator(
        mesh, tensors.StableNeoHookean(5e4, 0.3), tensors.SemiImplicitSolver(dt=0.001, damping=0.9)
    )
    slow.fix_bottom_vertices(0.1)
    assert torch.equal(simulator.positions, steps(slow, 3))


def test_unstable_steps_get_more_substeps():
    with pytest.warns(UserWarning, match="2 substeps are unstable; [0-9]+ are used") as warnings:
        positions = steps(hanging(tensors.DifferentiableMaterial(1e8, 0.3)), 4)
    used = int(str(warnings[0].message).split()[4])
    assert used > 4 and len(warnings) == 1
    stable = hanging(tensors.DifferentiableMaterial(1e8, 0.3), substeps=used, damping=0.98 ** (2 / used))
    assert torch.allclose(positions, steps(stable, 4), rtol=0.0, atol=1e-14)
    assert (positions - hanging().positions).abs().max() < 1e-4


def test_errors_of_steps_are_not_lost():
    simulator = hanging()
    simulator.positions = simulator.positions.detach() * 1e200
    simulator.step()
    for _ in range(2):
        with pytest.warns(UserWarning), pytest.raises(diffsim.RunError):
            simulator.positions
    simulator.reset()
    assert torch.equal(steps(simulator, 3), steps(hanging(), 3))


def test_errors(monkeypatch):
    with pytest.raises(diffsim.InputError, match="tetrahedron 0 has no volume"):
        tensors.TetrahedralMesh(np.zeros((4, 3)), [[0, 1, 2, 3]])
    with pytest.raises(diffsim.InputError, match="vertex numbers outside of 0 to 3"):
        tensors.TetrahedralMesh(np.eye(4, 3), [[0, 1, 2, 4]])
    with pytest.raises(diffsim.InputError, match="youngs_modulus must be positive"):
        tensors.DifferentiableMaterial(-1.0, 0.3)
    with pytest.raises(diffsim.InputError, match="less than 0.5"):
        tensors.StableNeoHookean(1.0, 0.5)
    with pytest.raises(diffsim.InputError, match="use_implicit_diff=False"):
        tensors.DifferentiableSolver(use_implicit_diff=True)
    with pytest.raises(diffsim.InputError, match="self-contact is not available"):
        tensors.SemiImplicitSolver(enable_self_collision=True)
    monkeypatch.setitem(sys.modules, "polyscope", None)
    with pytest.raises(diffsim.InputError, match="needs the package polyscope"):
        tensors.PolyscopeVisualizer(hanging())
