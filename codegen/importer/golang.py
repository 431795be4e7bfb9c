"""Reads the type declarations and registrations of upstream's Go packages."""

import re

from .names import BUILTINS, GO_SCALARS, Problem


class GoPackage:
    """The type declarations of one Go package, unresolved.

    Upstream's sources are gofmt'ed, so a line-based reader is enough: a declaration starts in column 0 and a struct
    ends with a } there. A line that it does not understand is an error when its type is used: packages have types
    that nobody serializes.
    """

    def __init__(self, folder):
        self.structs = {}      # name -> (fields, markers)
        self.defined = {}      # name -> (type expression, is alias, imports)
        self.text = ""
        for file in sorted(folder.glob("*.go")):
            if file.name.endswith("_test.go") or "generated" in file.name:
                continue
            text = file.read_text(encoding="utf-8")
            if re.search(r"^//go:build (?!!)", text, re.M):
                continue    # variants behind a build tag; the other files describe the default build
            self.text += text
            self.parse(text)

    @staticmethod
    def imports(text):
        found = {}
        block = re.search(r"^import \((.*?)^\)", text, re.M | re.S)
        lines = block.group(1) if block else "\n".join(re.findall(r"^import (.*)$", text, re.M))
        for alias, path in re.findall(r'^\s*(?:([\w.]+)\s+)?"([^"]+)"', lines, re.M):
            found[alias or path.rsplit("/", 1)[-1]] = path
        return found

    def parse(self, text):
        imports = self.imports(text)
        comments, fields = [], None
        in_block_comment = False
        for line in text.splitlines():
            if in_block_comment:
                in_block_comment = "*/" not in line
                continue
            stripped = line.strip()
            if stripped.startswith("/*"):
                in_block_comment = "*/" not in stripped
                continue
            if stripped.startswith("//"):
                comments.append(stripped[2:].strip())
                continue
            if not stripped:
                if fields is not None:
                    comments = []    # a field's markers stand directly above it; blank lines may follow a type's
                continue
            if fields is not None:
                if line == "}":
                    fields = None
                else:
                    fields.append((stripped, markers(comments), imports))
            else:
                fields = self.declaration(line, markers(comments), imports)
            comments = []

    def declaration(self, line, found, imports):
        """The list to fill with the fields of the struct that begins in this line, or None."""
        match = re.match(r"^type (\w+) struct ?\{(\})?", line)
        if match:
            body = []
            self.structs[match.group(1)] = (body, found)
            return None if match.group(2) else body
        match = re.match(r"^type (\w+) (= )?([^{]+)$", line)
        if match:
            self.defined[match.group(1)] = (match.group(3).strip(), bool(match.group(2)), imports)
        return None


def markers(comments):
    """{name: [values]} of the +name=value lines of a comment."""
    found = {}
    for line in comments:
        match = re.match(r"^\+([\w:.-]+)(?:=(.*))?$", line)
        if match:
            found.setdefault(match.group(1), []).append((match.group(2) or "").strip().strip('"'))
    return found


class GoField:
    """A line of a struct. An embedded field has no Go name.

    Embedded structs are inlined: their tag has no JSON name, whether it says `json:",inline"` or `json:""`.
    """

    def __init__(self, line, where):
        match = re.match(
            r"^(?:(\w+)\s+)?((?:\*|\[\]|map\[[\w.]+\])*[\w.]+(?:\{\})?)\s*(?:`(.*)`)?\s*(?://.*)?$", line)
        if not match:
            raise Problem(f"{where}: cannot read: {line}")
        self.name, self.type = match.group(1), match.group(2)
        self.tags = dict(re.findall(r'(\w+):"([^"]*)"', match.group(3) or ""))
        self.json_name, *flags = self.tags.get("json", "").split(",")
        self.has_json = "json" in self.tags
        self.inline = "inline" in flags or (self.name is None and self.has_json and not self.json_name)
        self.omit_zero = "omitzero" in flags
        self.keep = not {"omitempty", "omitzero"} & set(flags)

    def is_type_meta(self):
        return self.inline and self.type.rsplit(".", 1)[-1] == "TypeMeta"


