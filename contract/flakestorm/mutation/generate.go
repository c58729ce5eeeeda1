package mutation

import (
	"crypto/md5" //nolint:gosec // the format's ids use it
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/engine/pyrand"
	"github.com/thresh-dev/thresh/engine/textop"
)

// Mutation is one variant of a golden prompt.
type Mutation struct {
	ID       string // 12 hex digits, the same in every run
	Type     string
	Original string
	Text     string
	Weight   float64
	Wire     *agentcall.Wire // changes to the request; nil: none
	How      string          // operator, wording or shape, for display
}

// Request says which variants to make.
type Request struct {
	Prompts []string
	Types   []string
	Weight  func(kind string) float64
	Count   int // per prompt
	Limit   int // for all prompts together; 0: none
	Seed    int64
	// Templates are the user's wordings. They are used for type custom; a template named like
	// another type replaces that type's own wordings.
	Templates []Template
	// Shapes says that the agent is called by requests that can be changed.
	Shapes  bool
	Timeout time.Duration // of a call
}

// Template is a user's wording, with {prompt} where the prompt goes.
type Template struct{ Name, Text string }

// Set holds the variants that were made and counts those that were not.
type Set struct {
	List []Mutation
	// Wanted is the number of variants asked for. Dropped counts, by type, those for which no
	// further variant of the prompt was found.
	Wanted  int
	Dropped map[string]int
	Cut     int // number left out because of Limit
}

// Share divides count among n types as evenly as possible: the first types get one more each if it
// does not divide evenly.
func Share(count, n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = count / n
		if i < count%n {
			list[i]++
		}
	}
	return list
}

// ID returns the id that the format gives to a mutation.
func ID(original, text, kind string) string {
	sum := md5.Sum([]byte(original + ":" + text + ":" + kind)) //nolint:gosec // an id, no secret
	return hex.EncodeToString(sum[:])[:12]
}

// Valid reports whether a text is a valid variant of a prompt. Types that keep the prompt's size
// allow up to three times as many characters; the others put text around the prompt, so that even a
// short prompt gets all of its attacks.
func Valid(kind, original, text string) bool {
	r, known := recipes()[kind]
	if text == "" {
		return known && r.empty
	}
	if strings.TrimSpace(text) == "" || strings.TrimSpace(text) == strings.TrimSpace(original) {
		return false
	}
	return !r.near || utf8.RuneCountInString(text) <= max(3*utf8.RuneCountInString(original), utf8.RuneCountInString(original)+80)
}

// attempts is how many times a variant is drawn before a type gives up.
const attempts = 24

// Generate makes the variants. Equal requests give the same ones.
func Generate(r Request) Set {
	g := generator{Request: r, recipes: recipes(), operators: make(map[string]textop.Operator)}
	for _, op := range textop.Builtins() {
		g.operators[op.Meta().ID] = op
	}
	g.deriver = textop.NewDeriver(textop.RuleContract, big.NewInt(r.Seed))
	set := Set{Dropped: make(map[string]int)}
	for p, prompt := range r.Prompts {
		seen := make(map[string]bool)
		nth := make(map[string]int) // because a type may be listed more than once
		for t, n := range Share(r.Count, len(r.Types)) {
			kind := r.Types[t]
			for range n {
				set.Wanted++
				if r.Limit > 0 && len(set.List) >= r.Limit {
					set.Cut++
					continue
				}
				m, ok := g.variant(p, prompt, kind, nth[kind], seen)
				nth[kind]++
				if ok {
					set.List = append(set.List, m)
				} else {
					set.Dropped[kind]++
				}
			}
		}
	}
	return set
}

type generator struct {
	Request
	recipes   map[string]recipe
	operators map[string]textop.Operator
	deriver   textop.Deriver
	ctx       textop.Context
}

// variant makes the nth variant of a type, one that does not exist yet.
func (g *generator) variant(p int, prompt, kind string, nth int, seen map[string]bool) (Mutation, bool) {
	m := Mutation{Type: kind, Original: prompt, Weight: g.Weight(kind)}
	for try := range attempts {
		rng := new(pyrand.Rand)
		rng.SeedUint64(g.deriver.Seed(fmt.Sprintf("%d:%s:%d:%d", p, kind, nth, try)))
		m.Text, m.How, m.Wire = g.draw(prompt, kind, nth+try, rng)
		key := kind + "\x00" + m.Text + "\x00" + m.How
		if m.Wire == nil {
			key = m.Text
		}
		if seen[key] || m.Wire == nil && !Valid(kind, prompt, m.Text) {
			continue
		}
		seen[key] = true
		m.ID = ID(prompt, m.Text, kind)
		if m.Wire != nil {
			m.ID = ID(prompt, m.Text+"\x00"+m.How, kind)
		}
		return m, true
	}
	return m, false
}

// draw makes one candidate.
func (g *generator) draw(prompt, kind string, nth int, rng *pyrand.Rand) (text, how string, wire *agentcall.Wire) {
	if own := g.templates(kind); len(own) > 0 {
		t := own[nth%len(own)]
		text := strings.ReplaceAll(t.Text, "{prompt}", prompt)
		if nth >= len(own) { // the wording is used a second time: vary the prompt a little
			text = strings.ReplaceAll(t.Text, "{prompt}", g.apply("op_typo_keyboard", prompt, 1, rng))
		}
		return text, "template " + t.Name, nil
	}
	if g.Shapes {
		if list := shapes(kind, g.Timeout); len(list) > 0 {
			s := list[nth%len(list)]
			return prompt, s.what, &s.wire
		}
	}
	r := g.recipes[kind]
	if r.empty && nth%(len(r.operators)+1) == len(r.operators) {
		return "", "no text at all", nil
	}
	n := len(r.operators) + len(r.frames)
	i := rng.Index(n)
	if i >= len(r.operators) {
		f := i - len(r.operators)
		return strings.ReplaceAll(r.frames[f], "{prompt}", prompt), fmt.Sprintf("wording %d", f+1), nil
	}
	return g.apply(r.operators[i], prompt, 1+nth%3, rng), r.operators[i], nil
}

func (g *generator) templates(kind string) []Template {
	var list []Template
	for _, t := range g.Templates {
		if t.Name == kind || kind == "custom" && g.recipes[t.Name].noOperators() {
			list = append(list, t)
		}
	}
	return list
}

func (r recipe) noOperators() bool { return len(r.operators)+len(r.frames) == 0 }

// apply returns the text that an operator makes, or the text itself if the operator makes none.
func (g *generator) apply(id, text string, strength int, rng *pyrand.Rand) string {
	op, ok := g.operators[id]
	if !ok {
		return text
	}
	g.ctx = textop.Context{Strength: strength}
	return textop.Run(op, textop.Normalize(text, g.ctx.Constraints), &g.ctx, rng).Child
}
