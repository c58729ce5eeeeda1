package fuzzspec

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/internal/golden"
	"github.com/thresh-dev/thresh/port/process"
)

// toy is a program that takes an edge for each pair of capital letters that stand side by
// side in its input. X crashes it, E makes it exit with 3, F flood, H hang, S take long; what
// holds T is set aside for its time at first. Q is seen every second time only.
type toy struct {
	plan process.Plan
	kept bool
	runs *int
	cold bool
}

func (p *toy) Run(_ context.Context, c process.Case) (process.Result, error) {
	*p.runs++
	res := process.Result{Status: process.Exited, NoOutputs: true, Kept: p.kept, Work: 1000 * uint64(len(c.Input))}
	last := uint32('.')
	for _, b := range c.Input {
		if b >= 'A' && b <= 'Z' {
			if b != 'Q' || *p.runs%2 == 1 {
				res.Edges = append(res.Edges, (last<<5|uint32(b))<<8|1)
				last = uint32(b)
			}
		}
	}
	slices.Sort(res.Edges)
	res.Edges = slices.Compact(res.Edges)
	holds := func(b byte) bool { return bytes.IndexByte(c.Input, b) >= 0 }
	switch {
	case holds('T') && !c.Confirm && p.plan.Coverage:
		res.Status = process.SetAside
	case holds('S'):
		res.Work = 40 << 20
		if p.plan.Coverage && !c.Confirm {
			res.Status = process.OverBudget
		}
	case holds('H') && c.Confirm, holds('H') && !p.plan.Coverage:
		res.Status = process.TimedOut
	case holds('H'):
		res.Status = process.OverBudget
	case holds('F'):
		res.OutputLimit = true
	case bytes.Contains(c.Input, []byte("X")) || holds('F') && p.cold:
		res.Status, res.Signal = process.Signaled, 11
		res.Stderr = fmt.Appendf(nil, "%s: fault at 0x7f0012345678, input of %d bytes, HOME is not set\n", c.RunID, len(c.Input)/8)
	case holds('E'):
		res.ExitCode, res.Stderr, res.Stdout = 3, []byte("bad entry\n"), []byte("reading\n")
	}
	if p.plan.Command(process.Paths{}).Path == "/opt/asan" {
		res.Status, res.Signal, res.OutputLimit = process.Exited, 0, false
		res.ExitCode, res.Stderr = 1, []byte("==9==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000011\n    #0 0x51 in parse /src/p.c:7:3\nSUMMARY: AddressSanitizer: heap-buffer-overflow /src/p.c:7:3 in parse\n")
	}
	return res, nil
}

func (p *toy) Compare(_ context.Context, c process.Case) ([]process.Comparison, error) {
	list := []process.Comparison{{Kind: process.Texts, Constant: true, A: []byte("GATE"), B: []byte("none")}}
	if len(c.Input) >= 4 {
		list = append(list, process.Comparison{Kind: process.Bytes, Constant: true, A: []byte("OPEN"), B: slices.Clone(c.Input[:4])},
			process.Comparison{Kind: process.Numbers, A: []byte{'B', 'A'}, B: slices.Clone(c.Input[len(c.Input)-2:])})
	}
	return list, nil
}

func (*toy) Words() [][]byte { return [][]byte{[]byte("MAGIC"), []byte("WORD")} }
func (*toy) Notes() []string { return []string{"run by a toy"} }
func (*toy) Close() error    { return nil }

// batches takes five cases at once, but none that holds N.
type batches struct{ *toy }

