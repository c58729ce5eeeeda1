package flakestorm

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/contract/flakestorm/mutation"
	"github.com/thresh-dev/thresh/contract/flakestorm/verify"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/port/sut"
)

// Compile implements [campaign.Contract]. A document becomes one campaign.
func (k *Contract) Compile(_ context.Context, spec campaign.Spec, set campaign.Settings) ([]campaign.Any, diag.List) {
	b := &builder{k: k, spec: spec, set: set}
	cfg, list := config.Decode(spec.Path, spec.Data, config.Options{Getenv: k.getenv, Check: set.Check, Read: b.file, Seed: set.Seed, Phases: set.Options[OptPhase]})
	if list.HasErrors() {
		return nil, list
	}
	b.cfg, b.c = cfg, &Campaign{cfg: cfg, file: spec.Path, source: spec.Data, targets: k.targets, getenv: k.getenv, strict: set.Strict}
	b.list = list
	b.build()
	b.list.Sort()
	if b.list.HasErrors() {
		return nil, b.list
	}
	b.c.id = campaign.Identity{Contract: k.Name(), Name: cmp.Or(spec.Name, diag.DocumentName(spec.Path)), Digest: b.digest()}
	return []campaign.Any{campaign.Erase[*state](b.c)}, b.list
}

// builder makes a campaign from a configuration.
type builder struct {
	k      *Contract
	spec   campaign.Spec
	set    campaign.Settings
	cfg    *config.Config
	c      *Campaign
	list   diag.List
	read   [][]byte        // files that decide the cases
	chosen diag.Diagnostic // where the document names phases
}

func (b *builder) fail(d diag.Diagnostic, format string, args ...any) {
	d.Message = fmt.Sprintf(format, args...)
	if d.Pos.File == "" {
		d.Pos = diag.Pos{File: b.spec.Path}
	}
	same := func(x diag.Diagnostic) bool { return reflect.DeepEqual(x, d) }
	if !slices.ContainsFunc(b.list, same) { // an expectation is judged both inside and outside the matrix
		b.list = append(b.list, d)
	}
}

// vacuous refuses phases for which there is nothing to run, at the place that names them.
func (b *builder) vacuous(hint, format string, args ...any) {
	d := b.chosen
	d.Code, d.Hint = "flakestorm.vacuous", hint
	b.fail(d, format, args...)
}

func (b *builder) build() {
	c, cfg := b.c, b.cfg
	b.phases()
	nameExpectations(cfg.Prompts)
	c.seed = cfg.Seed
	c.reach = reachOf(&cfg.Agent)
	c.agent = agentPlan(&cfg.Agent, cfg.Advanced, filepath.Dir(b.spec.Path), b.k.getenv, b.keyMissing)
	b.requirements()
	b.self()
	given := slices.Concat(secretPairs(slices.Concat(cfg.Agent.Env, cfg.Agent.Headers, cfg.Agent.Query)), b.declared("endpoint", []byte("url: "+cfg.Agent.Endpoint)), b.system())
	for _, p := range given {
		c.secrets = append(c.secrets, p.Value)
	}
	c.hidden = redactor(given)
	b.users()
	b.globalChaos()
	b.invariants()
	b.contract()
	b.sessions()
	b.schemas()
	b.mutations()
	b.baselines()
	c.known = c.items()
	if len(c.known) == 0 && c.written == nil && !b.list.HasErrors() {
		b.vacuous("--phase names the phases to run", "nothing would be tested: none of the phases %s is configured", strings.Join(c.phases, ", "))
	}
}

// requirements reads the packages of a Python agent that Thresh starts.
func (b *builder) requirements() {
	file := b.set.Get(OptInstall, "")
	if file == "" {
		return
	}
	text, err := b.readAt(file)
	p := &b.c.agent
	switch {
	case err != nil:
		b.fail(diag.Diagnostic{Code: "flakestorm.option"}, "--%s: %v", OptInstall, err)
	case p.Python == nil && p.Command == nil && p.Start == nil && (p.MCP == nil || len(p.MCP.Argv) == 0):
		b.fail(diag.Diagnostic{Code: "flakestorm.option", Hint: "install them where the agent runs, or let agent.command start it"}, "--%s is for an agent that Thresh starts", OptInstall)
	}
	p.Packages = &agentcall.Packages{File: file, Text: string(text)}
}

