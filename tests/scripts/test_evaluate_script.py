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
    short = script("evaluate", "checkpoint=trained", "games=20")
    assert short.result["agents"] == ["trained"]
    assert short.result["exploitability"] == [short.result["nash_conv"][0] / 2]
    assert f"exploitability (NashConv / 2): {short.result['exploitability'][0]:.6f}" in short.out
    error = script("evaluate", "game=dark_hex", "game.rows=3", "game.cols=3", "agents=[trained]").error
    assert "rows=2" in error and "rows=3" in error
    content = Path(made["checkpoint"]).read_bytes()
    Path("cut.pt").write_bytes(content[: len(content) // 2])
    assert "cut.pt" in script("evaluate", "agents=[cut.pt]").error


def test_a_search_with_a_trained_network(script):
    pytest.importorskip("torch")
    from agents.training import load_config, train

    made = train(load_config(["game=hex", "game.rows=3", "steps=256", "run=trained", "agent.num_envs=8",
                              "agent.rollout_steps=8", "agent.hidden=[8]", "evaluation.points=0",
                              "tensorboard=false"]))
    for path in ("trained", made["checkpoint"]):
        result = script("evaluate", f"agents=[mcts:50:{path},uniform]", "games=5", "nash_conv=off").result
        assert result["game"].startswith("hex(rows=3") and sum(result["mean_return"][0]) > 1


def test_a_ranking(script):
    done = script("evaluate", "game=renju3", "game.rows=5", "agents=[mcts:50,uniform]", "games=2", "ranking=on")
    result = done.result
    assert result["games"] == 2 * 3 * 2 and result["elo"][0] > result["elo"][1]
    done = script("evaluate", "game=hex", "game.rows=4", "agents=[uniform,mcts:20,mcts:200]", "games=10",
                  "plot=there/elo.png")
    result = done.result
    assert result["games"] == 3 * 2 * 10 and result["nash_conv"] == [None] * 3
    assert result["elo"] == sorted(result["elo"]) and sum(result["elo"]) == pytest.approx(0, abs=1e-6)
    for elo, (low, high) in zip(result["elo"], result["elo_interval"], strict=True):
        assert low < elo < high
    assert len(result["mean_return"]) == 3 and len(result["mean_return"][0]) == 2
    assert done.out.index("1. mcts:200") < done.out.index("2. mcts:20 ") < done.out.index("3. uniform")
    assert Path("there/elo.png").read_bytes().startswith(b"\x89PNG") and result["plot"] == "there/elo.png"


def test_information_set_search(script):
    result = script("evaluate", "game=dark_hex", "agents=[ismcts:200,uniform]", "games=20", "nash_conv=off").result
    assert sum(result["mean_return"][0]) > 1


def test_a_game_of_openspiel(script):
    pytest.importorskip("pyspiel")
    result = script("evaluate", "game=openspiel:kuhn_poker", "agents=[uniform]").result
    assert result["games"] == 0 and result["nash_conv"] == [pytest.approx(11 / 12)]


BAD = {
    "nobody": ([], "agents", "uniform"),
    "not a list": (["agents=uniform"], "agents = 'uniform'", "list"),
    "unknown agent": (["game=hex", "agents=[uniform,unifrom]"], "agents[1] = 'unifrom'", "policy:PATH"),
    "no game": (["agents=[uniform]"], "game", "game=NAME"),
    "one agent twice": (["game=hex", "agents=[uniform,uniform,mcts:5]"], "uniform is given twice"),
    "a ranking of one": (["game=hex", "agents=[uniform]", "ranking=on"], "at least two"),
    "no simulations": (["game=hex", "agents=[mcts:none]"], "agents[0] = 'mcts:none'", "mcts:1000"),
    "hidden information": (["game=dark_hex", "agents=[mcts:10]"], "mcts:10", "hides", "ismcts"),
    "nothing hidden": (["game=hex", "agents=[ismcts:10]"], "ismcts:10", "hides nothing"),
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
