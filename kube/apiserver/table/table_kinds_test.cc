// No threads.
// The cells of every kind with columns of its own: one case for each, and special cases.
#include <gtest/gtest.h>

#include <ostream>

#include "kube/api/registry.h"
#include "kube/api/storage/v1.h"
#include "kube/apiserver/table/table.h"
#include "kube/apiserver/table/table_testing.h"
#include "kube/codec/json.h"
#include "kube/codec/unstructured.h"
#include "kube/codec/yaml.h"

namespace kube::apiserver {
namespace {

struct KindCase {
  std::string
      object;  // YAML, without name and creation time, which is four hours before kTableTime
  std::string columns;   // those of priority 1 in parentheses
  std::string expected;  // cells
};

void PrintTo(const KindCase& test, std::ostream* out) { *out << test.object; }

class KindTableTest : public ::testing::TestWithParam<KindCase> {};

TEST_P(KindTableTest, ShowsTheObject) {
  Value value = parseYaml(GetParam().object);
  value["metadata"]["name"] = "x";
  value["metadata"]["creationTimestamp"] = "2024-01-11T08:00:00Z";
  const Unstructured dynamic(value);
  const TypeInfo* type = builtInKind(dynamic.apiVersion(), dynamic.kind());
  ASSERT_NE(type, nullptr);
  AnyObject object(*type);
  fromUnstructured(*type, object.data(), dynamic, {.strict = true});

  const metav1::Table table = TableFormat(*type).object(object, {.now = kTableTime});
  std::string columns;
  for (const auto& column : table.columnDefinitions) {
    if (!columns.empty()) columns += '|';
    columns += column.priority == 0 ? column.name.str() : "(" + column.name.str() + ")";
  }
  EXPECT_EQ(columns, GetParam().columns);
  std::string cells;
  for (const RawExtension& cell : table.rows[0].cells) {
    const Value content = parseJson(cell.raw);
    if (!cells.empty()) cells += '|';
    cells += content.isString() ? content.asString().str() : cell.raw.str();
  }
  EXPECT_EQ(cells, GetParam().expected);
}

#define KIND(apiVersion, kind) "apiVersion: " apiVersion "\nkind: " kind "\n"

INSTANTIATE_TEST_SUITE_P(
    Core, KindTableTest,
    ::testing::Values(
        KindCase{KIND("v1", "Namespace"), "Name|Status|Age", "x|Active|4h"},
        KindCase{KIND("v1", "Namespace") "status: {phase: Terminating}", "Name|Status|Age",
                 "x|Terminating|4h"},
        KindCase{KIND("v1", "ConfigMap") "data: {a: b}\nbinaryData: {c: ZA==}", "Name|Data|Age",
                 "x|2|4h"},
        KindCase{KIND("v1", "Secret") "type: kubernetes.io/tls\ndata: {a: ZA==}",
                 "Name|Type|Data|Age", "x|kubernetes.io/tls|1|4h"},
        KindCase{KIND("v1", "ServiceAccount"), "Name|Age", "x|4h"},
        KindCase{KIND("v1", "LimitRange"), "Name|Created At", "x|2024-01-11T08:00:00Z"},
        KindCase{KIND("v1", "ResourceQuota") "status: {hard: {cpu: '4', limits.memory: 8Gi, pods: "
                                             "10}, used: {cpu: 500m, pods: 2}}",
                 "Name|Request|Limit|Age", "x|cpu: 500m/4, pods: 2/10|limits.memory: 0/8Gi|4h"},
        KindCase{KIND("v1", "ComponentStatus") "conditions: [{type: Healthy, status: 'False', "
                                               "message: m, error: e}]",
                 "Name|Status|Message|Error", "x|Unhealthy|m|e"},
        KindCase{KIND("v1", "PodTemplate") "template: {metadata: {labels: {a: b}}, spec: "
                                           "{containers: [{name: c, image: i}]}}",
                 "Name|Containers|Images|Pod Labels", "x|c|i|a=b"},
        KindCase{KIND("v1", "Node") "metadata: {labels: {node-role.kubernetes.io/worker: '', "
                                    "kubernetes.io/role: db, "
                                    "node-role.kubernetes.io/: ''}}\nspec: {unschedulable: "
                                    "true}\nstatus: {conditions: "
                                    "[{type: Ready, status: 'True'}], addresses: [{type: "
                                    "InternalIP, address: 10.0.0.1}, "
                                    "{type: ExternalIP, address: 1.2.3.4}], nodeInfo: "
                                    "{kubeletVersion: v1.36.4, osImage: "
                                    "Debian, kernelVersion: '6.1', architecture: amd64, "
                                    "containerRuntimeVersion: "
                                    "'containerd://2'}}",
                 "Name|Status|Roles|Age|Version|(Internal-IP)|(External-IP)|(OS-Image)|(Kernel-"
                 "Version)|(Container-Runtime)",
                 "x|Ready,SchedulingDisabled|db,worker|4h|v1.36.4|10.0.0.1|1.2.3.4|Debian|6.1 "
                 "(amd64)|containerd://2"},
        KindCase{KIND("v1", "Node") "status: {conditions: [{type: Ready, status: Unknown}]}",
                 "Name|Status|Roles|Age|Version|(Internal-IP)|(External-IP)|(OS-Image)|(Kernel-"
                 "Version)|(Container-Runtime)",
                 "x|NotReady|<none>|4h||<none>|<none>|<unknown>|<unknown>|<unknown>"}));

constexpr const char* kEventColumns =
    "Last Seen|Type|Reason|Object|(Subobject)|(Source)|Message|(First Seen)|(Count)|(Name)";

INSTANTIATE_TEST_SUITE_P(
    Events, KindTableTest,
    ::testing::Values(
        KindCase{KIND("v1", "Event") "type: Normal\nreason: Pulled\nmessage: ' done '\ncount: "
                                     "6\ninvolvedObject: {kind: "
                                     "Pod, name: web, fieldPath: 'spec.containers{a}'}\nsource: "
                                     "{component: kubelet, host: "
                                     "n1}\nfirstTimestamp: '2024-01-09T12:00:00Z'\nlastTimestamp: "
                                     "'2024-01-11T11:55:00Z'",
                 kEventColumns,
                 "5m|Normal|Pulled|pod/web|spec.containers{a}|kubelet, n1|done|2d|6|x"},
        KindCase{KIND("v1", "Event") "eventTime: '2024-01-11T11:59:00.000000Z'\nseries: {count: 9, "
                                     "lastObservedTime: "
                                     "'2024-01-11T11:59:30.000000Z'}\nreportingComponent: "
                                     "c\ninvolvedObject: {kind: Node}",
                 kEventColumns, "30s|||node||c||60s|9|x"},
        KindCase{KIND("v1", "Event"), kEventColumns, "<unknown>|||||||<unknown>|1|x"},
        KindCase{KIND("events.k8s.io/v1",
                      "Event") "type: Warning\nreason: Failed\nnote: oh\nregarding: {kind: Pod, "
                               "name: web}\n"
                               "reportingController: c\nreportingInstance: c-1\neventTime: "
                               "'2024-01-11T11:59:00.000000Z'",
                 kEventColumns, "60s|Warning|Failed|pod/web||c, c-1|oh|60s|1|x"}));

// Two containers and a selector, which all workloads have.
constexpr const char* kPodTemplate =
    "selector: {matchLabels: {app: web}}, template: {spec: {nodeSelector: {disk: ssd}, containers: "
    "[{name: a, image: 'i:1'}, {name: b, image: j}]}}";

std::string workload(const char* apiVersion, const char* kind, const std::string& spec,
                     const std::string& status) {
  return std::string("apiVersion: ") + apiVersion + "\nkind: " + kind + "\nspec: {" + spec +
         kPodTemplate + "}\nstatus: {" + status + "}";
}
std::string job(const std::string& spec, const std::string& status) {
  return workload("batch/v1", "Job", spec, status);
}

constexpr const char* kReplicaColumns =
    "Name|Desired|Current|Ready|Age|(Containers)|(Images)|(Selector)";
constexpr const char* kJobColumns =
    "Name|Status|Completions|Duration|Age|(Containers)|(Images)|(Selector)";
constexpr const char* kCronColumns =
    "Name|Schedule|Timezone|Suspend|Active|Last Schedule|Age|(Containers)|(Images)|(Selector)";

INSTANTIATE_TEST_SUITE_P(
    Workloads, KindTableTest,
    ::testing::Values(
        KindCase{workload("apps/v1", "Deployment", "replicas: 3, ",
                          "readyReplicas: 2, updatedReplicas: 1, availableReplicas: 4"),
                 "Name|Ready|Up-to-date|Available|Age|(Containers)|(Images)|(Selector)",
                 "x|2/3|1|4|4h|a,b|i:1,j|app=web"},
        KindCase{KIND("apps/v1", "Deployment") "spec: {selector: {matchLabels: {'?': web}}}",
                 "Name|Ready|Up-to-date|Available|Age|(Containers)|(Images)|(Selector)",
                 "x|0/1|0|0|4h|||<invalid>"},
        KindCase{
            workload("apps/v1", "ReplicaSet", "replicas: 3, ", "replicas: 2, readyReplicas: 1"),
            kReplicaColumns, "x|3|2|1|4h|a,b|i:1,j|app=web"},
        KindCase{KIND("v1", "ReplicationController") "spec: {replicas: 0, selector: {a: "
                                                     "b}}\nstatus: {replicas: 1}",
                 kReplicaColumns, "x|0|1|0|4h|||a=b"},
        KindCase{workload("apps/v1", "StatefulSet", "replicas: 3, ", "readyReplicas: 2"),
                 "Name|Ready|Age|(Containers)|(Images)", "x|2/3|4h|a,b|i:1,j"},
        KindCase{workload("apps/v1", "DaemonSet", "",
                          "desiredNumberScheduled: 5, currentNumberScheduled: 4, numberReady: 3, "
                          "updatedNumberScheduled: 2, numberAvailable: 1"),
                 "Name|Desired|Current|Ready|Up-to-date|Available|Node Selector|Age|(Containers)|("
                 "Images)|(Selector)",
                 "x|5|4|3|2|1|disk=ssd|4h|a,b|i:1,j|app=web"},
        KindCase{KIND("apps/v1", "ControllerRevision") "revision: 3\nmetadata: {ownerReferences: "
                                                       "[{apiVersion: apps/v1, kind: DaemonSet, "
                                                       "name: d, uid: u, controller: true}]}",
                 "Name|Controller|Revision|Age", "x|daemonset.apps/d|3|4h"},
        KindCase{KIND("apps/v1", "ControllerRevision"), "Name|Controller|Revision|Age",
                 "x|<none>|0|4h"},
        KindCase{job("completions: 2, ", "succeeded: 1, startTime: '2024-01-11T11:00:00Z'"),
                 kJobColumns, "x|Running|1/2|60m|4h|a,b|i:1,j|app=web"},
        KindCase{job("parallelism: 3, ",
                     "succeeded: 1, startTime: '2024-01-11T11:00:00Z', completionTime: "
                     "'2024-01-11T11:02:30Z', conditions: [{type: Complete, status: 'True'}]"),
                 kJobColumns, "x|Complete|1/1 of 3|2m30s|4h|a,b|i:1,j|app=web"},
        KindCase{job("parallelism: 1, ",
                     "conditions: [{type: FailureTarget, status: 'True'}, {type: "
                     "Failed, status: 'True'}]"),
                 kJobColumns, "x|Failed|0/1||4h|a,b|i:1,j|app=web"},
        KindCase{job("", "conditions: [{type: Suspended, status: 'True'}]"), kJobColumns,
                 "x|Suspended|0/1||4h|a,b|i:1,j|app=web"},
        KindCase{KIND("batch/v1", "Job") "metadata: {deletionTimestamp: '2024-01-11T11:00:00Z'}",
                 kJobColumns, "x|Terminating|0/1||4h|||<none>"},
        KindCase{KIND("batch/v1", "CronJob") "spec: {schedule: '0 * * * *', timeZone: UTC, "
                                             "suspend: true, jobTemplate: {spec: "
                                             "{template: {spec: {containers: [{name: a, image: "
                                             "i}]}}}}}\nstatus: {active: [{name: "
                                             "j}], lastScheduleTime: '2024-01-11T11:00:00Z'}",
                 kCronColumns, "x|0 * * * *|UTC|True|1|60m|4h|a|i|<none>"},
        KindCase{KIND("batch/v1", "CronJob"), kCronColumns, "x||<none>|False|0|<none>|4h|||<none>"},
        KindCase{
            KIND("policy/v1",
                 "PodDisruptionBudget") "spec: {minAvailable: 22}\nstatus: {disruptionsAllowed: 5}",
            "Name|Min Available|Max Unavailable|Allowed Disruptions|Age", "x|22|N/A|5|4h"},
        KindCase{KIND("policy/v1", "PodDisruptionBudget") "spec: {maxUnavailable: 25%}",
                 "Name|Min Available|Max Unavailable|Allowed Disruptions|Age", "x|N/A|25%|0|4h"}));

constexpr const char* kScalerColumns = "Name|Reference|Targets|MinPods|MaxPods|Replicas|Age";

std::string scaler(const std::string& metrics, const std::string& current) {
  return "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nspec: {scaleTargetRef: {kind: "
         "Deployment, name: web}, minReplicas: 2, maxReplicas: 10, metrics: [" +
         metrics + "]}\nstatus: {currentReplicas: 4, currentMetrics: [" + current + "]}";
}
std::string scalerCells(const std::string& targets) {
  return "x|Deployment/web|" + targets + "|2|10|4|4h";
}

constexpr const char* kCpuHalf =
    "{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}";

INSTANTIATE_TEST_SUITE_P(
    Autoscalers, KindTableTest,
    ::testing::Values(
        KindCase{scaler("", ""), kScalerColumns, scalerCells("<none>")},
        KindCase{scaler(kCpuHalf, ""), kScalerColumns, scalerCells("cpu: <unknown>/80%")},
        KindCase{
            scaler(kCpuHalf,
                   "{type: Resource, resource: {name: cpu, current: {averageUtilization: 50}}}"),
            kScalerColumns, scalerCells("cpu: 50%/80%")},
        KindCase{scaler("{type: Resource, resource: {name: cpu, target: {type: AverageValue, "
                        "averageValue: 100m}}}",
                        "{type: Resource, resource: {name: cpu, current: {averageValue: 50m}}}"),
                 kScalerColumns, scalerCells("cpu: 50m/100m")},
        KindCase{scaler("{type: Pods, pods: {metric: {name: m}, target: {averageValue: 100m}}}",
                        "{type: Pods, pods: {metric: {name: m}, current: {averageValue: 50m}}}"),
                 kScalerColumns, scalerCells("50m/100m")},
        KindCase{scaler("{type: Object, object: {metric: {name: m}, target: {value: 100}}}",
                        "{type: Object, object: {metric: {name: m}, current: {value: 50}}}"),
                 kScalerColumns, scalerCells("50/100")},
        KindCase{
            scaler("{type: External, external: {metric: {name: m}, target: {averageValue: 100}}}",
                   ""),
            kScalerColumns, scalerCells("<unknown>/100 (avg)")},
        KindCase{scaler("{type: ContainerResource, containerResource: {name: memory, container: c, "
                        "target: {averageUtilization: 80}}}",
                        ""),
                 kScalerColumns, scalerCells("memory: <unknown>/80%")},
        KindCase{
            scaler(std::string(kCpuHalf) + "," + kCpuHalf + "," + kCpuHalf + ", {type: New}", ""),
            kScalerColumns, scalerCells("cpu: <unknown>/80%, cpu: <unknown>/80% + 2 more...")},
        KindCase{KIND("autoscaling/v1",
                      "HorizontalPodAutoscaler") "spec: {scaleTargetRef: {kind: Deployment, name: "
                                                 "web}, maxReplicas: 5, "
                                                 "targetCPUUtilizationPercentage: 70}\nstatus: "
                                                 "{currentReplicas: 1, "
                                                 "currentCPUUtilizationPercentage: 30}",
                 kScalerColumns, "x|Deployment/web|cpu: 30%/70%|1|5|1|4h"},
        KindCase{KIND("autoscaling/v1", "Scale") "spec: {replicas: 3}\nstatus: {replicas: 2}",
                 "Name|Desired|Available|Age", "x|3|2|4h"}));

std::string service(const std::string& spec, const std::string& balancer = "") {
  return "apiVersion: v1\nkind: Service\nspec: {" + spec + "}\nstatus: {loadBalancer: {ingress: [" +
         balancer + "]}}";
}

constexpr const char* kServiceColumns = "Name|Type|Cluster-IP|External-IP|Port(s)|Age|(Selector)";
constexpr const char* kIngressColumns = "Name|Class|Hosts|Address|Ports|Age";
constexpr const char* kSliceColumns = "Name|AddressType|Ports|Endpoints|Age";

INSTANTIATE_TEST_SUITE_P(
    Services, KindTableTest,
    ::testing::Values(
        KindCase{service("clusterIP: 10.9.8.7, ports: [{port: 80}], selector: {a: b}"),
                 kServiceColumns, "x|ClusterIP|10.9.8.7|<none>|80/TCP|4h|a=b"},
        KindCase{service("type: NodePort, clusterIPs: [1.1.1.1, '::1'], externalIPs: [2.2.2.2, "
                         "3.3.3.3], ports: [{port: 80, nodePort: 30080, protocol: TCP}, {port: 53, "
                         "protocol: UDP}]"),
                 kServiceColumns,
                 "x|NodePort|1.1.1.1|2.2.2.2,3.3.3.3|80:30080/TCP,53/UDP|4h|<none>"},
        KindCase{service("type: LoadBalancer"), kServiceColumns,
                 "x|LoadBalancer|<none>|<pending>|<none>|4h|<none>"},
        KindCase{service("type: LoadBalancer, externalIPs: [3.3.3.3]",
                         "{ip: 2.2.2.2}, {hostname: lb}, {ip: 2.2.2.2}"),
                 kServiceColumns, "x|LoadBalancer|<none>|2.2.2.2,lb,3.3.3.3|<none>|4h|<none>"},
        KindCase{service("type: ExternalName, externalName: example.com"), kServiceColumns,
                 "x|ExternalName|<none>|example.com|<none>|4h|<none>"},
        KindCase{KIND("v1", "Endpoints"), "Name|Endpoints|Age", "x|<none>|4h"},
        KindCase{KIND("v1", "Endpoints") "subsets: [{addresses: [{ip: 1.1.1.1}, {ip: '::1'}], "
                                         "ports: [{port: 80}]}, "
                                         "{addresses: [{ip: 2.2.2.2}, {ip: 3.3.3.3}]}]",
                 "Name|Endpoints|Age", "x|1.1.1.1:80,[::1]:80,2.2.2.2 + 1 more...|4h"},
        KindCase{KIND("discovery.k8s.io/v1",
                      "EndpointSlice") "addressType: IPv4\nports: [{port: 80}, {name: http}, "
                                       "{}]\nendpoints: [{addresses: [a, "
                                       "b]}, {addresses: [c, d]}]",
                 kSliceColumns, "x|IPv4|80,http,*|a,b,c + 1 more...|4h"},
        KindCase{KIND("discovery.k8s.io/v1", "EndpointSlice") "addressType: FQDN\nendpoints: []",
                 kSliceColumns, "x|FQDN|<unset>|<unset>|4h"},
        KindCase{
            KIND("networking.k8s.io/v1", "Ingress") "spec: {ingressClassName: nginx, tls: [{}], "
                                                    "rules: [{host: a}, {}, {host: b}, {host: "
                                                    "c}, {host: d}]}\nstatus: {loadBalancer: "
                                                    "{ingress: [{ip: 2.3.4.5}, {hostname: h}]}}",
            kIngressColumns, "x|nginx|a,b,c + 2 more...|2.3.4.5,h|80, 443|4h"},
        KindCase{KIND("networking.k8s.io/v1", "Ingress"), kIngressColumns, "x|<none>|*||80|4h"},
        KindCase{KIND("networking.k8s.io/v1",
                      "IngressClass") "metadata: {annotations: "
                                      "{ingressclass.kubernetes.io/is-default-class: "
                                      "'true'}}\nspec: {controller: c, parameters: {apiGroup: g, "
                                      "kind: K, name: p}}",
                 "Name|Controller|Parameters|Age", "x (default)|c|K.g/p|4h"},
        KindCase{KIND("networking.k8s.io/v1",
                      "NetworkPolicy") "spec: {podSelector: {matchLabels: {a: b}}}",
                 "Name|Pod-Selector|Age", "x|a=b|4h"},
        KindCase{
            KIND("networking.k8s.io/v1",
                 "IPAddress") "spec: {parentRef: {resource: services, namespace: ns, name: s}}",
            "Name|ParentRef", "x|services/ns/s"},
        KindCase{KIND("networking.k8s.io/v1beta1", "ServiceCIDR") "spec: {cidrs: [a, b]}",
                 "Name|CIDRs|Age", "x|a,b|4h"}));

constexpr const char* kVolumeColumns =
    "Name|Capacity|Access Modes|Reclaim Policy|Status|Claim|StorageClass|VolumeAttributesClass|"
    "Reason|Age|(VolumeMode)";
constexpr const char* kClaimColumns =
    "Name|Status|Volume|Capacity|Access Modes|StorageClass|VolumeAttributesClass|Age|(VolumeMode)";

INSTANTIATE_TEST_SUITE_P(
    Storage, KindTableTest,
    ::testing::Values(
        KindCase{KIND("v1", "PersistentVolume") "spec: {capacity: {storage: 4Gi}, accessModes: "
                                                "[ReadOnlyMany, ReadWriteOnce, "
                                                "ReadOnlyMany], persistentVolumeReclaimPolicy: "
                                                "Delete, claimRef: {namespace: ns, name: "
                                                "c}, storageClassName: fast, volumeMode: "
                                                "Filesystem, volumeAttributesClassName: "
                                                "v}\nstatus: {phase: Bound}",
                 kVolumeColumns, "x|4Gi|RWO,ROX|Delete|Bound|ns/c|fast|v||4h|Filesystem"},
        KindCase{KIND("v1", "PersistentVolume") "metadata: {deletionTimestamp: "
                                                "'2024-01-11T11:00:00Z', annotations: "
                                                "{volume.beta.kubernetes.io/storage-class: "
                                                "old}}\nstatus: {phase: Failed, reason: R}",
                 kVolumeColumns, "x|0||Retain|Terminating||old|<unset>|R|4h|<unset>"},
        KindCase{KIND("v1", "PersistentVolumeClaim") "spec: {volumeName: v, storageClassName: "
                                                     "fast, accessModes: "
                                                     "[ReadWriteMany]}\nstatus: {phase: Bound, "
                                                     "accessModes: [ReadWriteOncePod], capacity: "
                                                     "{storage: 4Gi}}",
                 kClaimColumns, "x|Bound|v|4Gi|RWOP|fast|<unset>|4h|<unset>"},
        KindCase{KIND("v1", "PersistentVolumeClaim") "status: {capacity: {storage: 4Gi}}",
                 kClaimColumns,
                 "x|Pending||||"
                 "|<unset>|4h|<unset>"},
        KindCase{KIND("storage.k8s.io/v1",
                      "StorageClass") "metadata: {annotations: "
                                      "{storageclass.kubernetes.io/is-default-class: "
                                      "'true'}}\nprovisioner: p\nallowVolumeExpansion: true",
                 "Name|Provisioner|ReclaimPolicy|VolumeBindingMode|AllowVolumeExpansion|Age",
                 "x|p|Delete|Immediate|true|4h"},
        KindCase{KIND("storage.k8s.io/v1",
                      "VolumeAttachment") "spec: {attacher: a, nodeName: n1, source: "
                                          "{persistentVolumeName: v}}\nstatus: "
                                          "{attached: true}",
                 "Name|Attacher|PV|Node|Attached|Age", "x|a|v|n1|true|4h"},
        KindCase{
            KIND("storage.k8s.io/v1", "CSIDriver") "spec: {attachRequired: false, tokenRequests: "
                                                   "[{audience: a}, {audience: b}], "
                                                   "volumeLifecycleModes: [Persistent, Ephemeral]}",
            "Name|AttachRequired|PodInfoOnMount|StorageCapacity|TokenRequests|"
            "RequiresRepublish|Modes|Age",
            "x|false|false|false|a,b|false|Persistent,Ephemeral|4h"},
        KindCase{KIND("storage.k8s.io/v1", "CSIDriver"),
                 "Name|AttachRequired|PodInfoOnMount|StorageCapacity|TokenRequests|"
                 "RequiresRepublish|Modes|Age",
                 "x|true|false|false|<unset>|false|Persistent|4h"},
        KindCase{KIND("storage.k8s.io/v1", "CSINode") "spec: {drivers: [{name: a, nodeID: i}]}",
                 "Name|Drivers|Age", "x|1|4h"},
        KindCase{
            KIND("storage.k8s.io/v1", "CSIStorageCapacity") "storageClassName: s\ncapacity: 1Gi",
            "Name|StorageClassName|Capacity", "x|s|1Gi"},
        KindCase{KIND("storage.k8s.io/v1", "VolumeAttributesClass") "driverName: d",
                 "Name|DriverName|Age", "x|d|4h"}));

constexpr const char* kBindingColumns = "Name|Role|Age|(Users)|(Groups)|(ServiceAccounts)";
constexpr const char* kCsrColumns = "Name|Age|SignerName|Requestor|RequestedDuration|Condition";

INSTANTIATE_TEST_SUITE_P(
    Access, KindTableTest,
    ::testing::Values(
        KindCase{KIND("rbac.authorization.k8s.io/v1",
                      "RoleBinding") "roleRef: {kind: Role, name: r, apiGroup: g}\nsubjects: "
                                     "[{kind: User, name: u}, {kind: "
                                     "User, name: v}, {kind: Group, name: g}, {kind: "
                                     "ServiceAccount, namespace: ns, name: "
                                     "s}]",
                 kBindingColumns, "x|Role/r|4h|u, v|g|ns/s"},
        KindCase{KIND("rbac.authorization.k8s.io/v1",
                      "ClusterRoleBinding") "roleRef: {kind: ClusterRole, name: r, apiGroup: g}",
                 kBindingColumns, "x|ClusterRole/r|4h|||"},
        KindCase{KIND("rbac.authorization.k8s.io/v1", "ClusterRole"), "Name|Created At",
                 "x|2024-01-11T08:00:00Z"},
        KindCase{KIND("certificates.k8s.io/v1",
                      "CertificateSigningRequest") "spec: {signerName: s, username: u, "
                                                   "expirationSeconds: 600}\nstatus: {certificate: "
                                                   "ZA==, conditions: [{type: Approved, status: "
                                                   "'True'}]}",
                 kCsrColumns, "x|4h|s|u|10m|Approved,Issued"},
        KindCase{KIND("certificates.k8s.io/v1",
                      "CertificateSigningRequest") "status: {conditions: [{type: Denied, status: "
                                                   "'True'}, {type: Failed, status: "
                                                   "'True'}]}",
                 kCsrColumns, "x|4h|<none>||<none>|Denied,Failed"},
        KindCase{KIND("certificates.k8s.io/v1", "CertificateSigningRequest"), kCsrColumns,
                 "x|4h|<none>||<none>|Pending"}));

INSTANTIATE_TEST_SUITE_P(
    Others, KindTableTest,
    ::testing::Values(
        KindCase{KIND("coordination.k8s.io/v1", "Lease") "spec: {holderIdentity: h}",
                 "Name|Holder|Age", "x|h|4h"},
        KindCase{KIND("coordination.k8s.io/v1beta1",
                      "LeaseCandidate") "spec: {leaseName: l, binaryVersion: b, emulationVersion: "
                                        "e, strategy: s}",
                 "Name|LeaseName|BinaryVersion|EmulationVersion|Age", "x|l|b|e|4h"},
        KindCase{KIND("node.k8s.io/v1", "RuntimeClass") "handler: h", "Name|Handler|Age", "x|h|4h"},
        KindCase{KIND("scheduling.k8s.io/v1", "PriorityClass") "value: 7\npreemptionPolicy: Never",
                 "Name|Value|Global-Default|Age|PreemptionPolicy", "x|7|false|4h|Never"},
        KindCase{KIND("admissionregistration.k8s.io/v1",
                      "ValidatingWebhookConfiguration") "webhooks: [{name: a}, {name: b}]",
                 "Name|Webhooks|Age", "x|2|4h"},
        KindCase{KIND("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration"),
                 "Name|Webhooks|Age", "x|0|4h"},
        KindCase{KIND("admissionregistration.k8s.io/v1",
                      "ValidatingAdmissionPolicy") "spec: {paramKind: {apiVersion: v1, kind: "
                                                   "ConfigMap}, validations: [{expression: e}]}",
                 "Name|Validations|ParamKind|Age", "x|1|v1/ConfigMap|4h"},
        KindCase{
            KIND("admissionregistration.k8s.io/v1",
                 "ValidatingAdmissionPolicyBinding") "spec: {policyName: p, paramRef: {name: ps}}",
            "Name|PolicyName|ParamRef|Age", "x|p|*/ps|4h"},
        KindCase{KIND("apiextensions.k8s.io/v1", "CustomResourceDefinition"), "Name|Created At",
                 "x|2024-01-11T08:00:00Z"},
        KindCase{KIND("apiregistration.k8s.io/v1", "APIService"), "Name|Service|Available|Age",
                 "x|Local|Unknown|4h"},
        KindCase{KIND("apiregistration.k8s.io/v1",
                      "APIService") "spec: {service: {namespace: ns, name: s}}\nstatus: "
                                    "{conditions: [{type: Available, "
                                    "status: 'False', reason: Gone}]}",
                 "Name|Service|Available|Age", "x|ns/s|False (Gone)|4h"},
        KindCase{KIND("flowcontrol.apiserver.k8s.io/v1",
                      "FlowSchema") "spec: {priorityLevelConfiguration: {name: p}, "
                                    "matchingPrecedence: 5, "
                                    "distinguisherMethod: {type: ByUser}}\nstatus: {conditions: "
                                    "[{type: Dangling, status: "
                                    "'False'}]}",
                 "Name|PriorityLevel|MatchingPrecedence|DistinguisherMethod|Age|MissingPL",
                 "x|p|5|ByUser|4h|False"},
        KindCase{KIND("flowcontrol.apiserver.k8s.io/v1",
                      "PriorityLevelConfiguration") "spec: {type: Limited, limited: "
                                                    "{nominalConcurrencyShares: 47, limitResponse: "
                                                    "{type: "
                                                    "Queue, queuing: {queues: 42, handSize: 8, "
                                                    "queueLengthLimit: 100}}}}",
                 "Name|Type|NominalConcurrencyShares|Queues|HandSize|QueueLengthLimit|Age",
                 "x|Limited|47|42|8|100|4h"},
        KindCase{KIND("flowcontrol.apiserver.k8s.io/v1",
                      "PriorityLevelConfiguration") "spec: {type: Exempt}",
                 "Name|Type|NominalConcurrencyShares|Queues|HandSize|QueueLengthLimit|Age",
                 "x|Exempt|<none>|<none>|<none>|<none>|4h"},
        KindCase{KIND("internal.apiserver.k8s.io/v1alpha1",
                      "StorageVersion") "status: {commonEncodingVersion: v1, storageVersions: "
                                        "[{apiServerID: a, "
                                        "encodingVersion: v1}]}",
                 "Name|CommonEncodingVersion|StorageVersions|Age", "x|v1|a=v1|4h"},
        KindCase{
            KIND("resource.k8s.io/v1", "ResourceClaim") "status: {allocation: {}, reservedFor: "
                                                        "[{resource: pods, name: p, uid: u}]}",
            "Name|State|Age", "x|allocated,reserved|4h"},
        KindCase{
            KIND("resource.k8s.io/v1beta1",
                 "ResourceSlice") "spec: {nodeName: n1, driver: d, pool: {name: p, generation: "
                                  "1, resourceSliceCount: "
                                  "1}}",
            "Name|Node|Driver|Pool|Age", "x|n1|d|p|4h"}));

constexpr const char* kGroupColumns = "Name|Policy|Workload|Status|Age";
constexpr const char* kEvictionColumns =
    "Name|Target|Target Type|Status|Active Responder|Responder Status|Responder Expected Finish|"
    "Requesters|Age|(Responder Heartbeat)|(Responder Status Message)";

INSTANTIATE_TEST_SUITE_P(
    Of1_37, KindTableTest,
    ::testing::Values(
        KindCase{KIND("resource.k8s.io/v1",
                      "DeviceTaintRule") "spec: {taint: {key: k, value: v, effect: None, "
                                         "timeAdded: '2024-01-11T11:00:00Z'}}",
                 "Name|Key|Value|Effect|TimeAdded|Age", "x|k|v|None|60m|4h"},
        KindCase{KIND("scheduling.k8s.io/v1beta1", "Workload"), "Name|Age", "x|4h"},
        KindCase{KIND("scheduling.k8s.io/v1beta1",
                      "PodGroup") "spec: {workloadRef: {workloadName: w, templateName: t}, "
                                  "schedulingPolicy: {gang: {minCount: 2}}}\nstatus: {conditions: "
                                  "[{type: PodGroupInitiallyScheduled, status: 'False', reason: r, "
                                  "message: '', lastTransitionTime: null}]}",
                 kGroupColumns, "x|Gang|w|Unschedulable|4h"},
        KindCase{
            KIND("scheduling.k8s.io/v1alpha3", "PodGroup") "spec: {schedulingPolicy: {basic: {}}}",
            kGroupColumns, "x|Basic|<none>|Pending|4h"},
        KindCase{
            KIND("scheduling.k8s.io/v1alpha3",
                 "CompositePodGroup") "spec: {workloadRef: {workloadName: w, templateName: t}}",
            "Name|Policy|Workload|Age", "x|Basic|w|4h"},
        KindCase{KIND("certificates.k8s.io/v1", "ClusterTrustBundle"), "Name|SignerName",
                 "x|<none>"},
        KindCase{
            KIND("certificates.k8s.io/v1",
                 "PodCertificateRequest") "spec: {podName: p, serviceAccountName: s, nodeName: "
                                          "n1, signerName: g/s, unverifiedUserAnnotations: {a: "
                                          "b}}\nstatus: {conditions: [{type: Issued, status: "
                                          "'True', reason: r, message: '', "
                                          "lastTransitionTime: null}]}",
            "Name|PodName|ServiceAccountName|NodeName|SignerName|State|"
            "UnverifiedUserAnnotations",
            "x|p|s|n1|g/s|Issued|a=b"},
        KindCase{KIND("storagemigration.k8s.io/v1",
                      "StorageVersionMigration") "spec: {resource: {group: apps, resource: "
                                                 "deployments}}",
                 "Name|Resource|Status", "x|deployments.apps|Unknown"},
        KindCase{KIND("lifecycle.k8s.io/v1alpha1",
                      "EvictionRequest") "spec: {target: {pod: {name: p, uid: u}}, requester: r, "
                                         "intent: Eviction}\nstatus: {observedGeneration: 1}",
                 "Name|Target|Target Type|Status|Requester|Intent|Age",
                 "x|p|Pod|Progressing|r|Eviction|4h"},
        KindCase{KIND("lifecycle.k8s.io/v1alpha1", "Eviction"), kEvictionColumns,
                 "x|<unset>|<unset>|Pending|<unset> (0/0)|<unset>|<unknown>|<none>|4h|<unset>|"
                 "<unset>"},
        KindCase{
            KIND("lifecycle.k8s.io/v1alpha1",
                 "Eviction") "spec: {target: {pod: {name: p, uid: u}}}\nstatus:\n  "
                             "requesters: [{name: b, intent: Eviction}, {name: a, intent: "
                             "Eviction}, {name: c, intent: Withdrawn}]\n  targetResponders: "
                             "[{name: one, priority: 2, state: Completed}, {name: two, "
                             "priority: 1, state: Active}, {name: three, priority: 0, state: "
                             "Inactive}]\n  responders: [{name: two, startTime: "
                             "'2024-01-11T11:00:00Z', heartbeatTime: '2024-01-11T11:59:00Z', "
                             "expectedCompletionTime: '2024-01-11T12:10:00Z', message: ' m '}]",
            kEvictionColumns,
            "x|p|Pod|Pending|two (2/3)|Started (60m ago)|in 10m|a + 1 more...|4h|60s ago|m"},
        KindCase{
            KIND("lifecycle.k8s.io/v1alpha1",
                 "Eviction") "status:\n  requesters: [{name: c, intent: Withdrawn}]\n  "
                             "conditions: [{type: TargetEvicted, status: 'True', reason: Gone, "
                             "message: '', lastTransitionTime: null}]\n  targetResponders: "
                             "[{name: one, priority: 2, state: Completed}]\n  responders: "
                             "[{name: one, completionTime: '2024-01-11T11:00:00Z'}]",
            kEvictionColumns,
            "x|<unset>|<unset>|TargetEvicted (Gone)|one (1/1)|Completed (60m ago)|-|"
            "<withdrawn>|4h|<unset>|<unset>"}));

// The newest class that is marked as the default is used, and shown as such.
TEST(StorageClassTableTest, AListShowsTheClassThatClaimsGet) {
  const auto storageClass = [](const String& name, std::string_view created, bool isDefault) {
    storagev1::StorageClass made{.metadata = {.name = name}};
    Time::tryParse(created, made.metadata.creationTimestamp);
    if (isDefault)
      made.metadata.annotations["storageclass.kubernetes.io/is-default-class"] = "true";
    return AnyObject(made);
  };
  const std::vector<AnyObject> classes = {
      storageClass("old", "2024-01-01T00:00:00Z", true),
      storageClass("plain", "2024-01-04T00:00:00Z", false),
      storageClass("second", "2024-01-03T00:00:00Z", true),
      storageClass("first", "2024-01-03T00:00:00Z", true),
  };
  const TableFormat format(TypeOf<storagev1::StorageClass>::info);
  std::string names;
  for (const auto& row : format.list(classes, {}, {.now = kTableTime}).rows) {
    names += row.cells[0].raw.str() + " ";
  }
  EXPECT_EQ(names, R"x("old" "plain" "second" "first (default)" )x");
}

}  // namespace
}  // namespace kube::apiserver
