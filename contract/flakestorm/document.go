package flakestorm

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/lazy"
)

// node is a value of a document to be written.
type node = yaml.Node

// mapping is a mapping whose keys keep their order.
type mapping struct{ pairs []*node }

// of returns the mapping of a document that was read. For anything else, it returns an empty
// mapping.
func of(n *doctree.Node) mapping {
	var m mapping
	if n == nil || n.Kind != doctree.Map {
		return m
	}
	for i := range n.Members() {
		m.pairs = append(m.pairs, written(&n.Members()[i].Key), written(&n.Members()[i].Value))
	}
	return m
}

func (m *mapping) at(key string) int {
	for i := 0; i < len(m.pairs); i += 2 {
		if m.pairs[i].Value == key {
			return i
		}
	}
	return -1
}

func (m *mapping) put(key string, v *node) {
	if i := m.at(key); i >= 0 {
		m.pairs[i+1] = v
		return
	}
	m.pairs = append(m.pairs, text(key), v)
}

func (m *mapping) drop(key string) {
	if i := m.at(key); i >= 0 {
		m.pairs = slices.Delete(m.pairs, i, i+2)
	}
}

func (m *mapping) node() *node { return &node{Kind: yaml.MappingNode, Content: m.pairs} }

// text writes the mapping as a document, below a comment.
func (m *mapping) text(comment string) ([]byte, error) {
	var b bytes.Buffer
	for line := range strings.Lines(comment) {
		b.WriteString("# " + line)
	}
	b.WriteString("\n")
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(m.node()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func list(items ...*node) *node { return &node{Kind: yaml.SequenceNode, Content: items} }

func number(n int64) *node {
	return &node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.FormatInt(n, 10)}
}

// plainText matches text that every version of YAML takes for a string without quotes, except for
// the words for true, false and null.
var (
	plainText = lazy.Pattern(`^[A-Za-z_][A-Za-z0-9_./-]*( [A-Za-z0-9_./-]+)*$`)
	otherWord = lazy.Pattern(`^(?i:y|n|yes|no|on|off|true|false|null)$`)
)

func text(s string) *node {
	n := &node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	if !plainText().MatchString(s) || otherWord().MatchString(s) {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// written returns a value of a document that was read, with aliases and merged keys resolved.
func written(n *doctree.Node) *node {
	switch n.Kind {
	case doctree.Map, doctree.Set, doctree.Pairs:
		m := mapping{}
		for i := range n.Members() {
			m.pairs = append(m.pairs, written(&n.Members()[i].Key), written(&n.Members()[i].Value))
		}
		x := m.node()
		if n.Flow() {
			x.Style = yaml.FlowStyle
		}
		return x
	case doctree.Seq:
		x := list()
		for i := range n.Items() {
			x.Content = append(x.Content, written(&n.Items()[i]))
		}
		if n.Flow() {
			x.Style = yaml.FlowStyle
		}
		return x
	case doctree.String, doctree.Binary:
		return text(n.Text)
	case doctree.Null:
		return &node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
	}
	return &node{Kind: yaml.ScalarNode, Value: n.Raw()} // unchanged
}
