"""Import arrows point one way: scripts -> agents -> cfr -> envs; configs knows nobody."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ALLOWED = {
    "configs": set(),
    "envs": set(),
    "cfr": {"envs"},
    "agents": {"envs", "cfr", "configs"},
    "scripts": {"envs", "cfr", "agents", "configs"},
}
FILES = [path for package in ALLOWED for path in sorted((ROOT / package).rglob("*.py"))]


def imported(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import; write the full path"
            yield node.module


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_arrow(path):
    package = path.relative_to(ROOT).parts[0]
    for name in imported(path):
        first = name.split(".")[0]
        if first in ALLOWED and first != package:
            assert first in ALLOWED[package], f"{path} must not import {name}"
    if package == "envs" and "games" in path.relative_to(ROOT).parts:
        faces = {"pettingzoo", "gymnasium", "pyspiel", "torch"}
        assert not faces & {name.split(".")[0] for name in imported(path)}


def test_agents_use_public_names_of_cfr():
    for path in (ROOT / "agents").rglob("*.py"):
        for name in imported(path):
            assert not name.startswith("cfr."), f"{path}: import {name} through `cfr`"
