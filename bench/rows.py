"""Defines the measurements: jobs are programs to run, and rows are figures in their output.

Jobs run for kubexx and for client-go in turn. {json} and {proto} stand for the files with a list of 10,000 pods,
{count} for the number of events. A row names a figure of a job and says whether a higher or a lower value is better;
docs/performance.md has a line for each row.
"""

from dataclasses import dataclass, field
from typing import Optional


@dataclass(frozen=True)
class Job:
    id: str
    ours: tuple  # arguments of kubexx-bench
    theirs: Optional[tuple] = ()  # arguments of the peer's program; (): the same; None: the peer has no such job
    server: Optional[str] = None  # live: a real one if possible; embedded; replay: one that sends recorded answers
    kind: str = "plain"  # events: runs while `churn` runs; once: not repeated
    before: tuple = ()  # arguments of kubexx-bench for a run before the first round

    @property
    def peer_arguments(self):
        return self.ours if self.theirs == () else self.theirs


@dataclass(frozen=True)
class Row:
    id: str
    work: str
    job: str
    key: str
    unit: str
    better: str = "lower"
    where: dict = field(default_factory=dict)
    checked: bool = True  # --check compares it

    def factor(self, ours, theirs):
        """Returns how many times better our value is."""
        if not ours or not theirs:
            return None
        return ours / theirs if self.better == "higher" else theirs / ours


JSON = "application/json"
PROTOBUF = "application/vnd.kubernetes.protobuf"

# Writes a second, for the delay of events. A server may be too slow for the highest: the report has the reached rate.
LATENCY_RATES = (1, 50, 500, 2000)
LATENCY_SECONDS = {1: 30}  # otherwise 10

JOBS = (
    Job("decode-json", ("decode", "{json}")),
    Job("decode-proto", ("decode", "{proto}")),
    Job("encode-json", ("encode", "{proto}", JSON)),
    Job("encode-proto", ("encode", "{proto}", PROTOBUF)),
    Job("decode-shuffled", ("decode", "{shuffled}"), theirs=None),
    Job("decode-stream", ("decode", "{json}", "--stream"), theirs=None),
    Job("decode-no-pool", ("decode", "{proto}", "--no-pool"), theirs=None),
    Job("queue", ("queue",)),
    Job("store", ("store",)),
    Job("sync-proto", ("sync", "proto"), server="live"),
    Job("sync-json", ("sync", "json"), server="live"),
    Job("dynsync", ("dynsync",), server="live"),
    Job("metasync", ("metasync",), server="live"),
    Job("sync-proto-replay", ("sync", "proto"), server="replay"),
    Job("sync-json-replay", ("sync", "json"), server="replay"),
    Job("dynsync-replay", ("dynsync",), server="replay"),
    Job("metasync-replay", ("metasync",), server="replay"),
    Job("list-proto", ("list", "proto", "--rounds", "1"), server="replay"),
    Job("list-json", ("list", "json", "--rounds", "1"), server="replay"),
    Job("get", ("get", "proto"), server="live"),
    Job("get-replay", ("get", "proto"), server="replay"),
    Job("events", ("events", "proto", "{count}"), server="live", kind="events"),
    Job("events-json", ("events", "json", "{count}"), server="live", kind="events"),
    Job("reconcile", ("reconcile", "1000"), theirs=None, server="embedded", kind="once",
        before=("networks", "1000")),
)


def filled(name, job):
    """The rows for filling the cache of an informer."""
    return (
        Row(f"{job}-cpu", f"{name}: CPU", job, "cpu_s", "s"),
        Row(f"{job}-memory", f"{name}: memory held", job, "held_bytes", "bytes a pod"),
        Row(f"{job}-peak", f"{name}: peak while filling", job, "peak_ratio", "x memory held",
            checked=False),
    )


# The work that most programs do most of the time.
MAIN = (
    Row("decode-json", "decode a list of pods, JSON", "decode-json", "mb_per_s", "MB/s", "higher",
        checked=False),
    Row("decode-proto", "decode a list of pods, protobuf", "decode-proto", "mb_per_s", "MB/s", "higher",
        checked=False),
    *filled("fill an informer, protobuf", "sync-proto"),
    *filled("fill an informer, JSON", "sync-json"),
    *filled("fill a dynamic informer", "dynsync"),
    Row("events", "one update through watch, cache and handler, protobuf: CPU", "events",
        "cpu_us_per_event", "us"),
    Row("events-json", "the same, JSON: CPU", "events-json", "cpu_us_per_event", "us"),
    Row("get", "one GET: CPU", "get", "cpu_us_per_request", "us"),
    Row("queue-1", "work queue, 1 worker", "queue", "adds_per_s", "adds/s", "higher",
        where={"workers": 1}, checked=False),
    Row("queue-4", "work queue, 4 workers", "queue", "adds_per_s", "adds/s", "higher",
        where={"workers": 4}, checked=False),
    Row("store-add", "indexer: add", "store", "add_per_s", "a second", "higher"),
    Row("store-get", "indexer: get", "store", "get_per_s", "a second", "higher"),
    Row("store-index", "indexer: by index", "store", "by_index_objects_per_s", "objects/s", "higher"),
)

