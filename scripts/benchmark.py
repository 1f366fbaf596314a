"""Speed as ratios against the peers, measured side by side on this machine.

    python scripts/benchmark.py                     every section
    python scripts/benchmark.py cfr batched         some sections
    python scripts/benchmark.py cfr seconds=10      less patience

Sections: cfr evaluate outcome external aec batched games ppo exact. Rates and times are medians of interleaved runs;
building our tree is not counted and is printed. The last line of stdout is one JSON object with every figure.
"""

from __future__ import annotations

import dataclasses
import json
import os
import platform
import sys
from importlib.metadata import version

from benchmarks import environments, exact, learning, solvers
from benchmarks.measure import Report

import configs

SECTIONS = {
    "cfr": solvers.cfr,
    "evaluate": solvers.evaluate,
    "outcome": solvers.outcome,
    "external": solvers.external,
    "aec": environments.aec,
    "batched": environments.batched,
    "games": environments.games,
    "ppo": learning.ppo,
    "exact": exact.exact,
}


@dataclasses.dataclass(frozen=True)
class BenchmarkConfig:
    """How long to measure."""

    seconds: float = configs.bounded(30.0, 0.1, 3600.0, help="time OpenSpiel's CFR solvers get")
    slice: float = configs.bounded(3.0, 0.05, 600.0, help="seconds of one interleaved run of the other sections")
    repeats: int = configs.bounded(5, 1, 100, help="interleaved runs per measurement")


def main(arguments: list[str]) -> int:
    chosen = [word for word in arguments if "=" not in word]
    unknown = [word for word in chosen if word not in SECTIONS]
    if unknown or "--help" in arguments:
        print(__doc__, file=sys.stderr)
        if unknown and unknown != ["--help"]:
            print(f"unknown section {unknown[0]!r}; sections are {', '.join(SECTIONS)}", file=sys.stderr)
        return 2
    try:
        config = configs.load(BenchmarkConfig, [word for word in arguments if "=" in word])
    except configs.ConfigError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    facts = {
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "numba", "torch", "open_spiel")},
    }
    print(", ".join(f"{key} {value}" for key, value in facts.items()), file=sys.stderr)
    report = Report()
    for name in chosen or SECTIONS:
        SECTIONS[name](report, config)
    print(report.table())
    print(json.dumps({"host": facts, "results": report.rows}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
