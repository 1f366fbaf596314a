"""Players and learners: the `Agent` protocol, matches, networks, and one readable file per learning algorithm.

Only what every player needs is imported here; `agents.mcts`, `agents.ismcts`, `agents.rating`, `agents.training` and
`agents.ppo` are imported by those who search, rank or train.
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
from agents.match import MatchReport, play_match

__all__ = [
    "Agent",
    "HumanAgent",
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
