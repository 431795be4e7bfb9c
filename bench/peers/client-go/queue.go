package main

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// queue measures a work queue: one goroutine adds keys, workers take, forget and finish them.
func queue(args arguments) error {
	const adds = 2_000_000
	keys := make([]string, 100_000)
	for i := range keys {
		keys[i] = fmt.Sprintf("ns-%d/pod-%d", i%namespaces, i)
	}
	for _, workers := range args.flagNumbers("workers", 1, 4) {
		limiter := workqueue.DefaultTypedControllerRateLimiter[string]()
		items := workqueue.NewTypedRateLimitingQueue(limiter)
		var handled atomic.Int64
		var all sync.WaitGroup
		watch := startWatch()
		for w := 0; w < workers; w++ {
			all.Add(1)
			go func() {
				defer all.Done()
				for {
					key, ended := items.Get()
					if ended {
						return
					}
					items.Forget(key)
					items.Done(key)
					handled.Add(1)
				}
			}()
		}
		for i := 0; i < adds; i++ {
			items.Add(keys[i%len(keys)])
		}
		for items.Len() > 0 {
			time.Sleep(100 * time.Microsecond)
		}
		items.ShutDown()
		all.Wait()
		report("queue", "workers", workers, "adds", adds, "handled", handled.Load(),
			"adds_per_s", perSecond(adds, watch.wall()), "cpu_s", micros(watch.cpu()))
	}
	return nil
}

// store measures an indexer: adds, gets, lists by index and updates 100,000 pods.
func store(arguments) error {
	const count = 100_000
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{
		cache.NamespaceIndex: cache.MetaNamespaceIndexFunc,
		"node": func(object any) ([]string, error) {
			return []string{object.(*corev1.Pod).Spec.NodeName}, nil
		},
	})
	pods := make([]*corev1.Pod, count)
	for i := range pods {
		pods[i] = makePod(i)
	}

	adding := startWatch()
	for _, pod := range pods {
		if err := indexer.Add(pod); err != nil {
			return err
		}
	}
	add := adding.wall()

	getting, hits := startWatch(), 0
	for round := 0; round < 10; round++ {
		for _, pod := range pods {
			if _, found, _ := indexer.GetByKey(pod.Namespace + "/" + pod.Name); found {
				hits++
			}
		}
	}
	get := getting.wall()

	indexing, objects := startWatch(), 0
	for k := 0; k < nodes; k++ {
		found, err := indexer.ByIndex("node", fmt.Sprintf("node-%d", k))
		if err != nil {
			return err
		}
		objects += len(found)
	}
	byIndex := indexing.wall()

	updating := startWatch()
	for _, pod := range pods {
		if err := indexer.Update(pod); err != nil {
			return err
		}
	}
	report("store", "add_per_s", perSecond(count, add), "get_per_s", perSecond(hits, get),
		"by_index_objects_per_s", perSecond(objects, byIndex), "update_per_s", perSecond(count, updating.wall()))
	return nil
}
