package operator

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"math/big"
	"path/filepath"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/pyrand"
	"github.com/thresh-dev/thresh/engine/textop"
	"github.com/thresh-dev/thresh/port/pyhost"
)

// Boxes returns the contract's checklist (section 10), in order.
func Boxes() []string {
	return []string{
		"OPERATOR_META has the required keys, each of the right kind",
		"apply(seed_text, ctx, rng) can be called and returns a result",
		"no global randomness: rng alone decides",
		"status is OK, SKIPPED or INVALID",
		"the trace has op_id, status, params, len_before and len_after, and they are true",
		"max_chars is handled, and always the same way",
		"snapshots exist and hold",
	}
}

// Box numbers, from 0.
const (
	boxMeta = iota
	boxApply
	boxRandom
	boxStatus
	boxTrace
	boxLength
	boxSnapshot
)

// Checked is the result of checking an operator against the checklist.
type Checked struct {
	Entry  mutator.Entry
	Faults [7]diag.List // by box
	// Answered means that the operator has returned a result; without one, the boxes about results say
	// nothing.
	Answered bool
	// Snapshot is a snapshot file of the operator's current results; nil if the operator was given up
	// because it hung. Path is where that file belongs.
	Snapshot []byte
	Path     string
	// probes were applied, with results of these digests, if the operator is in Python.
	probes []probe
	sums   [][sha256.Size]byte
}

// Holds reports whether a box is ticked. Only the snapshot box also fails on a warning: the
// snapshot must exist.
func (c *Checked) Holds(box int) bool {
	return !c.Faults[box].HasErrors() && (box != boxSnapshot || len(c.Faults[box]) == 0)
}

// probe is one application that checks an operator.
type probe struct {
	text     string
	surface  textop.Surface
	strength int
	maxChars int
	testcase string
}

// probeTexts are short and long, blank, structured, and of several scripts.
func probeTexts() []string {
	return []string{
		"Summarise the attached report in two sentences. Keep every figure as it is!",
		"", " \n\t ", "x",
		"첫 번째 문장입니다. 두 번째 문장도 있습니다.\n세 번째 줄.",
		"שלום עולם, مرحبا بالعالم 👩‍👩‍👧‍👦 e\u0301🇰🇷",
		`{"city": "Lisbon", "nights": 3, "breakfast": true, "tags": ["a", "b"], "note": null}`,
		strings.Repeat("A line of a longer document, with its number.\n", 60),
	}
}

// probes are the applications for an operator.
func probes(m *textop.Meta) []probe {
	var list []probe
	strengths := slices.Compact([]int{m.Strength.Min, (m.Strength.Min + m.Strength.Max) / 2, m.Strength.Max})
	surfaces := m.Surfaces
	if len(surfaces) == 0 {
		surfaces = []textop.Surface{""}
	}
	for _, s := range surfaces {
		for i, text := range probeTexts() {
			for _, n := range strengths {
				list = append(list, probe{text: text, surface: s, strength: n, testcase: fmt.Sprintf("snapshot-%d:%d", i, n)})
			}
		}
	}
	return list
}

func (p *probe) context() *textop.Context {
	return &textop.Context{Surface: p.surface, Strength: p.strength, Constraints: textop.Constraints{MaxChars: p.maxChars}, Metadata: map[string]any{"testcase_id": p.testcase}}
}

// snapshotBase is the seed_base of snapshots.
const snapshotBase = 0

