package config

import (
	"math"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/seq"
)

// MutationType is a kind of mutation and its default weight.
type MutationType struct {
	Name   string
	Weight float64
}

// MutationTypes lists all types, in the order of the format.
var MutationTypes = []MutationType{
	{"paraphrase", 1.0}, {"noise", 0.8}, {"tone_shift", 0.9}, {"prompt_injection", 1.5}, {"encoding_attacks", 1.3},
	{"context_manipulation", 1.1}, {"length_extremes", 1.2}, {"custom", 1.0}, {"multi_turn_attack", 1.4}, {"advanced_jailbreak", 2.0},
	{"semantic_similarity_attack", 1.3}, {"format_poisoning", 1.6}, {"language_mixing", 1.2}, {"token_manipulation", 1.5},
	{"temporal_attack", 1.1}, {"http_header_injection", 1.7}, {"payload_size_attack", 1.4}, {"content_type_confusion", 1.5},
	{"query_parameter_poisoning", 1.6}, {"request_method_attack", 1.3}, {"protocol_level_attack", 1.8}, {"resource_exhaustion", 1.5},
	{"concurrent_request_pattern", 1.4}, {"timeout_manipulation", 1.3},
}

// defaultTypes lists the types of a document that names none.
var defaultTypes = []string{
	"paraphrase", "noise", "tone_shift", "prompt_injection", "encoding_attacks", "context_manipulation", "length_extremes",
}

func typeNames() []string {
	return seq.Map(MutationTypes, func(t MutationType) string { return t.Name })
}

// DisplayName returns a type's name for display: "Http Header Injection".
func DisplayName(name string) string {
	words := strings.Split(name, "_")
	for i, w := range words {
		if w != "" {
			words[i] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return strings.Join(words, " ")
}

// Weight returns the weight of a type's mutations in the score. A document's own weights replace
// all defaults; types that they do not list have weight 1.
func (m *Mutations) Weight(name string) float64 {
	if w, ok := m.Weights[name]; ok {
		return w
	}
	return 1
}

func (d *decoder) mutations(n *doctree.Node, path string) Mutations {
	m := Mutations{Count: 10, Writer: "offline", Cache: true, Limit: 200, Weights: make(map[string]float64)}
	if n == nil {
		for _, t := range defaultTypes {
			m.Types = append(m.Types, Typed{Name: t})
		}
		for _, t := range MutationTypes {
			m.Weights[t.Name] = t.Weight
		}
		return m
	}
	s := d.section(n, path, format().mutations)
	m.At = n.Pos
	m.Count = s.integer("count", m.Count)
	names := typeNames()
	if s.n.Get("types") == nil {
		for _, t := range defaultTypes {
			m.Types = append(m.Types, Typed{t, n.Pos})
		}
	}
	s.items("types", false, func(n *doctree.Node, path string) {
		v, ok := d.str(n, path)
		switch {
		case !ok:
		case len(m.Types) > 1000:
		case !slices.Contains(names, v):
			d.unknown(n, "unknown-word", path, v, names)
		default:
			m.Types = append(m.Types, Typed{v, n.Pos})
		}
	})
	if t := s.n.Get("types"); t != nil && t.Kind == doctree.Seq && len(t.Items()) == 0 {
		d.report(diag.Error, t.Pos, "empty", s.at("types"), "leave the key out for the default types", "must name at least one type: nothing would be generated")
	}
	d.weights(s, &m, names)
	d.templates(s, &m)
	// Thresh's own keys: who writes the mutations, and the largest number of them.
	m.Writer = s.word("writer", m.Writer)
	m.Cache = s.flag("cache", m.Cache)
	m.Limit = s.integer("limit", m.Limit)
	return m
}

func (d *decoder) weights(s *section, m *Mutations, names []string) {
	w := s.get("weights")
	if w == nil {
		for _, t := range MutationTypes {
			m.Weights[t.Name] = t.Weight
		}
		return
	}
	if w.Kind != doctree.Map {
		d.fail(w.Pos, "type", s.at("weights"), "must be a mapping of types to numbers, got %s", describeValue(w))
		return
	}
	for i := range w.Members() {
		x := &w.Members()[i]
		at := s.at("weights") + "." + x.Key.Text
		if !slices.Contains(names, x.Key.Text) {
			d.report(diag.Error, x.Key.Pos, "unknown-word", at, diag.DidYouMean(x.Key.Text, names), "must be a mutation type, got %q", x.Key.Text)
			continue
		}
		v, ok := looseNumber(&x.Value)
		switch {
		case !ok || math.IsNaN(v) || math.IsInf(v, 0):
			d.fail(x.Value.Pos, "type", at, "must be a number, got %s", describeValue(&x.Value))
		case v < 0:
			d.doubt(x.Value.Pos, "range", at, "", "a weight must not be negative, got %s; it counts as 0", x.Value.Text)
			m.Weights[x.Key.Text] = 0
		default:
			m.Weights[x.Key.Text] = v
		}
	}
}

// templates reads the user's own wordings. They are used for type custom; a template named like
// another type replaces that type's own wordings.
func (d *decoder) templates(s *section, m *Mutations) {
	m.Templates = s.pairs("custom_templates")
	if !slices.ContainsFunc(m.Templates, func(p Pair) bool { return p.Key == "custom" || !slices.Contains(typeNames(), p.Key) }) {
		d.withoutTemplates(s, m)
	}
	t := s.get("custom_templates")
	used := func(name string) bool {
		return slices.ContainsFunc(m.Types, func(t Typed) bool {
			return t.Name == name || t.Name == "custom" && !slices.Contains(typeNames(), name)
		})
	}
	for _, p := range m.Templates {
		if !used(p.Key) {
			d.warn(t.Get(p.Key).Pos, "no-effect", s.at("custom_templates")+"."+p.Key, "name type custom, or the template's own type, under types", "has no effect: no mutation type of the document uses it")
		}
		if !strings.Contains(p.Value, "{prompt}") {
			d.report(diag.Error, t.Get(p.Key).Pos, "template", s.at("custom_templates")+"."+p.Key, "", "must contain {prompt}, the place of the golden prompt")
		}
	}
}

// withoutTemplates removes type custom from a document that has no templates for it. Existing tools
// do the same: they find nothing to send to their model.
func (d *decoder) withoutTemplates(s *section, m *Mutations) {
	custom := func(t Typed) bool { return t.Name == "custom" }
	i := slices.IndexFunc(m.Types, custom)
	if i < 0 {
		return
	}
	at, hint := m.Types[i].At, `such as custom_templates: {polite: "Please: {prompt}"}`
	if rest := slices.DeleteFunc(slices.Clone(m.Types), custom); len(rest) > 0 {
		m.Types = rest
		d.doubt(at, "no-template", s.at("custom_templates"), hint, "type custom needs custom_templates, and the document has none for it; it is skipped")
		return
	}
	d.report(diag.Error, at, "no-template", s.at("custom_templates"), hint, "type custom needs custom_templates, and the document has none for it")
}
