package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// clientGoVersion is set by the linker to the version of the package.
var clientGoVersion = "unknown"

func version(arguments) error {
	report("version", "client_go", clientGoVersion, "go", runtime.Version())
	return nil
}

// report prints one result as a JSON line, its keys in the order given.
func report(bench string, keysAndValues ...any) {
	var line bytes.Buffer
	fmt.Fprintf(&line, `{"impl":"client-go","bench":%q`, bench)
	for i := 0; i+1 < len(keysAndValues); i += 2 {
		value, err := json.Marshal(keysAndValues[i+1])
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(&line, ",%q:%s", keysAndValues[i], value)
	}
	fmt.Println(line.String() + "}")
}

// statusKb returns a number of /proc/self/status.
func statusKb(name string) int {
	content, _ := os.ReadFile("/proc/self/status")
	for _, line := range strings.Split(string(content), "\n") {
		rest, found := strings.CutPrefix(line, name+":")
		if !found {
			continue
		}
		if words := strings.Fields(rest); len(words) > 0 {
			n, _ := strconv.Atoi(words[0])
			return n
		}
	}
	return 0
}

// resetPeak makes VmHWM the peak since now.
func resetPeak() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }

func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

type stopwatch struct {
	start time.Time
	used  time.Duration
}

func startWatch() stopwatch { return stopwatch{time.Now(), cpuTime()} }

func (s stopwatch) wall() float64 { return time.Since(s.start).Seconds() }
func (s stopwatch) cpu() float64  { return (cpuTime() - s.used).Seconds() }

func micros(seconds float64) float64 { return math.Round(seconds*1e6) / 1e6 }
func perSecond(n int, seconds float64) int {
	return int(float64(n) / seconds)
}

// settle collects garbage and returns free memory, so that the rest is the memory held.
func settle() {
	runtime.GC()
	debug.FreeOSMemory()
	time.Sleep(300 * time.Millisecond)
}