// self replaces the placeholder for the running program by its path.
func (b *builder) self() {
	b.c.agent = b.c.agent.Process(func(argv, env []string) ([]string, []string) { return b.set.Programs(argv), b.set.Programs(env) })
}

// phases chooses the phases: those that the user asked for, those that the document names, or all.
func (b *builder) phases() {
	all := config.PhaseNames()
	b.c.phases = b.set.Options[OptPhase]
	if len(b.c.phases) == 0 && len(b.cfg.Phases) > 0 {
		b.c.phases, b.chosen.Path, b.chosen.Pos = b.cfg.Phases, "phases", b.cfg.PhasesAt.In(b.spec.Path)
	}
	for _, p := range b.c.phases {
		if !slices.Contains(all, p) {
			b.fail(diag.Diagnostic{Code: "flakestorm.option", Hint: diag.DidYouMean(p, all)}, "--%s must be one of %s, got %q", OptPhase, strings.Join(all, ", "), p)
		}
	}
	b.c.listReplies = b.set.Get(OptReplies, "") == "true"
	b.c.chosen = len(b.c.phases) > 0
	if !b.c.chosen {
		b.c.phases = all
	}
}

func (b *builder) keyMissing(at diag.Diagnostic, name string) {
	at.Code, at.Hint = "flakestorm.no-key", "export "+name
	at.Pos.File = b.spec.Path
	if b.set.Check {
		at.Level = diag.Warning // it is not needed yet
	}
	b.fail(at, "the variable %s is not set", name)
}

// globalChaos prepares the chaos of the section chaos and of profiles.
func (b *builder) globalChaos() {
	chaos := b.cfg.Chaos
	for _, name := range b.set.Options[OptProfile] {
		p, err := config.Profile(name)
		if err != nil {
			b.fail(diag.Diagnostic{Code: "flakestorm.option", Hint: diag.Hint(err)}, "--%s: %v", OptProfile, err)
			continue
		}
		b.c.profiles = append(b.c.profiles, name)
		both := chaos.With(p)
		chaos = &both
	}
	// A profile acts in the chaos phase or, if that does not run, on mutations.
	wanted := b.set.Get(OptChaos, "") == "true"
	apart, mutated := slices.Contains(b.c.phases, PhaseChaos), slices.Contains(b.c.phases, PhaseMutation)
	b.c.chaotic = mutated && (wanted || len(b.c.profiles) > 0 && !apart)
	if (wanted || len(b.c.profiles) > 0) && !apart && !mutated {
		b.fail(diag.Diagnostic{Code: "flakestorm.option", Hint: "a scenario of the contract takes profiles: [NAME]"}, "--%s and --%s act in the phases %s and %s, and neither is run",
			OptChaos, OptProfile, PhaseMutation, PhaseChaos)
	}
	if !chaos.Active() {
		if b.c.chosen && apart || b.c.chaotic { // the user asked for chaos: use the profile that existing tools use then
			const profile = "api_outage"
			p, _ := config.Profile(profile)
			chaos = &p
			b.c.profiles = append(b.c.profiles, profile)
		} else {
			return
		}
	}
	if !apart && !b.c.chaotic {
		return
	}
	j, list := b.c.reach.plan(b.spec.Path, "chaos", chaos, b.collectPoints("chaos"))
	b.list = append(b.list, list...)
	b.c.chaos = b.c.addRules(j)
}

// collectPoints collects the points of injection for the report.
func (b *builder) collectPoints(where string) func(*config.Fault, point) {
	return func(f *config.Fault, p point) {
		b.c.Points = append(b.c.Points, Point{Scenario: where, Fault: f.ID, What: string(f.Layer) + " " + string(f.Mode), Where: string(p)})
	}
}

// filtered warns of an invariant that is for other prompts than those asked.
func (b *builder) filtered(v *config.Invariant, name, then string) {
	if v.Filter != nil && !slices.ContainsFunc(b.c.prompts(v), func(p string) bool { hit, err := v.Filter.Search(p); return hit || err != nil }) {
		b.fail(diag.Diagnostic{Code: "flakestorm.never-applies", Level: diag.Warning, Pos: v.At.In(b.spec.Path), Path: v.Path},
			"%s (prompt_filter) applies to none of the prompts, %s", name, then)
	}
}

