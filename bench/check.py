"""Compares the results of a run with the bounds of bench/thresholds.json.

A ratio is a lower bound for how many times better a figure is than client-go's. Both are measured in one run, so the
machine matters little. A number of instructions is an upper bound; it hardly depends on the machine or its load.
"""

import json

from programs import TOP
from results import figure
from rows import COUNTED, ROWS

FILE = TOP / "bench/thresholds.json"
SLACK_RATIO = 0.75  # bound / measured ratio, when the bounds are written
SLACK_INSTRUCTIONS = 1.1


def ratios(results):
    for row in ROWS:
        factor = row.factor(results.row(row, "kubexx").median, results.row(row, "client-go").median)
        if factor is not None:
            yield row, factor


def counts(results):
    for counted in COUNTED:
        count = results.series("instructions", job=f"instructions-{counted.id}", impl="kubexx").median
        if count is not None:
            yield counted, count


def write(results):
    held = {
        "ratios": {row.id: round(factor * SLACK_RATIO, 2) for row, factor in ratios(results) if row.checked},
        "instructions": {counted.id: round(count * SLACK_INSTRUCTIONS, -2)
                         for counted, count in counts(results)},
    }
    FILE.write_text(json.dumps(held, indent=2) + "\n")
    print(f"{FILE.relative_to(TOP)}: written")


def check(results):
    """Returns the exit status."""
    if not FILE.exists():
        print(f"{FILE.relative_to(TOP)} is missing: ./dev bench --write-thresholds writes it")
        return 1
    held = json.loads(FILE.read_text())
    worse, missing = [], []

    def compare(kind, name, value, bound, ok):
        print(f"{'ok' if ok else 'WORSE':6} {kind:13} {name:24} {figure(value):>12}   bound {figure(bound)}")
        if not ok:
            worse.append(name)

    measured = {row.id: factor for row, factor in ratios(results)}
    for name, bound in held["ratios"].items():
        if name in measured:
            compare("ratio", name, measured[name], bound, measured[name] >= bound)
        else:
            missing.append(f"ratio {name}")
    measured = {counted.id: count for counted, count in counts(results)}
    for name, bound in held["instructions"].items():
        if name in measured:
            compare("instructions", name, measured[name], bound, measured[name] <= bound)
        else:
            missing.append(f"instructions {name}")
    for name in missing:
        print(f"not measured: {name}")
    print(f"{len(worse)} worse" if worse else "nothing got worse")
    return 1 if worse else 0
