package contracttest

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/seq"
)

// Keys configures the test of misplaced keys of a format.
type Keys struct {
	Of      doctree.Type
	Base    string     // a document without faults, as JSON
	Unknown diag.Level // level for a key that is unknown everywhere
	Refused []string   // mappings, or mappings of a type, in which it is an error nevertheless
	Names   []string   // mappings whose keys a rule of the format names
	// Contract reads a document, Path is its name, Wrap adds what surrounds the mapping.
	Contract campaign.Contract
	Path     string
	Wrap     func(doc []byte) []byte
}

func (k Keys) read(t *testing.T, doc []byte) diag.List {
	t.Helper()
	if k.Wrap != nil {
		doc = k.Wrap(doc)
	}
	set := Fixture{}.settings()
	set.Check = true
	_, list := k.Contract.Compile(t.Context(), campaign.Spec{Path: k.Path, Data: doc}, set)
	return list
}

// Run puts every declared key under each tag word of its mapping that does not accept it, and
// unknown keys into every mapping. A field that is declared later is tested automatically.
func (k Keys) Run(t *testing.T) {
	var base any
	if err := json.Unmarshal([]byte(k.Base), &base); err != nil {
		t.Fatal(err)
	}
	if list := k.read(t, []byte(k.Base)); list.HasErrors() {
		t.Fatalf("the document has faults: %v", list)
	}
	foreign, strange := 0, 0
	k.walk(k.Of, nil, nil, func(s *doctree.Shape, at []step) {
		words, around := []string{""}, s
		for i := len(at) - 1; s.Outer && around == s; i-- {
			around = cmp.Or(at[i].in, s) // names lie between if it is one of named values
		}
		if f := around.Field(around.Tag); around.Tag != "" && f != nil {
			words = f.Type.Words
		}
		for _, word := range words {
			if s.Open || slices.Contains(k.Names, s.Name) {
				break // other keys are the writer's own
			}
			strange++
			node := tagged(s, word)
			level := k.Unknown
			if slices.Contains(k.Refused, s.Name) || slices.Contains(k.Refused, s.Name+" "+word) {
				level = diag.Error
			}
			known := s.Keys(word)
			near := strings.TrimLeft(known[len(known)-1], "$") + "q"
			node["qqqqqqqq"], node[near] = 1, 1
			list := k.read(t, document(base, at, node, s, word))
			k.expect(t, list, at, s, word, "qqqqqqqq", "unknown-key", level, "")
			k.expect(t, list, at, s, word, near, "unknown-key", level, strings.TrimSuffix(near, "q"))
		}
		for _, word := range words {
			for i := range s.Fields {
				f := &s.Fields[i]
				if len(f.For) == 0 || word == "" || slices.Contains(f.For, word) {
					continue
				}
				foreign++
				node := tagged(s, word)
				node[f.Name] = sample(&f.Type)
				code, level := "unknown-key", diag.Error
				if slices.Contains(f.Elsewhere, word) {
					code, level = "no-effect", diag.Warning
				}
				k.expect(t, k.read(t, document(base, at, node, s, word)), at, s, word, f.Name, code, level, doctree.Either(f.For))
			}
		}
	})
	t.Logf("%d keys of other types, %d mappings with unknown keys", foreign, strange)
	if strange == 0 {
		t.Error("no mapping was tried")
	}
}

// expect requires a diagnostic of a key with a code and a text.
func (k Keys) expect(t *testing.T, list diag.List, at []step, s *doctree.Shape, word, key, code string, level diag.Level, text string) {
	t.Helper()
	for _, d := range list {
		if strings.HasSuffix(d.Path, key) && strings.HasSuffix(d.Code, "."+code) && d.Level == level && strings.Contains(d.Message+d.Hint, text) {
			return
		}
	}
	t.Errorf("%s %s, %s %s: %s must be %s %s and name %s; it says\n%v", s.Name, pathOf(at), s.Tag, word, key, level, code, text, list)
}

// step leads from a mapping to a nested one: a key, an item of a list, or a name.
type step struct {
	in   *doctree.Shape
	key  string
	list bool
}

func pathOf(at []step) string {
	return strings.Join(seq.Map(at, func(s step) string { return s.key }), ".")
}

// walk visits every mapping of a type once.
func (k Keys) walk(of doctree.Type, at []step, seen map[*doctree.Shape]bool, visit func(*doctree.Shape, []step)) {
	if seen == nil {
		seen = make(map[*doctree.Shape]bool)
	}
	switch of.Form {
	case doctree.ShapeForm:
		s := of.Shape
		if seen[s] {
			break
		}
		seen[s] = true
		visit(s, at)
		for i := range s.Fields {
			k.walk(s.Fields[i].Type, append(slices.Clone(at), step{in: s, key: s.Fields[i].Name}), seen, visit)
		}
	case doctree.ListForm:
		k.walk(*of.Of, append(slices.Clone(at), step{list: true}), seen, visit)
	case doctree.NamedForm:
		k.walk(*of.Of, append(slices.Clone(at), step{key: "one"}), seen, visit)
	}
	for _, or := range of.Or {
		k.walk(or, at, seen, visit)
	}
}

// tagged is a mapping with a tag word and its required fields.
func tagged(s *doctree.Shape, word string) map[string]any {
	node := make(map[string]any)
	for i := range s.Fields {
		if f := &s.Fields[i]; f.Need && (len(f.For) == 0 || slices.Contains(f.For, word)) {
			node[f.Name] = sample(&f.Type)
		}
	}
	if s.Tag != "" && word != "" && !s.Outer {
		node[s.Tag] = word
	}
	return node
}

// sample is a value of a type.
func sample(t *doctree.Type) any {
	switch t.Form {
	case doctree.WordForm:
		return t.Words[0]
	case doctree.IntegerForm, doctree.NumberForm:
		return max(1, t.Low)
	case doctree.TruthForm:
		return true
	case doctree.ListForm:
		return []any{sample(t.Of)}
	case doctree.NamedForm:
		return map[string]any{"one": sample(t.Of)}
	case doctree.ShapeForm:
		return tagged(t.Shape, t.Shape.TagDefault)
	}
	return "a"
}

// document is the base with a mapping inserted.
func document(base any, at []step, node any, s *doctree.Shape, word string) []byte {
	if !s.Outer {
		word = ""
	}
	for i := len(at) - 1; i >= 0; i-- {
		s := at[i]
		if s.list {
			node = []any{node}
			continue
		}
		around := make(map[string]any)
		if s.in != nil {
			if f := s.in.Field(s.key); word == "" && len(f.For) > 0 {
				word = f.For[0]
			} else if tag := s.in.Field(s.in.Tag); word == "" && tag != nil && len(tag.Type.Words) > 0 {
				word = tag.Type.Words[0]
			}
			around = tagged(s.in, word)
			if !s.in.Outer {
				word = ""
			}
		}
		around[s.key] = node
		node = around
	}
	data, err := json.Marshal(merge(base, node))
	if err != nil {
		panic(err)
	}
	return data
}

// merge overlays one value on another.
func merge(base, over any) any {
	b, ok := base.(map[string]any)
	o, too := over.(map[string]any)
	if !ok || !too {
		return over
	}
	m := maps.Clone(b)
	for key, v := range o {
		if was, there := b[key]; there {
			v = merge(was, v)
		}
		m[key] = v
	}
	return m
}
