"""Tests of ./dev import on small trees. Run by ctest, or: python3 test/import/import_test.py"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import tree

PROJECT = Path(__file__).resolve().parent.parent.parent


class ImportTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.schema = self.folder / "schema"

    def write(self, name, files):
        for path, text in files.items():
            file = self.folder / name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        return self.folder / name

    def run_import(self, *arguments):
        return subprocess.run([sys.executable, "-B", "-m", "importer", "--schema", self.schema, *arguments],
                              cwd=PROJECT / "codegen", capture_output=True, text=True, check=False)

    def take(self, *arguments):
        done = self.run_import(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def read(self, package):
        return json.loads((self.schema / f"{package}.json").read_text(encoding="utf-8"))

    def everything(self):
        return {file.name: file.read_text(encoding="utf-8") for file in self.schema.iterdir()}

    def take_both(self):
        self.take(self.write("first", tree.files(first=True)), "--release", "v1.36.4")
        return self.take(self.write("second", tree.files(first=False)), "--release", "v1.37.0")

    def test_both_forms_of_the_tag_of_embedded_structs_give_the_same(self):
        first = self.write("first", tree.files(first=True))
        self.take(first, "--release", "v1.36.4")
        before = self.everything()
        for package in ("things", "gone"):
            types = first / f"staging/src/k8s.io/api/{package}/v1/types.go"
            text = types.read_text(encoding="utf-8")
            self.assertIn('`json:",inline"', text)
            types.write_text(text.replace('`json:",inline"', '`json:""'), encoding="utf-8")
        self.assertEqual(self.take(first, "--release", "v1.36.4"), "No changes of the API.\n")
        self.assertEqual(self.everything(), before)
        fields = self.read("things.v1")["types"]
        self.assertEqual(fields["ThingSpec"][0], {"inline": "Colour", "tag": 1})
        self.assertEqual([field["name"] for field in fields["Thing"]], ["metadata", "spec"])

    def test_facts_come_from_all_sources(self):
        self.take(self.write("first", tree.files(first=True)), "--release", "v1.36.4")
        schema = self.read("things.v1")
        self.assertEqual(schema["types"]["ThingSpec"][1], {
            "name": "parts", "tag": 2, "type": "Part", "shape": "list", "listType": "map", "listMapKeys": ["name"],
            "patchStrategy": "merge", "patchMergeKey": "name"})
        self.assertEqual(schema["types"]["Part"], [
            {"name": "name", "tag": 1, "type": "string", "required": True, "keep": True}])
        self.assertEqual(schema["types"]["Colour"], [{"name": "red", "tag": 1, "type": "int32", "shape": "pointer"}])
        self.assertEqual(schema["kinds"][0], {
            "kind": "Thing", "list": "ThingList", "resource": "things", "singular": "thing", "namespaced": True,
            "verbs": ["get", "list"], "shortNames": ["th"],
            "subresources": [{"name": "status", "kind": "Thing", "verbs": ["update"]}]})

    def test_importing_twice_changes_nothing(self):
        self.take_both()
        before = self.everything()
        self.assertEqual(self.take(self.folder / "second", "--release", "v1.37.0"), "No changes of the API.\n")
        self.assertEqual(self.everything(), before)

    def test_kinds_that_are_gone_stay_with_the_last_release_that_had_them(self):
        self.take_both()
        things = self.read("things.v1")
        self.assertEqual(things["release"], "1.37.0")
        self.assertEqual([(kind["kind"], kind.get("former"), kind.get("retired")) for kind in things["kinds"]],
                         [("Thing", None, None), ("ThingList", None, None), ("Gadget", "1.36.4", True)])
        self.assertIn("GadgetSpec", things["types"])
        # A former kind uses the present form of the types that are still there.
        self.assertEqual(things["types"]["ThingSpec"][-1]["name"], "weight")
        gone = self.read("gone.v1")
        self.assertEqual(gone["release"], "1.36.4")
        self.assertTrue(all(kind["retired"] for kind in gone["kinds"]))

    def test_the_report_names_each_difference(self):
        text = self.take_both()
        self.assertIn("- New fields:\n  - `things/v1`: `ThingSpec.weight`\n", text)
        self.assertIn("stay, for older clusters:\n  - `gone/v1`: `Thing`\n  - `things/v1`: `Gadget`\n", text)

    def test_history_reads_the_last_patch_release_of_each_minor_one_from_tags(self):
        self.take_both()
        expected = self.everything()
        repository = self.folder / "repository"
        git = lambda *arguments: subprocess.run(
            ["git", "-C", repository, "-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false",
             "-c", "tag.gpgsign=false", *arguments], check=True, capture_output=True)
        repository.mkdir()
        git("init", "-q")
        for tag, files in (("v1.36.3", {"README": "not a release that can be read"}),
                           ("v1.36.4", tree.files(first=True)), ("v1.37.0", tree.files(first=False))):
            git("rm", "-rq", "--ignore-unmatch", ".")
            self.write("repository", files)
            git("add", "-A")
            git("commit", "-qm", tag)
            git("tag", tag)
        for file in self.schema.iterdir():
            file.unlink()
        self.take(repository, "--since", "v1.36")     # the work tree's tag says which release it is
        self.assertEqual(self.everything(), expected)

    def test_an_input_that_cannot_be_represented_is_an_error_that_names_the_field(self):
        files = tree.files(first=True)
        path = "staging/src/k8s.io/api/things/v1/generated.proto"
        files[path] = files[path].replace("optional int32 red", "optional int64 red")
        done = self.run_import(self.write("first", files), "--release", "v1.36.4")
        self.assertIn("things/v1.Colour.red: Go has None int32, .proto has None int64", done.stderr)
        self.assertEqual(done.returncode, 1)
        self.assertFalse(self.schema.exists())

    def test_a_release_without_a_name_is_an_error_that_says_how_to_name_it(self):
        done = self.run_import(self.write("first", tree.files(first=True)))
        self.assertIn("name its release, as in --release v1.37.0", done.stderr)


if __name__ == "__main__":
    unittest.main()
