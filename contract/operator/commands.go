package operator

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/seq"
	"github.com/thresh-dev/thresh/engine/textop"
)

// Commands implements [campaign.Commander].
func (k *Contract) Commands() []campaign.Command {
	return []campaign.Command{{
		Use:     "operator",
		Summary: "Operator Contract v0.1: list, show and check operators, statistics",
		Long: `Commands for the Operator Contract v0.1. thresh mutate makes
children of prompts, and thresh run runs a campaign of them.`,
		Commands: []campaign.Command{k.listCommand(), k.showCommand(), k.checkCommand(), statsCommand(), schemaCommand()},
	}, k.mutateCommand()}
}

// operatorSource selects the operators of a verb.
type operatorSource struct {
	folders    []string
	noBuiltins bool
	strict     bool
}

func (s *operatorSource) register(fs campaign.Flags) {
	fs.StringArrayVar(&s.folders, "operators", nil, "further operators: every op_*.star and op_*.py in `FOLDER`, or a file; repeatable")
	fs.BoolVar(&s.noBuiltins, "no-builtins", false, "do not use the built-in operators")
	fs.BoolVar(&s.strict, "strict", false, "refuse plug-ins with warnings, and folders with a damaged one")
}

// registry loads the operators that the filter selects. A faulty plug-in is an error or, in a
// folder with others, a printed warning.
func (k *Contract) registry(ctx context.Context, d campaign.Desk, s *operatorSource, f mutator.Filter) (*mutator.Registry, *Plugins, error) {
	r, plugins, list := k.loadOperators(ctx, d, s, f)
	switch {
	case list.HasErrors() || s.strict && len(list) > 0:
		return nil, nil, list
	case plugins.HostErr != nil:
		return nil, nil, plugins.HostErr
	case len(r.Entries()) == 0:
		return nil, nil, diag.WithHint(diag.Refused("there are no operators"), "--operators names some")
	}
	d.Warn(list)
	return r, plugins, nil
}

// loadOperators loads the usable operators that the filter selects; the list has the faults of the
// others.
func (k *Contract) loadOperators(ctx context.Context, d campaign.Desk, s *operatorSource, f mutator.Filter) (*mutator.Registry, *Plugins, diag.List) {
	set := d.Settings()
	plugins := LoadWanted(ctx, s.folders, Disk{Read: set.Read, List: set.List}, k.python, f.Named)
	var entries []mutator.Entry
	if !s.noBuiltins {
		entries = mutator.Builtins()
		if named := (&Spec{Include: f.Include}); named.names(mutator.Extended()) || named.names(mutator.Third()) {
			entries = mutator.Edition3()
		}
	}
	r, twice := mutator.NewRegistry(Settled(append(entries, plugins.Entries...), f))
	return r, plugins, append(plugins.Spared(), twice...)
}

// operatorFilter selects operators on the command line.
type operatorFilter struct {
	bucket, surface, riskMax string
	include, exclude         []string
}

func (f *operatorFilter) register(fs campaign.Flags) {
	fs.StringVar(&f.bucket, "bucket", "", "those for a `BUCKET`: a concept, LLM06:2025, or a name such as LLM01_PROMPT_INJECTION")
	fs.StringVar(&f.surface, "surface", "", "those for a `SURFACE`, such as RAG_CONTEXT")
	fs.StringVar(&f.riskMax, "risk-max", "", "those of at most this `RISK`: LOW, MEDIUM or HIGH")
	fs.StringArrayVar(&f.include, "include", nil, "those whose id matches a `PATTERN`, such as 'op_enc_*'; repeatable")
	fs.StringArrayVar(&f.exclude, "exclude", nil, "but not those whose id matches a `PATTERN`; repeatable")
}

// filter is the filter that the flags describe; it prints warnings about buckets.
func (f *operatorFilter) filter(d campaign.Desk) (mutator.Filter, error) {
	out := mutator.Filter{Include: f.include, Exclude: f.exclude, Controls: true}
	var list diag.List
	if f.bucket != "" {
		b, found := textop.ParseBucket(f.bucket)
		out.Bucket = b
		list = append(list, onFlag("--bucket", found)...)
	}
	if f.surface != "" {
		s, found := textop.ParseSurface(f.surface)
		out.Surface = s
		list = append(list, onFlag("--surface", found)...)
	}
	if f.riskMax != "" {
		out.RiskMax = textop.Risk(strings.ToUpper(f.riskMax))
		if out.RiskMax.Rank() <= 0 {
			return out, diag.Refused("--risk-max must be LOW, MEDIUM or HIGH, got %q", f.riskMax)
		}
	}
	for _, p := range slices.Concat(f.include, f.exclude) {
		if _, err := filepath.Match(p, ""); err != nil {
			return out, diag.Refused("%q is not a pattern: * matches any letters, ? one, [a-z] one of them", p)
		}
	}
	if list.HasErrors() {
		return out, list
	}
	d.Warn(list)
	return out, nil
}

