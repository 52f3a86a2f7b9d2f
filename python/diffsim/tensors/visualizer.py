# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Window that shows a simulation with Polyscope."""

from .._core import InputError


class PolyscopeVisualizer:
    """Window of Polyscope in which the tetrahedra of a simulator move. The constructor needs the package polyscope.

    simulator: Simulator. window_name: title of the structure in the window.
    """

    def __init__(self, simulator, window_name="diffsim"):
        try:
            import polyscope
        except ImportError:
            raise InputError("PolyscopeVisualizer needs the package polyscope: pip install polyscope") from None
        self._polyscope = polyscope
        self.simulator = simulator
        self.is_playing = True
        self._num_steps = 0
        polyscope.init()
        polyscope.set_up_dir("y_up")
        polyscope.set_ground_plane_height(0.0)
        mesh = simulator.mesh
        self.mesh = polyscope.register_volume_mesh(window_name, self._positions(), mesh.tetrahedra.cpu().numpy())

    def _positions(self):
        return self.simulator.positions.detach().cpu().numpy()

    def update(self):
        """Show the present positions."""
        self.mesh.update_vertex_positions(self._positions())

    def run(self, max_steps=None, steps_per_frame=1):
        """Take `steps_per_frame` steps per picture until the window is closed or, if given, for `max_steps` steps."""

        def advance():
            if not self.is_playing:
                return
            for _ in range(steps_per_frame):
                if max_steps is not None and self._num_steps >= max_steps:
                    self._polyscope.unshow()
                    return
                self.simulator.step()
                self._num_steps += 1
            self.update()

        self._polyscope.set_user_callback(advance)
        self._polyscope.show()
        self._polyscope.clear_user_callback()

    def animate_offline(self, num_steps, output_frames=None):
        """Take steps and save a picture after each.

        output_frames: file name with a place for the number of the step, for example "step_{:04d}.png"; None for no files.
        """
        for n in range(num_steps):
            self.simulator.step()
            self.update()
            if output_frames is not None:
                self._polyscope.screenshot(output_frames.format(n))
