package draft

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/thresh-dev/thresh/campaign"
)

// ModelFacts describes a system to draft a model of.
type ModelFacts struct {
	Name, Folder string
	Of           string          // the source of the draft
	Target       string          // the statement that names the system; "": the model has none
	Files        []campaign.File // files that the model needs
	Ops          []Op
	Recorded     bool     // in a trace: the state between two reading calls is unknown
	Sequences    [][]Step // calls that were made or recorded
	Left         []string // skipped operations, each with the reason
	// Drop are claims that traversals of an earlier draft contradicted.
	Drop map[Claim]string
}

// Claim is a guess of a draft: one of ir.Claims, or "" for the whole operation.
type Claim struct{ Of, What string }

// live is the field that is true until an instance is ended.
const live = "live"

// modelling is the state of drafting a model.
type modelling struct {
	f      *ModelFacts
	d      *Draft
	steps  [][]*Step // by operation
	fields map[string][]string
	left   map[int]string // skipped operations
	why    map[string]string
	flags  map[string]toggle // by field
	counts map[int]string    // entities that operations count
	names  []string          // of actions, by operation
	inputs [][]string
	b      strings.Builder
}

// DraftModel returns a model in the language: it makes actions of operations, with effects and
// conditions that explain every call that was seen, each marked as a guess.
func DraftModel(f *ModelFacts) *Draft {
	m := &modelling{f: f, d: &Draft{Format: "fresnelfir", Folder: f.Folder, Document: f.Name + ".model.star", Files: slices.Clone(f.Files)},
		steps: make([][]*Step, len(f.Ops)), fields: map[string][]string{}, left: map[int]string{}, why: map[string]string{}, flags: map[string]toggle{}, counts: map[int]string{}}
	m.call()
	for _, list := range f.Sequences {
		for i := range list {
			m.steps[list[i].Op] = append(m.steps[list[i].Op], &list[i])
		}
	}
	for i := range f.Ops {
		if why := cmp.Or(f.Ops[i].Left, f.Drop[Claim{m.names[i], ""}]); why != "" {
			m.left[i] = why
		}
	}
	entities := m.entities()
	for _, e := range entities {
		m.recall(e)
		m.decideFields(e)
	}
	m.write(entities)
	m.d.Files = append(m.d.Files, campaign.File{Name: m.d.Document, Data: []byte(m.b.String())})
	return m.d
}

// identifier converts a name to one that the language accepts.
func identifier(name string, taken *[]string) string {
	var b strings.Builder
	for _, r := range name {
		if unicode.IsLetter(r) && r < 128 || unicode.IsDigit(r) && r < 128 || r == '_' {
			b.WriteRune(r)
		} else {
			b.WriteByte('_')
		}
	}
	s := strings.Trim(b.String(), "_")
	if s == "" || unicode.IsDigit(rune(s[0])) {
		s = "op_" + s
	}
	if slices.Contains(reserved, s) {
		s += "_"
	}
	base := s
	for n := 2; slices.Contains(*taken, s); n++ {
		s = base + strconv.Itoa(n)
	}
	*taken = append(*taken, s)
	return s
}

// reserved are the words of the language.
var reserved = strings.Fields("and break continue def elif else for if in lambda load not or pass return while as assert async await class del except " +
	"finally from global import is nonlocal raise try with yield True False None actor any new require weight call entity record input observer protocol " +
	"always temporal eventually until leads_to generator constraint cover explore hooks ir module system step make bind seq alt repeat ref branch " +
	"count sum forall exists old min max len implies int bool string enum list set map self input returns models guess rejects answer mutates idempotent reads writes function")

// Named returns the names of the actions for operations.
func Named(ops []Op) (names []string) {
	var taken []string
	for _, o := range ops {
		if o.Makes || o.Handle >= 0 {
			taken = append(taken, o.Entity)
		}
	}
	for _, o := range ops {
		names = append(names, identifier(o.Name, &taken))
	}
	return names
}

// call names operations and their arguments.
func (m *modelling) call() {
	inputs := map[string]string{}
	m.names = Named(m.f.Ops)
	taken := slices.Clone(m.names)
	for _, o := range m.f.Ops {
		taken = append(taken, o.Entity)
	}
	for _, o := range m.f.Ops {
		var list []string
		for _, s := range o.Slots {
			key := s.Name + fmt.Sprint(s.Kind, s.Min, s.Max, s.Values)
			if inputs[key] == "" {
				inputs[key] = identifier(s.Name, &taken)
			}
			list = append(list, inputs[key])
		}
		m.inputs = append(m.inputs, list)
	}
}

// entities returns the names of entities, the system itself last.
func (m *modelling) entities() (list []string) {
	alone := false
	for _, o := range m.f.Ops {
		switch {
		case o.Makes && !slices.Contains(list, o.Entity):
			list = append(list, o.Entity)
		case !o.Makes && o.Handle < 0:
			alone = true
		}
	}
	if alone {
		list = append(list, "")
	}
	return list
}

// of returns the operations on an entity, without those that make instances.
func (m *modelling) of(entity string) (list []int) {
	for i := range m.f.Ops {
		if o := &m.f.Ops[i]; !o.Makes && o.Entity == entity && (o.Handle >= 0 || entity == "") && m.left[i] == "" {
			list = append(list, i)
		}
	}
	return list
}

func (m *modelling) makers(entity string) (list []int) {
	for i := range m.f.Ops {
		if o := &m.f.Ops[i]; o.Makes && o.Entity == entity && m.left[i] == "" {
			list = append(list, i)
		}
	}
	return list
}

// Field reports whether an operation only reads a field of its instance and needs no other
// argument.
func (o *Op) Field() bool {
	return o.Pure != "" && o.Answers && !o.Makes && (o.Handle >= 0 && len(o.Slots) == 1 || o.Handle < 0 && len(o.Slots) == 0)
}

func self(entity string) string {
	if entity == "" {
		return "actor"
	}
	return strings.ToLower(entity[:1])
}

func (m *modelling) naming(i int) names { return names{self(m.f.Ops[i].Entity), m.inputs[i]} }

// splitCalls returns the accepted and the refused calls of an operation.
func (m *modelling) splitCalls(i int) (taken, refused []*Step) {
	for _, s := range m.steps[i] {
		switch {
		case s.Broken != "":
			refused = append(refused, s)
		case s.Refused:
			refused = append(refused, s)
		default:
			taken = append(taken, s)
		}
	}
	return taken, refused
}
