package mutator

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/engine/textop"
)

// Claim fills r.Trace with what a plug-in says of itself: a decoded trace, for
// an application of the operator id to seed that returned r.Status and r.Child.
// A minimal field (OC-5.1) that is missing is a breach and counts as true, so
// that it is reported once; other fields are kept. What is claimed is held against
// the truth by [textop.Run].
func Claim(r *textop.Result, id, seed string, raw map[string]any) {
	breach := func(format string, args ...any) { r.Breaches = append(r.Breaches, fmt.Sprintf(format, args...)) }
	r.Trace = textop.Step{OpID: id, Status: r.Status, LenBefore: utf8.RuneCountInString(seed), LenAfter: utf8.RuneCountInString(r.Child)}
	for _, key := range []string{"op_id", "status", "params", "len_before", "len_after"} {
		if _, ok := raw[key]; !ok {
			breach("the trace has no %s (OC-5.1)", key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(raw)) {
		v := raw[key]
		switch key {
		case "op_id":
			r.Trace.OpID = text(v)
		case "status":
			r.Trace.Status = textop.Status(text(v))
		case "len_before":
			r.Trace.LenBefore = whole(v)
		case "len_after":
			r.Trace.LenAfter = whole(v)
		case "params":
			p, ok := v.(map[string]any)
			if !ok {
				breach("the trace has params that are no dict (OC-5.1)")
				continue
			}
			for _, name := range slices.Sorted(maps.Keys(p)) {
				r.Trace.Params = append(r.Trace.Params, textop.Param{Key: name, Value: p[name]})
			}
		default:
			r.Trace.Extra = append(r.Trace.Extra, textop.Param{Key: key, Value: v})
		}
	}
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// whole is an integer, or -1, which no length is.
func whole(v any) int {
	switch v := v.(type) {
	case int64:
		return int(v)
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return int(n)
		}
	}
	return -1
}
