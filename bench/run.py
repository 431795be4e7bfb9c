#!/usr/bin/env python3
"""Measures kubexx and its peers in turn on the same work, and writes docs/performance.md.

    ./dev bench            everything, in less than 20 minutes once the peers are built
    ./dev bench --quick    fewer rounds, and no 100,000 objects
    ./dev bench --check    a quick comparison with bench/thresholds.json: exits with 1 if a figure got worse
    ./dev bench --report   writes docs/performance.md again, from the last results
    ./dev bench --write-thresholds   also writes bench/thresholds.json, from the results

Environment:
    KUBEXX_BENCH_DATA        a folder with pods-10k.json and pods-10k.pb, or the same with .xz (../shared/data). Without
                             it, the server's list is recorded.
    KUBEXX_BENCH_KUBECONFIG  an empty server to use. Default: a kube-apiserver if there is one (test/e2e/cluster.sh),
                             otherwise `kubexx serve`. Growth and thresholds are always measured with `kubexx serve`.
    KUBEXX_PEER              the client-go program; default: builds bench/peers/client-go
    KUBEXX_PEERS             the folder in which peers are built and kept (~/.cache/kubexx-peers)
"""

import argparse
import lzma
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import check  # noqa: E402
import report  # noqa: E402
from instructions import Counter  # noqa: E402
from programs import Failed, Shell, TOP, client_go, first_line, machine, other_peer  # noqa: E402
from results import Results  # noqa: E402
from rows import (COUNTED, GROWTH_INFORMERS, GROWTH_OBJECTS, GROWTH_WORKERS, JOBS, LATENCY_RATES,  # noqa: E402
                  LATENCY_SECONDS, SMALL, derived)

WORK = TOP / "build/bench"
PODS = 10_000
BUDGET = 19 * 60  # seconds for everything; parts that would start later are skipped, which the report says
ROUNDS_BUDGET = BUDGET * 0.5  # the last round of the jobs has to end by then


