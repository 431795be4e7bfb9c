"""Finds releases in a checkout of Kubernetes: the files of its work tree, or of a tag."""

import re
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

from .names import Problem, release_key

SOURCES = ["staging/src/k8s.io/api", "staging/src/k8s.io/apimachinery/pkg",
           "staging/src/k8s.io/apiextensions-apiserver/pkg/apis", "staging/src/k8s.io/kube-aggregator/pkg/apis",
           "staging/src/k8s.io/metrics/pkg/apis", "api/openapi-spec/v3", "api/discovery"]


class Checkout:
    """A git repository (a bare one too), or an unpacked archive of a release."""

    def __init__(self, folder):
        self.folder = Path(folder)
        if not self.folder.is_dir():
            raise Problem(f"{folder}: no such folder; give a checkout of Kubernetes")
        self.is_repository = (self.folder / ".git").exists() or (self.folder / "HEAD").is_file()

    def git(self, *arguments):
        done = subprocess.run(["git", "-C", self.folder, *arguments], capture_output=True, text=True, check=False)
        if done.returncode:
            raise Problem(f"{self.folder}: git {arguments[0]}: {done.stderr.strip()}")
        return done.stdout

    def tags(self):
        return self.git("tag", "--list", "v*").split() if self.is_repository else []

    def release(self):
        """The release of the work tree, by its tag."""
        if not self.is_repository:
            raise Problem(f"{self.folder}: no git repository; name its release, as in --release v1.37.0")
        try:
            return self.git("describe", "--tags", "--exact-match").strip()[1:]
        except Problem as problem:
            raise Problem(f"{self.folder}: no tag says which release it is; "
                          "name it, as in --release v1.37.0") from problem

    @contextmanager
    def tree(self, release):
        """A folder with the sources of a release: of its tag, if there is one."""
        tag = f"v{release}"
        if tag not in self.tags():
            if not (self.folder / "staging" / "src").is_dir():
                raise Problem(f"{self.folder}: has no tag {tag}, and no folder staging/src")
            yield self.folder
            return
        folder = Path(tempfile.mkdtemp(prefix="kubexx-import-"))
        try:
            known = set(self.git("ls-tree", "-d", "-r", "--name-only", tag).splitlines())
            self.unpack(tag, [path for path in SOURCES if path in known], folder)
            yield folder
        finally:
            shutil.rmtree(folder)

    def unpack(self, tag, paths, folder):
        archive = folder / "archive.tar"
        self.git("archive", "-o", str(archive), tag, *paths)
        subprocess.run(["tar", "-xf", archive, "-C", folder], check=True)
        archive.unlink()

    def history(self, since, until):
        """The last patch release of every minor one from `since` on, up to the minor one before `until`."""
        first, last = minor(since), minor(until)
        found = {}
        for tag in self.tags():
            if re.match(r"^v\d+\.\d+\.\d+$", tag) and first <= minor(tag[1:]) < last:
                found.setdefault(minor(tag[1:]), []).append(tag[1:])
        if first not in found:
            raise Problem(f"{self.folder}: has no tags of v{since}")
        return [max(releases, key=release_key) for _, releases in sorted(found.items())]


def minor(release):
    return tuple(int(n) for n in release.split(".")[:2])
