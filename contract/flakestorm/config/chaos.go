package config

import (
	_ "embed" // for the profiles
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/fault"
	"github.com/thresh-dev/thresh/engine/score"
	"github.com/thresh-dev/thresh/engine/seq"
)

// chaos reads the faults to inject. byType allows context_attacks as a mapping from types, which
// scenarios do not have.
func (d *decoder) chaos(s *section, byType bool) Chaos {
	c := Chaos{At: s.pos()}
	s.items("tool_faults", false, func(n *doctree.Node, path string) { c.Tools = append(c.Tools, d.toolFault(n, path)) })
	s.items("llm_faults", false, func(n *doctree.Node, path string) { c.LLM = append(c.LLM, d.llmFault(n, path)) })
	n := s.opt("context_attacks")
	switch {
	case n == nil:
	case n.Kind == doctree.Map && byType:
		c.Context = d.attacksByType(n, s.at("context_attacks"))
	default:
		s.items("context_attacks", true, func(n *doctree.Node, path string) {
			x := d.section(n, path, format().attack)
			c.Context = append(c.Context, d.attack(x, x.required("type"), path))
		})
	}
	s.items("profiles", true, func(n *doctree.Node, path string) { c = d.profile(c, n, path) })
	return c
}

// profile adds the faults of a built-in profile that the document names.
func (d *decoder) profile(c Chaos, n *doctree.Node, path string) Chaos {
	v, ok := d.str(n, path)
	if !ok {
		return c
	}
	p, err := Profile(v)
	if err != nil {
		d.unknown(n, "unknown-word", path, v, Profiles())
		return c
	}
	for _, list := range [][]Fault{p.Tools, p.LLM, p.Context} {
		for i := range list {
			list[i].At = n.Pos
		}
	}
	return c.With(p)
}

// keyed returns the shape of an attack whose key is its type.
func keyed(kind string) *doctree.Shape {
	s := *format().attack
	s.TagDefault = kind
	s.Fields = slices.Clone(s.Fields)
	s.Field("type").Need = false
	return &s
}

// attacksByType reads attacks whose keys are their types.
func (d *decoder) attacksByType(n *doctree.Node, path string) []Fault {
	var list []Fault
	for i := range n.Members() {
		m := &n.Members()[i]
		at := path + "." + m.Key.Text
		if m.Value.Kind != doctree.Map {
			d.warn(m.Value.Pos, "no-effect", at, "", "has no effect: an attack is a mapping, got %s", describeValue(&m.Value))
			continue
		}
		x := d.section(&m.Value, at, keyed(m.Key.Text))
		if e := x.get("enabled"); e != nil && !x.flag("enabled", true) {
			// Existing tools drop this key and leave the attack on; here it means what it says.
			d.warn(e.Pos, "disabled", at+".enabled", "", "the attack is off")
			continue
		}
		f := d.attack(x, m.Key.Text, at)
		list = append(list, f)
	}
	return list
}

func (d *decoder) scenario(n *doctree.Node, path string) Scenario {
	s := d.section(n, path, format().scenario)
	x := Scenario{At: n.Pos, Name: s.required("name")}
	s.text("description")
	x.Chaos = d.chaos(s, false)
	x.At = n.Pos
	return x
}

// mode returns the mode of a fault. It reports an unknown mode, which could not be injected.
func (d *decoder) mode(s *section, layer fault.Layer, key, v string) fault.Mode {
	words := modeWords(layer)
	if v != "" && !slices.Contains(words, v) {
		at := s.pos()
		if n := s.n.Get(key); n != nil {
			at = n.Pos
		}
		d.report(diag.Error, at, "unknown-word", s.at(key), diag.DidYouMean(v, words), "must be one of %s, got %q: it could not be injected", strings.Join(words, ", "), v)
	}
	return fault.Mode(v)
}

// trigger reads when a fault strikes.
func (d *decoder) trigger(s *section, probability string) fault.Trigger {
	var t fault.Trigger
	if s.opt(probability) != nil {
		p := s.number(probability, 1)
		t.Probability = &p
		if p == 0 {
			d.warn(s.n.Get(probability).Pos, "never", s.at(probability), "", "with probability 0 the fault never fires")
		}
	}
	t.AfterCalls = s.count("after_calls", 0)
	if n := s.opt("on_calls"); n != nil {
		s.items("on_calls", false, func(n *doctree.Node, path string) {
			t.Calls = append(t.Calls, d.integer(n, path, 1, 1, math.MaxInt32))
		})
	}
	t.Times = s.count("times", 0)
	return t
}