// invariants checks the document's invariants, which judge mutations and chaos.
func (b *builder) invariants() {
	if !slices.Contains(b.c.phases, PhaseMutation) && !slices.Contains(b.c.phases, PhaseChaos) {
		return
	}
	for i := range b.cfg.Invariants {
		v := &b.cfg.Invariants[i]
		b.filtered(v, nameOf(v), "so it is checked only where a mutation makes it apply")
	}
}

// contract prepares the matrix.
func (b *builder) contract() {
	k := b.cfg.Contract
	if k == nil || !slices.Contains(b.c.phases, PhaseContract) {
		if b.c.chosen && k == nil && slices.Contains(b.c.phases, PhaseContract) {
			b.vacuous("add a section contract with invariants and chaos_matrix", "there is no contract to check")
		}
		return
	}
	rows := slices.Concat(k.Invariants, expectations(b.cfg.Prompts))
	scenarios := k.Matrix
	if len(scenarios) == 0 { // the top-level one is used by a contract that has none
		scenarios = b.cfg.ChaosMatrix
	}
	at := diag.Diagnostic{Code: "flakestorm.vacuous", Pos: k.At.In(b.spec.Path), Path: k.Path}
	if len(rows) == 0 && !b.c.checksOn() {
		b.fail(at, "the contract has no invariants, and the built-in checks are off: its matrix would be empty, which is not a pass")
	} else if len(rows) == 0 {
		rows = []config.Invariant{{At: k.At, Path: k.Path, ID: "answers", Type: "completes", Severity: "medium", When: "always"}}
		b.fail(diag.Diagnostic{Code: "flakestorm.empty", Level: diag.Warning, Pos: at.Pos, Path: at.Path, Hint: "output_not_empty needs no settings"},
			"the contract has no invariants: that the agent answers, and the built-in checks, are all that its cells are judged by")
	}
	if len(scenarios) == 0 {
		at.Hint = "a scenario without faults checks the agent as it is: chaos_matrix: [{name: no-chaos}]"
		b.fail(at, "the contract has no scenarios: its matrix would be empty, which is not a pass")
	}
	b.c.runs = k.Runs
	if v := b.set.Get(OptRuns, ""); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 || n > 1000 {
			b.fail(diag.Diagnostic{Code: "flakestorm.option"}, "--%s must be a number from 1 to 1000, got %q", OptRuns, v)
			n = 1
		}
		b.c.runs = n
	}
	for i := range scenarios {
		j, list := b.c.reach.plan(b.spec.Path, scenarios[i].Name, &scenarios[i].Chaos, b.collectPoints(scenarios[i].Name))
		b.list = append(b.list, list...)
		b.c.scenarios = append(b.c.scenarios, b.c.addRules(j))
	}
	any := false
	for i := range rows {
		v, applies := &rows[i], false
		for _, j := range b.c.scenarios {
			applies = applies || j.active.applies(v.When)
		}
		any = any || applies
		b.filtered(v, v.ID, "so it is never checked")
		if !applies && len(scenarios) > 0 {
			b.fail(diag.Diagnostic{Code: "flakestorm.never-applies", Level: diag.Warning, Pos: v.At.In(b.spec.Path), Path: v.Path}, "%s (when: %s) applies to none of the scenarios, so it is never checked", v.ID, v.When)
		}
	}
	if !any && len(scenarios) > 0 && len(rows) > 0 {
		at.Hint = ""
		b.fail(at, "no invariant applies to any scenario, so the matrix would be empty")
	}
	b.c.invariants, b.c.sequences = rows, sequences(rows, b.c.runs)
}

