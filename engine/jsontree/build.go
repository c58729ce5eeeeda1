package jsontree

// Tree says how the values of a text become a tree of the caller's own, so that
// a large text is never held as two trees.
type Tree[N, M any] struct {
	Scalar func(n Node) N            // of a value without Items and Members
	Array  func(n Node, items []N) N // of an array: n has its kind and its position
	Object func(n Node, members []M) N
	Member func(key string, offset int) M
	Of     func(m *M) (key string, value *N)
	Again  func(m *M, offset int) // the member's key is repeated
}

// nodes makes the tree of this package.
func nodes(d *Document) *Tree[Node, Member] {
	return &Tree[Node, Member]{
		Scalar: func(n Node) Node { return n },
		Array:  func(n Node, items []Node) Node { n.Items = items; return n },
		Object: func(n Node, members []Member) Node { n.Members = members; return n },
		Member: func(key string, offset int) Member { return Member{Key: key, KeyOffset: offset} },
		Of:     func(m *Member) (string, *Node) { return m.Key, &m.Value },
		Again:  func(m *Member, _ int) { d.Repeated = append(d.Repeated, m.Key) },
	}
}

// Build is [Parse] with a tree of the caller's own. The document, for which the
// tree is made, has no Root.
func Build[N, M any](text []byte, o Options, tree func(*Document) *Tree[N, M]) (root N, d *Document, err error) {
	if o.MaxDepth <= 0 {
		o.MaxDepth = defaultDepth
	}
	d = &Document{lines: lines{text: string(text)}}
	p := &parser{text: d.lines.text, o: o, lines: &d.lines}
	if err := p.encoding(); err != nil {
		return root, nil, err
	}
	if err := p.limitNodes(); err != nil {
		return root, nil, err
	}
	p.space()
	b := builder[N, M]{parser: p, tree: tree(d)}
	if root, err = b.value(); err != nil {
		return root, nil, err
	}
	p.space()
	if p.at < len(p.text) {
		return root, nil, p.unexpected("the end of the text")
	}
	return root, d, nil
}

type builder[N, M any] struct {
	*parser
	tree *Tree[N, M]
	// Items and members of incomplete arrays and objects.
	items   Stack[N]
	members Stack[M]
}

func (b *builder[N, M]) value() (v N, err error) {
	n := Node{Offset: b.at}
	if b.at >= len(b.text) {
		return v, b.unexpected("a value")
	}
	switch c := b.text[b.at]; {
	case c == '{':
		return b.object(n)
	case c == '[':
		return b.array(n)
	case c == '"':
		n.Kind = String
		n.Text, err = b.str()
	case c == '-' || '0' <= c && c <= '9':
		n.Kind, n.Text, err = b.number()
	case b.literal("null"):
	case b.literal("true"):
		n.Kind, n.Bool = Bool, true
	case b.literal("false"):
		n.Kind = Bool
	case b.o.NonFinite && (b.literal("NaN") || b.literal("Infinity")):
		n.Kind, n.Text = Float, b.text[n.Offset:b.at]
	default:
		return v, b.unexpected("a value")
	}
	if err != nil {
		return v, err
	}
	n.End = b.at
	return b.tree.Scalar(n), nil
}

func (b *builder[N, M]) array(n Node) (v N, err error) {
	n.Kind = Array
	if err := b.enter(); err != nil {
		return v, err
	}
	base := b.items.Len()
	for more := !b.literal("]"); more; {
		item, err := b.value()
		if err != nil {
			return v, err
		}
		b.items.Push(item, b.at, len(b.text))
		if more, err = b.more("]", "',' or ']'"); err != nil {
			return v, err
		}
	}
	b.depth--
	n.End = b.at
	return b.tree.Array(n, b.items.Take(base)), nil
}

// more reads a comma, which another value must follow, or the bracket that ends
// a list of values.
func (b *builder[N, M]) more(last, expected string) (bool, error) {
	b.space()
	if b.literal(last) {
		return false, nil
	}
	if !b.literal(",") {
		return false, b.unexpected(expected)
	}
	b.space()
	return true, nil
}

// manyKeys is the number of keys from which a map is faster than a search.
const manyKeys = 16

func (b *builder[N, M]) object(n Node) (v N, err error) {
	n.Kind = Object
	if err := b.enter(); err != nil {
		return v, err
	}
	base := b.members.Len()
	var seen map[string]int
	for more := !b.literal("}"); more; {
		if b.at >= len(b.text) || b.text[b.at] != '"' {
			return v, b.unexpected("a key in double quotes")
		}
		offset := b.at
		key, err := b.str()
		if err != nil {
			return v, err
		}
		b.space()
		if !b.literal(":") {
			return v, b.unexpected("':'")
		}
		b.space()
		members := b.members.From(base)
		i, again := b.find(members, seen, key)
		if again {
			b.tree.Again(&members[i], offset)
		} else {
			i = len(members)
			b.members.Push(b.tree.Member(key, offset), b.at, len(b.text))
			if seen != nil {
				seen[key] = i
			} else if i+1 == manyKeys {
				seen = make(map[string]int, 2*manyKeys)
				members = b.members.From(base)
				for j := range members {
					k, _ := b.tree.Of(&members[j])
					seen[k] = j
				}
			}
		}
		value, err := b.value()
		if err != nil {
			return v, err
		}
		_, place := b.tree.Of(&b.members.From(base)[i])
		*place = value
		if more, err = b.more("}", "',' or '}'"); err != nil {
			return v, err
		}
	}
	b.depth--
	n.End = b.at
	return b.tree.Object(n, b.members.Take(base)), nil
}

func (b *builder[N, M]) find(members []M, seen map[string]int, key string) (int, bool) {
	if seen != nil {
		i, ok := seen[key]
		return i, ok
	}
	for i := range members {
		if k, _ := b.tree.Of(&members[i]); k == key {
			return i, true
		}
	}
	return 0, false
}