func milliseconds(n int) time.Duration { return time.Duration(n) * time.Millisecond }

const longest = 24 * 3600 * 1000 // a day, in milliseconds

func (d *decoder) toolFault(n *doctree.Node, path string) Fault {
	s := d.section(n, path, format().tool)
	f := Fault{At: n.Pos, Rule: fault.Rule{ID: path, Layer: fault.Tool}}
	f.Tool = s.required("tool")
	d.noteTool(s, f.Tool)
	f.Mode = d.mode(s, fault.Tool, "mode", s.required("mode"))
	f.MatchURL = s.text("match_url")
	f.Delay = milliseconds(s.count("delay_ms", 0))
	f.Status = s.count("error_code", 0)
	f.Message, f.Payload = s.text("message"), s.text("payload")
	f.Trigger = d.trigger(s, "probability")
	f.Rate = s.count("bytes_per_second", 0)
	return d.checked(s, f)
}

func (d *decoder) llmFault(n *doctree.Node, path string) Fault {
	s := d.section(n, path, format().llm)
	f := Fault{At: n.Pos, Rule: fault.Rule{ID: path, Layer: fault.LLM}}
	f.Mode = d.mode(s, fault.LLM, "mode", s.required("mode"))
	f.MaxTokens = s.count("max_tokens", 0)
	f.Delay = milliseconds(s.count("delay_ms", 0))
	f.Trigger = d.trigger(s, "probability")
	f.DriftType = s.text("drift_type")
	if t := f.DriftType; t != "" && !slices.Contains(fault.DriftTypes(), t) {
		d.unknown(s.n.Get("drift_type"), "unknown-word", s.at("drift_type"), t, fault.DriftTypes())
		f.DriftType = ""
	}
	if n := s.opt("severity"); n != nil {
		if _, ok := d.str(n, s.at("severity")); ok && f.Mode == fault.Drift {
			d.warn(n.Pos, "no-effect", s.at("severity"), "", "has no effect: drift_type, direction and factor say how strong a drift is")
		}
	}
	if s.get("direction") != nil {
		f.Direction = s.word("direction", "expand")
	}
	f.Factor = s.number("factor", 0)
	f.RetryAfter = time.Duration(s.count("retry_after", 0)) * time.Second
	f.Status, f.Message = s.count("error_code", 0), s.text("message")
	f.MatchURL = s.text("match_url")
	return d.checked(s, f)
}

func (d *decoder) attack(s *section, kind, path string) Fault {
	f := Fault{At: s.pos(), Rule: fault.Rule{ID: path, Layer: fault.Context}}
	key := "type"
	if s.n.Get("type") == nil {
		key = "" // the type is the key of the section itself
	}
	f.Mode = d.mode(s, fault.Context, key, kind)
	f.InjectTokens = s.count("inject_tokens", 0)
	f.Payloads, f.Payload = s.texts("payloads"), s.text("payload")
	f.Trigger = d.trigger(s, "trigger_probability")
	if s.opt("inject_at") != nil {
		f.Rule.At = fault.Point(d.point(s))
	}
	if s.opt("strategy") != nil {
		f.Strategy = fault.Strategy(s.word("strategy", string(fault.Append)))
	}
	f.Tool, f.MatchURL = s.text("tool"), s.text("match_url")
	return d.checked(s, f)
}

// point returns where an attack is placed. Existing documents name steps ("step_2", "after_tool"),
// which no engine ever used; each one gets a warning.
func (d *decoder) point(s *section) string {
	v := s.text("inject_at")
	points := fault.Points()
	words := seq.Map(points, func(p fault.Point) string { return string(p) })
	if slices.Contains(words, v) || v == "" {
		return v
	}
	d.doubt(s.n.Get("inject_at").Pos, "unknown-word", s.at("inject_at"), diag.DidYouMean(v, words), "must be one of %s, got %q; the attack's own default is used", strings.Join(words, ", "), v)
	return ""
}

// checked asks the engine whether the rule can be carried out.
func (d *decoder) checked(s *section, f Fault) Fault {
	if s.n == nil || !slices.Contains(fault.Modes(f.Layer), f.Mode) {
		return f
	}
	if err := f.Check(); err != nil {
		d.fail(f.At, "fault", f.ID, "%s", strings.TrimPrefix(err.Error(), f.ID+": "))
	}
	return f
}

