package fuzzspec

import (
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/engine/jsontree"
)

// triageMarkdown is the table that people read.
func triageMarkdown(id string, total int, verdicts, unique map[string]int, clusters int, top []Cluster) []byte {
	var b strings.Builder
	cell := func(s string) string { return escapeCell.Replace(printable(s)) }
	fmt.Fprintf(&b, "# Triage (Campaign Dedup v1)\n\n- campaign_id: `%s`\n- cases_total: %d\n- unique_signatures_total: %d\n\n", id, total, clusters)
	b.WriteString("## Top clusters\n\n| rank | verdict | signature | count | first_case | representative_run |\n")
	b.WriteString("| ---: | :------ | :-------- | ----: | ---------: | :----------------- |\n")
	for i, c := range top {
		fmt.Fprintf(&b, "| %d | %s | %s | %d | %d | %s |\n", i+1, cell(c.Verdict), cell(c.Signature), c.Count, c.First.CaseIndex, cell(c.First.RunID))
	}
	spaced := func(counts map[string]int) string {
		n := tree(counts)
		return jsontree.Spaced.Format(&n)
	}
	fmt.Fprintf(&b, "\n## Totals\n\n- cases_total: %d\n- verdict_counts: `%s`\n- unique_signatures_by_verdict: `%s`\n- unique_signatures_total: %d\n\n",
		total, spaced(verdicts), spaced(unique), clusters)
	return []byte(b.String())
}

// escapeCell keeps a name of a file that a program wrote, which signatures hold,
// from ending its cell or becoming markup.
var escapeCell = strings.NewReplacer("|", `\|`, "\n", " ", "\r", " ", "<", "&lt;")
