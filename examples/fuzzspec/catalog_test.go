package fuzzspec

import (
	"bytes"
	"compress/gzip"

	"github.com/thresh-dev/thresh/examples/fuzzspec/demo"
)

// Example is one program and what a campaign on it is to find.
type Example struct {
	Name string
	// Fault is the planted bug, in words.
	Fault string
	// Expect lists what the findings are to hold: each entry is words that the
	// class, kind or title of a finding holds, upper or lower case; "|" stands
	// between alternatives. Empty: no finding is demanded, but the run must end.
	Expect []string
	// Args are options that the run needs.
	Args []string
	Seed []byte

	source  string   // C source in bugs/
	flags   []string // compiler flags beyond -g -O1
	goPath  string   // Go package to build instead
	command []string // installed program to run instead
	timeout int      // seconds; 0: 1
	cases   int
	ops     int
	seed    int
}

// patient is a time limit in seconds for what can take more than one on a busy machine: a
// sanitizer's report, much output, much memory.
const patient = 20

// catalog returns all examples in a fixed order.
func catalog() []Example {
	asan := []string{"-fsanitize=address"}
	ubsan := []string{"-fsanitize=undefined", "-fno-sanitize-recover=all"}
	list := []Example{
		{Name: "null_deref", Fault: "NULL dereference of a missing key", Expect: []string{"SIGSEGV"}, Seed: []byte("lang=en;title=Letters;pages=12;")},
		{Name: "heap_overflow", Fault: "copy beyond a heap block", Expect: []string{"heap-buffer-overflow"}, Seed: []byte("LEN:0c\nhello scroll"), flags: asan},
		{Name: "stack_buffer", Fault: "copy beyond a buffer on the stack", Expect: []string{"stack-buffer-overflow"}, Seed: []byte("user=scrollkeeper;role=reader of scrolls;"), flags: asan},
		{Name: "use_after_free", Fault: "use of freed memory", Expect: []string{"heap-use-after-free"}, Seed: []byte("apapdapapdapapdap"), flags: asan},
		{Name: "failed_assert", Fault: "failed assertion", Expect: []string{"assertion failed"}, Seed: []byte("2026-01-15\n2026-02-28\n2026-03-30\n")},
		{Name: "abort_call", Fault: "abort without a word", Expect: []string{"SIGABRT"}, Seed: []byte("ABBAABABBAAB")},
		{Name: "endless_loop", Fault: "loop that never ends", Expect: []string{"timeout"}, Seed: []byte("a2b4c6d8e2f4")},
		{Name: "fork_bomb", Fault: "children without end (64 here)", Expect: []string{"timeout"}, Seed: []byte("jobs=1;task=print;")},
		{Name: "output_flood", Fault: "1 GB of output", Expect: []string{"output-limit|output limit"}, timeout: patient, Seed: []byte("width=8;a text that is wrapped")},
		{Name: "exit_code", Fault: "exit code 3 on an odd version", Expect: []string{"exit 3|exit status 3"}, Seed: []byte("version 2.1\nhello\n")},
		{Name: "bad_json", Fault: "result that is not JSON", Expect: []string{"JSON"}, Seed: []byte("to be or not to be")},
		{Name: "pipe_holder", Fault: "child that outlives its parent and holds the output open", Expect: []string{"left running"}, Seed: []byte("async=0;")},
		{Name: "memory_hog", Fault: "memory without end (1 GB here)", Expect: []string{"memory-limit|out of memory"}, timeout: patient, Args: []string{"--memory-limit", "64MiB"}, Seed: []byte("kb=00000010;")},
		{Name: "int_overflow", Fault: "signed integer overflow", Expect: []string{"signed integer overflow"}, Seed: []byte("w=000012000;h=000000900;"), flags: ubsan},
		{Name: "double_free", Fault: "memory freed twice", Expect: []string{"double free|SIGABRT"}, Seed: []byte("oc oc oc oc oc")},
		{Name: "recursion", Fault: "recursion without end", Expect: []string{"SIGSEGV"}, Seed: []byte("1>2;2>3;3>4;4>5;5>0;")},
	}
	for i := range list {
		list[i].source = list[i].Name + ".c"
		list[i].cases, list[i].ops, list[i].seed = 400, 1, 1
		if len(list[i].flags) > 0 {
			list[i].timeout = patient
		}
	}
	parser := Example{Name: "parser", Fault: "ten bugs in one Go program", Seed: demo.Seed(), goPath: "github.com/thresh-dev/thresh/examples/fuzzspec/parser",
		cases: 800, ops: 4, seed: 1}
	parser.Expect = []string{
		"index out of range", "assignment to entry in nil map", "nil pointer dereference", "timeout", "exit", "JSON", "out of memory", "stack overflow", "SIGABRT", "output",
	}
	return append(list, parser, Example{Name: "gzip", Fault: "none: a real program that refuses damage by exit code 1 or 2",
		Args: []string{"--ok-exit", "1,2"}, Seed: gzipSeed(), command: []string{"gzip", "-dc", "<input_path>"}, cases: 400, ops: 4, seed: 1})
}

func gzipSeed() []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	// Writing to memory does not fail.
	_, _ = w.Write(bytes.Repeat([]byte("A scroll is read from right to left. "), 8))
	_ = w.Close()
	return b.Bytes()
}
