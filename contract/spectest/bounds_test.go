package spectest

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

// A case whose every value is wrong, on one long line, is refused in bounded
// memory: the line is kept once, and what is not listed is counted.
func TestManyFaultsAreBounded(t *testing.T) {
	for values, want := range map[int]string{30_000: "29,001 more problems in this case, not listed", 12_000_000: "more than 5000000 values"} {
		if values > 1_000_000 && testing.Short() {
			continue
		}
		doc := "```yaml spec-test\nid: A-1\ntype: cli.run\nharness: {entrypoint: true}\nassert: [" + strings.Repeat("1,", values) + "1]\n```\n"
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, list := newContract(nil).Compile(t.Context(), campaign.Spec{Path: "a.spec.md", Data: []byte(doc)}, campaign.Settings{Check: true, Options: map[string][]string{}})
		runtime.ReadMemStats(&after)
		found := slices.ContainsFunc(list, func(x diag.Diagnostic) bool { return strings.Contains(x.Message+x.Hint, want) })
		if len(list) > mostFaults+1 || !found {
			t.Errorf("%d values: %d diagnostics, none of which says %q", values, len(list), want)
		}
		if grown := (after.TotalAlloc - before.TotalAlloc) >> 20; grown > 600 {
			t.Errorf("%d values: %d MiB were allocated", values, grown)
		}
	}
}

// So is a document of very many faulty blocks; errors stay errors.
func TestManyBlocksAreBounded(t *testing.T) {
	for block, total := range map[string]int{"```yaml spec-test\n```\n": 20_001, "> ```yaml spec-test\n> ```\n\n": 10_001} {
		doc := strings.Repeat(block, 10_000) + "```yaml spec-test\nid: A-1\n```\n"
		_, list := newContract(nil).Compile(t.Context(), campaign.Spec{Path: "a.spec.md", Data: []byte(doc)}, campaign.Settings{Check: true, Options: map[string][]string{}})
		said := strings.NewReplacer(",", "").Replace(list[0].Message)
		var errors, warnings int
		if _, err := fmt.Sscanf(said, "%d errors and %d warnings more are not listed", &errors, &warnings); err != nil {
			t.Fatalf("%v: %v", list[0], err)
		}
		if !list.HasErrors() || len(list) > 2*mostFaults+2 || len(list)-1+errors+warnings != total {
			t.Errorf("%q: %d diagnostics and %v, want %d in all", block, len(list), list[0], total)
		}
	}
}
