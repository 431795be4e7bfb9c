// Lists all pods once with the npm client, and prints the cost as a JSON line.
const fs = require('node:fs');
const path = require('node:path');

const modules = path.join(process.env.KUBEXX_NODE_MODULES, '@kubernetes', 'client-node');
const version = JSON.parse(fs.readFileSync(path.join(modules, 'package.json'))).version;

function statusKb(name) {
  const found = fs.readFileSync('/proc/self/status', 'ascii').match(new RegExp(`^${name}:\\s+(\\d+)`, 'm'));
  return found ? Number(found[1]) : 0;
}

function cpuSeconds() {
  const usage = process.cpuUsage();
  return (usage.user + usage.system) / 1e6;
}

async function main() {
  const k8s = await import(path.join(modules, 'dist', 'index.js'));
  const config = new k8s.KubeConfig();
  config.loadFromDefault();
  const client = config.makeApiClient(k8s.CoreV1Api);
  const base = statusKb('VmRSS');
  const [start, used] = [process.hrtime.bigint(), cpuSeconds()];
  const answer = await client.listPodForAllNamespaces();
  const pods = answer.body ?? answer;
  const wall = Number(process.hrtime.bigint() - start) / 1e9;
  const [cpu, peak] = [cpuSeconds() - used, statusKb('VmHWM')];
  global.gc?.();
  console.log(JSON.stringify({
    impl: 'node', bench: 'list', mode: 'json', version, pods: pods.items.length, wall_s: wall, cpu_s: cpu,
    base_rss_kb: base, rss_kb: statusKb('VmRSS'), peak_rss_kb: peak,
  }));
}

main().then(() => process.exit(0), (error) => {
  console.error(error);
  process.exit(1);
});
