#!/usr/bin/env python3
"""Checks .github, .devcontainer and .pre-commit-config.yaml, as far as that is possible without GitHub.

Workflows: their structure, actions pinned by commit, scripts that bash can parse and that do not contain expressions
(`${{ }}` in a script runs text of strangers), and files and ./dev commands that exist. Issue forms: the structure that
GitHub requires. All: the files that they name. actionlint checks more; tools/lint.sh runs it if it is installed.
"""

import glob
import json
import os
import re
import subprocess
import sys

try:
    import yaml
except ImportError:
    print("lint: PyYAML is not installed, the checks of .github are skipped")
    sys.exit(0)

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
problems = []


def problem(where, text):
    problems.append(f"{where}: {text}")


def load(path):
    """Parses YAML. Keys stay text: YAML 1.1 would read `on:` as true."""
    loader = type("Loader", (yaml.SafeLoader,), {})
    loader.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in rules if tag != "tag:yaml.org,2002:bool"]
        for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()}
    with open(path, encoding="utf-8") as file:
        return yaml.load(file, Loader=loader)


def keys(where, node, required, allowed):
    if not isinstance(node, dict):
        problem(where, "expected a mapping")
        return False
    for key in required - node.keys():
        problem(where, f"{key} is missing")
    for key in node.keys() - required - allowed:
        problem(where, f"unknown key {key}")
    return True


def exists(where, path):
    if not os.path.exists(path):
        problem(where, f"{path} does not exist")


with open(os.path.join(TOP, "dev"), encoding="utf-8") as file:
    COMMANDS = set(re.findall(r"^cmd_(\w+)\(\)", file.read(), flags=re.M))


def script(where, text):
    if "${{" in text:
        problem(where, "an expression in a script: pass it by env")
    parsed = subprocess.run(["bash", "-n"], input=text, text=True, capture_output=True, check=False)
    if parsed.returncode:
        problem(where, parsed.stderr.strip())
    for command in re.findall(r"\./dev (\w+)", text):
        if command not in COMMANDS:
            problem(where, f"./dev has no command {command}")
    for path in re.findall(r"(?<![\w./])(\.ci/\w+|(?:tools|test)/[\w./-]+)", text):
        exists(where, path)


STEP = {"name", "id", "if", "env", "uses", "with", "run", "shell", "working-directory", "continue-on-error",
        "timeout-minutes"}
JOB = {"name", "needs", "if", "env", "container", "services", "strategy", "outputs", "permissions", "concurrency",
       "continue-on-error", "defaults"}


def workflow(path):
    node = load(path)
    if not keys(path, node, {"name", "on", "permissions", "jobs"}, {"env", "concurrency", "defaults", "run-name"}):
        return
    with open(path, encoding="utf-8") as file:
        pinned = set(re.findall(r"uses: (\S+@[0-9a-f]{40})  # v\d", file.read()))
    for name, job in node.get("jobs", {}).items():
        where = f"{path}: job {name}"
        if not keys(where, job, {"runs-on", "steps", "timeout-minutes"}, JOB):
            continue
        rows = job.get("strategy", {}).get("matrix", {}).get("include", [])
        for used in re.findall(r"matrix\.(\w+)", json.dumps(job)):
            if not rows or any(used not in row for row in rows):
                problem(where, f"matrix.{used} is not set in every row")
        for number, step in enumerate(job.get("steps", []), 1):
            at = f"{where}: step {number}"
            if not keys(at, step, set(), STEP):
                continue
            if ("uses" in step) == ("run" in step):
                problem(at, "expected either uses or run")
            if "run" in step:
                script(at, step["run"])
            elif not step.get("uses", "").startswith(("./", "docker://")) and step.get("uses") not in pinned:
                problem(at, f"{step.get('uses')}: expected a commit, and its version as a comment (`  # v1.2.3`)")


ELEMENTS = {"markdown": {"value"}, "textarea": {"label"}, "input": {"label"}, "dropdown": {"label", "options"},
            "checkboxes": {"label", "options"}}


def issue_form(path):
    node = load(path)
    if not keys(path, node, {"name", "description", "body"}, {"title", "labels", "assignees", "projects", "type"}):
        return
    ids = [element.get("id") for element in node["body"] if "id" in element]
    if len(ids) != len(set(ids)):
        problem(path, "two elements have the same id")
    for number, element in enumerate(node["body"], 1):
        at = f"{path}: element {number}"
        if not keys(at, element, {"type", "attributes"}, {"id", "validations"}):
            continue
        if element.get("type") not in ELEMENTS:
            problem(at, f"unknown type {element.get('type')}")
            continue
        for key in ELEMENTS[element["type"]] - element["attributes"].keys():
            problem(at, f"attributes.{key} is missing")


def main():
    os.chdir(TOP)
    for path in sorted(glob.glob(".github/workflows/*.yml")):
        workflow(path)
    for path in sorted(glob.glob(".github/ISSUE_TEMPLATE/*.yml")):
        if os.path.basename(path) == "config.yml":
            keys(path, load(path), set(), {"blank_issues_enabled", "contact_links"})
        else:
            issue_form(path)
    keys(".github/dependabot.yml", load(".github/dependabot.yml"), {"version", "updates"}, {"registries"})
    for repository in load(".pre-commit-config.yaml")["repos"]:
        for hook in repository["hooks"]:
            keys(f".pre-commit-config.yaml: {hook.get('id')}", hook, {"id", "name", "language", "entry"},
                 {"types", "types_or", "files", "exclude", "pass_filenames"})
            for path in re.findall(r"tools/[\w./-]+", hook.get("entry", "")):
                exists(".pre-commit-config.yaml", path)
    with open(".devcontainer/devcontainer.json", encoding="utf-8") as file:
        container = json.loads(re.sub(r"^\s*//.*$", "", file.read(), flags=re.M))
    exists(".devcontainer/devcontainer.json", os.path.join(".devcontainer", container["build"]["dockerfile"]))
    script(".devcontainer/devcontainer.json", container.get("postCreateCommand", ""))
    for text in problems:
        print(text)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
