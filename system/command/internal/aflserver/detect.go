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
	// SanitizerCoverage: it has the compiler's coverage calls but no fork
	// server, so that it cannot be used here; it must be compiled by afl-cc.
	SanitizerCoverage bool
}

// The marks that afl-cc leaves in a program. The program under test must be
// told by its environment which of these modes it is used in.
var marks = []struct {
	text string
	set  func(*Features)
}{
	{"__AFL_SHM_ID", func(f *Features) { f.Instrumented = true }},
	{"##SIG_AFL_PERSISTENT##", func(f *Features) { f.Persistent = true }},
	{"##SIG_AFL_DEFER_FORKSRV##", func(f *Features) { f.Deferred = true }},
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
				return Features{SanitizerCoverage: f.SanitizerCoverage}, ignoreEnd(err)
			}
			f.SanitizerCoverage = false // its calls end in the fork server's counts
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
