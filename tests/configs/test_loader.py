"""The configuration loader: precedence, types, ranges, and errors that name the dotted key."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass

import pytest
import yaml

import configs
from configs import ConfigError, bounded, choice, described, factory


@dataclass(frozen=True)
class League:
    size: int = bounded(0, 0, 64, help="past policies kept")


@dataclass(frozen=True)
class Agent:
    name: str = choice("ppo", ("ppo",))
    gamma: float = bounded(1.0, 0, 1, help="discount per decision")
    lr: float = bounded(1e-3, 0, 1, above=True, help="step size")
    hidden: tuple[int, ...] = bounded((64, 64), 1, 4096, help="layer widths")
    anneal: bool = described(True)
    swap: str = choice("off", ("off", "sides"))
    label: str = described("x")
    limit: float | None = bounded(None, 0)
    league: League = factory(League)


@dataclass(frozen=True)
class Settings:
    game: dict = factory(dict, help="name and parameters")
    agent: Agent = factory(Agent)
    seed: int = bounded(0, 0)
    steps: int | None = bounded(None, 1)


def load(*arguments: str, **defaults: str) -> Settings:
    return configs.load(Settings, arguments, defaults=defaults)


def test_defaults_file_and_override_precedence(tmp_path):
    file = tmp_path / "run.yaml"
    file.write_text("agent: {lr: 1e-3, gamma: 0.5}\nseed: 3\n")
    config = load(f"config={file}", "agent.gamma=0.25")
    assert config.agent.lr == 1e-3 and isinstance(config.agent.lr, float)
    assert config.agent.gamma == 0.25 and config.seed == 3
    assert config.agent.hidden == (64, 64)


def test_scientific_notation_is_a_number():
    assert load("agent.lr=1e-3").agent.lr == 1e-3
    assert load("agent.lr=2.5E-4").agent.lr == 2.5e-4
    assert load("steps=1e6").steps == 1_000_000 and isinstance(load("steps=1e6").steps, int)


@pytest.mark.parametrize("text", ["off", '"off"'])
def test_off_stays_a_word(text, tmp_path):
    file = tmp_path / "run.yaml"
    file.write_text(f"agent: {{swap: {text}}}\ngame: {{name: hex, swap: {text}}}\n")
    config = load(f"config={file}")
    assert config.agent.swap == "off" and config.game["swap"] == "off"
    assert load(f"agent.swap={text}", f"game.swap={text}").agent.swap == "off"
    assert load("agent.label=on").agent.label == "on"


def test_switch_words_are_booleans_where_a_boolean_is_asked():
    words = {"on": True, "off": False, "yes": True, "no": False, "true": True, "False": False}
    for word, value in words.items():
        assert load(f"agent.anneal={word}").agent.anneal is value


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["agent.gamma=3.96"], ["agent.gamma = 3.96", "0 <= agent.gamma <= 1"]),
        (["agent.gamma=.nan"], ["agent.gamma", "out of range"]),
        (["agent.lr=0"], ["agent.lr = 0", "0 < agent.lr <= 1"]),
        (["agent.gama=0.5"], ["agent.gama", "unknown key", "did you mean agent.gamma?"]),
        (["agent.lr=fast"], ["agent.lr = 'fast'", "expected a number"]),
        (["agent.lr='1e-3'"], ["agent.lr", "expected a number"]),
        (["agent.hidden=[64,2.5]"], ["agent.hidden", "a list of an integer"]),
        (["agent.hidden=[64,0]"], ["agent.hidden", "1 <= agent.hidden <= 4096"]),
        (["agent.hidden=64"], ["agent.hidden", "a list"]),
        (["agent.anneal=2"], ["agent.anneal", "true or false"]),
        (["agent.swap=side"], ["agent.swap = 'side'", "did you mean sides?", "off, sides"]),
        (["agent.league.sise=3"], ["agent.league.sise", "did you mean agent.league.size?"]),
        (["agent.league.size=65"], ["agent.league.size = 65", "0 <= agent.league.size <= 64"]),
        (["agent.league=3"], ["agent.league = 3", "expected a section"]),
        (["agent.lr.x=3"], ["agent.lr.x", "single value"]),
        (["gamma=0.5"], ["gamma", "did you mean agent.gamma?"]),
        (["seed=true"], ["seed = True", "an integer"]),
        (["seed=1.5"], ["seed = 1.5", "an integer"]),
        (["seed=-1"], ["seed = -1", "0 <= seed"]),
        (["seed"], ["'seed'", "key=value"]),
        (["--seed=3"], ["--seed=3", "key=value"]),
        (["seed=[1"], ["seed=[1", "YAML"]),
        (["game=dark_hexx"], ["dark_hexx", "did you mean dark_hex?", "hex"]),
        (["agent=3"], ["agent = 3", "expected a section"]),
        (["experiment=nothing"], ["nothing", "configs/experiment"]),
        (["config=/nowhere/file.yaml"], ["/nowhere/file.yaml", "cannot read"]),
        (["seed=${missing}"], ["missing"]),
    ],
)
def test_bad_arguments_name_the_key(arguments, parts):
    with pytest.raises(ConfigError) as error:
        load(*arguments)
    for part in parts:
        assert part in str(error.value)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("agen: {}", ["agen", "unknown key", "did you mean agent?"]),
        ("agent: {gamma: '0.5'}", ["agent.gamma", "expected a number"]),
        ("- 1", ["key: value"]),
        ("a: [", ["not valid YAML"]),
        ("defaults: {agnt: ppo}", ["defaults.agnt", "did you mean agent?"]),
        ("defaults: ppo", ["defaults"]),
        ("agent: pop", ["pop", "did you mean ppo?"]),
    ],
)
def test_bad_files_name_the_key(text, parts, tmp_path):
    file = tmp_path / "run.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError) as error:
        load(f"config={file}")
    for part in parts:
        assert part in str(error.value)


def test_choosing_by_name_and_overriding_in_it():
    config = load("game=dark_hex", "game.rows=4")
    assert config.game["name"] == "dark_hex" and config.game["rows"] == 4 and config.game["version"] == "classical"
    assert load(game="hex").game["name"] == "hex"


def test_naming_a_game_replaces_the_section_of_an_experiment(tmp_path):
    file = tmp_path / "run.yaml"
    file.write_text("defaults: {game: dark_hex}\ngame: {version: abrupt}\n")
    assert load(f"config={file}").game["version"] == "abrupt"
    assert "version" not in load(f"config={file}", "game=hex").game


def test_round_trip(tmp_path):
    config = load("game=dark_hex", "agent.hidden=[8]", "agent.lr=1e-5", "agent.swap=off", "agent.limit=2")
    file = tmp_path / "config.yaml"
    file.write_text(configs.to_yaml(config))
    assert load(f"config={file}", game="hex") == config
    assert yaml.safe_load(file.read_text())["agent"]["swap"] == "off"


def test_describe_lists_every_key():
    text = configs.describe(Settings)
    for part in ("agent.gamma = 1.0", "0 <= gamma <= 1", "discount per decision", "agent.league.size = 0"):
        assert part in text


def test_apply_names_the_parameter():
    def make(name: str, rows: int = 3):
        raise ValueError(f"rows={rows!r} is not allowed")

    with pytest.raises(ConfigError, match=r"game\.rows = 0: rows=0 is not allowed"):
        configs.apply("game", make, {"name": "dark_hex", "rows": 0})


def test_every_shipped_file_is_readable():
    for folder in ("game", "algorithm", "experiment"):
        assert configs.names(folder)
        for name in configs.names(folder):
            from importlib import resources

            assert configs.read(resources.files("configs") / folder / f"{name}.yaml")


def test_the_loader_needs_nothing_of_ours():
    code = "import sys, configs; print([m for m in ('torch', 'envs', 'cfr', 'agents') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