// onFlag sets a flag as the place of diagnostics.
func onFlag(flag string, list diag.List) diag.List {
	for i := range list {
		list[i].Pos.File = flag
	}
	return list
}

func (k *Contract) listCommand() campaign.Command {
	var src operatorSource
	var f operatorFilter
	var asJSON bool
	c := campaign.Command{
		Use:     "list",
		Summary: "List operators by bucket, surface and risk",
		Example: `  thresh operator list --bucket prompt-injection --surface RAG_CONTEXT
  thresh operator list --bucket LLM06:2023 --risk-max MEDIUM
  thresh operator list --operators my-operators --no-builtins`,
		Run: func(ctx context.Context, d campaign.Desk, _ []string) error {
			filter, err := f.filter(d)
			if err != nil {
				return err
			}
			r, _, err := k.registry(ctx, d, &src, filter)
			if err != nil {
				return err
			}
			var list []mutator.Entry
			for _, i := range r.Select(filter) {
				list = append(list, r.Entries()[i])
			}
			if asJSON {
				return operatorsJSON(d, list)
			}
			if len(list) == 0 {
				fmt.Fprintln(d.Err(), "no operator passes")
				return nil
			}
			return operatorTable(d, list)
		},
	}
	c.Flags = func(fs campaign.Flags) {
		f.register(fs)
		src.register(fs)
		fs.BoolVar(&asJSON, "json", false, "one JSON object a line")
	}
	return c
}

func operatorTable(d campaign.Desk, list []mutator.Entry) error {
	w := tabwriter.NewWriter(d.Out(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "OPERATOR\tRISK\tSURFACES\tBUCKETS")
	for _, e := range list {
		buckets := seq.Map(e.Meta.Buckets, BucketLabel)
		surfaces := seq.Map(e.Meta.Surfaces, func(s textop.Surface) string { return string(s) })
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", e.Meta.ID, e.Meta.Risk, strings.Join(surfaces, ", "), strings.Join(buckets, ", "))
	}
	if err := w.Flush(); err != nil {
		return diag.Environment("writing the list: %w", err)
	}
	return nil
}

// operatorRecord describes an operator for programs.
type operatorRecord struct {
	ID       string        `json:"op_id"`
	Kind     mutator.Kind  `json:"kind"`
	Source   string        `json:"source,omitempty"`
	Buckets  []string      `json:"buckets"`
	Refs     []string      `json:"bucket_refs"`
	Tags     []string      `json:"bucket_tags"`
	Surfaces []string      `json:"surface_compat"`
	Risk     textop.Risk   `json:"risk_level"`
	Strength [2]int        `json:"strength_range"`
	Params   []recordParam `json:"params"`
	Over     string        `json:"over_length"`
	Purpose  string        `json:"purpose,omitempty"`
	Doc      string        `json:"strength_doc,omitempty"`
	Origin   string        `json:"origin,omitempty"`
	Inverse  string        `json:"inverse,omitempty"`
}

type recordParam struct {
	Name    string   `json:"name"`
	Kind    string   `json:"kind"`
	Choices []string `json:"choices,omitempty"`
	Doc     string   `json:"doc,omitempty"`
}

func recordOf(e mutator.Entry) operatorRecord {
	m := e.Meta
	r := operatorRecord{
		ID: m.ID, Kind: e.Kind, Tags: m.BucketTags, Surfaces: m.SurfaceTags, Risk: m.Risk, Strength: [2]int{m.Strength.Min, m.Strength.Max},
		Over: string(m.OverLength), Purpose: m.Purpose, Doc: m.StrengthDoc, Origin: m.Origin, Inverse: m.Inverse, Params: []recordParam{},
	}
	if e.Source.File != "" {
		r.Source = e.Source.String()
	}
	for _, b := range m.Buckets {
		r.Buckets = append(r.Buckets, string(b))
		for _, c := range textop.Concepts() {
			if c.Bucket == b {
				r.Refs = append(r.Refs, c.IDs()...)
			}
		}
	}
	for _, p := range m.Params {
		r.Params = append(r.Params, recordParam(p))
	}
	return r
}

func operatorsJSON(d campaign.Desk, list []mutator.Entry) error {
	enc := json.NewEncoder(d.Out())
	enc.SetEscapeHTML(false)
	for _, e := range list {
		if err := enc.Encode(recordOf(e)); err != nil {
			return diag.Environment("writing the list: %w", err)
		}
	}
	return nil
}

func (k *Contract) showCommand() campaign.Command {
	var src operatorSource
	var asJSON bool
	c := campaign.Command{
		Use:     "show ID",
		Summary: "Show everything known about an operator",
		Example: `  thresh operator show op_enc_base64`,
		Least:   1, Most: 1,
		Run: func(ctx context.Context, d campaign.Desk, args []string) error {
			r, _, err := k.registry(ctx, d, &src, mutator.Filter{Include: args})
			if err != nil {
				return err
			}
			e, err := entryOf(r, args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return operatorsJSON(d, []mutator.Entry{e})
			}
			return showOperator(d, recordOf(e), e.Meta)
		},
	}
	c.Flags = func(fs campaign.Flags) {
		src.register(fs)
		fs.BoolVar(&asJSON, "json", false, "one JSON object")
	}
	return c
}

// entryOf finds an operator by its id.
func entryOf(r *mutator.Registry, id string) (mutator.Entry, error) {
	i := r.Find(id)
	if i >= 0 {
		return r.Entries()[i], nil
	}
	err := diag.Refused("there is no operator %q", id)
	if hint := diag.DidYouMean(id, r.IDs()); hint != "" {
		return mutator.Entry{}, diag.WithHint(err, hint)
	}
	return mutator.Entry{}, diag.WithHint(err, "thresh operator list shows all")
}

func showOperator(d campaign.Desk, r operatorRecord, m *textop.Meta) error {
	w := tabwriter.NewWriter(d.Out(), 0, 0, 2, ' ', 0)
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "%s\t%s\n", name, diag.Printable(value))
		}
	}
	row("operator", r.ID)
	row("kind", string(r.Kind))
	row("source", r.Source)
	row("purpose", r.Purpose)
	for i, b := range m.Buckets {
		name := "buckets"
		if i > 0 {
			name = " "
		}
		text := string(b)
		for _, c := range textop.Concepts() {
			if ids := c.IDs(); c.Bucket == b && len(ids) > 0 {
				text += " (" + strings.Join(ids, ", ") + ")"
			}
		}
		row(name, text)
	}
	row("surfaces", strings.Join(r.Surfaces, ", "))
	row("risk", string(r.Risk))
	row("strength", fmt.Sprintf("%d to %d", r.Strength[0], r.Strength[1]))
	row(" ", r.Doc)
	for i, p := range r.Params {
		name := "parameters"
		if i > 0 {
			name = " "
		}
		text := p.Name + ": " + p.Kind
		if len(p.Choices) > 0 {
			text += " (" + strings.Join(p.Choices, ", ") + ")"
		}
		if p.Doc != "" {
			text += ", " + p.Doc
		}
		row(name, text)
	}
	row("too long", map[textop.OverLength]string{textop.SkipLong: "SKIPPED (option A of OC-6.3)", textop.RefuseLong: "INVALID (option B of OC-6.3)"}[m.OverLength])
	row("inverse", r.Inverse)
	row("origin", r.Origin)
	if err := w.Flush(); err != nil {
		return diag.Environment("writing: %w", err)
	}
	return nil
}

