package aflserver

import (
	"bytes"
	"path/filepath"
	"testing"
)

func TestScan(t *testing.T) {
	// at puts marks into an ELF file of n bytes, the first one at offset.
	at := func(n, offset int, marks ...string) []byte {
		b := append([]byte("\x7fELF"), make([]byte, n)...)
		for _, m := range marks {
			offset += copy(b[offset:], m) + 1
		}
		return b
	}
	const mib = 1 << 20
	for _, c := range []struct {
		name string
		file []byte
		want Features
	}{
		{"empty", nil, Features{}},
		{"script", []byte("#!/bin/sh\n# __AFL_SHM_ID\n"), Features{}},
		{"plain", at(100, 10), Features{}},
		{"instrumented", at(100, 10, "__AFL_SHM_ID"), Features{Instrumented: true}},
		{"AFL++'s runtime", at(100, 10, "__AFL_SHM_ID", "__AFL_CMPLOG_SHM_ID"), Features{Instrumented: true, Cmplog: true}},
		{"with coverage calls", at(100, 10, "__AFL_SHM_ID", "__sanitizer_cov_trace_pc_guard"), Features{Instrumented: true}},
		{"coverage calls only", at(100, 10, "__sanitizer_cov_trace_pc_guard"), Features{SanitizerCoverage: true}},
		{"libFuzzer's main", at(200, 10, "INFO: libFuzzer ignores flags that", "__sancov_cntrs"), Features{LibFuzzer: true, Counters: true}},
		{"AFL++'s main", at(200, 10, "__AFL_SHM_ID", "DEBUG: aflpp_driver pid is %d", "__sancov_cntrs"), Features{Instrumented: true, Driver: true}},
		{"marks without a server", at(100, 10, "##SIG_AFL_PERSISTENT##"), Features{}},
		{"all, over the end of a block", at(3*mib, mib-30, "__AFL_SHM_ID", "##SIG_AFL_PERSISTENT##", "##SIG_AFL_DEFER_FORKSRV##"),
			Features{Instrumented: true, Persistent: true, Deferred: true}},
		{"over the end of a later block", at(3*mib, 2*mib-64-5, "__AFL_SHM_ID"), Features{Instrumented: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := scan(bytes.NewReader(c.file))
			if err != nil || got != c.want {
				t.Errorf("%+v, %v; want %+v", got, err, c.want)
			}
		})
	}
}

func TestDetectAbsent(t *testing.T) {
	if _, err := Detect(filepath.Join(t.TempDir(), "absent")); err == nil {
		t.Error("no error for a file that is not there")
	}
}
