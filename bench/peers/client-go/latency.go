package main

import (
	"bufio"
	"fmt"
	"os"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

type seenVersion struct {
	version string
	time    int64
}

// latency watches the ConfigMaps that `kubexx-bench paced` changes. It prints "ready", and some
// seconds later writes a line for each update to a file: resourceVersion, and the time of the handler's call
// in nanoseconds.
func latency(args arguments) error {
	clients, err := clientset(args.words[0])
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactoryWithOptions(clients, 0, informers.WithNamespace("latency"))
	var mutex sync.Mutex
	seen := make([]seenVersion, 0, 100_000)
	_, err = factory.Core().V1().ConfigMaps().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(_, after any) {
			now := time.Now().UnixNano()
			mutex.Lock()
			defer mutex.Unlock()
			seen = append(seen, seenVersion{after.(*corev1.ConfigMap).ResourceVersion, now})
		},
	})
	if err != nil {
		return err
	}
	stop := make(chan struct{})
	factory.Start(stop)
	factory.WaitForCacheSync(stop)
	fmt.Println("ready")
	watch := startWatch()
	time.Sleep(time.Duration(args.flag("seconds", 10)) * time.Second)
	cpu := watch.cpu()
	close(stop)
	factory.Shutdown()
	file, err := os.Create(args.words[1])
	if err != nil {
		return err
	}
	defer file.Close()
	out := bufio.NewWriter(file)
	for _, one := range seen {
		fmt.Fprintln(out, one.version, one.time)
	}
	report("latency", "mode", args.words[0], "n", len(seen),
		"cpu_us_per_event", micros(cpu*1e6/float64(max(len(seen), 1))))
	return out.Flush()
}