func schemaCommand() campaign.Command {
	return campaign.Command{
		Use:     "schema",
		Summary: "Print the JSON Schema of a campaign's document",
		Example: `  thresh operator schema > operators.schema.json`,
		Run: func(ctx context.Context, d campaign.Desk, _ []string) error {
			_, err := d.Out().Write(Schema())
			return err
		},
	}
}

func statsCommand() campaign.Command {
	var out, base string
	c := campaign.Command{
		Use:     "stats VERDICTS...",
		Summary: "Count verdicts by bucket and operator, as a statistics file",
		Long: `Stats reads verdicts as lines of JSON (bucket_id, op_id or mutation_trace, verdict,
oracle_score) and writes a file of operator_stats_by_bucket.v0.1, which a
learning policy can begin with. A verdict on a child counts for every operator
that had a part in it.`,
		Example: `  thresh operator stats verdicts.jsonl --out stats.json`,
		Least:   1, Most: -1,
		Run: func(ctx context.Context, d campaign.Desk, args []string) error {
			stats := new(mutator.Stats)
			if base != "" {
				data, err := d.Settings().Read(base)
				if err == nil {
					stats, err = mutator.DecodeStats(data)
				}
				if err != nil {
					return diag.Refused("%s: %s", base, cause(err))
				}
			}
			now := unixSeconds(time.Now())
			var list diag.List
			for _, path := range args {
				data, err := d.Settings().Read(path)
				if err != nil {
					list = append(list, diag.Diagnostic{Code: "input.unreadable", Pos: diag.Pos{File: path}, Message: cause(err)})
					continue
				}
				verdicts, found := DecodeVerdicts(path, data)
				list = append(list, found...)
				for _, v := range verdicts {
					for _, op := range v.Operators {
						at := v.At
						at = cmp.Or(at, now)
						stats.Report(string(v.Bucket), op, v.Judgement, v.Score, at)
					}
				}
			}
			if list.HasErrors() {
				return list
			}
			d.Warn(list)
			text, err := stats.Encode(now)
			if err != nil {
				return err
			}
			return campaign.WriteFile(d, cmp.Or(out, "-"), text)
		},
	}
	c.Flags = func(fs campaign.Flags) {
		fs.StringVar(&out, "out", "", "write to `FILE` in place of standard output")
		fs.StringVar(&base, "add-to", "", "begin with the counts of a statistics `FILE`")
	}
	return c
}

func unixSeconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
