package fuzzspec_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/contract/fuzzspec"
	"github.com/thresh-dev/thresh/diag"
)

// Very many wrong values cost no more memory than reading them; the first is said
// as ever in the words of existing tools.
func TestManyWrongValues(t *testing.T) {
	const values = 200_000
	text := []byte(`{"schema_version":"fuzzspec.v1","target":{"command":[` + strings.Repeat("1,", values) + `1]}}`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, list := fuzzspec.Check(text, nil, fuzzspec.CheckOptions{File: "x.json"})
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / values; len(list) != diag.MostKept+1 || each > 600 {
		t.Errorf("%d diagnostics and %d bytes a value", len(list), each)
	}
	if last := list[len(list)-1].String(); !strings.Contains(last, "more errors are not listed") {
		t.Error(last)
	}
	if _, _, err := fuzzspec.Validate(text, nil, false); err == nil || err.Error() != "campaign_id: missing required field" {
		t.Error(err)
	}
}
