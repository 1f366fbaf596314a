"""Players and learners: the `Agent` protocol, matches, networks, and one readable file per learning algorithm.

Only what needs no torch is imported here; `agents.training` and `agents.ppo` are imported by those who train.
"""

from agents.agent import (
    Agent,
    HumanAgent,
    NetworkAgent,
    Observation,
    PolicyAgent,
    Resigned,
    TabularAgent,
    UniformAgent,
    observe,
)
from agents.ismcts import ISMCTSAgent
from agents.match import MatchReport, play_match
from agents.mcts import MCTSAgent

__all__ = [
    "Agent",
    "HumanAgent",
    "ISMCTSAgent",
    "MCTSAgent",
    "MatchReport",
    "NetworkAgent",
    "Observation",
    "PolicyAgent",
    "Resigned",
    "TabularAgent",
    "UniformAgent",
    "observe",
    "play_match",
]
