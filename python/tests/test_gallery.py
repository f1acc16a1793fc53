"""The scripts of the gallery run, and what they assert holds."""

import pathlib
import runpy

import pytest

SCRIPTS = sorted((pathlib.Path(__file__).parent / "../../docs/gallery").glob("plot_*.py"))


def test_there_are_scripts():
    assert len(SCRIPTS) == 6


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_gallery(script):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    runpy.run_path(str(script))
    matplotlib.pyplot.close("all")
