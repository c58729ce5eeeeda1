package operator_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/operator"
	"github.com/thresh-dev/thresh/internal/golden"
)

// What becomes of seed files that are damaged in every place: what is said of them, and
// which cases they make and how these are shown.
func TestEverySmallChange(t *testing.T) {
	dir := t.TempDir()
	place(t, dir, "seeds.jsonl", seeds)
	place(t, dir, "judge.sh", "#!/bin/sh\n")
	path := filepath.Join(dir, "operators.json")
	compile := func(doc string) string {
		var b strings.Builder
		list, said := front().Compile(t.Context(), campaign.Spec{Path: path, Data: []byte(doc)}, settings())
		fmt.Fprintln(&b, said)
		for _, x := range list {
			c, ok := campaign.As[*operator.Campaign](x)
			if !ok {
				t.Fatalf("%T", x)
			}
			fmt.Fprintln(&b, c.Identity().Name)
			s := c.Start(campaign.Facts{})
			round, more := c.Round(s)
			fmt.Fprintln(&b, round.Len, more)
			for i := range min(round.Len, 3) {
				at := campaign.Case{Index: i}
				exhibits, err := json.Marshal(c.Describe(s, at, campaign.Outcome{}, nil))
				fmt.Fprintf(&b, "%s %s %v\n", c.Input(t.Context(), s, at), exhibits, err)
			}
			sum := c.Summarize(s)
			exhibits, err := json.Marshal(sum.Exhibits)
			fmt.Fprintln(&b, sum.Warnings, sum.Advice, string(exhibits), err)
		}
		return strings.ReplaceAll(b.String(), dir, "{dir}")
	}
	golden.Sweep(t, "seeds", golden.Changed("", `{"id": "third", "text": ["a", "b"], "surface": "PROMPT_TEXT"}`+"\n"), func(text string) string {
		place(t, dir, "seeds.jsonl", text)
		return compile(`{"schema_version": "thresh.operators.v1", "seeds": ["seeds.jsonl"], "children": 6, "select": {"include": ["op_enc_hex"]}}`)
	})
}
