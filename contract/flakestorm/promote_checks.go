package flakestorm

import (
	"errors"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/thresh-dev/thresh/contract/flakestorm/config"
)

// A promoted document is judged only by what its finding is about: it passes once that is fixed,
// whatever else the agent breaks in the same reply.

// asked returns the golden prompt of the case from which a text was made; nil: it is nothing more
// than a text.
func (b *promotion) asked(text string) *config.Prompt {
	if b.p.Mutation != nil {
		text = b.p.Mutation.Original
	}
	return b.c.conversationFor(text)
}

// plain returns the document's invariants and those that a prompt adds.
func (b *promotion) plain(text string) []config.Invariant {
	list := slices.Clone(b.c.cfg.Invariants)
	if p := b.asked(text); p != nil {
		list = append(list, p.Expect...)
	}
	return list
}

// oneTurn refuses conversations.
func (b *promotion) oneTurn(text string) error {
	if p := b.asked(text); p != nil && (len(p.Turns) > 1 || p.User != nil) {
		return errors.New("it is about a conversation of several turns, and a regression test asks one; thresh replay " + b.f.ID + " has the whole conversation again")
	}
	return nil
}

// invariants adds the invariants by which the document judges: those that the finding names, or all
// if it names none. In a contract for a session, each needs an id.
func (b *promotion) invariants(in *mapping, from []config.Invariant, session bool) error {
	about := slices.DeleteFunc(slices.Clone(from), func(v config.Invariant) bool {
		return !slices.Contains(b.f.Cause, v.Type) || !strings.HasSuffix(b.f.Signature, "|"+nameOf(&v)+"|"+v.Type)
	})
	silent := b.check != "" || slices.Contains(b.f.Cause, "no answer")
	if b.own = silent || len(about) > 0; !b.own {
		about = from
	}
	var nodes []*node
	if silent { // all that must hold is that there is a reply
		var m mapping
		m.put("id", text("completes"))
		if len(from) > 0 {
			for first, i := of(from[0].Node), 0; i < len(first.pairs); i += 2 {
				if key := first.pairs[i].Value; slices.Contains([]string{"id", "probes"}, key) {
					m.put(key, first.pairs[i+1])
				}
			}
		}
		m.put("type", text("completes"))
		nodes, about = append(nodes, m.node()), nil
	}
	for i := range about {
		m, err := b.invariant(&about[i], session)
		if err != nil {
			return err
		}
		nodes = append(nodes, m.node())
	}
	if nodes != nil {
		in.put("invariants", list(nodes...))
	}
	return nil
}

// invariant returns an invariant with the path of its schema relative to the new folder. In a
// session, an invariant that compares with a run without chaos stores that run's reply.
func (b *promotion) invariant(v *config.Invariant, session bool) (mapping, error) {
	m := of(v.Node)
	if v.SchemaFile != "" {
		path, err := b.relocatePath(v.SchemaFile)
		if err != nil {
			return m, err
		}
		m.put("schema", text(path))
	}
	if !session {
		return m, nil
	}
	if m.at("id") < 0 {
		place := v.Path[strings.LastIndex(v.Path, "[")+1:]
		m.put("id", text(v.Type+"-"+strings.TrimSuffix(place, "]")))
	}
	if auto(v) && b.p.Mutation != nil {
		if x, ok := b.p.Baselines[b.p.Mutation.Original]; ok && x.Why == "" {
			m.put("baseline", text(x.Text))
		}
	}
	m.drop("when") // this document judges it without chaos, whatever the scenario was
	return m, nil
}

// builtIn turns off the built-in checks that the finding is not about.
func (b *promotion) builtIn() {
	off := &node{Kind: yaml.ScalarNode, Value: "false"}
	switch {
	case b.check != "":
		var m mapping
		for _, id := range config.CheckNames() {
			if id != b.check {
				m.put(id, off)
			}
		}
		b.out.put("checks", m.node())
	case b.own:
		b.out.put("checks", off)
	default:
		b.copySection("checks")
	}
}
