"""The examples in ``docs/games`` print what they say they print."""

import doctest
from pathlib import Path

import pytest

import envs

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "games"


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.md")))
def test_examples(name):
    text = (FOLDER / f"{name}.md").read_text()
    if "pyspiel" in text:
        pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    result = doctest.testfile(str(FOLDER / f"{name}.md"), module_relative=False, encoding="utf-8")
    assert result.failed == 0
    assert result.attempted > 0


@pytest.mark.parametrize("name", envs.game_names())
def test_every_game_and_parameter_has_a_page(name):
    text = (FOLDER / f"{name}.md").read_text()
    for parameter, value in envs.make(name).explicit_parameters().items():
        assert f"| `{parameter}` |" in text, f"{parameter} is missing in docs/games/{name}.md"
        assert str(value) in text
