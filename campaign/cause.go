package campaign

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
)

// CauseOf names what a finding comes from, so that several that came from it are
// shown as one: the source line in which its trace ends (two types of exceptions that
// one line raises are two causes), else its kind and what took place, else its smallest input. ""
// is its own cause.
func CauseOf(f *Finding, document string) string {
	of := func(kind, what string) string {
		sum := sha256.Sum256([]byte(f.Contract + "\x00" + f.Campaign + "\x00" + kind + "\x00" + what))
		return hex.EncodeToString(sum[:8])
	}
	for i := range f.Evidence {
		if d := f.Evidence[i].Document; d != nil && d.Line > 0 && d.Name != document {
			what := d.Name + ":" + strconv.Itoa(d.Line)
			if len(f.Cause) > 2 && (f.Cause[0] == "exception" || f.Cause[0] == "panic") {
				what += " " + f.Cause[2]
			}
			return of("line", what)
		}
	}
	for i := range f.Evidence {
		if t := f.Evidence[i].Timeline; t != nil && len(t.Spans) > 0 {
			events, err := json.Marshal(t)
			if err == nil {
				return of("events", f.Kind+"\x00"+string(events))
			}
		}
	}
	if m := f.Minimized; m != nil && m.Verified && m.Blob != "" {
		return of("input", m.Blob)
	}
	return ""
}

// ByCause puts what came from one cause together, each cause at the place of its
// first.
func ByCause[T any](list []T, cause func(T) string) [][]T {
	var out [][]T
	at := make(map[string]int)
	for _, x := range list {
		key := cause(x)
		if i, known := at[key]; known && key != "" {
			out[i] = append(out[i], x)
			continue
		}
		at[key] = len(out)
		out = append(out, []T{x})
	}
	return out
}
