"""Run by gdb in the program of objects.cc, after the printers were loaded: fails if a value is not shown as expected."""

import os
import sys
import traceback

import gdb

failed = []


def shown(expression):
    return gdb.parse_and_eval(expression).format_string()


def expect(expression, text):
    got = shown(expression)
    if got != text:
        failed.append("%s is shown as\n  %s\nbut expected is\n  %s" % (expression, got, text))


def expect_in(expression, got, *texts):
    for text in texts:
        if text not in got:
            failed.append("%s lacks %s:\n%s" % (expression, text, got))


def expect_not_in(expression, got, *texts):
    for text in texts:
        if text in got:
            failed.append("%s should not show %s:\n%s" % (expression, text, got))


gdb.execute("set pagination off")
gdb.execute("set confirm off")
gdb.execute("set print address off")
gdb.execute("set startup-with-shell off")
gdb.execute("break look")
try:
    gdb.execute("run")
except gdb.error as error:
    if "ptrace" not in str(error).lower() and "not permitted" not in str(error).lower():
        raise
    print("skipped: gdb is not allowed to run a program here: %s" % error)
    sys.stdout.flush()
    os._exit(77)


def check():
    expect("pod.metadata.name", '"web-1"')
    expect("pod.metadata.namespace_", '""')
    expect("pod.metadata.labels", 'map of 2 = {["app"] = "web", ["tier"] = "front"}')
    expect("pod.metadata.creationTimestamp", "2024-01-02T03:04:05Z")
    expect("pod.status", "absent")
    expect("order.items", 'list of 2 = {"tea", "jam"}')
    expect("order", 'shop::Order = {customer = "Ann", items = list of 2 = {"tea", "jam"}, priority = 3}')
    expect("value", 'map of 2 = {["on"] = true, ["sizes"] = list of 2 = {1, 2.5}}')
    expect("any", "AnyObject of Pod")

    pod = shown("pod")
    expect_in("pod", pod, 'nodeName = "node-7"', "activeDeadlineSeconds = 30", "list of 1", '["cpu"] = 500m',
              'port = "http"', 'image = "nginx"')
    expect_not_in("pod", pod, "block_", "serviceAccountName", "tolerations", "_M_payload")

    yaml = gdb.execute("kubexx-yaml pod", to_string=True)
    expect_in("kubexx-yaml pod", yaml, "kind: Pod\n", "  name: web-1\n", "    port: http\n")
    expect_in("kubexx-yaml order", gdb.execute("kubexx-yaml order", to_string=True), "customer: Ann\n")
    expect_in("kubexx-yaml pod.spec", gdb.execute("kubexx-yaml pod.spec", to_string=True), "nodeName: node-7\n")
    expect_in("kubexx-yaml value", gdb.execute("kubexx-yaml value", to_string=True), '"on": true\n')
    expect_in("kubexx-yaml any", gdb.execute("kubexx-yaml any", to_string=True), "kind: Pod\n")
    secret = gdb.execute("kubexx-yaml secret", to_string=True)
    expect_in("kubexx-yaml secret", secret, "password: 7 bytes\n")
    expect_not_in("kubexx-yaml secret", secret, "hunter2", "aHVudGVyMg")


try:
    check()
except Exception:  # gdb itself would continue and exit with 0
    failed.append(traceback.format_exc())
gdb.execute("kill")
print("\n\n".join(failed) if failed else "all values are shown as expected")
sys.stdout.flush()
os._exit(1 if failed else 0)