class Run:
    def __init__(self, options):
        self.options = options
        self.shell = Shell(WORK / "output")
        self.results = Results(WORK / "results.jsonl", fresh=True)
        self.start = time.monotonic()
        self.peer = None
        self.kubeconfigs = {}
        self.files = {}
        self.commands = ""
        self.rounds = 0  # started so far

    # --- Messages.

    def say(self, text):
        print(f"[{time.monotonic() - self.start:5.0f} s] {text}", flush=True)

    def skip(self, what, why):
        self.say(f"skipped: {what}: {why}")
        self.results.add({"bench": "skipped", "what": what, "why": why})

    def late(self, what, seconds=0):
        if time.monotonic() - self.start + seconds < BUDGET:
            return False
        self.skip(what, "the time limit of the run is over")
        return True

    # --- Programs.

    def environment(self, server):
        return {"KUBECONFIG": str(self.kubeconfigs[server])} if server else {}

    def bench(self, *arguments, server="live", timeout=600):
        return self.shell.run(["kubexx-bench", *arguments], timeout, self.environment(server))

    def both(self):
        yield "kubexx", "kubexx-bench"
        if self.peer:
            yield "client-go", self.peer

    def keep(self, lines, **tags):
        for line in lines:
            self.results.add(derived({**line, **tags}))
        return lines

    def filled_in(self, arguments):
        return [argument.format(**self.files, count=self.options.events) for argument in arguments]

    def run_job(self, job, round_number):
        for impl, program in self.both():
            arguments = job.ours if impl == "kubexx" else job.peer_arguments
            if arguments is None:
                continue
            command = [program, *self.filled_in(arguments)]
            environment = self.environment(job.server)
            if job.kind == "events":
                lines = self.run_events(command, environment)
            else:
                lines = self.shell.run(command, 300, environment).lines()
            self.keep(lines, job=job.id, round=round_number, server=job.server)

    def run_events(self, command, environment):
        waiting = self.shell.start(command, environment)
        try:
            waiting.wait_for("ready", 120)
            self.shell.run(["kubexx-bench", "churn", self.options.events], 120, environment)
            return waiting.wait(120).lines()
        finally:
            waiting.stop()

    # --- The parts of a run.

    def facts(self):
        versions = {"kubexx": first_line(self.shell, "kubexx", "--version").removeprefix("kubexx "),
                    "compiler": first_line(self.shell, os.environ.get("CXX", "c++"), "--version")}
        try:
            done = subprocess.run(["git", "-C", str(TOP), "rev-parse", "--short", "HEAD"], text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
            versions["commit"] = done.stdout.strip()
        except OSError:
            pass
        if not self.options.ours_only:
            self.say("the peers: client-go")
            self.peer, known = client_go(self.shell)
            if self.peer:
                versions["client-go"], versions["Go"] = known["client_go"], known["go"].removeprefix("go")
            else:
                self.skip("client-go", known)
        self.start = time.monotonic()  # building does not count
        self.results.add({"bench": "machine", **machine()})
        self.results.add({"bench": "versions", **versions})
        usage = self.shell.start(["kubexx-bench"]).wait(30)
        self.commands = usage.errors

    def serve(self):
        embedded = WORK / "embedded.kubeconfig"
        self.shell.serve(["kubexx", "serve", "--keep-orphans", "--kubeconfig", embedded])
        self.kubeconfigs["embedded"] = embedded
        given = os.environ.get("KUBEXX_BENCH_KUBECONFIG")
        if given:
            live, name = given, "the server of KUBEXX_BENCH_KUBECONFIG"
        else:
            live, name = embedded, "the embedded one (kubexx serve)"
            if not (self.options.check or self.options.write_thresholds):  # these use the embedded one
                try:
                    live, name = self.shell.serve_real(WORK / "cluster")
                except (Failed, OSError) as error:
                    self.skip("a real kube-apiserver", str(error))
        self.kubeconfigs["live"] = live
        self.results.add({"bench": "server", "server": name})
        self.say(f"the server: {name}")

    def seed(self, count, server):
        self.say(f"seeding {count:,} pods")
        self.keep(self.bench("seed", str(count), server=server, timeout=900).lines(), job="seed", server=server)

    def record(self):
        """Records the answers of the replay server, and writes the files for decoding."""
        for folder, limit in (("recorded", 0), ("small", SMALL)):
            arguments = ["record", WORK / folder] + (["--limit", limit] if limit else [])
            self.bench(*arguments, server="embedded")
        self.kubeconfigs["replay"] = WORK / "replay.kubeconfig"
        self.shell.serve(["kubexx-bench", "replay", WORK / "recorded", "--kubeconfig", self.kubeconfigs["replay"]])
        source = "the recorded list"
        data = Path(os.environ.get("KUBEXX_BENCH_DATA", TOP / "../shared/data"))
        for key, name in (("json", "pods-10k.json"), ("proto", "pods-10k.pb")):
            file = WORK / name
            if (data / name).exists():
                shutil.copyfile(data / name, file)
                source = name.split(".")[0]
            elif (data / (name + ".xz")).exists():
                with lzma.open(data / (name + ".xz")) as packed, file.open("wb") as out:
                    shutil.copyfileobj(packed, out)
                source = name.split(".")[0]
            else:
                shutil.copyfile(WORK / "recorded" / ("pods.json" if key == "json" else "pods.pb"), file)
            self.files[key] = file
        self.files["small_json"], self.files["small_proto"] = WORK / "small/pods.json", WORK / "small/pods.pb"
        # The same pods in another order, as from a server that does not sort.
        self.shell.run(["kubexx-bench", "decode", self.files["proto"], "--shuffle"], 120)
        self.files["shuffled"] = f"{self.files['proto']}.shuffled"
        self.results.add({"bench": "data", "source": source, "json_bytes": self.files["json"].stat().st_size,
                          "proto_bytes": self.files["proto"].stat().st_size})

    def jobs(self):
        wanted = [job for job in JOBS if re.search(self.options.only, job.id)]
        left_out = set()
        for job in wanted:
            if job.ours[0] not in self.commands:
                self.skip(job.id, f"kubexx-bench does not know `{job.ours[0]}`")
                left_out.add(job.id)
            elif job.before:
                self.bench(*job.before, server=job.server)
        longest = 0
        for number in range(self.options.rounds):
            begun = time.monotonic() - self.start
            if number and begun + longest > ROUNDS_BUDGET:
                return self.skip(f"rounds after the first {number}", "the machine is too slow for more")
            self.say(f"round {number + 1} of {self.options.rounds}")
            self.rounds = number + 1
            for job in wanted:
                if job.id in left_out or (job.kind == "once" and number):
                    continue
                try:
                    self.run_job(job, number)
                except Failed as error:
                    self.skip(job.id, str(error))
                    left_out.add(job.id)
            longest = max(longest, time.monotonic() - self.start - begun)
        return None

    def growth(self, count, rounds):
        for number in range(rounds):
            for _, program in self.both():
                try:
                    lines = self.shell.run([program, "sync", "proto"], 600, self.environment("embedded")).lines()
                    self.keep(lines, job="growth-objects", size=count, round=number, server="embedded")
                except Failed as error:
                    self.skip(f"{count:,} objects", str(error))

    def most_objects(self):
        self.seed(GROWTH_OBJECTS[2], "embedded")
        self.growth(GROWTH_OBJECTS[2], 2)

    def attempt(self, what, act):
        """Runs a part. Its failure does not affect other parts."""
        if self.late(what):
            return
        try:
            act()
        except (Failed, OSError) as error:
            self.skip(what, str(error))

    def workers(self):
        self.say("work queues of 1 to 64 workers")
        counts = ",".join(str(count) for count in GROWTH_WORKERS)
        for number in range(self.options.growth_rounds):
            for _, program in self.both():
                lines = self.shell.run([program, "queue", "--workers", counts], 300).lines()
                self.keep(lines, job="growth-workers", round=number)

    def informers(self):
        self.say("1 to 500 informers in a process")
        self.bench("configmaps", str(GROWTH_INFORMERS[-1]), server="embedded")
        for number in range(self.options.growth_rounds):
            for count in GROWTH_INFORMERS:
                for _, program in self.both():
                    done = self.shell.run([program, "informers", count], 300, self.environment("embedded"))
                    self.keep(done.lines(), job="growth-informers", size=count, round=number, server="embedded")

    def latency(self):
        """Measures the time from the acknowledgement of a write to the handler of an informer."""
        self.say("the delay of events")
        for number in range(self.options.growth_rounds):
            for rate in LATENCY_RATES:
                for impl, program in self.both():
                    if self.late(f"the delay of events at {rate} a second"):
                        return
                    self.latency_at(rate, LATENCY_SECONDS.get(rate, 10), impl, program, number)

    def latency_at(self, rate, seconds, impl, program, number):
        events, acks = WORK / "latency.events", WORK / "latency.acks"
        # The first writes make the objects.
        self.bench("paced", "1", "--seconds", "1", "--acks", acks)
        watching = self.shell.start([program, "latency", "proto", events, "--seconds", seconds + 5],
                                    self.environment("live"))
        try:
            watching.wait_for("ready", 60)
            wrote = self.bench("paced", rate, "--seconds", seconds, "--acks", acks, timeout=seconds + 60).lines()[0]
            told = watching.wait(seconds + 60).lines()[0]
        finally:
            watching.stop()
        seen, written = (dict(line.split() for line in file.read_text().splitlines()) for file in (events, acks))
        delays = sorted((int(seen[version]) - int(time)) / 1e6 for version, time in written.items() if version in seen)
        if not delays:
            raise Failed(f"{impl}: the delay of events at {rate} a second: there were none")
        self.keep([{"impl": impl, "bench": "latency", "n": len(delays), "missed": len(written) - len(delays),
                    "writes_per_s": wrote["writes_per_s"], "cpu_us_per_event": told["cpu_us_per_event"],
                    "p50_ms": round(delays[len(delays) // 2], 3), "p99_ms": round(delays[len(delays) * 99 // 100], 3),
                    "max_ms": round(delays[-1], 3)}], job="latency", rate=rate, round=number, server="live")

    def scale(self):
        """Lists the same pods with every client."""
        self.say("a list of 10,000 pods with every client")
        clients = [("kubexx", ["kubexx-bench", "list", "json", "--rounds", "1"])]
        if self.peer:
            clients.append(("client-go", [self.peer, "list", "json", "--rounds", "1"]))
        for name in ("python", "node"):
            program, why = other_peer(self.shell, name)
            if program:
                clients.append((name, program))
            else:
                self.skip(name, why)
        for number in range(self.options.scale_rounds):
            for name, command in clients:
                if number and (name in ("python", "node") or self.late(f"{name}: another list")):
                    continue  # these clients are slow
                try:
                    lines = self.shell.run(command, 300, self.environment("live")).lines()
                    self.keep(lines, job="scale", round=number, server="live")
                except Failed as error:
                    self.skip(f"{name}: the list of 10,000 pods", str(error))

        # Command lines, from the start to the end of the process.
        commands = [("kubectl", "kubectl"), ("kubexx get", "kubexx")]
        for number in range(self.options.scale_rounds):
            for name, program in list(commands):
                try:
                    done = self.shell.run([program, "get", "pods", "-A", "-o", "json"], 300,
                                          self.environment("live"))
                    self.keep([{"impl": name, "bench": "command", "bytes": len(done.output),
                                "wall_s": round(done.wall, 3), "cpu_s": round(done.cpu, 3),
                                "peak_rss_kb": done.peak_kb}], job="command", round=number, server="live")
                except (Failed, OSError) as error:
                    self.skip(f"{name}: get pods -A -o json", str(error))
                    commands.remove((name, program))
        if ("kubectl", "kubectl") in commands:
            version = first_line(self.shell, "kubectl", "version", "--client")
            self.results.add({"bench": "versions", "kubectl": version.split(":")[-1].strip()})

    def instructions(self):
        counter = Counter(self.shell)
        if not counter.tool:
            return self.skip("instructions", "neither perf nor valgrind works")
        self.say(f"instructions, counted by {counter.tool}")
        for counted in COUNTED:
            for impl, program in self.both():
                if self.late(f"instructions: {counted.work}"):
                    return None
                try:
                    amounts = [counter.count([program, *self.filled_in(counted.arguments), counted.flag, amount], 180,
                                             self.environment(counted.server))
                               for amount in (counted.few, counted.many)]
                    if amounts[1] <= amounts[0]:
                        raise Failed("more work did not take more instructions")
                    each = (amounts[1] - amounts[0]) / (counted.many - counted.few) / counted.each
                    self.results.add({"impl": impl, "bench": "instructions", "job": f"instructions-{counted.id}",
                                      "tool": counter.tool, "instructions": round(each), "unit": counted.unit})
                except Failed as error:
                    self.skip(f"instructions of {impl}: {counted.work}", str(error))
        return None

    def everything(self):
        options = self.options
        self.facts()
        self.serve()
        if options.growth:
            self.seed(GROWTH_OBJECTS[0], "embedded")
            self.growth(GROWTH_OBJECTS[0], options.growth_rounds)
        self.seed(PODS, "embedded")
        self.record()
        if options.growth:
            self.growth(PODS, options.growth_rounds)
        if self.kubeconfigs["live"] != self.kubeconfigs["embedded"]:
            self.seed(PODS, "live")
        self.jobs()
        self.instructions()
        if options.growth:
            self.attempt("the delay of events", self.latency)
            self.attempt("other clients", self.scale)
            self.attempt("1 to 64 workers", self.workers)
            self.attempt("1 to 500 informers", self.informers)
            if options.quick:
                self.skip("100,000 objects", "--quick")
            elif not self.late("100,000 objects", 150):
                self.attempt("100,000 objects", self.most_objects)
        self.results.add({"bench": "whole", "quick": options.quick, "rounds": self.rounds,
                          "wall_s": round(time.monotonic() - self.start)})


def parse():
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer rounds, no 100,000 objects")
    parser.add_argument("--check", action="store_true", help="compare with bench/thresholds.json")
    parser.add_argument("--write-thresholds", action="store_true", help="write bench/thresholds.json from the results")
    parser.add_argument("--report", action="store_true", help="write docs/performance.md again, without measuring")
    parser.add_argument("--only", default="", metavar="REGEX", help="run only jobs with such names; write no report")
    parser.add_argument("--rounds", type=int, help="rounds of every job")
    parser.add_argument("--ours-only", action="store_true", help="measure no peers")
    options = parser.parse_args()
    options.quick = options.quick or options.check
    options.growth = not options.check and not options.only
    options.rounds = options.rounds or (3 if options.quick else 5)
    options.growth_rounds = 1 if options.quick else 3
    options.scale_rounds = 1 if options.quick else 3
    options.events = 2000  # a real server takes 10 s for them
    return options


def main():
    options = parse()
    if options.check and not check.FILE.exists():
        return check.check(None)  # fails before it measures
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that servers are ended
    if not options.report:
        run = Run(options)
        try:
            run.everything()
        finally:
            run.shell.close()
    results = Results(WORK / "results.jsonl")
    if options.check:
        return check.check(results)
    if options.write_thresholds:
        check.write(results)
    report.show(results)
    if not options.only:
        report.write(results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
