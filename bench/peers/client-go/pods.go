package main

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	namespaces = 50
	apps       = 500
	nodes      = 200
	seeded     = 10000 // the pods that churn changes
)

// configFor returns the configuration for a mode: proto or json.
func configFor(mode string) (*rest.Config, error) {
	if mode != "proto" && mode != "json" {
		return nil, fmt.Errorf("%s: unknown mode, expected proto or json", mode)
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	// By default, typed clients use protobuf for types that have it.
	config.ContentType, config.AcceptContentTypes = "application/json", "application/json"
	if mode == "proto" {
		config.ContentType = "application/vnd.kubernetes.protobuf"
		config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	}
	return config, nil
}

func clientset(mode string) (*kubernetes.Clientset, error) {
	config, err := configFor(mode)
	if err != nil {
		return nil, err
	}
	return kubernetes.NewForConfig(config)
}

func yes() *bool {
	value := true
	return &value
}

func amounts(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{"cpu": resource.MustParse(cpu), "memory": resource.MustParse(memory)}
}

func httpProbe(path string, port intstr.IntOrString, delay int32) *corev1.Probe {
	request := &corev1.HTTPGetAction{Path: path, Port: port, Scheme: "HTTP"}
	return &corev1.Probe{
		ProbeHandler:        corev1.ProbeHandler{HTTPGet: request},
		InitialDelaySeconds: delay,
		TimeoutSeconds:      1,
		PeriodSeconds:       10,
		SuccessThreshold:    1,
		FailureThreshold:    3,
	}
}

func makeContainer(app, name string, port int32) corev1.Container {
	podName := &corev1.EnvVarSource{
		FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.name"},
	}
	return corev1.Container{
		Name:  name,
		Image: fmt.Sprintf("registry.example.com/team/%s-%s:v1.24.3", app, name),
		Args:  []string{"--listen=:8080", "--log-level=info", "--config=/etc/app/config.yaml"},
		Ports: []corev1.ContainerPort{
			{Name: name + "-http", ContainerPort: port, Protocol: "TCP"},
			{Name: name + "-mx", ContainerPort: port + 1, Protocol: "TCP"},
		},
		Env: []corev1.EnvVar{
			{Name: "POD_NAME", ValueFrom: podName},
			{Name: "DATABASE_URL", Value: "postgres://db.prod.svc.cluster.local:5432/" + app},
			{Name: "GOMAXPROCS", Value: "2"},
			{Name: "FEATURE_FLAGS", Value: "a,b,c,d"},
		},
		Resources: corev1.ResourceRequirements{
			Requests: amounts("100m", "128Mi"),
			Limits:   amounts("500m", "512Mi"),
		},
		VolumeMounts: []corev1.VolumeMount{
			{Name: "config", MountPath: "/etc/app", ReadOnly: true},
			{Name: "tmp", MountPath: "/tmp"},
		},
		LivenessProbe:  httpProbe("/healthz", intstr.FromString(name+"-http"), 10),
		ReadinessProbe: httpProbe("/readyz", intstr.FromInt32(port), 0),
	}
}

// makePod makes the i-th pod, the same as in kubexx-bench.
func makePod(i int) *corev1.Pod {
	app := fmt.Sprintf("app-%d", i%apps)
	pod := &corev1.Pod{}
	pod.Name = fmt.Sprintf("%s-7d4b9c6f5-%05d", app, i)
	pod.Namespace = fmt.Sprintf("ns-%d", i%namespaces)
	pod.Labels = map[string]string{
		"app":                        app,
		"app.kubernetes.io/name":     app,
		"app.kubernetes.io/instance": app + "-prod",
		"pod-template-hash":          "7d4b9c6f5",
		"tier":                       "backend",
	}
	pod.Annotations = map[string]string{
		"prometheus.io/scrape": "true",
		"prometheus.io/port":   "8080",
		"checksum/config":      "3b1f9c2a4e5d6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8",
	}
	pod.OwnerReferences = []metav1.OwnerReference{{
		APIVersion:         "apps/v1",
		Kind:               "ReplicaSet",
		Name:               app + "-7d4b9c6f5",
		UID:                types.UID(fmt.Sprintf("0d6f0f0e-8f5a-4f5e-9c55-%012x", i%apps)),
		Controller:         yes(),
		BlockOwnerDeletion: yes(),
	}}

	config := &corev1.ConfigMapVolumeSource{}
	config.Name = app + "-config"
	pod.Spec = corev1.PodSpec{
		NodeName:           fmt.Sprintf("node-%d", i%nodes),
		ServiceAccountName: app,
		Containers: []corev1.Container{
			makeContainer(app, "main", 8080), makeContainer(app, "sidecar", 9080),
		},
		Volumes: []corev1.Volume{
			{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: config}},
			{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
		},
		NodeSelector: map[string]string{"kubernetes.io/os": "linux"},
	}
	for _, key := range []string{"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"} {
		pod.Spec.Tolerations = append(pod.Spec.Tolerations,
			corev1.Toleration{Key: key, Operator: "Exists", Effect: "NoExecute"})
	}
	return pod
}

func setStatus(pod *corev1.Pod, i int) {
	since := metav1.NewTime(time.Unix(1_700_000_000+int64(i), 0))
	status := &pod.Status
	status.Phase = corev1.PodRunning
	status.HostIP = fmt.Sprintf("10.1.0.%d", i%nodes)
	status.PodIP = fmt.Sprintf("10.%d.%d.%d", 2+(i>>16&255), i>>8&255, i&255)
	status.PodIPs = []corev1.PodIP{{IP: status.PodIP}}
	status.StartTime = &since
	for _, kind := range []corev1.PodConditionType{"Initialized", "Ready", "ContainersReady", "PodScheduled"} {
		status.Conditions = append(status.Conditions,
			corev1.PodCondition{Type: kind, Status: "True", LastTransitionTime: since})
	}
	for _, container := range pod.Spec.Containers {
		id := uint64(i)*11400714819323198485 + uint64(len(container.Name))
		status.ContainerStatuses = append(status.ContainerStatuses, corev1.ContainerStatus{
			Name:    container.Name,
			Ready:   true,
			Started: yes(),
			Image:   container.Image,
			ImageID: "registry.example.com/team/" +
				"x@sha256:3b1f9c2a4e5d6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8",
			ContainerID: fmt.Sprintf("containerd://%064x", id),
			State:       corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: since}},
		})
	}
}

