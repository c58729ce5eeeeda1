package aflserver

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// Features is the instrumentation found in a program's file.
type Features struct {
	// Instrumented: it contains a fork server.
	Instrumented bool
	// Persistent: it can run many cases in one process.
	Persistent bool
	// Deferred: it starts its fork server itself, after its setup.
	Deferred bool
	// Counted: its runtime counts edges and ends a case that exceeds its budget.
	Counted bool
	// Compares: our runtime can report what the program compares. Cmplog: AFL++'s can.
	Compares, Cmplog bool
	// Driver: its main function is AFL++'s harness driver. LibFuzzer: it is libFuzzer's. Both take
	// input files as arguments.
	Driver, LibFuzzer bool
	// Counters: it has the compiler's inline edge counters.
	Counters bool
	// SanitizerCoverage: it has the compiler's coverage calls but no fork server, so it cannot be
	// used here unless it has Counters.
	SanitizerCoverage bool
}

// Marks that afl-cc leaves in a program. Environment variables must tell the program which of these
// modes to use.
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

// Detect searches a program's file for marks of instrumentation. A file that is not an ELF program,
// such as a script, has none.
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
			f.SanitizerCoverage, f.Counters = false, false // the fork server's runtime handles them
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
