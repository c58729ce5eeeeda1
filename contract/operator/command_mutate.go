package operator

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/operator/childfile"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/textop"
)

// mutateFlags are the flags of thresh mutate.
type mutateFlags struct {
	operatorSource
	operatorFilter
	in         []string
	format     string
	out        string
	resume     bool
	children   int64
	steps      int
	strength   string
	seedBase   string
	rule       string
	policy     string
	stats      string
	partners   string
	maxChars   int
	controls   bool
	trim       bool
	duplicates string
	all        bool

	op       string
	testcase string
	context  string

	given func(flag string) bool
}

func (k *Contract) mutateCommand() campaign.Command {
	var f mutateFlags
	c := campaign.Command{
		Use:     "mutate",
		Summary: "Make variants of prompts, from JSON lines to JSON lines",
		Long: `Mutate reads seeds (lines of JSON, CSV, or lines of text), and writes children as
lines of JSON, each with the trace of what made it. It reads standard input and
writes standard output unless told otherwise, in memory that does not grow with
the number of seeds. A child depends on the seed, the flags and its own
testcase_id alone.

With --op it reads one text from standard input, applies that operator to it
once, with random.Random(derived seed) as the contract has it, and prints the
ApplyResult as JSON. Nothing is guarded or chosen then.

Exit codes: 0 children were made, 1 an operator broke the contract (it is
reported; the other children were made), 2 a seed, an operator or the command
line was refused (all errors are reported; the other seeds have children), 3 the
environment failed.`,
		Example: `  thresh mutate -n 20 --strength 1-3 < seeds.jsonl > children.jsonl
  thresh mutate --in seeds.csv --out children.jsonl --bucket prompt-injection
  echo "Keep the key." | thresh mutate --op op_enc_base64 --testcase-id t:0`,
		Run: func(ctx context.Context, d campaign.Desk, _ []string) error {
			if f.op != "" {
				return k.mutateOnce(ctx, d, &f)
			}
			for _, name := range []string{"testcase-id", "ctx"} {
				if f.given(name) {
					return diag.Refused("--%s needs --op; a stream gives every child its own id", name)
				}
			}
			return k.mutateStream(ctx, d, &f)
		},
	}
	c.Flags = func(fs campaign.Flags) {
		f.given = fs.Changed
		fs.StringArrayVar(&f.in, "in", nil, "read seeds from `FILE` in place of standard input; repeatable")
		fs.StringVar(&f.format, "format", "", "form of the seeds: jsonl, csv or lines; otherwise the file's name and its beginning say")
		fs.StringVar(&f.out, "out", "", "write children to `FILE` in place of standard output")
		fs.BoolVar(&f.resume, "resume", false, "continue where --out ends")
		fs.Int64VarP(&f.children, "children", "n", 10, "children wanted for each seed")
		fs.IntVarP(&f.steps, "steps", "k", 1, "operators applied to a child, one after the other")
		fs.StringVar(&f.strength, "strength", "2", "strength of operators, `N` or LEAST-MOST, drawn for every child")
		fs.StringVar(&f.seedBase, "seed-base", strconv.Itoa(mutator.DefaultSeedBase), "`INTEGER` that, with its testcase_id, decides a child")
		fs.StringVar(&f.rule, "rng-rule", string(textop.RuleContract), "how the two become a seed: contract (32 bits) or wide (64 bits)")
		f.operatorFilter.register(fs)
		f.operatorSource.register(fs)
		fs.StringVar(&f.policy, "policy", string(mutator.Uniform), "how operators are chosen: uniform, round-robin, or ucb1 and exp3 with --stats")
		fs.StringVar(&f.stats, "stats", "", "statistics `FILE` for ucb1 and exp3; thresh operator stats makes it")
		fs.StringVar(&f.partners, "partners", "", "seeds in `FILE` for operators that cross two texts; without it they are skipped")
		fs.IntVar(&f.maxChars, "max-chars", 0, "longest child, in code points (0: 8000, or twice the seed if that is more)")
		fs.BoolVar(&f.controls, "keep-controls", false, "keep control characters, and choose operators that use them")
		fs.BoolVar(&f.trim, "trim-trailing", false, "remove blanks at the ends of the seeds' lines")
		fs.StringVar(&f.duplicates, "duplicates", string(RejectExact), "children of a seed that are replaced by others: exact (equal), near (almost equal too), keep (none)")
		fs.BoolVar(&f.all, "all", false, "write children that were SKIPPED, INVALID or duplicates as well")
		fs.StringVar(&f.op, "op", "", "apply the operator `ID` once to the text on standard input")
		fs.StringVar(&f.testcase, "testcase-id", "stdin:0", "with --op: the `ID` that, with --seed-base, decides the result")
		fs.StringVar(&f.context, "ctx", "", "with --op: the context as a `JSON` object")
	}
	c.Declared = true
	return c
}

