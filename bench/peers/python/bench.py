"""Lists all pods once with the Python client, and prints the cost as a JSON line."""

import gc
import json
import resource
import time

import kubernetes


def status_kb(name):
    with open("/proc/self/status", encoding="ascii") as lines:
        for line in lines:
            if line.startswith(name + ":"):
                return int(line.split()[1])
    return 0


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def main():
    kubernetes.config.load_kube_config()
    client = kubernetes.client.CoreV1Api()
    base, start, used = status_kb("VmRSS"), time.monotonic(), cpu_seconds()
    pods = client.list_pod_for_all_namespaces()
    wall, cpu, peak = time.monotonic() - start, cpu_seconds() - used, status_kb("VmHWM")
    gc.collect()
    print(json.dumps({
        "impl": "python", "bench": "list", "mode": "json", "version": kubernetes.__version__,
        "pods": len(pods.items), "wall_s": round(wall, 6), "cpu_s": round(cpu, 6),
        "base_rss_kb": base, "rss_kb": status_kb("VmRSS"), "peak_rss_kb": peak,
    }))


if __name__ == "__main__":
    main()