func (b batches) RunBatch(ctx context.Context, cases []process.Case, each func(int, process.Result) error) (n int, err error) {
	for n < min(5, len(cases)) && bytes.IndexByte(cases[n].Input, 'N') < 0 {
		res, err := b.Run(ctx, cases[n])
		if err == nil {
			err = each(n, res)
		}
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// Whole campaigns on a program that is played: how it is run, what is learnt of it before,
// in which rounds its cases come, what they come to and lead to, what is said at the end,
// and how the first failure of each kind is shown, made smaller and kept.
func TestWholeCampaigns(t *testing.T) {
	const expected = "testdata/whole.golden"
	var b strings.Builder
	for _, k := range []struct {
		name, seed string
		change     string // edits of the document: what to replace, then by what
		corpus     []string
		options    string
		kept       bool
		batch      bool
	}{
		{"guided, one process for many cases", "quiet seed, A.", "", []string{"open", "....AB..", "longer and longer, with C at its end"}, "guided", true, true},
		{"guided, and much is set aside", "TST seed", `"cases": 400 => "cases": 700`, []string{"HH", "sS"}, "guided start-index=3 timeout-s=2", false, false},
		{"reference", `{"a": [1, 2], "b": "E"}`, `"execution": {} => "execution": {"env_overrides": {"PYTHONUNBUFFERED": "1"}} ;; /seed" => /seed.txt" ;; "<input_path>" => "<input_path>", "<run_id>"`, nil, "count=200 ok-exit=3 twin=/opt/asan also=/opt/asan", false, false},
		{"deep", "%PDF 17 E 200", `"seed": { => "seed": {"media_type": "Text/CSV; charset=x",  ;; "<input_path>" => "-x"`, nil, "mutators=deep ok-reports memory-limit=1GiB file-limit=1MiB write-limit=3MiB", false, false},
		{"deep, from a later case and many inputs", "seed A", "", []string{"EE", "X and more of it", "third"}, "mutators=deep start-index=340", false, false},
		{"text", "Please write down the names of all who came.", "", nil, "mutators=auto sandbox executor=spawn input=stdin outputs=ignore memory-limit=0 write-limit=0", false, false},
	} {
		dir := t.TempDir()
		doc := toyDocument(dir)
		for edit := range strings.SplitSeq(k.change, " ;; ") {
			if from, to, ok := strings.Cut(edit, " => "); ok {
				doc = strings.ReplaceAll(doc, from, to)
			}
		}
		for name, data := range map[string]string{"seed": k.seed, "seed.txt": k.seed} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		set := campaign.Settings{Options: map[string][]string{"campaign-id": {"toy"}, "keep": {"none"}}, Stored: true,
			Read: func(name string) ([]byte, error) {
				for i, data := range k.corpus {
					if name == fmt.Sprintf("corpus/%d", i) {
						return []byte(data), nil
					}
				}
				return os.ReadFile(name)
			},
			List: func(string) (names []string, err error) {
				for i := range k.corpus {
					names = append(names, fmt.Sprint(i))
				}
				return names, nil
			},
			Digest: func(string) (string, error) { return "0", nil },
		}
		if k.corpus != nil {
			set.Options["corpus"] = []string{"corpus"}
		}
		for o := range strings.FieldsSeq(k.options) {
			name, value, _ := strings.Cut(o, "=")
			set.Options[name] = []string{cmp.Or(value, "true")}
		}
		runs := 0
		var plans strings.Builder
		list, said := New(func(_ context.Context, plan process.Plan, lane, lanes int, cold bool) (process.Runner, error) {
			text := planText(plan)
			if !strings.Contains(plans.String(), text) {
				plans.WriteString(text)
			}
			p := &toy{plan: plan, kept: k.kept, runs: &runs, cold: cold}
			if k.batch {
				return batches{p}, nil
			}
			return p, nil
		}).Compile(t.Context(), campaign.Spec{Path: "spec.json", Data: []byte(doc)}, set)
		if said.HasErrors() {
			t.Fatal(said)
		}
		c, _ := campaign.As[*Campaign](list[0])
		fmt.Fprintf(&b, "== %s\n", k.name)
		whole := wholeOf(t, c)
		fmt.Fprintf(&b, "%s%s%d runs of the program\n", plans.String(), whole, runs)
		text := strings.ReplaceAll(b.String(), dir, "{dir}")
		b.Reset()
		b.WriteString(text)
	}
	golden.Check(t, expected, b.String())
}

// toyDocument is a document whose folder has the seed and takes what is kept.
func toyDocument(dir string) string {
	return fmt.Sprintf(`{
  "schema_version": "llmfuzz.fuzzspec.v1", "campaign_id": "toy",
  "target": {"agent_id": "a", "work_root_base": %q, "command": ["cat", "<input_path>"], "timeout_s": 5},
  "seed": {"path": %q},
  "mutations": {"cases": 400, "rng_seed": 11},
  "execution": {}, "outputs": {"out_dir": "runs/<run_id>/out", "eval_dir": "runs/<run_id>/eval"}
}`, dir, dir+"/seed")
}

func planText(p process.Plan) string {
	cmd := p.Command(process.Paths{RunID: "ID", RunDir: "/w/run", InputPath: "/w/run/in", OutDir: "/w/run/out"})
	p.Command = nil
	return fmt.Sprintf("plan: %s %q %q\n  %+v, calibrated with %q\n", filepath.Base(cmd.Path), cmd.Argv, cmd.Env, p, p.Calibrate)
}

// wholeOf runs a campaign on one lane and writes down what comes of it.
func wholeOf(t *testing.T, c *Campaign) string {
	var b strings.Builder
	ctx := t.Context()
	must := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	facts, err := c.Probe(ctx)
	must(err)
	fmt.Fprintf(&b, "probe: %s\n", strings.Join(append(facts.Warnings, string(facts.Data)), "\n  "))
	s := c.Start(facts)
	x, err := c.openLane(ctx, campaign.Lane{Of: 1})
	must(err)
	cold, err := c.openLane(ctx, campaign.Lane{Of: 1, Cold: true})
	must(err)
	type failure struct {
		at campaign.Case
		o  campaign.Outcome
		s  *state
	}
	var shown []failure
	var next int64
	for round := 0; ; round++ {
		r, more := c.Round(s)
		if !more {
			break
		}
		var cases []campaign.Case
		for i := range r.Len {
			at := campaign.Case{Index: next + i}
			if r.At != nil {
				at.Payload = r.At(i)
			}
			cases = append(cases, at)
		}
		next += r.Len
		var outcomes []campaign.Outcome
		sum := fnv.New32()
		note := func(at campaign.Case, o campaign.Outcome) error {
			outcomes = append(outcomes, o)
			fmt.Fprintf(sum, "%s %s %q %q %x\n", o.Verdict, o.Kind, o.Title, o.Cause, o.Data)
			sum.Write(c.Input(ctx, s, at))
			if o.Verdict == campaign.VerdictFail && !slices.ContainsFunc(shown, func(f failure) bool { return f.o.Kind == o.Kind }) {
				shown = append(shown, failure{at, o, s})
			}
			return nil
		}
		if together, ok := x.(campaign.Batcher); ok {
			_, err := together.ExecuteBatch(ctx, s, cases, note)
			must(err)
		} else {
			for _, at := range cases {
				o, err := x.Execute(ctx, s, at)
				must(err)
				must(note(at, o))
			}
		}
		before := fmt.Sprint(s)
		folded := c.Fold(s, func(yield func(campaign.Case, campaign.Outcome) bool) {
			for i, at := range cases {
				if !yield(at, outcomes[i]) {
					return
				}
			}
		})
		if fmt.Sprint(s) != before {
			t.Errorf("round %d changed its state", round)
		}
		s = folded
		fmt.Fprintf(&b, "round %d: %d cases from %d, payloads %t, %08x; done %d, failed %d, again %d, aside %d, late %d, over %d, waiting %d, spent %d, like %d, staged %d, words %d, usual %d\n", round,
			r.Len, cases[0].Index, r.At != nil, sum.Sum32(), s.done, s.failed, s.again, s.aside, s.late, s.over, len(s.waiting), s.spent, s.like, len(s.staged), len(s.words), s.usual)
	}
	for i, input := range s.corpus {
		fmt.Fprintf(&b, "corpus %q", input)
		if c.set.guided {
			e := s.entries[i]
			fmt.Fprintf(&b, " %d %v %d %d %d %d %d", e.work, e.tuples, e.owns, s.shares[i].made, s.shares[i].used, s.shares[i].worth, s.ends[i])
		}
		b.WriteString("\n")
	}
	for _, f := range shown {
		input := c.Input(ctx, f.s, f.at)
		fmt.Fprintf(&b, "case %d (%s, %v): %s; %q\n", f.at.Index, f.o.Kind, f.o.Severity, f.o.Title, f.o.Cause)
		again, err := cold.Execute(ctx, f.s, campaign.Case{Index: f.at.Index, Payload: input})
		must(err)
		small, unit := c.Reduce(ctx, input, func(p []byte) (bool, error) {
			o, err := cold.Execute(ctx, f.s, campaign.Case{Index: f.at.Index, Payload: append([]byte{}, p...)})
			return o.Kind == again.Kind, err
		})
		title, severity := c.Refine(again.Title, again.Severity, again)
		fmt.Fprintf(&b, "  again: %s, %v; %q in %ss\n", title, severity, small, unit)
		exhibits, err := json.Marshal(c.Describe(f.s, f.at, again, small))
		must(err)
		fmt.Fprintf(&b, "  %s\n", exhibits)
	}
	files, err := c.Promote(ctx, campaign.Finding{ID: "F-1", Title: "a title", Flaky: true, Rerun: campaign.Rerun{Tried: 3, Same: 1}}, [][]byte{[]byte("small")}, "")
	must(err)
	for _, x := range files {
		fmt.Fprintf(&b, "> %s\n%s", x.Name, x.Data)
	}
	said := c.Summarize(s)
	exhibits, err := json.Marshal(said.Exhibits)
	must(err)
	fmt.Fprintf(&b, "\nwarnings %q\nadvice %q\n%s\nnotes %q\n", said.Warnings, said.Advice, exhibits, x.(interface{ Notes() []string }).Notes())
	must(x.Close())
	must(cold.Close())
	return b.String()
}
