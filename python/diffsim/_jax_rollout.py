# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""JAX primitives for the values and the derivatives of a Rollout.

F is the function of the Rollout, x are the inputs of F, J is the Jacobian F'(x), t and u are changes of the inputs, and w
are weights of the outputs. The primitives are:

- ``run``: F(x);
- ``push``: J t, linear in t;
- ``pull``: Jᵀ w, linear in w;
- ``pull_tangent``: the derivative of Jᵀ w along t, linear in t and in w;
- ``push_tangent``: the second derivative F''(x)[t, u], linear in t and in u. The library cannot evaluate this primitive.
  If a derivative in forward mode is differentiated in reverse mode, JAX evaluates only the transpose, ``pull_tangent``.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from ._core import InputError


def shapes(rollout, kind):
    """Return the shapes and types of a group of arrays: of the inputs (kind "i") or of the outputs (kind "o")."""
    dtype = jax.dtypes.canonicalize_dtype(np.float64)  # float32 if jax_enable_x64 is not set
    extents = rollout.shapes if kind == "i" else rollout.output_shapes
    return [jax.ShapeDtypeStruct(tuple(extent), dtype) for extent in extents]


class _Operation:
    """JAX primitive whose operands are groups of arrays, of the kinds of `shapes`.

    `operands` has one letter per group, and `result` is the kind of the results. The first group contains the inputs x.
    The primitive is linear in each of the other groups. `evaluate(rollout, *groups)` computes the results from numpy
    arrays; None if the primitive cannot be evaluated.
    """

    def __init__(self, name, operands, result, evaluate):
        self.operands, self.result, self.evaluate = operands, result, evaluate
        # derivative(rollout, change, *groups): the derivative along a change of x.
        self.derivative = self.refuse_derivative
        # transposes[k](rollout, cotangents, *groups): the cotangents of group k.
        self.transposes = {}
        self.primitive = primitive = Primitive(f"diffsim_{name}")
        primitive.multiple_results = True
        primitive.def_impl(self.compute)
        primitive.def_abstract_eval(self.avals)
        mlir.register_lowering(primitive, mlir.lower_fun(self.call, multiple_results=True))
        ad.primitive_jvps[primitive] = self.jvp
        ad.primitive_transposes[primitive] = self.transpose
        batching.primitive_batchers[primitive] = self.batch

    def __call__(self, rollout, *groups):
        return self.primitive.bind(*(value for group in groups for value in group), rollout=rollout)

    def split(self, rollout, values):
        """Return the groups of a flat list of operands."""
        groups, begin = [], 0
        for kind in self.operands:
            end = begin + len(rollout.shapes if kind == "i" else rollout.output_shapes)
            groups.append(list(values[begin:end]))
            begin = end
        return groups

    def avals(self, *_, rollout):
        return [jax.core.ShapedArray(result.shape, result.dtype) for result in shapes(rollout, self.result)]

    def compute(self, *values, rollout):
        """Return the results for arrays with known values."""
        self.require_evaluate()
        return [jnp.asarray(array) for array in self.on_host(rollout, values)]

    def call(self, *values, rollout):
        """Return the results in a function that JAX compiles: a callback computes the results."""
        self.require_evaluate()
        results = shapes(rollout, self.result)
        return jax.pure_callback(
            lambda *arrays: self.on_host(rollout, arrays), results, *values, vmap_method="sequential"
        )

    def on_host(self, rollout, arrays):
        """Return the results as numpy arrays of the types of JAX."""
        groups = self.split(rollout, [np.asarray(array, dtype=np.float64) for array in arrays])
        found = self.evaluate(rollout, *groups)
        return [np.asarray(array, dtype=result.dtype) for array, result in zip(found, shapes(rollout, self.result))]

    def require_evaluate(self):
        if self.evaluate is None:
            raise InputError(
                "second derivatives of rollouts are not available in forward-over-forward mode; use reverse mode for the "
                "first or for the second derivative, for example jax.jacfwd(jax.jacrev(f))"
            )

    def refuse_derivative(self, *_):
        raise InputError("third derivatives of rollouts are not available")

    def jvp(self, primals, tangents, *, rollout):
        groups, terms = self.split(rollout, primals), []
        for k, change in enumerate(self.split(rollout, tangents)):
            if all(type(tangent) is ad.Zero for tangent in change):
                continue
            change = [ad.instantiate_zeros(tangent) for tangent in change]
            if k == 0:
                terms.append(self.derivative(rollout, change, *groups))
            else:
                terms.append(self(rollout, *groups[:k], change, *groups[k + 1 :]))
        first, *others = terms
        for term in others:
            first = [a + b for a, b in zip(first, term)]
        return self(rollout, *groups), list(first)

    def transpose(self, cotangents, *values, rollout):
        cotangents = [ad.instantiate_zeros(cotangent) for cotangent in cotangents]
        groups, results = self.split(rollout, values), []
        for k, group in enumerate(groups):
            if any(ad.is_undefined_primal(value) for value in group):
                found = self.transposes[k](rollout, cotangents, *groups)
                results += [a if ad.is_undefined_primal(value) else None for a, value in zip(found, group)]
            else:
                results += [None] * len(group)
        return results

    def batch(self, values, dims, *, rollout):
        def call(elements):
            elements = iter(elements)
            every = [value if dim is None else next(elements) for value, dim in zip(values, dims)]
            return self.primitive.bind(*every, rollout=rollout)

        batched = [jnp.moveaxis(value, dim, 0) for value, dim in zip(values, dims) if dim is not None]
        if any(_is_traced(value) for value in values):
            results = jax.lax.map(call, batched)
        else:
            results = [jnp.stack(parts) for parts in zip(*(call(elements) for elements in zip(*batched)))]
        return results, [0] * len(results)


def is_compiling():
    """Return whether jax.jit or another transformation that compiles calls this function."""
    return isinstance(jnp.zeros(()) + 0.0, jax.core.Tracer)


def _is_traced(value):
    """Return whether the value is unknown, for example because jax.jit traces the caller."""
    return isinstance(jax.lax.stop_gradient(value), jax.core.Tracer)


run = _Operation("run", "i", "o", lambda rollout, x: rollout.run(*x))
push = _Operation("push", "ii", "o", lambda rollout, x, t: rollout.push_forward(x, t))
pull = _Operation("pull", "io", "i", lambda rollout, x, w: rollout.pull_back(x, *w))
pull_tangent = _Operation("pull_tangent", "iio", "i", lambda rollout, x, t, w: rollout.pull_back_tangent(x, t, *w))
push_tangent = _Operation("push_tangent", "iii", "o", None)

run.derivative = lambda rollout, u, x: push(rollout, x, u)
push.derivative = lambda rollout, u, x, t: push_tangent(rollout, x, t, u)
pull.derivative = lambda rollout, u, x, w: pull_tangent(rollout, x, u, w)

push.transposes[1] = lambda rollout, w, x, t: pull(rollout, x, w)
pull.transposes[1] = lambda rollout, t, x, w: push(rollout, x, t)
# F''(x)[t, u] is symmetric in t and u.
push_tangent.transposes[1] = lambda rollout, w, x, t, u: pull_tangent(rollout, x, u, w)
push_tangent.transposes[2] = lambda rollout, w, x, t, u: pull_tangent(rollout, x, t, w)
pull_tangent.transposes[1] = lambda rollout, u, x, t, w: pull_tangent(rollout, x, u, w)
pull_tangent.transposes[2] = lambda rollout, u, x, t, w: push_tangent(rollout, x, t, u)
