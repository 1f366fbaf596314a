"""scripts/evaluate.py: the match table, NashConv, and bad input."""

from pathlib import Path

import pytest

GAME = ("game=dark_hex", "game.rows=2", "game.cols=3", "game.version=abrupt", "game.info=silent")


def test_uniform_against_a_policy(script):
    script("solve", *GAME, "solver.target=0.01", "output=solved")
    done = script("evaluate", "agents=[policy:solved,uniform]", "games=400")
    result = done.result
    assert result["game"] == "dark_hex(rows=2,cols=3,version=abrupt,info=silent)"
    assert result["agents"] == ["policy:solved", "uniform"] and result["games"] == 800
    mine, uniform = result["mean_return"]
    assert mine[0] == -uniform[1] and mine[1] == -uniform[0] and sum(mine) > 0.2
    for means, intervals in zip(result["mean_return"], result["interval"], strict=True):
        assert all(low <= mean <= high for mean, (low, high) in zip(means, intervals, strict=True))
    # The published value for uniform play on this board.
    assert result["nash_conv"] == [pytest.approx(0.01, abs=0.01), pytest.approx(0.780555555556)]
    assert "95 % intervals" in done.out and "NashConv (exact" in done.out
    assert script("evaluate", "agents=[solved]", "games=400").result["mean_return"] == [mine]


def test_equal_agents_are_exactly_even(script):
    means = script("evaluate", *GAME, "agents=[uniform,uniform]", "games=100", "nash_conv=off").result
    assert means["mean_return"][0][0] == -means["mean_return"][0][1] and means["nash_conv"] == [None, None]


def test_a_large_board_has_no_nash_conv(script):
    done = script("evaluate", "game=dark_hex", "game.rows=4", "game.cols=4", "agents=[uniform]", "games=5")
    assert done.result["nash_conv"] == [None] and "no NashConv" in done.err


def test_a_trained_network(script):
    pytest.importorskip("torch")
    from agents.training import load_config, train

    made = train(load_config(["game.rows=2", "game.cols=2", "steps=256", "run=trained", "agent.num_envs=8",
                              "agent.rollout_steps=8", "agent.hidden=[8]", "evaluation.points=0",
                              "tensorboard=false"]))
    for agent in ("trained", f"checkpoint:{made['checkpoint']}"):
        result = script("evaluate", f"agents=[{agent},uniform]", "games=20").result
        assert result["nash_conv"][0] > 0 and result["nash_conv"][1] == pytest.approx(1.25)
    error = script("evaluate", "game=dark_hex", "game.rows=3", "game.cols=3", "agents=[trained]").error
    assert "rows=2" in error and "rows=3" in error
    content = Path(made["checkpoint"]).read_bytes()
    Path("cut.pt").write_bytes(content[: len(content) // 2])
    assert "cut.pt" in script("evaluate", "agents=[cut.pt]").error


def test_a_game_of_openspiel(script):
    pytest.importorskip("pyspiel")
    result = script("evaluate", "game=openspiel:kuhn_poker", "agents=[uniform]").result
    assert result["games"] == 0 and result["nash_conv"] == [pytest.approx(11 / 12)]


BAD = {
    "nobody": ([], "agents", "uniform"),
    "not a list": (["agents=uniform"], "agents = 'uniform'", "list"),
    "unknown agent": (["game=hex", "agents=[uniform,unifrom]"], "agents[1] = 'unifrom'", "policy:PATH"),
    "no game": (["agents=[uniform]"], "game", "game=NAME"),
    "too many": (["game=hex", "agents=[uniform,uniform,uniform]"], "3 given", "2 players"),
    "no such policy": (["agents=[policy:nowhere]"], "nowhere.npz", "no such file"),
    "an empty folder": (["agents=[.]"], "agents[0] = '.'", "policy.npz"),
    "range": (["game=hex", "agents=[uniform]", "games=-1"], "games = -1", "0 <= games"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input(script, what):
    arguments, *words = BAD[what]
    error = script("evaluate", *arguments).error
    for word in words:
        assert word in error


def test_a_policy_of_another_game_and_a_truncated_one(script):
    script("solve", *GAME, "solver.iterations=1", "output=solved")
    error = script("evaluate", "game=dark_hex", "game.rows=2", "game.cols=2", "agents=[solved]").error
    assert "rows=2,cols=3" in error and "rows=2,cols=2" in error
    content = Path("solved/policy.npz").read_bytes()
    Path("cut.npz").write_bytes(content[: len(content) // 2])
    assert "cut.npz" in script("evaluate", "agents=[cut.npz]").error
