// The client-go program of the benchmarks: it has the commands of kubexx-bench, and prints JSON lines with
// the same keys. The server is the one of $KUBECONFIG. The script `build` in this folder compiles it.
package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// A command takes the arguments after its name.
type command struct {
	arguments int
	usage     string
	run       func(args arguments) error
}

var commands = map[string]command{
	"version":   {0, "", version},
	"decode":    {1, "FILE [--rounds N]", decode},
	"encode":    {2, "FILE TYPE [--rounds N]", encode},
	"seed":      {1, "N", seed},
	"get":       {1, "proto|json [--count N]", get},
	"list":      {1, "proto|json [--rounds N]", list},
	"sync":      {1, "proto|json", typedSync},
	"dynsync":   {0, "", dynamicSync},
	"metasync":  {0, "", metadataSync},
	"events":    {2, "proto|json N", events},
	"latency":   {2, "proto|json FILE [--seconds N]", latency},
	"churn":     {1, "N", churn},
	"informers": {1, "N", manyInformers},
	"queue":     {0, "[--workers N,N...]", queue},
	"store":     {0, "", store},
}

// arguments are the words of the command line in their order, and its --flags with a value.
type arguments struct {
	words []string
	flags map[string]string
}

func parse(all []string) arguments {
	parsed := arguments{flags: map[string]string{}}
	for i := 0; i < len(all); i++ {
		if name, isFlag := strings.CutPrefix(all[i], "--"); isFlag && i+1 < len(all) {
			i++
			parsed.flags[name] = all[i]
		} else {
			parsed.words = append(parsed.words, all[i])
		}
	}
	return parsed
}

func (a arguments) number(word int) (int, error) { return strconv.Atoi(a.words[word]) }

func (a arguments) flag(name string, otherwise int) int {
	if n, err := strconv.Atoi(a.flags[name]); err == nil {
		return n
	}
	return otherwise
}

func (a arguments) flagNumbers(name string, otherwise ...int) []int {
	var all []int
	for _, text := range strings.Split(a.flags[name], ",") {
		if n, err := strconv.Atoi(text); err == nil {
			all = append(all, n)
		}
	}
	if all == nil {
		return otherwise
	}
	return all
}

func main() {
	if len(os.Args) > 1 {
		args := parse(os.Args[2:])
		if found, known := commands[os.Args[1]]; known && len(args.words) >= found.arguments {
			if err := found.run(args); err != nil {
				fmt.Fprintln(os.Stderr, "clientgo-bench:", err)
				os.Exit(1)
			}
			return
		}
	}
	fmt.Fprintln(os.Stderr, "usage:")
	for name, known := range commands {
		fmt.Fprintln(os.Stderr, "  clientgo-bench", name, known.usage)
	}
	os.Exit(2)
}
