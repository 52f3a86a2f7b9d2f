# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""A rollout as a function of arrays, with first and second derivatives. The modules torch and jax wrap this function."""

import copy

import numpy as np

from ._core import InputError, Loss, Sensor, _on_all_ranks, _require_same, _RolloutOutputs


def _is_loss(value):
    return not isinstance(value, Sensor) and (isinstance(value, Loss) or callable(value))


class Rollout:
    """Rollout of a simulator as a function of parameters and, with `initial`, of the initial state.

    The input consists of the values of `parameters`, each an array with the parameter's shape. With `initial`, the input
    also contains the initial positions and velocities, two arrays [owned vertices, 3]. The outputs are a list of arrays: the
    positions (m) and velocities (m/s) at the steps `steps`, two arrays [len(steps), owned vertices, 3]; the values of each
    Sensor in the dict `observe` at the steps `observe_steps` (default: `steps`), [len(observe_steps), components]; and the
    sum of each loss in `observe` over all states, an array without axes. For the pullback, a rollout stores one checkpoint
    every `checkpoint_every` steps.

    The methods compute, for the function F with the Jacobian J at inputs p: `run` computes F(p), `push_forward` computes
    J v for a change v of the inputs, `pull_back` computes Jᵀ w for weights w of the outputs, and `pull_back_tangent`
    computes the derivative of Jᵀ w along v. On several ranks, the weights of sensors and losses are summed over the ranks.
    """

    def __init__(
        self,
        simulator,
        num_steps,
        parameters,
        initial=False,
        steps=None,
        checkpoint_every=10,
        observe=None,
        observe_steps=None,
    ):
        self.simulator = simulator
        known = list(simulator.parameters.keys())
        self._refusal = None
        self.on_all_ranks(
            lambda: self._read(num_steps, parameters, initial, steps, checkpoint_every, observe, observe_steps, known)
        )
        arguments = (self.num_steps, self.parameters, self.initial, self.steps, self.observe_steps, self.checkpoint_every)
        names = [(name, type(value).__name__, str(value)) for name, value in self._observed if isinstance(value, Sensor)]
        names += [(name, "loss") for name, value in self._observed if _is_loss(value)]
        described = "num_steps, parameters, initial, steps, observe, observe_steps, checkpoint_every"
        _require_same(simulator, described, repr((*arguments, names)))
        self.shapes = [simulator.parameters[name].shape for name in self.parameters]
        self.state_shape = simulator.velocities.shape
        if self.initial:
            self.shapes += [self.state_shape, self.state_shape]
            self.rest = simulator.scene.rest_positions[: self.state_shape[0]]
        sensors = tuple(value for _, value in self._observed if isinstance(value, Sensor))
        losses = tuple(value for _, value in self._observed if _is_loss(value))
        self._outputs = _RolloutOutputs(simulator, self.steps, self.observe_steps, sensors, losses)
        self.output_shapes = self._outputs.shapes
        self._inputs = None
        self._sweep = None

    def on_all_ranks(self, function):
        """Return the result of a function, which must not communicate; an error on one rank ends all ranks with an error."""
        return _on_all_ranks(self.simulator, function)

    def refusing(self, error):
        """Return a copy of this rollout whose computations raise `error` on this rank, and a RunError on the others."""
        other = copy.copy(self)
        other._refusal = error
        return other

    def run(self, *inputs):
        """Run the rollout. Return the list of outputs."""
        inputs = [np.array(value, dtype=np.float64) for value in inputs]
        self._set(inputs)
        outputs = self._outputs.rollout(self.simulator, self.num_steps, self.checkpoint_every)
        self._inputs, self._sweep = inputs, self.simulator.num_sweeps
        return outputs

    def push_forward(self, inputs, tangents):
        """Return the derivatives of the outputs along `tangents`, a change of `inputs`."""
        self._set(inputs)
        return self._outputs.rollout_tangent(self.simulator, self.num_steps, dict(zip(self._names(), tangents)))

    def pull_back(self, inputs, *weights):
        """Return the gradients with respect to `inputs`, given the gradients with respect to the outputs, `weights`.

        The rollout is repeated, unless the simulator's last rollout had these `inputs` and no pullback has used that
        rollout yet.
        """
        simulator = self.simulator
        inputs = [np.asarray(value, dtype=np.float64) for value in inputs]
        is_last = self._inputs is not None and self._sweep == simulator.num_sweeps and simulator.has_rollout
        differs = not is_last or any(not np.array_equal(a, b) for a, b in zip(inputs, self._inputs))
        if simulator.on_any_rank(differs):  # all ranks repeat the rollout, or no rank
            self.run(*inputs)
        self._inputs = None
        gradients = self._outputs.gradients(simulator, self.num_steps, self.checkpoint_every, list(weights))
        return [gradients[name] for name in self._names()]

    def pull_back_tangent(self, inputs, tangents, *weights):
        """Return the derivative of the result of `pull_back` along `tangents`, a change of `inputs`.

        The `weights`, arguments of `pull_back`, are constant in this derivative.
        """
        self._set(inputs)
        direction = dict(zip(self._names(), tangents))
        product = self._outputs.hessian_product(
            self.simulator, self.num_steps, self.checkpoint_every, direction, list(weights)
        )
        return [product[name] for name in self._names()]

    def flatten(self, parameters, positions, velocities):
        """Return the list of inputs for a dict of parameters and, with `initial`, initial positions and velocities."""
        if not hasattr(parameters, "keys"):
            raise InputError(f"pass a dict from names of parameters to values, not {parameters!r}")
        if set(parameters) != set(self.parameters):
            raise InputError(f"the rollout's parameters are {list(self.parameters)}, not {list(parameters)}")
        if self.initial != (positions is not None) or self.initial != (velocities is not None):
            raise InputError("give positions and velocities if, and only if, the rollout was made with initial=True")
        inputs = [parameters[name] for name in self.parameters]
        return inputs + [positions, velocities] if self.initial else inputs

    def input_names(self):
        """Return the names of the inputs for messages."""
        return [*self.parameters, *(("positions", "velocities") if self.initial else ())]

    def arrange(self, outputs):
        """Return the results of a rollout for a program: positions, velocities and, with `observe`, a dict of outputs."""
        positions, velocities, *others = outputs
        if self._one_step:
            positions, velocities = positions[0], velocities[0]
        if not self.has_observe:
            return positions, velocities
        ordered = [name for name, value in self._observed if isinstance(value, Sensor)]
        sensors = dict(zip(ordered, others))
        losses = dict(zip((name for name, value in self._observed if _is_loss(value)), others[len(ordered) :]))
        if self._one_observed_step:
            sensors = {name: value[0] for name, value in sensors.items()}
        return positions, velocities, {name: (sensors | losses)[name] for name, _ in self._observed}

    def _read(self, num_steps, parameters, initial, steps, checkpoint_every, observe, observe_steps, known):
        """Store the arguments of the constructor. `known`: names of the parameters of the scene."""
        if isinstance(parameters, str):
            parameters = (parameters,)
        self.num_steps = int(num_steps)
        self.parameters = tuple(parameters)
        self.initial = bool(initial)
        self.checkpoint_every = int(checkpoint_every)
        for name in self.parameters:
            if name not in known:
                raise KeyError(name)
        if len(set(self.parameters)) != len(self.parameters):
            raise InputError("the names of parameters must differ from each other")
        if self.initial and any(name.startswith("joint_armature:") for name in known):
            raise InputError("rollouts with initial=True are not available in scenes with armatures of joints")
        if self.num_steps < 0 or self.checkpoint_every < 1:
            raise InputError("num_steps must be at least 0, and checkpoint_every at least 1")
        self._one_step = steps is None
        self.steps = self._read_steps("steps", (self.num_steps,) if steps is None else steps)
        self._one_observed_step = self._one_step and observe_steps is None
        self.observe_steps = self._read_steps("observe_steps", self.steps if observe_steps is None else observe_steps)
        self.has_observe = observe is not None
        if observe_steps is not None and not self.has_observe:
            raise InputError("observe_steps needs observe, a dict from names to sensors and losses")
        if self.has_observe and not hasattr(observe, "items"):
            raise InputError(f"observe must be a dict from names to sensors and losses, not {observe!r}")
        self._observed = list(observe.items()) if self.has_observe else []
        for name, value in self._observed:
            if not isinstance(value, Sensor) and not _is_loss(value):
                raise InputError(f"observe['{name}'] must be a Sensor or a loss, not {value!r}")

    def _read_steps(self, what, steps):
        """Return a tuple of different numbers of states."""
        steps = tuple(int(n) for n in steps)
        if any(n < 0 or n > self.num_steps for n in steps):
            raise InputError(f"{what} must be between 0 and {self.num_steps}")
        if len(set(steps)) != len(steps):
            raise InputError(f"{what} must differ from each other")
        return steps

    def _names(self):
        """Return the names of the inputs in directions and in products with Hessians."""
        return [*self.parameters, *(("initial_positions", "initial_velocities") if self.initial else ())]

    def _refuse(self):
        if self._refusal is not None:
            raise self._refusal

    def _set(self, inputs):
        """Set the parameters and the initial state to `inputs`, and select the gradients of the parameters."""
        simulator = self.simulator
        self._inputs = None
        self.on_all_ranks(self._refuse)
        for name, value in zip(self.parameters, inputs):
            simulator.parameters[name] = value
        if self.initial:
            simulator.scene.set_initial_displacement(inputs[-2] - self.rest)
            simulator.scene.set_initial_velocity(inputs[-1])
        simulator.require_gradient(self.parameters)
