"""Counts the instructions that a program executes in user space, with perf or valgrind."""

import re
import shutil

from programs import Failed


class Counter:
    def __init__(self, shell):
        self.shell = shell
        self.tool = self._find()

    def _find(self):
        if shutil.which("perf"):
            try:
                done = self.shell.run(["perf", "stat", "-x,", "-e", "instructions:u", "true"], 30)
                if re.search(r"^\d+,", done.errors, re.M):
                    return "perf"
            except Failed:
                pass
        return "callgrind" if shutil.which("valgrind") else None

    def count(self, arguments, timeout, environment=None):
        # Go's runtime interrupts its threads by signals, which callgrind does not follow. With idle threads, the work of
        # its garbage collector varies from run to run.
        environment = {**(environment or {}), "GODEBUG": "asyncpreemptoff=1", "GOMAXPROCS": "1"}
        if self.tool == "perf":
            done = self.shell.run(["perf", "stat", "-x,", "-e", "instructions:u", *arguments], timeout, environment)
            found = re.search(r"^(\d+),", done.errors, re.M)
        else:
            done = self.shell.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *arguments],
                                  timeout, environment)
            found = re.search(r"Collected : (\d+)", done.errors)
        if not found:
            raise Failed(f"{self.tool} counted nothing")
        return int(found.group(1))
