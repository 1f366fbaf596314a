"""Sure wins: strategies that win with probability one against every opponent. See ``docs/sure_wins.md``."""

from cfr.sure_wins.policy import SureWinPolicy
from cfr.sure_wins.solve import SureWin, sure_win

__all__ = ["SureWin", "SureWinPolicy", "sure_win"]
