"""The exercises under nbgrader's own commands. This module alone imports nbgrader, which is the extra `instructor`.

nbgrader would put its Python stub into CUDA texts. `configure` replaces the step that clears solutions by one that
knows this course's regions, so that `nbgrader generate_assignment` writes what `gemm-lab release` writes.
"""

from __future__ import annotations

from nbgrader.converters import GenerateAssignment
from nbgrader.preprocessors import ClearSolutions

from gemm_lab.exercises import cells, regions, release


class ClearCourseSolutions(ClearSolutions):
    """Replaces solution regions in Python and in CUDA by their own stubs, and marks in prose by what they hold."""

    def _replace_solution_region(self, cell, language: str) -> bool:
        if cell.cell_type == "markdown" or regions.BEGIN not in cell.source:
            return False
        kept = cell.source.partition(regions.BEGIN_HIDDEN)      # hidden tests are another step's
        cell.source = regions.stripped(kept[0]) + kept[1] + kept[2]
        return True

    def preprocess_cell(self, cell, resources, cell_index):
        cell, resources = super().preprocess_cell(cell, resources, cell_index)
        if cell.cell_type == "markdown":
            cell.source = cells.without_slots(cell.source)
        return cell, resources


def configure(config) -> None:
    """Set what this course needs in nbgrader's configuration object."""
    steps = GenerateAssignment.preprocessors.default_args[0]
    config.GenerateAssignment.preprocessors = [
        ClearCourseSolutions if step is ClearSolutions else step for step in steps]
    config.ClearSolutions.text_stub = release.ESSAY
    config.ExecutePreprocessor.timeout = 120
