"""Shows values of kubexx in gdb: strings, lists, maps and objects as readable text, without absent fields.

    (gdb) source /usr/share/kubexx/gdb/kubexx.py      (or in ~/.gdbinit)
    (gdb) print pod.metadata.name                     "web-1"
    (gdb) print pod                                   the fields that are set
    (gdb) kubexx-yaml pod                             the object as YAML; runs code in the program

`print` reads memory, so it works on core dumps, too. It shows the values of secrets; kubexx-yaml hides them.
"""

import datetime
import re

import gdb
import gdb.printing

BOXED_ABOVE = 224  # kube/base/list.h
COUNT_MASK = (1 << 27) - 1  # kube/base/internal/block.h


def payload(block):
    """The address of a block's contents; 0 if there is no block."""
    at = int(block)
    return at + 8 if at else 0


def size_of(block):
    return int(block.dereference()["size"]) if int(block) else 0


def read_text(string):
    block = string["block_"]
    at = payload(block)
    if not at:
        return ""
    return bytes(gdb.selected_inferior().read_memory(at, size_of(block))).decode("utf-8", "replace")


def items_of(items):
    """The elements of a List."""
    block = items["block_"]
    kind = items.type.strip_typedefs().template_argument(0).strip_typedefs()
    at = payload(block)
    if kind.sizeof > BOXED_ABOVE:
        boxes = gdb.Value(at).cast(block.type.pointer())
        for i in range(size_of(block) & COUNT_MASK):
            yield gdb.Value(payload(boxes[i])).cast(kind.pointer()).dereference()
    else:
        slots = gdb.Value(at).cast(kind.pointer())
        for i in range(size_of(block) & COUNT_MASK):
            yield slots[i]


class StringPrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        at = payload(self.value["block_"])
        if not at:
            return ""
        text = gdb.Value(at).cast(gdb.lookup_type("char").pointer())
        return text.lazy_string(length=size_of(self.value["block_"]))

    def display_hint(self):
        return "string"


class ListPrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        return "list of %d" % (size_of(self.value["block_"]) & COUNT_MASK)

    def children(self):
        for i, item in enumerate(items_of(self.value)):
            yield "[%d]" % i, item

    def display_hint(self):
        return "array"


class MapPrinter:
    def __init__(self, value):
        self.entries = value["entries_"]

    def to_string(self):
        return "map of %d" % (size_of(self.entries["block_"]) & COUNT_MASK)

    def children(self):
        for i, entry in enumerate(items_of(self.entries)):
            yield "key %d" % i, entry["key"]
            yield "value %d" % i, entry["value"]

    def display_hint(self):
        return "map"


def shared_value(value):
    kind = value.type.strip_typedefs().template_argument(0)
    return gdb.Value(payload(value["block_"])).cast(kind.pointer()).dereference()


class SharedPrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        return shared_value(self.value) if int(self.value["block_"]) else "absent"


class TextPrinter:
    """A value that is shown as text without quotes."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        return self.text() or "absent"


class QuantityPrinter(TextPrinter):
    def text(self):
        return read_text(self.value["text_"]) or "0"


class RawPrinter(TextPrinter):
    def text(self):
        return read_text(self.value["raw"])


class IntOrStringPrinter(TextPrinter):
    def text(self):
        if bool(self.value["isString_"]):
            return '"%s"' % read_text(self.value["text_"])
        return str(int(self.value["number_"]))


def instant(microseconds, digits):
    if microseconds == 0:
        return ""
    try:
        at = datetime.datetime(1, 1, 1) + datetime.timedelta(microseconds=microseconds)
    except OverflowError:
        return "%d us since year 1" % microseconds
    return at.isoformat(timespec="microseconds" if digits else "seconds") + "Z"


class TimePrinter(TextPrinter):
    def text(self):
        return instant(int(self.value["seconds_"]) * 1000000, False)


class MicroTimePrinter(TextPrinter):
    def text(self):
        return instant(int(self.value["micros_"]), True)


class DurationPrinter(TextPrinter):
    def text(self):
        return "%gs" % (int(self.value["nanos_"]) / 1e9)


class ValuePrinter:
    MEMBERS = (None, None, "int_", "double_", "string_", "array_", "object_")

    def __init__(self, value):
        self.value = value

    def to_string(self):
        kind = int(self.value["type_"])
        if kind == 0:
            return "null"
        if kind == 1:
            return "true" if int(self.value["int_"]) else "false"
        return self.value[self.MEMBERS[kind]]


def optional_value(value):
    """The value of a std::optional of libstdc++ or libc++; None if it is empty."""
    try:
        payload_ = value["_M_payload"]
        return payload_["_M_payload"]["_M_value"] if bool(payload_["_M_engaged"]) else None
    except gdb.error:
        return value["__val_"] if bool(value["__engaged_"]) else None


def is_absent(value):
    kind = value.type.strip_typedefs()
    name = kind.name or ""
    if name.startswith("std::optional<"):
        return optional_value(value) is None
    if kind.code in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_BOOL, gdb.TYPE_CODE_FLT, gdb.TYPE_CODE_ENUM):
        return value == 0
    if name == "kube::Value":
        return int(value["type_"]) == 0
    if kind.code == gdb.TYPE_CODE_STRUCT:
        return all(is_absent(value[field]) for field in kind.fields() if hasattr(field, "bitpos"))
    if kind.code == gdb.TYPE_CODE_PTR:
        return int(value) == 0
    return False


class ObjectPrinter:
    """An API object or a part of one: shows the fields that are set."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        kind = self.value.type.strip_typedefs().unqualified()
        return kind.name

    def children(self):
        for field in self.value.type.strip_typedefs().fields():
            if not hasattr(field, "bitpos"):
                continue  # static
            member = self.value[field]
            if is_absent(member):
                continue
            kind = member.type.strip_typedefs()
            if (kind.name or "").startswith("std::optional<"):
                member = optional_value(member)
            yield field.name or kind.name, member


class AnyObjectPrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        name = self.value["type_"].dereference()["name"]
        text = bytes(gdb.selected_inferior().read_memory(int(name["_M_str"]), int(name["_M_len"])))
        return "AnyObject of " + text.decode("utf-8", "replace")


PRINTERS = (
    (r"^kube::(String|Bytes)$", StringPrinter),
    (r"^kube::(List<.*>|Strings)$", ListPrinter),
    (r"^kube::Map<.*>$", MapPrinter),
    (r"^kube::Shared<.*>$", SharedPrinter),
    (r"^kube::Quantity$", QuantityPrinter),
    (r"^kube::IntOrString$", IntOrStringPrinter),
    (r"^kube::RawExtension$", RawPrinter),
    (r"^kube::Time$", TimePrinter),
    (r"^kube::MicroTime$", MicroTimePrinter),
    (r"^kube::Duration$", DurationPrinter),
    (r"^kube::Value$", ValuePrinter),
    (r"^kube::AnyObject$", AnyObjectPrinter),
    (r"^kube::[a-z0-9]+v[0-9][a-z0-9]*::[A-Za-z0-9_]+$", ObjectPrinter),
)


class Printers:
    """Finds the printer of a type by its name. Types outside of kubexx are printed as objects if they have a table."""

    def __init__(self):
        self.name = "kubexx"
        self.enabled = True
        self.subprinters = None
        self.known = [(re.compile(pattern), printer) for pattern, printer in PRINTERS]
        self.described = {}

    def __call__(self, value):
        if value.type.strip_typedefs().code == gdb.TYPE_CODE_REF:
            value = value.referenced_value()
        kind = value.type.strip_typedefs().unqualified()
        name = kind.name
        if name is None or kind.code != gdb.TYPE_CODE_STRUCT:
            return None
        for pattern, printer in self.known:
            if pattern.match(name):
                if name == "kube::Strings":
                    value = value.cast(kind.fields()[0].type)
                return printer(value)
        if name.startswith(("std::", "kube::", "fmt::")):
            return None
        if name not in self.described:
            self.described[name] = has_table(name)
        return ObjectPrinter(value) if self.described[name] else None


def table_of(name):
    return "kube::TypeOf<%s>::info" % name


def has_table(name):
    try:
        gdb.parse_and_eval("(char*)&'%s'" % table_of(name))
        return True
    except gdb.error:
        return False


class YamlCommand(gdb.Command):
    """kubexx-yaml EXPRESSION: shows an object as YAML, without its secrets.

It calls kube::debugText in the program, which must run and be linked with that function."""

    def __init__(self):
        super().__init__("kubexx-yaml", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    def invoke(self, argument, from_tty):
        value = gdb.parse_and_eval(argument)
        kind = value.type.strip_typedefs()
        if kind.code == gdb.TYPE_CODE_REF:
            value = value.referenced_value()
        elif kind.code == gdb.TYPE_CODE_PTR:
            value = value.dereference()
        kind = value.type.strip_typedefs().unqualified()
        if (kind.name or "").startswith("kube::Shared<"):
            value = shared_value(value)
            kind = value.type.strip_typedefs().unqualified()
        call = "((const char*(*)(const void*%s))&'kube::debugText(%s)')(%s)"
        at = "(const void*)%d" % int(value.address)
        try:
            if kind.name in ("kube::AnyObject", "kube::Value"):
                text = gdb.parse_and_eval(call % ("", kind.name + " const&", at))
            else:
                text = gdb.parse_and_eval(call % (", const void*", "kube::TypeInfo const&, void const*",
                                                  "(const void*)&'%s', %s" % (table_of(kind.name), at)))
        except gdb.error as error:
            raise gdb.GdbError("%s cannot be shown: %s" % (kind.name, error))
        gdb.write(text.string())


gdb.printing.register_pretty_printer(None, Printers(), replace=True)
YamlCommand()
