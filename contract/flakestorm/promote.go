package flakestorm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/contract/flakestorm/mutation"
	"github.com/thresh-dev/thresh/contract/flakestorm/record"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/seq"
)

// Files of a finding that becomes a regression test.
const (
	promotedDocument = "flakestorm.yaml"
	promotedSession  = "session.yaml"
)

// Promote implements [campaign.Promoter]. It makes a document with only the case that shows the
// finding, for the same agent. A prompt that failed by itself, or a replay, becomes a session with
// the tools' answers; a failure under faults keeps the faults and the seed.
func (c *Campaign) Promote(_ context.Context, f campaign.Finding, payloads [][]byte, dir string) ([]campaign.File, error) {
	var p payload
	if err := json.Unmarshal(payloads[0], &p); err != nil {
		return nil, fmt.Errorf("reading the reproducer of %s: %w", f.ID, err)
	}
	if err := c.inRange(&p); err != nil {
		return nil, fmt.Errorf("reading the reproducer of %s: %w", f.ID, err)
	}
	doc, err := doctree.Parse(c.source, doctree.Options{})
	if err != nil {
		return nil, fmt.Errorf("reading the document of %s: %w", f.ID, err)
	}
	b := promotion{c: c, f: f, p: p, dir: dir, root: &doc.Root}
	if err := b.build(); err != nil {
		return nil, fmt.Errorf("making a regression test of %s: %w", f.ID, err)
	}
	about := fmt.Sprintf("Regression test for %s: %s.\nIt holds the case that showed it.", f.ID, diag.FirstLine(f.Title))
	if why := f.Uncertain(); why != "" {
		about += "\nIt " + why + "."
	}
	text, err := b.out.text(about)
	if err != nil {
		return nil, fmt.Errorf("writing the document of %s: %w", f.ID, err)
	}
	return append([]campaign.File{{Name: promotedDocument, Data: text}}, b.files...), nil
}

// promotion makes the document.
type promotion struct {
	c     *Campaign
	f     campaign.Finding
	p     payload
	dir   string
	root  *doctree.Node
	out   mapping
	files []campaign.File
	check string // the built-in check that found it; "": it was not a built-in check
	own   bool   // the document is judged only by the finding's own check
}

func (b *promotion) build() error {
	if b.p.Phase == phaseCheck && b.p.Of != nil {
		b.check, b.p = b.p.Check, *b.p.Of // the built-in checks run on this case again
	}
	if b.p.Phase == phaseRate {
		b.p.Phase = PhaseContract
	}
	b.out.put("version", text("2.0"))
	phase := b.p.Phase
	switch {
	case phase == PhaseMutation && b.p.Mutation.Wire != nil:
		if b.c.chaotic {
			return errors.New("a changed request under chaos has no form in a document; thresh replay " + b.f.ID + " runs it again")
		}
	case phase == PhaseMutation && b.c.chaotic:
		phase = PhaseChaos
	case phase == PhaseMutation || phase == phaseBaseline:
		phase = PhaseReplay
	}
	b.out.put("phases", list(text(phase)))
	if err := b.agent(); err != nil {
		return err
	}
	var err error
	switch {
	case b.p.Phase == phaseCheck:
		return errors.New("it is about all calls without faults, not about one case")
	case b.p.Phase == phaseAudit:
		return errors.New("it is about something that never occurs, so no case shows it; make sure that it can occur, or remove it from the document")
	case phase == PhaseMutation:
		err = b.request()
	case phase == PhaseChaos:
		err = b.chaos()
	case phase == PhaseContract:
		err = b.cell()
	default:
		err = b.session()
	}
	if err != nil {
		return err
	}
	b.builtIn()
	b.copySection("effects")
	b.copySection("judge")
	b.copySection("similarity")
	advanced := of(b.root.Get("advanced"))
	advanced.put("seed", number(b.c.seed))
	b.out.put("advanced", advanced.node())
	return nil
}

// copySection copies a section of the document.
func (b *promotion) copySection(key string) {
	if n := b.root.Get(key); !n.IsNull() {
		b.out.put(key, written(n))
	}
}

// golden copies the golden prompts, with paths to datasets relative to the new folder.
func (b *promotion) golden() error {
	from := b.root.Get("golden_prompts")
	var nodes []*node
	for i := range from.Items() {
		n := &from.Items()[i]
		file := n.Get("dataset")
		if n.Kind != doctree.Map || file.IsNull() {
			nodes = append(nodes, written(n))
			continue
		}
		m := of(n)
		path, err := b.relocatePath(file.Text)
		if err != nil {
			return err
		}
		m.put("dataset", text(path))
		nodes = append(nodes, m.node())
	}
	b.out.put("golden_prompts", list(nodes...))
	return nil
}

// agent copies the document's agent, with its folder relative to the new one.
func (b *promotion) agent() error {
	a := &b.c.cfg.Agent
	m := of(b.root.Get("agent"))
	if len(a.Argv) > 0 || b.c.reach.python {
		dir, err := b.relocatePath(a.Dir)
		if err != nil {
			return err
		}
		m.put("dir", text(dir))
	}
	b.out.put("agent", m.node())
	return nil
}

// relocatePath converts a path relative to the document's folder to one relative to the new folder.
func (b *promotion) relocatePath(path string) (string, error) {
	if filepath.IsAbs(path) {
		return path, nil
	}
	home, err := filepath.Abs(filepath.Dir(b.c.file))
	if err != nil {
		return "", fmt.Errorf("finding the document's folder: %w", err)
	}
	rel, err := filepath.Rel(b.dir, filepath.Join(home, path))
	if err != nil { // on another volume
		return filepath.Join(home, path), nil //nolint:nilerr // the absolute path serves
	}
	return filepath.ToSlash(rel), nil
}

