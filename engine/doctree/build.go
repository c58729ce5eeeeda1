package doctree

import (
	"fmt"
	"math/big"
	"regexp"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// built is an anchored value, and the number of nodes that each use of it stands
// for.
type built struct {
	node Node
	size int
}

// builder makes a tree from the parser's nodes, in the order of the text.
type builder struct {
	o          Options
	r          *Reader
	lines      *lines
	nodes      int
	anchors    map[string]*yaml.Node
	done       map[*yaml.Node]built // anchored nodes that are complete
	duplicates []Duplicate
	surrogates map[string]string // stand-ins to the escapes that they replace; nil: none
}

func (b *builder) count(n int, at Pos) error {
	if b.nodes += n; b.nodes > b.o.MaxNodes {
		return b.fail(Size, at, "", "more than %d values, counting what each alias expands to", b.o.MaxNodes)
	}
	return nil
}

func (b *builder) node(y *yaml.Node, depth int) (Node, error) {
	n := Node{Pos: b.lines.pos(y.Line, y.Column)}
	if y.Kind == yaml.AliasNode {
		return b.alias(y, n.Pos)
	}
	if y.Anchor != "" {
		if first := b.anchors[y.Anchor]; first != nil {
			at := b.lines.pos(first.Line, first.Column)
			return n, b.fail(Alias, n.Pos, "a name of its own", "anchor &%s is defined again; it was defined at line %d", y.Anchor, at.Line)
		}
		b.anchors[y.Anchor] = y
	}
	before := b.nodes
	if err := b.count(1, n.Pos); err != nil {
		return n, err
	}
	if depth > b.o.MaxDepth {
		return n, b.fail(Depth, n.Pos, "", "lists and mappings nested more than %d deep", b.o.MaxDepth)
	}
	var err error
	switch y.Kind {
	case yaml.ScalarNode:
		err = b.scalar(y, &n)
	case yaml.SequenceNode:
		n.Style = flowStyle(y)
		err = b.sequence(y, &n, depth)
	case yaml.MappingNode:
		n.Style = flowStyle(y)
		err = b.mapping(y, &n, depth)
	default:
		err = b.fail(Syntax, n.Pos, "a value", "an unexpected part of a document")
	}
	if err == nil && y.Anchor != "" {
		b.done[y] = built{n, b.nodes - before}
	}
	return n, err
}

func (b *builder) alias(y *yaml.Node, at Pos) (Node, error) {
	target, ok := b.done[y.Alias]
	if !ok {
		return Node{}, b.fail(Alias, at, "", "alias *%s refers to a value that contains it", y.Value)
	}
	if err := b.count(target.size, at); err != nil {
		return Node{}, err
	}
	n := target.node
	n.Pos = at
	return n, nil
}

func flowStyle(y *yaml.Node) Style {
	if y.Style&yaml.FlowStyle != 0 {
		return Flow
	}
	return 0
}

// tag returns the explicit tag of a node, in its short form, or "".
func tag(y *yaml.Node) string {
	if y.Style&yaml.TaggedStyle != 0 {
		return y.Tag
	}
	return ""
}

func (b *builder) unknownTag(t string, at Pos, fits string) error {
	switch t {
	case "!!null", "!!bool", "!!int", "!!float", "!!binary", "!!timestamp", "!!omap", "!!pairs", "!!set", "!!str", "!!seq", "!!map":
		return b.fail(Tag, at, fits, "a value that tag %s does not fit", t)
	default:
		return b.fail(Tag, at, "no tag, or one of YAML's own such as !!str", "unknown tag %s", t)
	}
}

func (b *builder) sequence(y *yaml.Node, n *Node, depth int) error {
	n.Kind = Seq
	items := make([]Node, len(y.Content))
	for i, c := range y.Content {
		var err error
		if items[i], err = b.node(c, depth+1); err != nil {
			return err
		}
		y.Content[i] = nil // the parser's nodes are larger than the tree's, so free them
	}
	switch tag(y) {
	case "", "!!seq":
		*n = n.WithItems(items)
		return nil
	case "!!omap", "!!pairs":
		n.Kind = Pairs
		members := make([]Member, len(items))
		for i := range items {
			item := &items[i]
			if item.Kind != Map || len(item.Members()) != 1 {
				return b.fail(Tag, item.Pos, "a mapping of one key", "an item of %s is %s", tag(y), item.Kind)
			}
			members[i] = item.Members()[0]
		}
		*n = n.WithMembers(members)
		return nil
	}
	return b.unknownTag(tag(y), n.Pos, "another tag than a list's")
}

func (b *builder) mapping(y *yaml.Node, n *Node, depth int) error {
	switch tag(y) {
	case "", "!!map":
		n.Kind = Map
	case "!!set":
		n.Kind = Set
	default:
		return b.unknownTag(tag(y), n.Pos, "another tag than a mapping's")
	}
	var merged []Member
	own := make([]Member, 0, len(y.Content)/2)
	for i := 0; i+1 < len(y.Content); i += 2 {
		k := y.Content[i]
		if k.Kind == yaml.ScalarNode && k.Tag == "!!merge" {
			list, err := b.merge(y.Content[i+1], depth+1)
			if err != nil {
				return err
			}
			merged = append(merged, list...)
			continue
		}
		m, err := b.member(k, y.Content[i+1], depth+1)
		if err != nil {
			return err
		}
		own = append(own, m)
		y.Content[i], y.Content[i+1] = nil, nil
	}
	return b.members(n, merged, own)
}

func (b *builder) member(k, v *yaml.Node, depth int) (m Member, err error) {
	if k.Kind == yaml.ScalarNode && k.Style == 0 && k.Value == "=" {
		// The default key of YAML 1.1 is a string when it is a key.
		m.Key = Node{Kind: String, Pos: b.lines.pos(k.Line, k.Column)}.As("=", "=")
	} else if m.Key, err = b.node(k, depth); err != nil {
		return m, err
	}
	if m.Key.Kind >= Seq {
		return m, b.fail(Key, m.Key.Pos, "a string or another scalar", "%s as a key", m.Key.Kind)
	}
	m.Value, err = b.node(v, depth)
	return m, err
}

// merge returns the members of a merge key. Of several mappings the earlier ones
// win.
func (b *builder) merge(y *yaml.Node, depth int) ([]Member, error) {
	n, err := b.node(y, depth)
	if err != nil {
		return nil, err
	}
	sources := []Node{n}
	if n.Kind == Seq {
		sources = n.Items()
	}
	var list []Member
	for i := len(sources) - 1; i >= 0; i-- {
		s := &sources[i]
		if s.Kind != Map && s.Kind != Set {
			return nil, b.fail(Key, s.Pos, "a mapping or a list of mappings", "merge key << with %s", s.Kind)
		}
		if err := b.count(len(s.Members()), s.Pos); err != nil {
			return nil, err
		}
		list = append(list, s.Members()...)
	}
	return list, nil
}

// members gives a mapping its members. Merged ones come first, and the mapping's
// own keys override them; of a repeated key the last value wins.
func (b *builder) members(n *Node, merged, own []Member) error {
	list := own[:0] // reading is never behind writing
	if len(merged) > 0 {
		list = make([]Member, 0, len(merged)+len(own))
	}
	find := finder(len(merged) + len(own))
	for i := range merged {
		if at, found := find(list, &merged[i].Key); found {
			list[at].Value = merged[i].Value
		} else {
			m := merged[i]
			m.Key.Style |= fromMerge
			list = append(list, m)
		}
	}
	for i := range own {
		at, found := find(list, &own[i].Key)
		if !found {
			list = append(list, own[i])
			continue
		}
		first := &list[at]
		if first.Merged() {
			// A dict keeps the first of equal keys, even if that is 1 for True.
			first.Key.Pos, first.Value = own[i].Key.Pos, own[i].Value
			first.Key.Style &^= fromMerge
			continue
		}
		b.duplicates = append(b.duplicates, Duplicate{Key: own[i].Key.Text, First: first.Key.Pos, Repeat: own[i].Key.Pos})
		first.Value = own[i].Value
	}
	*n = n.WithMembers(list)
	return nil
}

// finder returns a function that looks a key up among members, which must be
// asked for in the order in which they are appended.
func finder(total int) func(members []Member, key *Node) (int, bool) {
	if total <= 8 {
		return func(members []Member, key *Node) (int, bool) {
			for i := range members {
				k := &members[i].Key
				if k.Kind == String && key.Kind == String {
					if k.Text == key.Text {
						return i, true
					}
				} else if identity(k) == identity(key) {
					return i, true
				}
			}
			return 0, false
		}
	}
	index := make(map[ident]int, total)
	return func(members []Member, key *Node) (int, bool) {
		id := identity(key)
		i, found := index[id]
		if !found {
			index[id] = len(members)
		}
		return i, found
	}
}

// ident is equal for keys that are equal in a Python dict: numbers and booleans
// compare by value.
type ident struct {
	kind Kind
	text string
}

func identity(key *Node) ident {
	switch key.Kind {
	case Bool:
		if key.Bool {
			return ident{Int, "1"}
		}
		return ident{Int, "0"}
	case Float:
		if f, _ := key.Float(); key.Text != "nan" && !strings.HasSuffix(key.Text, "inf") {
			if i, accuracy := big.NewFloat(f).Int(nil); accuracy == big.Exact {
				return ident{Int, i.String()}
			}
		} else if key.Text == "nan" {
			return ident{Float, fmt.Sprint("nan at ", key.Pos)} // equal to nothing, not even itself
		}
	}
	return ident{key.Kind, key.Text}
}

// JSON writes a character beyond U+FFFF as two escapes, "\ud83d\ude00", and so
// does a block that a program has written. The parser refuses such escapes, so
// it gets escapes of the same length for private-use characters instead, which
// are replaced once the parser is done.

var (
	halfEscape = regexp.MustCompile(`(\\u)[dD][89a-fA-F][0-9a-fA-F]{2}`)
	standIn    = regexp.MustCompile(`\\u[eE][0-7][0-9a-fA-F]{2}|[\x{e000}-\x{e7ff}]`)
)

// standIns replaces escapes of surrogates, unless the text already contains a
// stand-in.
func (b *builder) standIns(text []byte) []byte {
	if !halfEscape.Match(text) || standIn.Match(text) {
		return text
	}
	b.surrogates = make(map[string]string)
	return halfEscape.ReplaceAllFunc(text, func(escape []byte) []byte {
		// 0x20 lowers letters, and digits have it already
		row := strings.IndexByte("89abcdef", escape[3]|0x20) // the eighth bit is set in digits and in lower-case letters
		other := []byte(`\ue` + string("01234567"[row]) + string(escape[4:]))
		b.surrogates[string(other)] = string(escape)
		return other
	})
}

// meant replaces the stand-ins in a scalar's text: pairs by the characters that
// they stand for, single ones by three stray bytes as in engine/jsontree. Where
// an escape was not read as one, the original text comes back.
func (b *builder) meant(text string) string {
	if b.surrogates == nil || !standIn.MatchString(text) {
		return text
	}
	text = standIn.ReplaceAllStringFunc(text, func(s string) string {
		if written, ok := b.surrogates[s]; ok {
			return written
		}
		return s
	})
	var out []byte
	high := rune(0)
	for _, r := range text {
		if r < 0xe000 || r > 0xe7ff {
			out, high = utf8.AppendRune(out, r), 0
			continue
		}
		half := r - 0x800
		if high != 0 && half >= 0xdc00 {
			out = utf8.AppendRune(out[:len(out)-3], (high-0xd800)<<10|(half-0xdc00)+0x10000)
			high = 0
			continue
		}
		out = append(out, 0xed, byte(0x80|half>>6&0x3f), byte(0x80|half&0x3f))
		if high = 0; half < 0xdc00 {
			high = half
		}
	}
	return string(out)
}
