"""The command line: ./dev import."""

import argparse
import sys
from pathlib import Path

from . import schema_file, versions_table
from .check import Checker
from .checkout import Checkout
from .former import keep_former
from .golden import TESTDATA, copy_golden
from .names import Problem
from .packages import Packages
from .report import report
from .resources import add_resources

PROJECT = Path(__file__).resolve().parent.parent.parent
KUBERNETES_HELP = "a git repository of Kubernetes, or an unpacked archive of a release"


def arguments():
    parser = argparse.ArgumentParser(prog="./dev import", description="Renews codegen/schema from a release of "
                                     "Kubernetes, and prints what has changed as an entry of CHANGELOG.md.")
    parser.add_argument("checkout", metavar="KUBERNETES", help=KUBERNETES_HELP)
    parser.add_argument("--release", metavar="vX.Y.Z", help="a tag of the repository, or the release of the archive "
                        "(default: the tag of the work tree)")
    parser.add_argument("--since", metavar="vX.Y", help="begin with nothing, and read the last patch release of every "
                        "minor one from this one on; needs a repository with tags")
    parser.add_argument("--schema", type=Path, default=PROJECT / "codegen" / "schema", help="the folder to renew")
    parser.add_argument("--table", type=Path, help="the document whose table of group-versions to renew")
    parser.add_argument("--golden", type=Path, metavar="DIR", help="write nothing but upstream's compatibility data, "
                        "to DIR/vX.Y")
    parser.add_argument("--check", action="store_true", help="write nothing; compare the release with its OpenAPI "
                        "documents and compatibility data, and with the schema")
    return parser.parse_args()


def read_release(checkout, release, previous):
    """(Packages, schemas with resources and former kinds) of a release."""
    with checkout.tree(release) as tree:
        packages = Packages(tree, release)
    keep_former(previous, packages.schemas)
    add_resources(packages.schemas, packages.discovery, packages.openapi)
    return packages, dict(sorted(packages.schemas.items()))


def figures(schemas):
    types = [fields for schema in schemas.values() for fields in schema["types"].values()]
    kinds = [kind for schema in schemas.values() for kind in schema["kinds"]]
    return (f"{len(schemas)} packages, {len(types)} types, {sum(map(len, types))} fields, {len(kinds)} kinds "
            f"({sum('resource' in kind for kind in kinds)} with a resource)")


def check(checkout, release, on_disk):
    """Returns the number of errors, which it prints."""
    with checkout.tree(release) as tree:
        packages = Packages(tree, release)
        add_resources(packages.schemas, packages.discovery, packages.openapi)
        checker = Checker(packages)
        definitions = checker.check_openapi()
        checker.check_resources()
        objects = checker.check_golden(tree / TESTDATA / "HEAD")
    for note in packages.notes:
        print("note:", note)
    print(f"{release}: {definitions} OpenAPI definitions, {objects} golden objects, "
          f"{len(checker.present)} different fields seen in JSON, {len(checker.wire.present)} in protobuf")
    for place in sorted(checker.absent - checker.present):
        print("never populated:", place)
    keep_former(on_disk, packages.schemas)
    add_resources(packages.schemas, packages.discovery, packages.openapi)
    for name in sorted({*packages.schemas, *on_disk}):
        if name not in on_disk or schema_file.to_text(packages.schemas[name]) != schema_file.to_text(on_disk[name]):
            checker.errors.append(f"{name}: the file in codegen/schema is not what would be written now")
    for error in checker.errors:
        print("error:", error)
    return len(checker.errors)


def main():
    options = arguments()
    checkout = Checkout(options.checkout)
    release = options.release.lstrip("v") if options.release else checkout.release()
    on_disk = schema_file.read_folder(options.schema)
    if options.check:
        return 1 if check(checkout, release, on_disk) else 0

    history = checkout.history(options.since.lstrip("v"), release) if options.since else []
    if options.golden:
        for each in [*history, release]:
            with checkout.tree(each) as tree:
                copy_golden(tree, each, options.golden)
        return 0

    schemas = {} if options.since else on_disk
    for earlier in history:
        _, schemas = read_release(checkout, earlier, schemas)
        print(f"{earlier}: {figures(schemas)}", file=sys.stderr)
    packages, schemas = read_release(checkout, release, schemas)
    for note in packages.notes:
        print("note:", note, file=sys.stderr)
    print(f"{release}: {figures(schemas)}", file=sys.stderr)
    schema_file.write_folder(options.schema, schemas)
    if options.table:
        versions_table.update(options.table, schemas, release)
    print(report(on_disk, schemas, release), end="")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Problem as problem:
        sys.exit(f"./dev import: {problem}")