// prompts adds what is asked, with the invariants outside the matrix.
func (b *promotion) prompts(asked ...string) error {
	nodes := seq.Map(asked, text)
	b.out.put("golden_prompts", list(nodes...))
	return b.invariants(&b.out, b.plain(asked[0]), false)
}

// request adds a mutation of the request itself.
func (b *promotion) request() error {
	m := b.p.Mutation
	if err := b.prompts(m.Original); err != nil {
		return err
	}
	r := mutation.Request{
		Prompts: []string{m.Original}, Types: []string{m.Type}, Weight: func(string) float64 { return 1 },
		Seed: b.c.seed, Shapes: true, Timeout: b.c.cfg.Agent.Timeout,
	}
	for r.Count = 1; r.Count <= 50; r.Count++ { // 50 is the largest count that a document may have
		set := mutation.Generate(r).List
		if n := len(set); n > 0 && set[n-1].How == m.How {
			var x mapping
			x.put("count", number(int64(r.Count)))
			x.put("types", list(text(m.Type)))
			b.out.put("mutations", x.node())
			return nil
		}
	}
	return fmt.Errorf("the request, %s, is made by no mutation of type %s alone", m.How, m.Type)
}

// chaos adds a prompt under the faults of the section chaos and of the profiles that were asked
// for.
func (b *promotion) chaos() error {
	prompt := b.c.cfg.Prompts[b.p.Prompt].Text
	if b.p.Phase == PhaseMutation {
		prompt = b.p.Mutation.Text
	}
	if err := b.oneTurn(prompt); err != nil {
		return err
	}
	// The same prompt makes the earlier calls that after_calls counts. The last prompt is the case.
	if err := b.prompts(slices.Repeat([]string{prompt}, b.p.Before+1)...); err != nil {
		return err
	}
	m := of(b.root.Get("chaos"))
	var names []*node
	if n := b.root.Get("chaos").Get("profiles"); n != nil {
		for i := range n.Items() {
			names = append(names, written(&n.Items()[i]))
		}
	}
	for _, name := range b.c.profiles {
		names = append(names, text(name))
	}
	if len(names) > 0 {
		m.put("profiles", list(names...))
	}
	b.out.put("chaos", m.node())
	return nil
}

// cell adds one invariant in one scenario.
func (b *promotion) cell() error {
	if err := b.golden(); err != nil {
		return err
	}
	whole := b.out
	k := b.root.Get("contract")
	matrix := k.Get("chaos_matrix")
	if matrix.IsNull() || len(matrix.Items()) == 0 {
		matrix = b.root.Get("chaos_matrix")
	}
	v := b.c.invariants[b.p.Invariant] // the prompt of an expectation contains it
	var one []config.Invariant
	if b.p.Invariant < len(b.root.Get("contract").Get("invariants").Items()) {
		one = append(one, v)
	}
	b.out = mapping{}
	b.out.put("name", written(k.Get("name")))
	if err := b.invariants(&b.out, one, false); err != nil {
		return err
	}
	b.out.put("chaos_matrix", list(written(&matrix.Items()[b.p.Scenario])))
	for _, key := range []string{"min_pass_rate", "max_runs"} {
		if n := k.Get(key); !n.IsNull() {
			b.out.put(key, written(n))
		}
	}
	if b.c.runs > 1 {
		b.out.put("runs_per_cell", number(int64(b.c.runs)))
	}
	whole.put("contract", b.out.node())
	b.out = whole
	return nil
}

// session adds a prompt that failed by itself, or a replay: what was asked, the tools' answers and
// the checks.
func (b *promotion) session() error {
	s, checks, err := b.recorded()
	if err != nil {
		return err
	}
	b.out.put("golden_prompts", list(text(s.Input)))
	s.ID, s.Contract = b.f.ID, "regression"
	var replays, one, k mapping
	one.put("file", text(promotedSession))
	replays.put("sessions", list(one.node()))
	b.out.put("replays", replays.node())
	k.put("name", text(s.Contract))
	if err := b.invariants(&k, checks, true); err != nil {
		return err
	}
	b.out.put("contract", k.node())
	b.files = append(b.files, campaign.File{Name: promotedSession, Data: record.Format(s)})
	return nil
}

// recorded returns the session of the finding and its checks.
func (b *promotion) recorded() (s config.Session, checks []config.Invariant, err error) {
	if b.p.Phase == PhaseReplay {
		x := &b.c.sessions[b.p.Session]
		return x.Session, x.checks, nil
	}
	for _, e := range b.f.Evidence {
		if e.Title == SessionExhibit && e.Text != nil {
			s, _ = config.DecodeSession(promotedSession, []byte(e.Text.Body), config.Options{})
		}
	}
	s.Source, s.Expected = "thresh", b.f.Title
	if !b.c.reach.own {
		s.Tools = nil // they cannot replace the real ones
	}
	if b.p.Phase == phaseBaseline {
		s.Input = b.c.asked[b.p.Prompt]
	} else {
		s.Input = b.p.Mutation.Text
	}
	if s.Input == "" {
		return s, nil, errors.New("it is about an empty prompt, which a session cannot have; thresh replay " + b.f.ID + " runs it again")
	}
	return s, b.plain(s.Input), b.oneTurn(s.Input)
}