//go:embed profiles.yaml
var profilesFile []byte

var profiles = sync.OnceValue(func() *doctree.Document {
	doc, err := doctree.Parse(profilesFile, doctree.Options{})
	if err != nil {
		panic(err) // cannot happen: the tests read it
	}
	return doc
})

// Profile returns a built-in profile of faults. The error for an unknown name lists all names.
func Profile(name string) (Chaos, error) {
	n := profiles().Root.Get(name)
	if n == nil {
		err := diag.Refused("no profile is called %q; there is %s", name, strings.Join(Profiles(), ", "))
		if hint := diag.DidYouMean(name, Profiles()); hint != "" {
			err = diag.WithHint(err, hint)
		}
		return Chaos{}, err
	}
	d := &decoder{doc: profiles()}
	c := d.chaos(d.section(n, name, format().chaos), false)
	c.At = doctree.Pos{}
	for _, list := range [][]Fault{c.Tools, c.LLM, c.Context} {
		for i := range list {
			f := &list[i]
			f.At, f.ID = doctree.Pos{}, strings.TrimSpace(fmt.Sprintf("profile %s %s %s %s", name, f.Layer, f.Mode, f.DriftType))
		}
	}
	return c, nil
}

// Profiles returns the names of the built-in profiles.
func Profiles() (names []string) {
	for _, m := range profiles().Root.Members() {
		names = append(names, m.Key.Text)
	}
	return names
}

// With returns the faults of both, this one's first.
func (c *Chaos) With(more Chaos) Chaos {
	if c == nil {
		return more
	}
	return Chaos{At: c.At, Tools: slices.Concat(c.Tools, more.Tools), LLM: slices.Concat(c.LLM, more.LLM), Context: slices.Concat(c.Context, more.Context)}
}

// DefaultMaxRuns is the default for the largest number of runs of a cell whose rate is judged.
const DefaultMaxRuns = 200

// rate reads min_pass_rate; 0: not given.
func (d *decoder) rate(s *section) float64 {
	const key = "min_pass_rate"
	n := s.opt(key)
	if f, ok := 0.0, n != nil; ok {
		if f, ok = looseNumber(n); ok && (f == 0 || f == 1) { // number reports other values that are out of range
			d.report(diag.Error, n.Pos, "range", s.at(key), "leave it out to demand that every run holds", "must be above 0 and below 1, got %s", n.Text)
			return 0
		}
	}
	return s.number(key, 0)
}

// sampled gives the invariants that are rows of the matrix the contract's rate and limit of runs,
// unless they have their own. Everywhere else, a prompt is asked once.
func (d *decoder) sampled(c *Config) {
	lists := [][]Invariant{c.Invariants}
	if c.Contract != nil {
		lists = append(lists, c.Contract.Invariants)
	}
	for i := range c.Prompts {
		lists = append(lists, c.Prompts[i].Expect)
		for _, t := range c.Prompts[i].Turns {
			lists = append(lists, t.Expect)
		}
	}
	for i, list := range lists {
		for k := range list {
			v := &list[k]
			if i > 0 && c.Contract != nil {
				d.row(v, c.Contract)
			} else if v.MinRate > 0 {
				d.warn(v.At, "no-effect", v.Path+".min_pass_rate", "put the invariant under contract.invariants", "only cells of a contract have rates")
				v.MinRate = 0
			}
		}
	}
}

func (d *decoder) row(v *Invariant, c *Contract) {
	own := v.MinRate > 0
	if v.MaxRuns == 0 {
		v.MaxRuns = c.MaxRuns
	}
	if v.Percentile > 0 {
		if own {
			d.fail(v.At, "two-rates", v.Path+".min_pass_rate", "is given together with percentile, which judges all runs of the cell at once: keep one of them")
		}
		v.MinRate = 0
		return
	}
	if !own {
		v.MinRate = c.MinRate
	}
	if v.MinRate > 0 && !score.NewSequence(v.MinRate, v.MaxRuns).Reachable() {
		d.warn(v.At, "too-few-runs", v.Path+".max_runs", fmt.Sprintf("%d runs can", needed(v.MinRate)), "%d runs cannot show a rate of %g even if all of them hold: the cell can only fail or stay undecided", v.MaxRuns, v.MinRate)
	}
}

// needed returns the smallest number of runs that can show a rate: if all of them hold.
func needed(rate float64) int {
	n := 1
	for p := rate; p > score.Level; p *= rate {
		n++
	}
	return n
}