// mutator makes the mutator that the flags describe.
func (k *Contract) mutator(ctx context.Context, d campaign.Desk, f *mutateFlags) (*mutator.Mutator, *Plugins, error) {
	cfg := mutator.Config{Steps: f.steps, Redraws: 3, Constraints: textop.Constraints{MaxChars: f.maxChars, KeepControls: f.controls, TrimTrailing: f.trim}}
	switch {
	case f.children < 1:
		return nil, nil, diag.Refused("--children must be at least 1, got %d", f.children)
	case f.steps < 1 || f.steps > 16:
		return nil, nil, diag.Refused("--steps must be from 1 to 16, got %d", f.steps)
	case f.maxChars < 0:
		return nil, nil, diag.Refused("--max-chars must not be negative, got %d", f.maxChars)
	case f.resume && (f.out == "" || f.out == "-"):
		return nil, nil, diag.Refused("--resume continues a file: give --out FILE")
	}
	var err error
	if cfg.Strength, err = parseStrength(f.strength); err != nil {
		return nil, nil, err
	}
	if cfg.SeedBase, cfg.Rule, err = f.derivation(); err != nil {
		return nil, nil, err
	}
	if cfg.Policy, err = mutator.ParsePolicy(f.policy); err != nil || cfg.Policy == mutator.Weighted || cfg.Policy == mutator.Search {
		return nil, nil, diag.Refused("--policy must be uniform, round-robin, ucb1 or exp3, got %q", f.policy)
	}
	for name, v := range map[string]struct {
		given string
		known []string
	}{
		"duplicates": {f.duplicates, []string{string(RejectExact), string(RejectNear), string(KeepDuplicates)}},
		"format":     {f.format, []string{"", string(JSONL), string(CSV), string(Lines)}},
	} {
		if !slices.Contains(v.known, v.given) {
			return nil, nil, diag.Refused("--%s must be one of %s, got %q", name, strings.TrimPrefix(strings.Join(v.known, ", "), ", "), v.given)
		}
	}
	if cfg.Filter, err = f.operatorFilter.filter(d); err != nil {
		return nil, nil, err
	}
	cfg.Filter.Controls = false
	r, plugins, err := k.registry(ctx, d, &f.operatorSource, cfg.Filter)
	if err != nil {
		return nil, nil, err
	}
	if cfg.Partners, err = partnersOf(d, f); err != nil {
		return nil, nil, err
	}
	m := mutator.New(r, cfg)
	switch {
	case cfg.Policy.Learns() && f.stats == "":
		return nil, nil, diag.WithHint(diag.Refused("--policy %s learns from verdicts: give --stats FILE", f.policy), "thresh operator stats makes the file; thresh run learns by itself, between rounds")
	case !cfg.Policy.Learns() && f.stats != "":
		return nil, nil, diag.Refused("--stats has no effect without --policy ucb1 or exp3")
	case f.stats != "":
		b, err := ReadStats(f.stats, d.Settings().Read)
		if err != nil {
			return nil, nil, diag.Refused("%s: %s", f.stats, cause(err))
		}
		m = m.Learned(b)
	}
	return m, plugins, nil
}

// derivation reads the flags that determine the generators.
func (f *mutateFlags) derivation() (*big.Int, textop.Rule, error) {
	base, ok := new(big.Int).SetString(f.seedBase, 10)
	if !ok {
		return nil, "", diag.Refused("--seed-base must be an integer, got %q", f.seedBase)
	}
	rule, ok := textop.ParseRule(f.rule)
	if !ok {
		return nil, "", diag.Refused("--rng-rule must be contract or wide, got %q", f.rule)
	}
	return base, rule, nil
}