// inParallel calls act for 0 to count-1 on several goroutines and returns the number of failed calls.
func inParallel(count, workers int, act func(i int) error) int64 {
	var next, failed atomic.Int64
	var all sync.WaitGroup
	for w := 0; w < workers; w++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for i := next.Add(1) - 1; i < int64(count); i = next.Add(1) - 1 {
				err := act(int(i))
				if err == nil || apierrors.IsAlreadyExists(err) {
					continue
				}
				if failed.Add(1) <= 3 {
					fmt.Fprintln(os.Stderr, err)
				}
			}
		}()
	}
	all.Wait()
	return failed.Load()
}

func seed(args arguments) error {
	count, err := args.number(0)
	if err != nil {
		return err
	}
	clients, err := clientset("proto")
	if err != nil {
		return err
	}
	ctx, core := context.Background(), clients.CoreV1()
	watch := startWatch()
	failed := inParallel(namespaces, 16, func(i int) error {
		space := &corev1.Namespace{}
		space.Name = fmt.Sprintf("ns-%d", i)
		_, err := core.Namespaces().Create(ctx, space, metav1.CreateOptions{})
		return err
	})
	failed += inParallel(min(count, apps), 16, func(i int) error {
		account := &corev1.ServiceAccount{}
		account.Name = fmt.Sprintf("app-%d", i)
		_, err := core.ServiceAccounts(makePod(i).Namespace).Create(ctx, account, metav1.CreateOptions{})
		return err
	})
	failed += inParallel(nodes, 16, func(i int) error {
		node := &corev1.Node{}
		node.Name = fmt.Sprintf("node-%d", i)
		_, err := core.Nodes().Create(ctx, node, metav1.CreateOptions{})
		return err
	})
	failed += inParallel(count, 16, func(i int) error {
		wanted := makePod(i)
		pods := core.Pods(wanted.Namespace)
		pod, err := pods.Create(ctx, wanted, metav1.CreateOptions{FieldManager: "kube-controller-manager"})
		if err != nil {
			return err
		}
		setStatus(pod, i)
		_, err = pods.UpdateStatus(ctx, pod, metav1.UpdateOptions{FieldManager: "kubelet"})
		return err
	})
	report("seed", "pods", count, "fails", failed, "wall_s", micros(watch.wall()),
		"cpu_s", micros(watch.cpu()))
	if failed > 0 {
		return fmt.Errorf("%d objects could not be created", failed)
	}
	return nil
}

func churn(args arguments) error {
	count, err := args.number(0)
	if err != nil {
		return err
	}
	clients, err := clientset("proto")
	if err != nil {
		return err
	}
	watch := startWatch()
	failed := inParallel(count, 8, func(i int) error {
		pod := makePod(i % seeded)
		patch := fmt.Sprintf(`{"metadata":{"labels":{"churn":"%d"}}}`, time.Now().UnixNano())
		_, err := clients.CoreV1().Pods(pod.Namespace).Patch(context.Background(), pod.Name,
			types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		return err
	})
	report("churn", "n", count, "fails", failed, "patches_per_s", perSecond(count, watch.wall()))
	return nil
}
