package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

func decodeList(content []byte) (*corev1.PodList, error) {
	object, _, err := scheme.Codecs.UniversalDeserializer().Decode(content, nil, nil)
	if err != nil {
		return nil, err
	}
	list, isPods := object.(*corev1.PodList)
	if !isPods {
		return nil, fmt.Errorf("%T is not a list of pods", object)
	}
	return list, nil
}

func decode(args arguments) error {
	content, err := os.ReadFile(args.words[0])
	if err != nil {
		return err
	}
	for round := 0; round < args.flag("rounds", 3); round++ {
		watch := startWatch()
		list, err := decodeList(content)
		if err != nil {
			return err
		}
		wall, cpu := watch.wall(), watch.cpu()
		report("decode", "file", filepath.Base(args.words[0]), "items", len(list.Items),
			"bytes", len(content), "wall_s", micros(wall), "cpu_s", micros(cpu),
			"mb_per_s", int(float64(len(content))/1e6/wall), "rss_kb", statusKb("VmRSS"))
	}
	return nil
}

func encode(args arguments) error {
	content, err := os.ReadFile(args.words[0])
	if err != nil {
		return err
	}
	list, err := decodeList(content)
	if err != nil {
		return err
	}
	media := args.words[1]
	info, known := k8sruntime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), media)
	if !known {
		return fmt.Errorf("%s: no such content type", media)
	}
	encoder := scheme.Codecs.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion)
	for round := 0; round < args.flag("rounds", 3); round++ {
		watch := startWatch()
		encoded, err := k8sruntime.Encode(encoder, list)
		if err != nil {
			return err
		}
		wall := watch.wall()
		report("encode", "type", media, "bytes", len(encoded), "wall_s", micros(wall),
			"mb_per_s", int(float64(len(encoded))/1e6/wall), "rss_kb", statusKb("VmRSS"))
	}
	return nil
}

func get(args arguments) error {
	clients, err := clientset(args.words[0])
	if err != nil {
		return err
	}
	pod, count := makePod(1), args.flag("count", 3000)
	watch := startWatch()
	for i := 0; i < count; i++ {
		_, err := clients.CoreV1().Pods(pod.Namespace).Get(context.Background(), pod.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
	}
	wall, cpu := watch.wall(), watch.cpu()
	report("get", "mode", args.words[0], "n", count, "threads", 1,
		"requests_per_s", perSecond(count, wall), "cpu_us_per_request", int(cpu*1e6/float64(count)))
	return nil
}

func list(args arguments) error {
	clients, err := clientset(args.words[0])
	if err != nil {
		return err
	}
	for round := 0; round < args.flag("rounds", 3); round++ {
		settle() // frees the garbage of the previous round
		base := statusKb("VmRSS")
		resetPeak()
		watch := startWatch()
		pods, err := clients.CoreV1().Pods("").List(context.Background(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		wall, cpu := watch.wall(), watch.cpu()
		peak := statusKb("VmHWM")
		settle()
		report("list", "mode", args.words[0], "pods", len(pods.Items), "wall_s", micros(wall),
			"cpu_s", micros(cpu), "base_rss_kb", base, "rss_kb", statusKb("VmRSS"), "peak_rss_kb", peak)
		runtime.KeepAlive(pods)
	}
	return nil
}
