"""Runs the scripts' main functions in this process, in a folder of their own."""

import importlib
import io
import json
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"


@dataclass
class Ran:
    code: int
    out: str
    err: str

    @property
    def result(self):
        """The object on the last line of stdout."""
        return json.loads(self.out.splitlines()[-1])

    @property
    def error(self):
        """The one line that a user error is."""
        assert self.code == 2 and self.out == "", (self.code, self.out, self.err)
        lines = self.err.strip().splitlines()
        assert len(lines) == 1 and lines[0].startswith("error: "), self.err
        return lines[0]


@pytest.fixture
def script(tmp_path, monkeypatch, capsys):
    """script("solve", "game=hex", ..., typed="b2\\n"): what a shell would see."""
    monkeypatch.syspath_prepend(str(SCRIPTS))
    monkeypatch.chdir(tmp_path)
    common = importlib.import_module("_common")

    def run(name, *arguments, typed=""):
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        capsys.readouterr()
        code = common.run(importlib.import_module(name).main, arguments)
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return run