// apply makes probes of one operator, each with a new generator. An operator that hangs is given
// up: the answers end with that probe, since every further one might take as long.
func (p *Plugins) apply(ctx context.Context, host pyhost.Operators, e *mutator.Entry, list []probe) ([]mutator.Answered, error) {
	derive := textop.NewDeriver(textop.RuleContract, big.NewInt(snapshotBase))
	if e.New == nil {
		var out []mutator.Answered
		for _, pr := range list {
			a, end, err := applyRemote(ctx, host, e, pr.text, pr.context(), derive.Seed(pr.testcase))
			if err != nil {
				return nil, err
			}
			out = append(out, a)
			if end == pyhost.Hung {
				break
			}
		}
		return out, nil
	}
	op, err := e.New()
	if err != nil {
		return nil, err
	}
	out := make([]mutator.Answered, len(list))
	for i, pr := range list {
		if out[i], err = applyHere(ctx, op, e, pr.text, pr.context(), derive.Seed(pr.testcase)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// applyRemote makes one application in the host.
func applyRemote(ctx context.Context, host pyhost.Operators, e *mutator.Entry, text string, c *textop.Context, seed uint64) (a mutator.Answered, end pyhost.CallEnd, err error) {
	err = host.Apply(ctx, []pyhost.OperatorCall{mutator.Call(e, text, c, seed)}, func(_ int, r *pyhost.OperatorReply) error {
		a, end = mutator.Answer(e, text, c, r), r.End
		return nil
	})
	return a, end, err
}

// ApplyOnce applies one operator to one text, with the generator Random(seed).
func (p *Plugins) ApplyOnce(ctx context.Context, e *mutator.Entry, text string, c *textop.Context, seed uint64) (mutator.Answered, error) {
	if e.New == nil {
		host, err := p.Open(ctx)
		if err != nil {
			return mutator.Answered{}, err
		}
		defer host.Close()
		a, _, err := applyRemote(ctx, host, e, text, c, seed)
		return a, err
	}
	op, err := e.New()
	if err != nil {
		return mutator.Answered{}, err
	}
	return applyHere(ctx, op, e, text, c, seed)
}

// applyHere makes one application in this process.
func applyHere(ctx context.Context, op textop.Operator, e *mutator.Entry, text string, c *textop.Context, seed uint64) (mutator.Answered, error) {
	answer := make(chan mutator.Answered, 1)
	err := untilCancelled(ctx, func() error {
		var rng pyrand.Rand
		rng.SeedUint64(seed)
		answer <- mutator.Apply(op, e, text, c, &rng)
		return nil
	})
	if err != nil {
		return mutator.Answered{}, err
	}
	return <-answer, nil
}

// CheckPlugins checks every operator against the checklist. readSnapshot returns a snapshot file;
// its error means that there is none. An error of CheckPlugins is one of the environment.
func CheckPlugins(ctx context.Context, p *Plugins, readSnapshot func(path string) ([]byte, error)) ([]Checked, error) {
	host, err := p.Open(ctx)
	if err != nil {
		return nil, err
	}
	if host != nil {
		defer host.Close()
	}
	var out []Checked
	for i := range p.Entries {
		c := Checked{Entry: p.Entries[i]}
		if err := p.check(ctx, host, &c, readSnapshot); err != nil {
			return nil, fmt.Errorf("checking %s: %w", c.Entry.Meta.ID, err)
		}
		out = append(out, c)
	}
	return out, p.checkElsewhere(ctx, out)
}

func (p *Plugins) check(ctx context.Context, host pyhost.Operators, c *Checked, readSnapshot func(string) ([]byte, error)) error {
	e := &c.Entry
	list := probes(e.Meta)
	first, err := p.apply(ctx, host, e, list)
	if err != nil {
		return err
	}
	changes, idle := false, false
	for i := range first {
		c.answer(&list[i], &first[i])
		changes, idle = changes || first[i].Result.Status == textop.OK, idle || first[i].Result.Unchanged
	}
	if idle && !changes {
		c.warn(boxStatus, e.Source, "says OK and changes none of the texts that were tried: OK means that the child differs (OC-4.2)")
	}
	c.Path = snapshotPath(e)
	if len(first) < len(list) {
		c.hung(len(first), len(list))
		return nil
	}
	second, err := p.apply(ctx, host, e, list)
	if err != nil {
		return err
	}
	for i := range second {
		if !sameAnswer(&first[i], &second[i]) {
			c.fault(boxRandom, e.Source, "gives another result for the same text, context and generator: %s (OC-5.3)", list[i].words())
		}
	}
	if len(second) < len(list) {
		c.hung(len(second), len(list))
		return nil
	}
	if err := p.checkLength(ctx, host, c, list, first); err != nil {
		return err
	}
	if e.New == nil {
		c.probes = list
		for i := range first {
			c.sums = append(c.sums, sumOf(&first[i]))
		}
	}
	c.Snapshot = encodeSnapshot(e, list, first)
	kept, err := readSnapshot(c.Path)
	switch {
	case err != nil:
		c.warn(boxSnapshot, e.Source, "there is no snapshot %s: --update writes it (OC-9.1)", c.Path)
	case !bytes.Equal(kept, c.Snapshot):
		c.fault(boxSnapshot, e.Source, "gives other results than the snapshot %s: %s (OC-2.1.3: changed behaviour needs another op_id)", c.Path, firstDifference(kept, c.Snapshot))
	}
	return nil
}

// hung reports how far the check of an operator got before it was given up.
func (c *Checked) hung(done, of int) {
	c.fault(boxSnapshot, c.Entry.Source, "was stopped during application %d of %d, which did not end: its other results are unknown", done, of)
}

// answer assigns the faults that a probe found to boxes.
func (c *Checked) answer(p *probe, a *mutator.Answered) {
	if a.Printed != "" {
		c.fault(boxApply, a.At, "%s: writes to standard output: %q", p.words(), diag.FirstLine(strings.TrimSpace(a.Printed)))
	}
	if a.Fault != "" {
		c.fault(boxApply, a.At, "%s: %s", p.words(), a.Fault)
		return
	}
	c.Answered = true
	if a.GlobalRandom {
		c.fault(boxRandom, a.At, "uses the global random generator: draw from rng only (OC-7.1)")
	}
	for _, advice := range a.Result.Advice {
		c.warn(boxApply, a.At, "%s: %s", p.words(), advice)
	}
	for _, b := range a.Result.Breaches {
		box := boxTrace
		switch {
		case strings.HasPrefix(b, "status "):
			box = boxStatus
		case strings.Contains(b, "max_chars"):
			box = boxLength
		case strings.HasPrefix(b, "the child "), strings.HasPrefix(b, "what it returned"):
			box = boxApply
		}
		c.fault(box, a.At, "%s: %s", p.words(), b)
	}
}

// words describes a probe.
func (p *probe) words() string {
	text := fmt.Sprintf("%q", p.text)
	if r := []rune(p.text); len(r) > 24 {
		text = fmt.Sprintf("%q and %s", string(r[:24]), diag.Plural(len(r)-24, "more character"))
	}
	return fmt.Sprintf("on %s, strength %d", text, p.strength)
}

// fault adds a fault once: an operator that raises does so on every probe.
func (c *Checked) fault(box int, at diag.Pos, format string, args ...any) {
	c.add(box, diag.Error, at, format, args...)
}

func (c *Checked) warn(box int, at diag.Pos, format string, args ...any) {
	c.add(box, diag.Warning, at, format, args...)
}

func (c *Checked) add(box int, level diag.Level, at diag.Pos, format string, args ...any) {
	const most = 3
	d := diag.Diagnostic{Code: fmt.Sprintf("operator.checklist-%d", box+1), Level: level, Pos: at, Path: c.Entry.Meta.ID, Message: fmt.Sprintf(format, args...)}
	tail := d.Message[strings.LastIndex(d.Message, ": ")+1:]
	for _, x := range c.Faults[box] {
		if x.Pos == d.Pos && strings.HasSuffix(x.Message, tail) {
			return
		}
	}
	if len(c.Faults[box]) < most {
		c.Faults[box] = append(c.Faults[box], d)
	}
}

// sameAnswer reports whether two applications returned the same result.
func sameAnswer(a, b *mutator.Answered) bool {
	return a.Fault == b.Fault && bytes.Equal(mutator.AppendResult(nil, &a.Result), mutator.AppendResult(nil, &b.Result))
}

// checkLength repeats successful applications with a limit one code point below the child's length:
// an operator must give up or refuse, and always choose the same of the two (OC-6.3).
func (p *Plugins) checkLength(ctx context.Context, host pyhost.Operators, c *Checked, list []probe, answers []mutator.Answered) error {
	var tight []probe
	for i, a := range answers {
		if n := a.Result.Trace.LenAfter; a.Result.Status == textop.OK && n > 1 {
			pr := list[i]
			pr.maxChars = n - 1
			tight = append(tight, pr)
		}
	}
	if len(tight) == 0 {
		return nil
	}
	replies, err := p.apply(ctx, host, &c.Entry, tight)
	if err != nil {
		return err
	}
	var skips, refuses *probe
	for i, a := range replies {
		overran := slices.ContainsFunc(a.Result.Breaches, func(b string) bool { return strings.Contains(b, "max_chars") })
		switch {
		case overran:
			c.fault(boxLength, a.At, "%s, max_chars %d: returned a longer child (OC-6.3)", tight[i].words(), tight[i].maxChars)
		case a.Result.Status == textop.Skipped:
			skips = &tight[i]
		case a.Result.Status == textop.Invalid && a.Fault == "":
			refuses = &tight[i]
		}
	}
	if skips != nil && refuses != nil {
		c.fault(boxLength, c.Entry.Source, "returns SKIPPED %s and INVALID %s when the child is too long: expected one of the two (OC-6.3)", skips.words(), refuses.words())
	}
	return nil
}

// snapshotPath is the path of an operator's snapshot, in a folder beside the operator's file.
func snapshotPath(e *mutator.Entry) string {
	return filepath.Join(filepath.Dir(e.Source.File), "snapshots", e.Meta.ID+".jsonl")
}

// encodeSnapshot is a snapshot file: a line for each probe, with the request and the result.
func encodeSnapshot(e *mutator.Entry, list []probe, answers []mutator.Answered) []byte {
	var b []byte
	for i, p := range list {
		b = append(b, `{"op_id":`...)
		b = mutator.AppendString(b, e.Meta.ID)
		b = fmt.Appendf(b, `,"surface":%q,"strength":%d,"seed_base":%d,"testcase_id":%q,"seed_text":`, p.surface, p.strength, snapshotBase, p.testcase)
		b = mutator.AppendString(b, p.text)
		b = append(b, `,"result":`...)
		b = mutator.AppendResult(b, &answers[i].Result)
		b = append(b, '}', '\n')
	}
	return b
}

// firstDifference locates the first difference of two snapshots.
func firstDifference(kept, now []byte) string {
	a, b := bytes.Split(kept, []byte("\n")), bytes.Split(now, []byte("\n"))
	for i := range min(len(a), len(b)) {
		if !bytes.Equal(a[i], b[i]) {
			return fmt.Sprintf("line %d", i+1)
		}
	}
	return fmt.Sprintf("it has %d lines, now there are %d", len(a)-1, len(b)-1)
}