REPLAYED = (
    *filled("fill an informer, protobuf", "sync-proto-replay"),
    *filled("fill an informer, JSON", "sync-json-replay"),
    *filled("fill a dynamic informer", "dynsync-replay"),
    Row("metasync-replay-cpu", "fill a metadata informer: CPU", "metasync-replay", "cpu_s", "s"),
    Row("list-proto-cpu", "list of 10,000 pods, protobuf: CPU", "list-proto", "cpu_s", "s"),
    Row("list-proto-peak", "list of 10,000 pods, protobuf: peak memory", "list-proto", "peak_bytes",
        "bytes a pod"),
    Row("list-json-cpu", "list of 10,000 pods, JSON: CPU", "list-json", "cpu_s", "s"),
    Row("list-json-peak", "list of 10,000 pods, JSON: peak memory", "list-json", "peak_bytes",
        "bytes a pod"),
    Row("get-replay", "one GET: CPU", "get-replay", "cpu_us_per_request", "us"),
)

OTHER = (
    Row("decode-json-cpu", "decode a list of pods, JSON: CPU", "decode-json", "cpu_s", "s"),
    Row("decode-proto-cpu", "decode a list of pods, protobuf: CPU", "decode-proto", "cpu_s", "s"),
    Row("encode-json", "encode a list of pods, JSON", "encode-json", "mb_per_s", "MB/s", "higher"),
    Row("encode-proto", "encode a list of pods, protobuf", "encode-proto", "mb_per_s", "MB/s", "higher"),
    Row("metasync-cpu", "fill a metadata informer: CPU", "metasync", "cpu_s", "s"),
    Row("metasync-memory", "fill a metadata informer: memory held", "metasync", "held_bytes",
        "bytes a pod"),
    Row("sync-wall", "fill an informer, protobuf: time", "sync-proto", "wall_s", "s", checked=False),
    Row("get-rate", "sequential GETs", "get", "requests_per_s", "a second", "higher",
        checked=False),
    Row("store-update", "indexer: update", "store", "update_per_s", "a second", "higher"),
    Row("decode-shuffled", "decode protobuf, pods in random order", "decode-shuffled", "mb_per_s",
        "MB/s", "higher", checked=False),
    Row("decode-no-pool", "decode protobuf, nothing shared", "decode-no-pool", "mb_per_s", "MB/s",
        "higher", checked=False),
    Row("decode-stream", "decode JSON in pieces of 64 KB: peak growth", "decode-stream",
        "peak_growth_kb", "kB", checked=False),
    Row("reconcile-cpu", "sample operator, 1,000 objects: CPU each", "reconcile", "us_cpu_each", "us",
        checked=False),
    Row("reconcile-rate", "sample operator, 1,000 objects", "reconcile", "per_s", "a second", "higher",
        checked=False),
)

ROWS = MAIN + REPLAYED + OTHER

# Counts of instructions, which are nearly the same in every run. A program is run with two amounts of work, and the
# difference of the counts is divided by the difference of the amounts.
@dataclass(frozen=True)
class Counted:
    id: str
    work: str
    unit: str
    arguments: tuple
    flag: str  # sets the amount
    few: int
    many: int
    each: int = 1  # units in an amount of 1
    server: Optional[str] = None


SMALL = 400  # pods in the lists for counting

COUNTED = (
    Counted("decode-json", "decode JSON", "a pod", ("decode", "{small_json}"), "--rounds", 1, 3, SMALL),
    Counted("decode-proto", "decode protobuf", "a pod", ("decode", "{small_proto}"), "--rounds", 1, 3,
            SMALL),
    Counted("encode-json", "encode JSON", "a pod", ("encode", "{small_proto}", JSON), "--rounds", 1, 3,
            SMALL),
    Counted("encode-proto", "encode protobuf", "a pod", ("encode", "{small_proto}", PROTOBUF),
            "--rounds", 1, 3, SMALL),
    Counted("get", "GET", "a request", ("get", "proto"), "--count", 100, 300, 1, "replay"),
)

GROWTH_OBJECTS = (1_000, 10_000, 100_000)
GROWTH_INFORMERS = (1, 10, 100, 500)
GROWTH_WORKERS = (1, 2, 4, 8, 16, 32, 64)


def derived(line):
    """Adds derived figures to a result."""
    pods = line.get("pods") or line.get("objects")
    if "base_rss_kb" in line and "rss_kb" in line:
        held = line["rss_kb"] - line["base_rss_kb"]
        peak = line.get("peak_rss_kb", 0) - line["base_rss_kb"]
        if pods:
            line["held_bytes"] = held * 1024 // pods
            line["peak_bytes"] = peak * 1024 // pods
        if held > 0:
            line["peak_ratio"] = round(peak / held, 3)
    return line