// schemas reads and compiles the schemas of invariants, and refuses those that could not be
// checked.
func (b *builder) schemas() {
	b.c.schemas = make(map[string]*verify.Schema)
	lists := [][]config.Invariant{b.c.invariantsOutsideMatrix(), b.c.invariants}
	for _, s := range b.c.sessions {
		lists = append(lists, s.checks)
	}
	for _, list := range lists {
		for i := range list {
			v := &list[i]
			calls := strings.HasPrefix(v.Type, "tool_") || v.Trace != nil && v.Trace.NeedsTools()
			if p := b.c.agent.System; calls && p != nil && slices.Contains([]sut.Kind{sut.Command, sut.HTTP}, p.Kind) {
				b.fail(diag.Diagnostic{Code: "flakestorm.cannot-check", Level: diag.Warning, Pos: v.At.In(b.spec.Path), Path: v.Path,
					Hint: "say in the section agent how it is reached: type, endpoint, command"},
					"%s will be undecided: calls of tools cannot be seen of an agent that is described by a system file of kind %s, except those of a bare command", v.Type, p.Kind)
			}
			if calls && b.c.reach.python && !b.c.reach.tools {
				b.fail(diag.Diagnostic{Code: "flakestorm.cannot-check", Pos: v.At.In(b.spec.Path), Path: v.Path, Hint: "such as agent.tools: [my_agent:search]"},
					"%s cannot be checked: the calls of a Python agent's tools are seen only if agent.tools or agent.tool_registry names them", v.Type)
			}
			if v.Type != "json_schema" || b.c.schemas[v.Path] != nil {
				continue
			}
			at := diag.Diagnostic{Code: "flakestorm.schema", Pos: v.At.In(b.spec.Path), Path: v.Path + ".schema"}
			text := []byte(v.Schema)
			if v.SchemaFile != "" {
				data, err := b.file(v.SchemaFile)
				if err != nil {
					b.fail(at, "reading the schema: %v", err)
					continue
				}
				text = data
			}
			s, err := verify.CompileSchema(text)
			if err != nil {
				b.fail(at, "not a JSON Schema: %v", err)
				continue
			}
			b.c.schemas[v.Path] = s
		}
	}
}

// file reads a file that the document names. The name is relative to the document or, as existing
// tools take some paths, to the working folder.
func (b *builder) file(name string) ([]byte, error) {
	data, err := b.readAt(b.resolve(name))
	if err != nil && !filepath.IsAbs(name) {
		if again, err2 := b.readAt(name); err2 == nil {
			return again, nil
		}
	}
	return data, err
}

func (b *builder) resolve(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(filepath.Dir(b.spec.Path), name)
}

func (b *builder) readAt(path string) ([]byte, error) {
	data, err := b.set.Read(path)
	if err == nil {
		b.read = append(b.read, data)
	}
	return data, err
}

// mutations writes the mutations, unless an LLM writes them later.
func (b *builder) mutations() {
	c, m := b.c, &b.cfg.Mutations
	if !slices.Contains(c.phases, PhaseMutation) {
		return
	}
	r := mutation.Request{
		Weight: m.Weight, Count: m.Count, Limit: m.Limit, Seed: c.seed, Shapes: c.agent.Shapes(), Timeout: b.cfg.Agent.Timeout,
	}
	for _, p := range b.cfg.Prompts {
		r.Prompts = append(r.Prompts, p.Text)
	}
	for _, t := range m.Types {
		r.Types = append(r.Types, t.Name)
	}
	for _, t := range m.Templates {
		r.Templates = append(r.Templates, mutation.Template{Name: t.Key, Text: t.Value})
	}
	at := diag.Diagnostic{Code: "flakestorm.mutations", Level: diag.Warning, Pos: m.At.In(b.spec.Path), Path: "mutations"}
	weightless := true
	for _, t := range r.Types {
		weightless = weightless && m.Weight(t) == 0
	}
	if weightless {
		at.Code, at.Level = "flakestorm.vacuous", diag.Error
		b.fail(at, "all types of the document have weight 0: there would be no score")
		return
	}
	if m.Writer == "llm" {
		c.written = &r
		return
	}
	set := mutation.Generate(r)
	c.mutations = set.List
	if set.Cut > 0 {
		at.Hint = "mutations.limit allows more"
		b.fail(at, "%d mutations exceed the limit of %d; the rest is skipped", set.Wanted, m.Limit)
	}
	at.Hint = ""
	for _, t := range slices.Sorted(mapKeys(set.Dropped)) {
		b.fail(at, "%s of type %s could not be made: the prompts have no further variants", diag.Plural(set.Dropped[t], "mutation"), t)
	}
	if len(set.List) == 0 {
		at.Code, at.Level = "flakestorm.vacuous", diag.Error
		b.fail(at, "no mutation could be made: nothing would be tested")
	}
}

// digest covers everything that decides the cases.
func (b *builder) digest() string {
	h := sha256.New()
	fmt.Fprintf(h, "flakestorm 1\x00%d\x00%t\x00%d\x00", len(b.spec.Data), b.set.Strict, b.c.seed)
	h.Write(b.spec.Data)
	for _, data := range b.read {
		fmt.Fprintf(h, "\x00%d\x00", len(data))
		h.Write(data)
	}
	options, _ := json.Marshal(b.set.Options) // only strings; keys are sorted
	h.Write(options)
	return hex.EncodeToString(h.Sum(nil))
}
