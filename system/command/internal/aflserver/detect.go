package aflserver

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// Features is what a program's file says of its instrumentation.
type Features struct {
	// Instrumented: there is a fork server in it.
	Instrumented bool
	// Persistent: it can run many cases in one process.
	Persistent bool
	// Deferred: it starts its fork server by itself, after its set-up.
	Deferred bool
	// Counted: its runtime counts edges and ends a case at a budget of them.
	Counted bool
	// Compares: its runtime can say what the program compares. Cmplog: that of AFL++
	// can, of a program that was built to.
	Compares, Cmplog bool
	// Driver: its main is AFL++'s own for a harness; LibFuzzer: it is libFuzzer's.
	// Both take the files of inputs as arguments.
	Driver, LibFuzzer bool
	// Counters: it has the compiler's inline counters of edges.
	Counters bool
	// SanitizerCoverage: it has the compiler's coverage calls but no fork
	// server, so that it cannot be used here unless it has Counters.
	SanitizerCoverage bool
}

// The marks that afl-cc leaves in a program. The program under test must be
// told by its environment which of these modes it is used in.
var marks = []struct {
	text string
	set  func(*Features)
}{
	{"__AFL_SHM_ID", func(f *Features) { f.Instrumented = true }},
	{"__THRESH_WORK_ID", func(f *Features) { f.Counted = true }},
	{"__THRESH_COMPARE_ID", func(f *Features) { f.Compares = true }},
	{"__AFL_CMPLOG_SHM_ID", func(f *Features) { f.Cmplog = true }},
	{"##SIG_AFL_PERSISTENT##", func(f *Features) { f.Persistent = true }},
	{"##SIG_AFL_DEFER_FORKSRV##", func(f *Features) { f.Deferred = true }},
	{"aflpp_driver pid is", func(f *Features) { f.Driver = true }},
	{"INFO: libFuzzer ignores flags", func(f *Features) { f.LibFuzzer = true }},
	{"__sancov_cntrs", func(f *Features) { f.Counters = true }},
	{"__sanitizer_cov_trace_pc_guard", func(f *Features) { f.SanitizerCoverage = true }},
}

// Detect looks for marks of instrumentation in a program's file. A file that
// is no ELF program, such as a script, has none.
func Detect(path string) (Features, error) {
	f, err := os.Open(path)
	if err != nil {
		return Features{}, fmt.Errorf("look for instrumentation: %w", err)
	}
	defer f.Close()
	features, err := scan(f)
	if err != nil {
		return Features{}, fmt.Errorf("look for instrumentation in %s: %w", path, err)
	}
	return features, nil
}

func scan(r io.Reader) (Features, error) {
	const overlap = 64 // more than the longest mark
	var f Features
	buf := make([]byte, 1<<20)
	kept := 0
	for first := true; ; first = false {
		n, err := io.ReadFull(r, buf[kept:])
		window := buf[:kept+n]
		if first && !bytes.HasPrefix(window, []byte("\x7fELF")) {
			return Features{}, ignoreEnd(err)
		}
		for _, m := range marks {
			if bytes.Contains(window, []byte(m.text)) {
				m.set(&f)
			}
		}
		if err != nil {
			if !f.Instrumented {
				return Features{SanitizerCoverage: f.SanitizerCoverage, LibFuzzer: f.LibFuzzer, Counters: f.Counters}, ignoreEnd(err)
			}
			f.SanitizerCoverage, f.Counters = false, false // its calls end in the fork server's counts
			return f, ignoreEnd(err)
		}
		kept = copy(buf, window[len(window)-overlap:])
	}
}

func ignoreEnd(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}
