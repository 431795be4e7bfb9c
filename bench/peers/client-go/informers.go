package main

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
)

var podsResource = corev1.SchemeGroupVersion.WithResource("pods")

// fill starts an informer, waits until it has synced, and prints the cost.
func fill(bench, mode string, informer cache.SharedIndexInformer, start func(stop <-chan struct{})) error {
	var told atomic.Int64
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { told.Add(1) },
	})
	if err != nil {
		return err
	}
	stop := context.Background().Done()
	base := statusKb("VmRSS")
	resetPeak()
	watch := startWatch()
	start(stop)
	cache.WaitForCacheSync(stop, informer.HasSynced)
	wall, cpu := watch.wall(), watch.cpu()
	before, peak := statusKb("VmRSS"), statusKb("VmHWM")
	settle()
	held, objects := statusKb("VmRSS"), len(informer.GetStore().ListKeys())
	report(bench, "mode", mode, "pods", objects, "wall_s", micros(wall), "cpu_s", micros(cpu),
		"base_rss_kb", base, "rss_kb", held, "rss_before_gc_kb", before, "peak_rss_kb", peak,
		"bytes_per_pod", (held-base)*1024/max(objects, 1))
	runtime.KeepAlive(informer)
	return nil
}

func typedSync(args arguments) error {
	clients, err := clientset(args.words[0])
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(clients, 0)
	return fill("sync", args.words[0], factory.Core().V1().Pods().Informer(), factory.Start)
}

func dynamicSync(arguments) error {
	config, err := configFor("json")
	if err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
	return fill("dynsync", "json", factory.ForResource(podsResource).Informer(), factory.Start)
}

func metadataSync(arguments) error {
	config, err := configFor("proto")
	if err != nil {
		return err
	}
	client, err := metadata.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := metadatainformer.NewSharedInformerFactory(client, 0)
	return fill("metasync", "proto", factory.ForResource(podsResource).Informer(), factory.Start)
}

// events waits for so many updates after the first list. It prints "ready" when they can be made.
func events(args arguments) error {
	count, err := args.number(1)
	if err != nil {
		return err
	}
	clients, err := clientset(args.words[0])
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(clients, 0)
	var seen atomic.Int64
	done := make(chan struct{})
	_, err = factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(any, any) {
			if seen.Add(1) == int64(count) {
				close(done)
			}
		},
	})
	if err != nil {
		return err
	}
	stop := context.Background().Done()
	factory.Start(stop)
	factory.WaitForCacheSync(stop)
	fmt.Println("ready")
	watch := startWatch()
	<-done
	cpu := watch.cpu()
	report("events", "mode", args.words[0], "n", count, "wall_s", micros(watch.wall()),
		"cpu_us_per_event", micros(cpu*1e6/float64(count)))
	return nil
}

// manyInformers fills informers with the ConfigMaps that `kubexx-bench configmaps` made, each with those
// of a namespace of its own.
func manyInformers(args arguments) error {
	count, err := args.number(0)
	if err != nil {
		return err
	}
	clients, err := clientset("proto")
	if err != nil {
		return err
	}
	var told atomic.Int64
	base := statusKb("VmRSS")
	watch := startWatch()
	stop := context.Background().Done()
	all := make([]cache.SharedIndexInformer, count)
	for i := range all {
		factory := informers.NewSharedInformerFactoryWithOptions(clients, 0,
			informers.WithNamespace(fmt.Sprintf("many-%d", i)))
		all[i] = factory.Core().V1().ConfigMaps().Informer()
		if _, err := all[i].AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: func(any) { told.Add(1) },
		}); err != nil {
			return err
		}
		factory.Start(stop)
	}
	objects := 0
	for _, informer := range all {
		cache.WaitForCacheSync(stop, informer.HasSynced)
		objects += len(informer.GetStore().ListKeys())
	}
	wall, cpu := watch.wall(), watch.cpu()
	peak := statusKb("VmHWM")
	settle()
	report("informers", "n", count, "objects", objects, "wall_s", micros(wall), "cpu_s", micros(cpu),
		"threads", statusKb("Threads"), "goroutines", runtime.NumGoroutine(), "base_rss_kb", base,
		"rss_kb", statusKb("VmRSS"), "peak_rss_kb", peak)
	runtime.KeepAlive(all)
	return nil
}
