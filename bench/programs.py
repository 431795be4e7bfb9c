"""Runs programs with a timeout and measures time, CPU and memory; starts servers; builds the peers."""

import json
import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent


class Failed(Exception):
    """The failure of a program."""


@dataclass
class Finished:
    output: str
    errors: str
    status: int
    wall: float
    cpu: float
    peak_kb: int

    def lines(self):
        """The JSON lines of its output."""
        return [json.loads(line) for line in self.output.splitlines() if line.startswith("{")]


def _peak_kb(pid):
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as status:
            for line in status:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1])
    except OSError:
        pass
    return 0


class Program:
    """A running program. Its output goes to files, so that it never waits for a reader."""

    def __init__(self, arguments, folder, name, environment=None):
        self.arguments = [str(argument) for argument in arguments]
        self.out, self.err = Path(folder) / f"{name}.out", Path(folder) / f"{name}.err"
        self.start = time.monotonic()
        with self.out.open("w") as out, self.err.open("w") as err:
            self.process = subprocess.Popen(self.arguments, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                            env={**os.environ, **(environment or {})})
        self.pid = self.process.pid
        self.finished = None
        self.seen_kb = 0

    def _poll(self):
        if self.finished:
            return True
        self.seen_kb = max(self.seen_kb, _peak_kb(self.pid))
        pid, status, usage = os.wait4(self.pid, os.WNOHANG)
        if pid == 0:
            return False
        self.process.returncode = os.waitstatus_to_exitcode(status)
        # The kernel's peak includes the peak of this process, from which the program was forked.
        peak = usage.ru_maxrss if usage.ru_maxrss > _peak_kb("self") else self.seen_kb
        self.finished = Finished(self.out.read_text(errors="replace"), self.err.read_text(errors="replace"),
                                 self.process.returncode, time.monotonic() - self.start,
                                 usage.ru_utime + usage.ru_stime, peak)
        return True

    def wait_for(self, text, timeout):
        """Waits until the program has printed the text."""
        end = time.monotonic() + timeout
        while text not in self.out.read_text(errors="replace"):
            if self._poll():
                raise Failed(f"{self}: ended with {self.finished.status}: {self.finished.errors.strip()[-300:]}")
            if time.monotonic() > end:
                raise Failed(f"{self}: did not print \"{text}\" within {timeout} s")
            time.sleep(0.01)

    def wait(self, timeout):
        end = time.monotonic() + timeout
        while not self._poll():
            if time.monotonic() > end:
                self.stop()
                raise Failed(f"{self}: not done after {timeout} s")
            time.sleep(0.004)
        return self.finished

    def stop(self):
        for number, patience in ((signal.SIGTERM, 5), (signal.SIGKILL, 5)):
            if self._poll():
                return
            os.kill(self.pid, number)
            end = time.monotonic() + patience
            while time.monotonic() < end and not self._poll():
                time.sleep(0.01)

    def __str__(self):
        return " ".join([Path(self.arguments[0]).name, *self.arguments[1:]])[:120]


class Shell:
    """Runs programs in a folder for their output, and ends the servers that it has started."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.count = 0
        self.servers = []
        self.cluster = None  # the command that stops it

    def start(self, arguments, environment=None):
        self.count += 1
        return Program(arguments, self.folder, f"program-{self.count % 50}", environment)

    def run(self, arguments, timeout, environment=None):
        done = self.start(arguments, environment).wait(timeout)
        if done.status != 0:
            words = done.errors.strip().splitlines()
            raise Failed(f"{Path(str(arguments[0])).name} {arguments[1] if len(arguments) > 1 else ''}: "
                         f"ended with {done.status}: {words[-1] if words else 'no message'}")
        return done

    def serve(self, arguments):
        server = self.start(arguments)
        self.servers.append(server)
        server.wait_for("serving", 60)
        return server

    def serve_real(self, folder):
        """Starts a kube-apiserver and its etcd, until close(). Returns its kubeconfig, and its name and version.
        Raises Failed if there is none."""
        script = TOP / "test/e2e/cluster.sh"
        self.cluster = [script, "down", folder]
        self.run([script, "up", folder], 180, {"KUBEXX_E2E_BUILD": "no"})
        name = Path((folder / "apiserver.path").read_text().strip()).name
        return folder / "admin.kubeconfig", name.replace("-1", " 1", 1)

    def close(self):
        for server in reversed(self.servers):
            server.stop()
        self.servers = []
        if self.cluster:
            subprocess.run(self.cluster, check=False)
            self.cluster = None


def first_line(shell, *arguments):
    """The first line that a program prints; empty if it fails."""
    try:
        lines = shell.run(arguments, 60).output.strip().splitlines()
        return lines[0] if lines else ""
    except (Failed, OSError):
        return ""


def client_go(shell):
    """Returns the peer's program and its versions; or None and the reason."""
    try:
        program = os.environ.get("KUBEXX_PEER")
        if not program:
            built = shell.run([TOP / "bench/peers/client-go/build"], 1500)
            program = built.output.strip().splitlines()[-1]
        return program, shell.run([program, "version"], 60).lines()[0]
    except (Failed, OSError, IndexError) as error:
        return None, str(error)


def other_peer(shell, name):
    """A peer that only lists. Returns its command; or None and the reason."""
    program = TOP / "bench/peers" / name / "run"
    try:
        shell.run([program, "--prepare"], 300)
        return [program], ""
    except (Failed, OSError) as error:
        return None, str(error)


def machine():
    facts = {"cores": os.cpu_count(), "kernel": os.uname().release}
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            facts["cpu"] = line.split(":", 1)[1].strip()
            break
    facts["memory_gb"] = round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)
    try:
        for line in Path("/etc/os-release").read_text().splitlines():
            if line.startswith("PRETTY_NAME="):
                facts["system"] = line.split("=", 1)[1].strip('"')
    except OSError:
        pass
    facts["load_at_start"] = round(os.getloadavg()[0], 2)
    return facts
