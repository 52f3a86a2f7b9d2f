# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""A rollout as a function of arrays, with first and second derivatives. The modules torch and jax wrap this function."""

import numpy as np

from ._core import InputError


class Rollout:
    """Rollout of a simulator as a function of parameters and, with `initial`, of the initial state.

    The function maps an input to the positions (m) and velocities (m/s) at the steps `steps`, two arrays
    [len(steps), owned vertices, 3]. The input consists of the values of `parameters`, each an array with the parameter's
    shape. With `initial`, the input also contains the initial positions and velocities, two arrays [owned vertices, 3].
    For the pullback, a rollout stores one checkpoint every `checkpoint_every` steps.

    The methods compute, for the function F with the Jacobian J at inputs p: `run` computes F(p), `push_forward` computes
    J v for a change v of the inputs, `pull_back` computes Jᵀ w for weights w of the positions and velocities, and
    `pull_back_tangent` computes the derivative of Jᵀ w along v.
    """

    def __init__(self, simulator, num_steps, parameters, initial=False, steps=None, checkpoint_every=10):
        if isinstance(parameters, str):
            parameters = (parameters,)
        self.simulator = simulator
        self.num_steps = int(num_steps)
        self.parameters = tuple(parameters)
        self.initial = bool(initial)
        self.one_step = steps is None
        self.steps = (self.num_steps,) if steps is None else tuple(int(n) for n in steps)
        self.checkpoint_every = int(checkpoint_every)
        if self.initial and any(name.startswith("joint_armature:") for name in simulator.parameters):
            raise InputError("rollouts with initial=True are not available in scenes with armatures of joints")
        if any(n < 0 or n > self.num_steps for n in self.steps):
            raise InputError(f"steps must be between 0 and {self.num_steps}")
        if len(set(self.steps)) != len(self.steps):
            raise InputError("steps must differ from each other")
        self.shapes = [simulator.parameters[name].shape for name in self.parameters]
        self.state_shape = simulator.velocities.shape
        if self.initial:
            self.shapes += [self.state_shape, self.state_shape]
            owned = self.state_shape[0]
            self.rest = simulator.scene.rest_positions[:owned]
        self._inputs = None
        self._sweep = None

    def output_shape(self):
        """Return the shape of the positions and of the velocities, (len(steps), owned vertices, 3)."""
        return (len(self.steps), *self.state_shape)

    def run(self, *inputs):
        """Run the rollout. Return the positions and velocities at `steps`, two arrays [len(steps), owned vertices, 3]."""
        inputs = [np.array(value, dtype=np.float64) for value in inputs]
        self._set(inputs)
        positions, velocities, keep = self._collect()
        self.simulator.rollout(self.num_steps, self.checkpoint_every, keep)
        self._inputs, self._sweep = inputs, self.simulator.num_sweeps
        return positions, velocities

    def push_forward(self, inputs, tangents):
        """Return the derivatives of the positions and velocities at `steps` along `tangents`, a change of `inputs`."""
        self._set(inputs)
        positions, velocities, keep = self._collect()
        direction = dict(zip(self._names(), tangents))
        self.simulator.rollout_tangent(self.num_steps, direction, lambda n, state, tangent: keep(n, tangent))
        return positions, velocities

    def pull_back(self, inputs, positions, velocities):
        """Return the gradients with respect to `inputs`, given the gradients with respect to `positions` and `velocities`.

        The rollout is repeated, unless the simulator's last rollout had these `inputs` and no pullback has used that
        rollout yet.
        """
        simulator = self.simulator
        inputs = [np.asarray(value, dtype=np.float64) for value in inputs]
        is_last = self._inputs is not None and self._sweep == simulator.num_sweeps and simulator.has_rollout
        differs = is_last and any(not np.array_equal(a, b) for a, b in zip(inputs, self._inputs))
        if not is_last or simulator.on_any_rank(differs):  # all ranks repeat the rollout, or no rank
            self.run(*inputs)
        self._inputs = None
        simulator.backward(self._weigh(positions, velocities))
        gradients = [simulator.gradient(name) for name in self.parameters]
        if self.initial:
            initial = simulator.initial_gradient
            gradients += [initial["positions"], initial["velocities"]]
        return gradients

    def pull_back_tangent(self, inputs, tangents, positions, velocities):
        """Return the derivative of the result of `pull_back` along `tangents`, a change of `inputs`.

        The arguments `positions` and `velocities` of `pull_back` are constant in this derivative.
        """
        self._set(inputs)
        direction = dict(zip(self._names(), tangents))
        product = self.simulator.hessian_product(
            self.num_steps, self._weigh(positions, velocities), direction, self.checkpoint_every, linear=True
        )
        return [product[name] for name in self._names()]

    def flatten(self, parameters, positions, velocities):
        """Return the list of inputs for a dict of parameters and, with `initial`, initial positions and velocities."""
        if set(parameters) != set(self.parameters):
            raise InputError(f"the rollout's parameters are {list(self.parameters)}, not {list(parameters)}")
        if self.initial != (positions is not None) or self.initial != (velocities is not None):
            raise InputError("give positions and velocities if, and only if, the rollout was made with initial=True")
        inputs = [parameters[name] for name in self.parameters]
        return inputs + [positions, velocities] if self.initial else inputs

    def _names(self):
        """Return the names of the inputs in directions and in products with Hessians."""
        return [*self.parameters, *(("initial_positions", "initial_velocities") if self.initial else ())]

    def _set(self, inputs):
        """Set the parameters and the initial state to `inputs`, and select the gradients of the parameters."""
        simulator = self.simulator
        self._inputs = None
        for name, value in zip(self.parameters, inputs):
            simulator.parameters[name] = value
        if self.initial:
            simulator.scene.set_initial_displacement(inputs[-2] - self.rest)
            simulator.scene.set_initial_velocity(inputs[-1])
        simulator.require_gradient(self.parameters)

    def _collect(self):
        """Return arrays of positions and velocities, and an observer that copies the states at `steps` to the arrays."""
        positions, velocities = np.empty(self.output_shape()), np.empty(self.output_shape())
        rows = {n: row for row, n in enumerate(self.steps)}

        def keep(n, state):
            if n in rows:
                positions[rows[n]] = state.positions[: self.state_shape[0]]
                velocities[rows[n]] = state.velocities

        return positions, velocities, keep

    def _weigh(self, positions, velocities):
        """Return a linear loss whose derivatives with respect to the states at `steps` are the given arrays."""
        rows = {n: row for row, n in enumerate(self.steps)}

        def loss(n, state):
            if n not in rows:
                return None
            return 0.0, {"positions": positions[rows[n]], "velocities": velocities[rows[n]]}

        return loss