class Go:
    """Go packages below a GOPATH src folder, read when they are needed."""

    def __init__(self, root, protos):
        self.root = root
        self.protos = protos
        self.loaded = {}

    def package(self, path):
        if path not in self.loaded:
            folder = self.root / path
            if not folder.is_dir():
                raise Problem(f"{path}: no Go source in {self.root}")
            self.loaded[path] = GoPackage(folder)
        return self.loaded[path]

    def resolve(self, text, path, imports):
        """(shape, type) of a Go type expression; type is a scalar, a builtin or (path, name)."""
        where = f"{path}: {text}"
        if text == "[]byte":
            return None, "bytes"
        if text.startswith("*"):
            shape, element = self.resolve(text[1:], path, imports)
            if shape:
                raise Problem(f"{where}: pointer to a {shape}")
            return "pointer", element
        if text.startswith("[]"):
            shape, element = self.resolve(text[2:], path, imports)
            if shape not in (None, "pointer"):
                raise Problem(f"{where}: list of {shape}s")
            return "list", element
        match = re.match(r"^map\[([\w.]+)\](.+)$", text)
        if match:
            if self.resolve(match.group(1), path, imports) != (None, "string"):
                raise Problem(f"{where}: map with a key that is no string")
            shape, element = self.resolve(match.group(2), path, imports)
            if shape:
                raise Problem(f"{where}: map of {shape}s")
            return "map", element
        if text in GO_SCALARS:
            return None, GO_SCALARS[text]
        if "." in text:
            alias, name = text.split(".")
            return self.resolve_named(imports[alias], name)
        return self.resolve_named(path, text)

    def resolve_named(self, path, name):
        if (path, name) in BUILTINS:
            return None, BUILTINS[path, name]
        package = self.package(path)
        if name in package.structs:
            return None, (path, name)
        if name not in package.defined:
            raise Problem(f"{path}.{name}: no such type (or an integer width that is not mapped)")
        text, alias, imports = package.defined[name]
        shape, element = self.resolve(text, path, imports)
        if name in self.protos.get(path, {}) and not alias:
            # A slice that protobuf wraps into a message of its own.
            if (shape, element) == ("list", "string"):
                return None, "Strings"
            if shape is None and isinstance(element, tuple):
                return None, (path, name)     # `type A other.B`: a separate message with B's fields
            raise Problem(f"{path}.{name}: message made of {shape} {element}")
        return shape, element

    def is_alias(self, path, name):
        return self.package(path).defined.get(name, (None, False))[1]

    def fields(self, path, name):
        """The struct's lines and markers, following `type A other.B` to B, and the path they are in."""
        package = self.package(path)
        if name in package.structs:
            return package.structs[name] + (path,)
        text, _, imports = package.defined[name]
        _, element = self.resolve(text, path, imports)
        return self.fields(*element)

    def kinds(self, path):
        """[(kind, registration)]: registration is own, unversioned or every (group version)."""
        text = re.sub(r"//.*", "", self.package(path).text)
        lists = {name: re.findall(r"&(\w+)\{\}", body) for name, body in
                 re.findall(r"^var (\w+) = \[\]runtime\.Object\{(.*?)^\}", text, re.M | re.S)}
        result = {}
        for name in re.findall(r"AddKnownTypeWithName\(groupVersion\.WithKind\(\w+\), &(\w+)\{\}\)", text):
            result[name] = "every"
        for target, body in re.findall(r"\.Add(?:KnownTypes|UnversionedTypes)\(\s*(\w+),([^()]*)\)", text):
            names = re.findall(r"&(\w+)\{\}", body)
            for variable in re.findall(r"(\w+)\.\.\.", body):
                names += lists[variable]
            how = {"groupVersion": "every", "Unversioned": "unversioned"}.get(target, "own")
            for name in names:
                result.setdefault(name, how)
        return list(result.items())

    def group(self, path):
        return re.search(r'^const GroupName = "([^"]*)"', self.package(path).text, re.M).group(1)
