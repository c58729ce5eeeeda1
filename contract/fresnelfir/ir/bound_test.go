package ir_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/diag"
)

// Of a document that is wrong in very many places no more is noted than is
// reported.
func TestManyWrongPlaces(t *testing.T) {
	const values = 200_000
	text := []byte(`{"entities":{"A":{"fields":{"k":{"type":"enum","values":[` + strings.Repeat("1,", values) + `1]}}}}}`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	doc, _, list := ir.Decode("x.json", text)
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / values; doc != nil || len(list) != diag.MostKept+1 || each > 400 {
		t.Errorf("%d diagnostics, %d bytes a value, document %v", len(list), each, doc != nil)
	}
}
