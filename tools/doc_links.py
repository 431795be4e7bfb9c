#!/usr/bin/env python3
"""Checks and repairs links between the documents.

doc_links.py           checks that every relative link in a Markdown file leads to a file, and to a heading if it names
                       one, and that the sources that a document names exist, also in pictures; prints errors, and fails
                       if there are any
doc_links.py <folder>  repairs the same links in Doxygen's HTML, where only links to pages work: makes them lead to the
                       heading, or to the file in the checkout

Anchors are GitHub's: a heading in lower case, without punctuation, with hyphens for blanks.
"""

import html
import os
import re
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def documents():
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate", "--", "*.md"],
        cwd=TOP, check=True, capture_output=True, text=True).stdout.splitlines()
    return [name for name in listed if os.path.isfile(os.path.join(TOP, name))]


def text_of(name):
    with open(os.path.join(TOP, name), encoding="utf-8") as file:
        return re.sub(r"^```.*?^```", "", file.read(), flags=re.S | re.M)


def slug(heading):
    heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def slugs(name):
    return [slug(found) for found in re.findall(r"^#+ (.*)$", text_of(name), flags=re.M)]


def is_relative(link):
    return not re.match(r"[a-z]+:", link)


def target_of(source, link):
    """Returns the file, relative to the top folder, and the anchor."""
    path, _, anchor = link.partition("#")
    if not path:
        return source, anchor
    return os.path.normpath(os.path.join(os.path.dirname(source), path)), anchor


def missing_files(source):
    """Returns the sources that a document names but that do not exist. The changelog may name former ones."""
    if source == "CHANGELOG.md":
        return []
    with open(os.path.join(TOP, source), encoding="utf-8") as file:
        named = re.findall(r"(?<![\w./-])(?:kube|cmd|codegen|examples|bench|fuzz|test|tools|cmake)/[\w/.-]+"
                           r"\.(?:h|cc|py|sh|cmake)\b(?!\.\w)", file.read())
    return sorted({name for name in named if not os.path.exists(os.path.join(TOP, name))})


def check():
    bad = 0
    for source in documents():
        for name in missing_files(source):
            print(f"{source}: {name} does not exist")
            bad += 1
        for link in re.findall(r"\]\(([^)\s]+)\)", text_of(source)):
            if not is_relative(link):
                continue
            target, anchor = target_of(source, link)
            if target.startswith("..") or not os.path.exists(os.path.join(TOP, target)):
                print(f"{source}: {link}: {target} does not exist")
            elif anchor and (not target.endswith(".md") or anchor not in slugs(target)):
                print(f"{source}: {link}: {target} has no heading with this anchor")
            else:
                continue
            bad += 1
    return bad


def headings_in(page):
    """Maps the slugs of a page of HTML to Doxygen's names for them."""
    found = re.findall(r'<h\d><a class="anchor" id="([^"]+)"></a>\s*(.*?)</h\d>', page, flags=re.S)
    return {slug(html.unescape(re.sub(r"<[^>]+>", "", text))): name for name, text in found}


def mend(folder):
    pages = {"docs/README.md": "index.html"}
    for name in documents():
        mangled = "md_" + re.sub(r"[/-]", "_", name.removesuffix(".md")) + ".html"
        if os.path.isfile(os.path.join(folder, mangled)):
            pages.setdefault(name, mangled)
    contents = {}
    for page in pages.values():
        with open(os.path.join(folder, page), encoding="utf-8") as file:
            contents[page] = file.read()
    for source, page in pages.items():
        def mended(match, source=source):
            link = html.unescape(match[1])
            if not is_relative(link) or link.startswith("#") or os.path.exists(os.path.join(folder, link.split("#")[0])):
                return match[0]
            target, anchor = target_of(source, link)
            if target in pages:
                name = headings_in(contents[pages[target]]).get(anchor)
                link = pages[target] + (f"#{name}" if name else "")
            elif os.path.exists(os.path.join(TOP, target)):
                link = os.path.relpath(os.path.join(TOP, target), folder)
            return f'href="{html.escape(link)}"'
        text = re.sub(r'href="([^"]+)"', mended, contents[page])
        with open(os.path.join(folder, page), "w", encoding="utf-8") as file:
            file.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(1 if (mend(sys.argv[1]) if len(sys.argv) > 1 else check()) else 0)
