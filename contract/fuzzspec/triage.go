package fuzzspec

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/engine/jsontree"
)

// TriageInput is the output of a campaign.
type TriageInput struct {
	CampaignID string
	Cases      []byte // cases.jsonl
	Summary    []byte // summary.json, nil if there is none
	Campaign   []byte // campaign.json, nil if there is none
	// Eval returns the eval.json of a run, or nil; it is called for cases whose lines lack a verdict
	// or signature. It may be nil.
	Eval func(runID string) []byte
}

// TriageOptions select what a triage shows.
type TriageOptions struct {
	TopK        int  // clusters in the table and the summary; none if not positive
	IncludePass bool // show clusters of passing cases
}

// DefaultTopK is the number of clusters that existing tools show.
const DefaultTopK = 50

// Triage holds the clusters of a campaign's cases, worst first, and the files that list them.
type Triage struct {
	Clusters []Cluster
	JSON     []byte // triage/triage.json
	Markdown []byte // triage/triage.md
	Summary  []byte // summary.json with the top clusters; nil if there was none to patch
}

// Cluster is the group of cases with one verdict and signature.
type Cluster struct {
	Verdict, Signature string
	Count              int
	First              CaseRef   // smallest case index, then run id
	Samples            []CaseRef // the five smallest
}

// CaseRef names one case of a cluster.
type CaseRef struct {
	CaseIndex               int64
	RunID                   string
	ArtifactID, InputSHA256 string
}

// Key returns the key of a cluster.
func (c Cluster) Key() string { return c.Verdict + "|" + c.Signature }

func compareRefs(a, b CaseRef) int {
	return cmp.Or(cmp.Compare(a.CaseIndex, b.CaseIndex), cmp.Compare(a.RunID, b.RunID))
}

// rank orders verdicts, worst first.
func rank(verdict string) int {
	order := []string{VerdictFail, VerdictTimeout, VerdictBlocked, VerdictDryRun, VerdictPass}
	if i := slices.Index(order, verdict); i >= 0 {
		return i
	}
	return len(order)
}

// sampleRefs is the number of cases that a cluster names.
const sampleRefs = 5

// TriageCampaign groups the cases of a campaign by verdict and signature. A line that cannot be
// parsed counts as a case without any information.
func TriageCampaign(in TriageInput, o TriageOptions) Triage {
	clusters := map[string]*Cluster{}
	verdicts := map[string]int{}
	total := 0
	for number, line := range bytes.Split(in.Cases, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		total++
		ref, verdict, signature := readCase(line, int64(number), in.Eval)
		verdicts[verdict]++
		key := Cluster{Verdict: verdict, Signature: signature}.Key()
		c := clusters[key]
		if c == nil {
			c = &Cluster{Verdict: verdict, Signature: signature}
			clusters[key] = c
		}
		c.Count++
		c.add(ref)
	}
	var t Triage
	for _, c := range clusters {
		if c.Verdict != VerdictPass || o.IncludePass {
			c.First = c.Samples[0]
			t.Clusters = append(t.Clusters, *c)
		}
	}
	slices.SortFunc(t.Clusters, func(a, b Cluster) int {
		return cmp.Or(cmp.Compare(rank(a.Verdict), rank(b.Verdict)), cmp.Compare(b.Count, a.Count),
			cmp.Compare(a.First.CaseIndex, b.First.CaseIndex), cmp.Compare(a.Key(), b.Key()))
	})
	unique := map[string]int{}
	for _, c := range t.Clusters {
		unique[c.Verdict]++
	}
	summary := parseObject(in.Summary)
	t.JSON = triageJSON(in.CampaignID, specDigest(summary, in.Campaign), total, verdicts, unique, t.Clusters)
	top := t.Clusters[:min(max(o.TopK, 0), len(t.Clusters))]
	t.Markdown = triageMarkdown(in.CampaignID, total, verdicts, unique, len(t.Clusters), top)
	if summary != nil {
		t.Summary = patchSummary(summary, unique, len(t.Clusters), top)
	}
	return t
}

