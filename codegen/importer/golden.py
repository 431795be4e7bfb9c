"""Copies upstream's compatibility data: every kind fully populated, in JSON, YAML and protobuf."""

import re
import shutil

TESTDATA = "staging/src/k8s.io/api/testdata"


def copy_golden(tree, release, target):
    """Writes target/v1.37, and renews the folders of the earlier releases that this release reads too.

    Those also tell, in *.after_roundtrip.*, into which form this release brings kinds that have changed.
    """
    for folder in sorted((tree / TESTDATA).iterdir()):
        match = re.match(r"^v(\d+\.\d+)\.0$", folder.name)
        if folder.name == "HEAD":
            version = ".".join(release.split(".")[:2])
        elif match:
            version = match.group(1)
        else:
            continue
        out = target / f"v{version}"
        out.mkdir(parents=True, exist_ok=True)
        for stale in out.glob("*.after_roundtrip.*"):
            stale.unlink()
        for file in folder.iterdir():
            if file.suffix in (".json", ".yaml", ".pb"):
                shutil.copyfile(file, out / file.name)
