package cli_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// The text mutators make many different texts of a text, the same ones every
// time, within the document's limit of bytes.
func TestTextMutators(t *testing.T) {
	t.Parallel() // mostly waits
	l := newLab(t, "exit 0")
	l.write("seed.bin", "Bitte prüfe die Rechnung Nr. 4711 von 김민수 und antworte kurz. 👩‍👩‍👧\n")
	l.document(edits{"mutations.cases": 300, "mutations.max_ops_per_case": 3, "mutations.max_bytes": 60})
	mutate := func(args ...string) string {
		t.Helper()
		r := call(append([]string{"fuzzspec", "mutate", "--spec", l.path("spec.json"), "--mutators", "text"}, args...)...)
		expect(t, r, 0)
		return r.out
	}
	all := mutate("--cases", "0:300")
	if again := mutate("--cases", "0:300"); again != all {
		t.Error("the cases come out differently")
	}
	distinct, logged := map[string]bool{}, 0
	for _, line := range strings.Split(strings.TrimSpace(all), "\n") {
		_, sum, _ := strings.Cut(line, `"sha256":"`)
		distinct[sum[:64]] = true
		if strings.Contains(line, `"op_id"`) {
			logged++
		}
	}
	if len(distinct) < 200 || logged < 280 {
		t.Errorf("%d distinct cases, %d with a log", len(distinct), logged)
	}
	for n := range 40 {
		if raw := mutate("--case", fmt.Sprint(n), "--raw"); len(raw) > 60 || !utf8.ValidString(raw) {
			t.Errorf("case %d: %q", n, raw)
		}
	}
	expect(t, l.run("--mutators", "text", "--cases", "50"), 0)
	l.write("seed.bin", "\xff\xfe")
	expect(t, l.run("--mutators", "text"), 2, "UTF-8 text")
	expect(t, l.run("--mutators", "text", "--guided"), 2, "needs --mutators deep")
}