// add keeps the smallest cases as samples.
func (c *Cluster) add(ref CaseRef) {
	at, _ := slices.BinarySearchFunc(c.Samples, ref, compareRefs)
	if at < sampleRefs {
		c.Samples = slices.Insert(c.Samples, at, ref)
		c.Samples = c.Samples[:min(len(c.Samples), sampleRefs)]
	}
}

// readCase takes what it can from a line, and the rest from the run's own evaluation.
func readCase(line []byte, number int64, eval func(string) []byte) (ref CaseRef, verdict, signature string) {
	ref = CaseRef{CaseIndex: number}
	record := parseObject(line)
	if record == nil {
		return ref, verdictUnknown, verdictUnknown
	}
	if v := record.Get("case_index").Int(); v != nil && v.IsInt64() {
		ref.CaseIndex = v.Int64()
	}
	ref.RunID, _ = record.Get("run_id").Str()
	ref.ArtifactID, _ = record.Get("artifact_id").Str()
	ref.InputSHA256, _ = record.Get("input_sha256").Str()
	verdict, _ = record.Get("verdict_eval").Str()
	signature, _ = record.Get("signature_v1").Str()
	if (verdict == "" || signature == "") && eval != nil && ref.RunID != "" {
		e := parseObject(eval(ref.RunID))
		if verdict == "" {
			verdict, _ = e.Get("verdict").Str()
		}
		if signature == "" {
			signature, _ = e.Get("signature_v1").Str()
		}
	}
	return ref, strings.ToUpper(cmp.Or(verdict, verdictUnknown)), cmp.Or(signature, verdictUnknown)
}

// parseObject parses a JSON object; nil if the text is not one.
func parseObject(text []byte) *jsontree.Node {
	if len(text) == 0 {
		return nil
	}
	doc, err := jsontree.Parse(text, jsontree.Python())
	if err != nil || doc.Root.Kind != jsontree.Object {
		return nil
	}
	return &doc.Root
}

func specDigest(summary *jsontree.Node, campaign []byte) string {
	if s, _ := summary.Get("spec_sha256").Str(); s != "" {
		return s
	}
	s, _ := parseObject(campaign).Get("spec_sha256").Str()
	return s
}

func triageJSON(id, digest string, total int, verdicts, unique map[string]int, clusters []Cluster) []byte {
	list := make([]any, len(clusters))
	for i, c := range clusters {
		samples := make([]any, len(c.Samples))
		for k, s := range c.Samples {
			samples[k] = object{"case_index": s.CaseIndex, "run_id": s.RunID}
		}
		list[i] = object{
			"cluster_key": c.Key(), "verdict_eval": c.Verdict, "signature_v1": c.Signature, "count": c.Count,
			"first_case_index": c.First.CaseIndex, "first_run_id": c.First.RunID, "sample_refs": samples,
			"representative": object{"case_index": c.First.CaseIndex, "run_id": c.First.RunID,
				"artifact_id": c.First.ArtifactID, "input_sha256": c.First.InputSHA256},
		}
	}
	return pretty(object{
		"schema_version": "llmfuzz.triage.v1", "campaign_id": id, "spec_sha256": digest, "cases_total": total,
		"verdict_counts": verdicts, "unique_signatures_total": len(clusters), "unique_signatures_by_verdict": unique,
		"clusters": list,
	})
}

func patchSummary(summary *jsontree.Node, unique map[string]int, clusters int, top []Cluster) []byte {
	list := make([]any, len(top))
	for i, c := range top {
		list[i] = object{"cluster_key": c.Key(), "count": c.Count, "representative_run_id": c.First.RunID}
	}
	summary.Set("top_clusters", tree(list))
	summary.Set("unique_signatures_total", tree(clusters))
	summary.Set("unique_signatures_by_verdict", tree(unique))
	return pretty(*summary)
}

// triageMarkdown is the table for readers.
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

// escapeCell escapes the file names in signatures, which a program chose, so that they cannot end a
// cell or become markup.
var escapeCell = strings.NewReplacer("|", `\|`, "\n", " ", "\r", " ", "<", "&lt;")