// parseStrength reads N or LEAST-MOST.
func parseStrength(s string) (textop.Range, error) {
	least, most, span := strings.Cut(s, "-")
	if !span {
		most = least
	}
	a, err1 := strconv.Atoi(least)
	b, err2 := strconv.Atoi(most)
	if err1 != nil || err2 != nil || a < 1 || b < a || b > maxStrength {
		return textop.Range{}, diag.Refused("--strength must be N or LEAST-MOST, from 1 to %d, got %q", maxStrength, s)
	}
	return textop.Range{Min: a, Max: b}, nil
}

// mutateStream makes children of a stream of seeds.
func (k *Contract) mutateStream(ctx context.Context, d campaign.Desk, f *mutateFlags) error {
	m, plugins, err := k.mutator(ctx, d, f)
	if err != nil {
		return err
	}
	host, err := plugins.Open(ctx)
	if err != nil {
		return err
	}
	if host != nil {
		defer host.Close()
	}
	endless, err := plugins.Trial(ctx, m.Filter())
	if err != nil {
		return err
	}
	if len(endless) > 0 {
		fmt.Fprintf(d.Err(), "note: %s (--exclude skips them)\n", EndlessWords(endless))
	}
	out := childfile.To(d.Out())
	if f.out != "" && f.out != "-" {
		if out, err = childfile.Open(f.out, f.resume, m.Derive); err != nil {
			return err
		}
		if out.Torn {
			fmt.Fprintf(d.Err(), "note: the last line of %s was torn; it is written again\n", f.out)
		}
	}
	in := seedInput{d: d, f: f, given: m.Filter(), from: out.From}
	defer in.close()
	s := Stream{Lane: GiveUp(m, endless).NewLane(host), Children: f.children, Duplicates: Duplicates(f.duplicates), All: f.all, Controls: f.controls}
	told := make(map[string]bool)
	counts, err := s.Run(ctx, in.next, out.Write, func(c *mutator.Child) { tellBreaches(d, m, c, told) })
	if err == nil {
		err = out.Done()
	}
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	warnings := in.warnings()
	if err == nil && out.From == 0 {
		warnings = append(warnings, s.Idle(m, in.name)...)
	}
	d.Warn(warnings)
	if err != nil {
		return err
	}
	fmt.Fprintln(d.Err(), streamSummary(&counts))
	switch {
	case len(in.faults) > 0:
		return in.faults
	case counts.Breaches > 0:
		return diag.ExitError(diag.ExitFindings)
	case counts.Seeds == 0 && out.From == 0:
		return diag.WithHint(diag.Refused("there is no seed in the input"), "thresh mutate --help shows one")
	case counts.Children == 0 && counts.Seeds > 0:
		return diag.WithHint(diag.Refused("no child was made: no operator applies to %s", countOf(counts.Seeds, "seed", "seeds")), "thresh operator list shows which operators serve a bucket and a surface")
	}
	return nil
}

// streamSummary summarizes a stream in one line.
func streamSummary(n *Counts) string {
	text := fmt.Sprintf("%s of %s", countOf(n.Children, "child", "children"), countOf(n.Seeds, "seed", "seeds"))
	for _, part := range []struct {
		n    int64
		word string
	}{{n.Equal, "equal rejected"}, {n.Near, "near rejected"}, {n.Skipped, "SKIPPED"}, {n.Invalid, "INVALID"}} {
		if part.n > 0 {
			text += fmt.Sprintf(", %d %s", part.n, part.word)
		}
	}
	if n.Short > 0 {
		text += ", " + countOf(n.Short, "seed", "seeds") + " short of children"
	}
	return text
}

