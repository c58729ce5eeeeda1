package shrink

import "bytes"

// kind is the kind of a token, as far as many languages agree.
type kind uint8

const (
	space kind = iota
	word
	quoted // a string with its quotes
	mark   // any other byte
	separator
	binder // between a key and its value
	opener // a bracket or a start tag
	closer
)

// token is a piece of text. The tokens of a text follow each other without gaps.
type token struct {
	span
	kind kind
	name string // of an opener or closer: what must match
}

// lex splits any bytes into tokens; it never fails.
func lex(b []byte) []token {
	out := make([]token, 0, len(b)/4+1)
	for lo := 0; lo < len(b); {
		t := scan(b, lo)
		out = append(out, t)
		lo = t.hi
	}
	return out
}

// scan reads the token at lo.
func scan(b []byte, lo int) token {
	one := func(k kind, name string) token { return token{span{lo, lo + 1}, k, name} }
	switch c := b[lo]; {
	case blank(c):
		return token{span{lo, skip(b, lo, blank)}, space, ""}
	case letter(c):
		return token{span{lo, skip(b, lo, letter)}, word, ""}
	case c == '"' || c == '\'':
		if hi := closing(b, lo); hi > 0 {
			return token{span{lo, hi}, quoted, ""}
		}
		return one(mark, "")
	case c == '\\' && lo+1 < len(b) && b[lo+1] != '\n':
		return token{span{lo, lo + 2}, mark, ""} // so that an escaped quote begins no string
	case c == ',' || c == ';':
		return one(separator, "")
	case c == ':':
		return one(binder, "")
	case c == '(' || c == '[' || c == '{':
		return one(opener, string(c))
	case c == ')':
		return one(closer, "(")
	case c == ']':
		return one(closer, "[")
	case c == '}':
		return one(closer, "{")
	case c == '<':
		if t, ok := tag(b, lo); ok {
			return t
		}
		return one(mark, "")
	default:
		return one(mark, "")
	}
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func digit(c byte) bool { return '0' <= c && c <= '9' }

// letter reports whether c is part of a word; so is any byte beyond ASCII.
func letter(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || digit(c) || c == '_' || c >= 0x80
}

// skip returns the end of the run of bytes of a class from lo on.
func skip(b []byte, lo int, class func(byte) bool) int {
	for lo < len(b) && class(b[lo]) {
		lo++
	}
	return lo
}

// closing returns the end of the string that the quote at lo begins, or 0 if its
// line ends before: then the quote is more likely an apostrophe.
func closing(b []byte, lo int) int {
	for i := lo + 1; i < len(b) && b[i] != '\n'; i++ {
		switch b[i] {
		case '\\':
			i++
		case b[lo]:
			return i + 1
		}
	}
	return 0
}

// tag reads a tag of XML or HTML. Comments, declarations and self-closing tags are
// marks.
func tag(b []byte, lo int) (token, bool) {
	const most = 4096 // bounds what an unclosed tag costs
	name := lo + 1
	end := name < len(b) && b[name] == '/'
	if end {
		name++
	}
	past := skip(b, name, letter)
	if past == name && (name >= len(b) || b[name] != '!' && b[name] != '?') {
		return token{}, false
	}
	window := b[past:min(len(b), past+most)]
	n := bytes.IndexAny(window, "<>")
	if n < 0 || window[n] != '>' {
		return token{}, false
	}
	t := token{span{lo, past + n + 1}, opener, "<" + string(b[name:past])}
	switch {
	case end:
		t.kind = closer
	case past == name || b[t.hi-2] == '/':
		t.kind = mark
	}
	return t, true
}

// tree is the structure of a text: which opener goes with which closer.
type tree struct {
	tokens []token
	match  []int // of an opener in a group: its closer; otherwise 0
	groups []int // openers that have a closer, in the order of the text
}

// parse finds the groups in any bytes. It ignores a bracket without a partner.
func parse(b []byte) *tree {
	const reach = 8 // openers without closer that a closer may skip
	t := &tree{tokens: lex(b)}
	t.match = make([]int, len(t.tokens))
	var open []int
	for i, tok := range t.tokens {
		switch tok.kind {
		case opener:
			open = append(open, i)
		case closer:
			for n := len(open) - 1; n >= max(0, len(open)-reach); n-- {
				if t.tokens[open[n]].name == tok.name {
					t.match[open[n]] = i
					open = open[:n]
					break
				}
			}
		}
	}
	for i, m := range t.match {
		if m > 0 {
			t.groups = append(t.groups, i)
		}
	}
	return t
}

// whole reports whether the text is one group, perhaps with blanks around it.
func (t *tree) whole() bool {
	nodes := t.nodes(0, len(t.tokens))
	return len(nodes) == 1 && t.match[nodes[0].first] > 0
}

// node is a token or a group, from its first to its last token.
type node struct{ first, last int }

// nodes returns the tokens and groups from token lo to hi, without blanks.
func (t *tree) nodes(lo, hi int) []node {
	var out []node
	for i := lo; i < hi; i++ {
		n := node{i, max(i, t.match[i])}
		if t.tokens[i].kind != space {
			out = append(out, n)
		}
		i = n.last
	}
	return out
}

// text returns the range of a node.
func (t *tree) text(n node) span {
	return span{t.tokens[n.first].lo, t.tokens[n.last].hi}
}

// member reports whether nodes are a key with its value.
func (t *tree) member(nodes []node) bool {
	return len(nodes) > 2 && t.tokens[nodes[1].first].kind == binder
}

// items returns the elements from token lo to hi: what separators divide, or else
// one key with its value, or else every node.
func (t *tree) items(lo, hi int) []node {
	nodes := t.nodes(lo, hi)
	var out []node
	parted, begun := false, false
	for _, n := range nodes {
		switch {
		case t.tokens[n.first].kind == separator:
			parted, begun = true, false
		case begun:
			out[len(out)-1].last = n.last
		default:
			out, begun = append(out, n), true
		}
	}
	if !parted && !t.member(nodes) {
		return nodes
	}
	return out
}
