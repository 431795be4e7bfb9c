"""The results of a run as JSON lines: every figure that a program has printed, with its job and round."""

import json
import statistics
from pathlib import Path


class Results:
    def __init__(self, path, fresh=False):
        self.path = Path(path)
        self.lines = []
        if fresh:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_text("")
        else:
            self.lines = [json.loads(line) for line in self.path.read_text().splitlines() if line]

    def add(self, line):
        self.lines.append(line)
        with self.path.open("a") as out:
            out.write(json.dumps(line, separators=(",", ":")) + "\n")

    def find(self, **wanted):
        return [line for line in self.lines
                if all(line.get(key) == value for key, value in wanted.items())]

    def one(self, **wanted):
        found = self.find(**wanted)
        return found[0] if found else {}

    def series(self, key, **wanted):
        return Series(line[key] for line in self.find(**wanted) if key in line)

    def row(self, row, impl):
        return self.series(row.key, job=row.job, impl=impl, **row.where)


class Series:
    """The values of one figure."""

    def __init__(self, values):
        self.values = sorted(values)

    def __bool__(self):
        return bool(self.values)

    @property
    def median(self):
        return statistics.median(self.values) if self.values else None

    @property
    def low(self):
        return self.values[0]

    @property
    def high(self):
        return self.values[-1]


def figure(value):
    """Formats a value with three significant digits, and with commas."""
    if value is None:
        return "-"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    if abs(value) >= 10:
        return f"{value:.1f}"
    return f"{value:.2f}" if abs(value) >= 1 else f"{value:.3f}"