func countOf(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// tellBreaches reports how operators broke the contract, each kind of breach once.
func tellBreaches(d campaign.Desk, m *mutator.Mutator, c *mutator.Child, told map[string]bool) {
	const most = 50
	for _, b := range c.Breaches {
		id := m.Registry().Entries()[b.Op].Meta.ID
		key := id + b.Kind + b.At.String()
		if told[key] || len(told) >= most {
			continue
		}
		told[key] = true
		d.Warn(diag.List{{Code: "operator." + b.Kind, Pos: b.At, Path: id, Message: b.Text, Hint: "first met in " + c.ID}})
	}
}

// mutateOnce applies one operator to one text.
func (k *Contract) mutateOnce(ctx context.Context, d campaign.Desk, f *mutateFlags) error {
	for _, name := range []string{"in", "out", "resume", "children", "steps", "policy", "stats", "partners", "duplicates", "all", "format", "include", "exclude", "risk-max"} {
		if f.given(name) {
			return diag.Refused("--%s is for streams of seeds; --op reads one text from standard input", name)
		}
	}
	base, rule, err := f.derivation()
	if err != nil {
		return err
	}
	in, err := f.applyContext(d)
	if err != nil {
		return err
	}
	// Faults of other operators do not matter here.
	r, plugins, faults := k.loadOperators(ctx, d, &f.operatorSource, mutator.Filter{Include: []string{f.op}})
	e, err := entryOf(r, f.op)
	switch {
	case err != nil && len(faults) > 0:
		return append(faults, diag.Diagnostic{Code: "operator.unknown", Message: err.Error(), Hint: diag.Hint(err)})
	case err != nil && plugins.HostErr != nil:
		return plugins.HostErr
	case err != nil:
		return err
	}
	d.Warn(slices.DeleteFunc(faults, func(d diag.Diagnostic) bool { return d.Pos.File != e.Source.File }))
	text, err := io.ReadAll(io.LimitReader(d.In(), campaign.MaxDocument+1))
	if err != nil {
		return diag.Environment("reading standard input: %w", err)
	}
	if len(text) > campaign.MaxDocument {
		return diag.Refused("the text on standard input is larger than %d MiB", campaign.MaxDocument>>20)
	}
	seed := textop.Normalize(string(text), in.Constraints)
	answer, err := plugins.ApplyOnce(ctx, &e, seed, in, textop.NewDeriver(rule, base).Seed(f.testcase))
	if err != nil {
		return err
	}
	var list diag.List
	say := func(code, text string) {
		list = append(list, diag.Diagnostic{Code: "operator." + code, Level: diag.Warning, Pos: answer.At, Path: e.Meta.ID, Message: text})
	}
	if answer.Fault != "" {
		say(mutator.BreachFault, answer.Fault)
	}
	if answer.Printed != "" {
		say(mutator.BreachPrints, "writes to standard output: "+strconv.Quote(answer.Printed))
	}
	if answer.GlobalRandom {
		say(mutator.BreachRandom, "uses the global random generator (OC-7.1)")
	}
	for _, advice := range answer.Result.Advice {
		say("advice", advice)
	}
	for _, b := range answer.Result.Breaches {
		say(mutator.BreachResult, b)
	}
	d.Warn(list)
	if _, err := d.Out().Write(append(mutator.AppendResult(nil, &answer.Result), '\n')); err != nil {
		return diag.Environment("writing the result: %w", err)
	}
	return nil
}

// applyContext is the context of one application: --ctx, overridden by flags for single fields.
func (f *mutateFlags) applyContext(d campaign.Desk) (*textop.Context, error) {
	text := f.context
	text = cmp.Or(text, "{}")
	ctx, list := textop.ParseContext([]byte(text))
	for i := range list {
		list[i].Pos.File = "--ctx"
	}
	if list.HasErrors() {
		return nil, list
	}
	d.Warn(list)
	if f.given("strength") {
		r, err := parseStrength(f.strength)
		if err != nil || r.Min != r.Max {
			return nil, diag.Refused("with --op, --strength must be an integer from 1 to 100, got %q", f.strength)
		}
		ctx.Strength = r.Min
	}
	filter, err := (&operatorFilter{bucket: f.bucket, surface: f.surface}).filter(d)
	if err != nil {
		return nil, err
	}
	if filter.Bucket != "" {
		ctx.Bucket, ctx.BucketTag = filter.Bucket, f.bucket
	}
	if filter.Surface != "" {
		ctx.Surface, ctx.SurfaceTag = filter.Surface, f.surface
	}
	if f.maxChars > 0 {
		ctx.Constraints.MaxChars = f.maxChars
	}
	ctx.Constraints.KeepControls = ctx.Constraints.KeepControls || f.controls
	ctx.Constraints.TrimTrailing = ctx.Constraints.TrimTrailing || f.trim
	return ctx, nil
}
