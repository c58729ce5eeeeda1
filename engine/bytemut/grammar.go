package bytemut

import (
	"bytes"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/diag"
)

// Grammar makes texts of a language. It never changes.
type Grammar struct {
	rules []rule
}

type rule struct {
	name    string
	choices []sequence
	depth   int // of the flattest text of the rule; 0: it has none
}

// sequence is one alternative of a rule.
type sequence struct {
	parts []part
	depth int
}

// part is a text, one byte of a set, or a rule.
type part struct {
	text []byte
	set  []byte
	rule int // -1: none
	name string
	at   diag.Pos
}

// ParseGrammar reads rules; texts begin with the first one:
//
//	# comment
//	value = "null" | number | "[" list "]"
//	list  = value | value "," list
//	number = [0-9] | [1-9] number
//
// ::= and := mean = too, <name> means name. A line that begins with | continues the
// previous rule. Texts have the escapes of dictionaries; "" is the empty text;
// [a-z_] is one byte of a set. file names the grammar in diagnostics, which report
// everything that is wrong.
func ParseGrammar(file string, data []byte) (*Grammar, diag.List) {
	g := &Grammar{}
	var list diag.List
	for n, line := range bytes.Split(data, []byte("\n")) {
		p := grammarLine{dictionaryLine{text: bytes.TrimRight(line, " \t\r")}, diag.Pos{File: file, Line: n + 1}}
		if bad := p.read(g); bad != nil {
			bad.Pos = p.pos()
			bad.Source = string(p.text)
			list = append(list, *bad)
		}
	}
	if len(list) == 0 && len(g.rules) == 0 {
		list = append(list, *refuse("grammar", `write name = "text" | other`, "the grammar has no rule"))
		list[0].Pos = diag.Pos{File: file, Line: 1, Col: 1}
	}
	return g, append(list, g.link()...)
}

// grammarLine is a line being read.
type grammarLine struct {
	dictionaryLine
	where diag.Pos
}

func (p *grammarLine) pos() diag.Pos {
	at := p.where
	at.Col = p.at + 1
	return at
}

func (p *grammarLine) more() bool {
	p.skipSpace()
	return p.at < len(p.text) && p.text[p.at] != '#'
}

func (p *grammarLine) name() string {
	from := p.at
	for p.at < len(p.text) && isNameByte(p.text[p.at]) {
		p.at++
	}
	return string(p.text[from:p.at])
}

func (p *grammarLine) read(g *Grammar) *diag.Diagnostic {
	if !p.more() {
		return nil
	}
	switch {
	case p.text[p.at] != '|':
		angled := p.text[p.at] == '<'
		if angled {
			p.at++
		}
		name := p.name()
		if name == "" || angled && (p.at == len(p.text) || p.text[p.at] != '>') {
			return refuse("grammar", `write name = "text" | other`, "expected the name of a rule")
		}
		if angled {
			p.at++
		}
		p.skipSpace()
		rest := string(p.text[p.at:])
		sign := ""
		for _, s := range []string{"::=", ":=", "="} {
			if sign == "" && strings.HasPrefix(rest, s) {
				sign = s
			}
		}
		if sign == "" {
			return refuse("grammar", `write name = "text" | other`, "expected = after the name of a rule")
		}
		p.at += len(sign)
		if slices.ContainsFunc(g.rules, func(r rule) bool { return r.name == name }) {
			return refuse("grammar", "write its choices with | between them", "rule %s is defined twice", name)
		}
		g.rules = append(g.rules, rule{name: name, choices: []sequence{{}}})
	case len(g.rules) == 0:
		return refuse("grammar", "", "expected a rule before the first |")
	}
	r := &g.rules[len(g.rules)-1]
	for p.more() {
		last := &r.choices[len(r.choices)-1]
		x := part{rule: -1, at: p.pos()}
		switch c := p.text[p.at]; {
		case c == '|':
			p.at++
			r.choices = append(r.choices, sequence{})
			continue
		case c == '"':
			text, bad := p.literal()
			if bad != nil {
				return bad
			}
			x.text = text
		case c == '[':
			end := bytes.IndexByte(p.text[p.at+1:], ']')
			if end < 1 {
				return refuse("grammar", "write [a-z_]", "expected a set of bytes and ]")
			}
			if x.set = bytesOf(p.text[p.at+1 : p.at+1+end]); x.set == nil {
				return refuse("grammar", "write the lower byte first: [a-z]", "this set has a range without bytes")
			}
			p.at += end + 2
		default:
			angled := c == '<'
			if angled {
				p.at++
			}
			if x.name = p.name(); x.name == "" {
				return refuse("grammar", "", "expected text in double quotes, a set [a-z] or the name of a rule")
			}
			if angled {
				if p.at == len(p.text) || p.text[p.at] != '>' {
					return refuse("grammar", "", "expected >")
				}
				p.at++
			}
		}
		last.parts = append(last.parts, x)
	}
	return nil
}

// literal reads a text from its opening quote to after its closing one.
func (p *grammarLine) literal() ([]byte, *diag.Diagnostic) {
	opening := p.at
	text := []byte{}
	for p.at++; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; c {
		case '"':
			p.at++
			return text, nil
		case '\\':
			b, n := unescape(p.text[p.at+1:])
			if n == 0 {
				return nil, refuse("escape", `write \\, \" or \xNN with two hexadecimal digits; a line feed is \x0a`, "unknown escape")
			}
			text = append(text, b)
			p.at += n
		default:
			text = append(text, c)
		}
	}
	p.at = opening
	return nil, refuse("unclosed", "", "value has no closing quote")
}

// bytesOf returns the bytes of a set: "a-z_". nil: one of its ranges is empty.
func bytesOf(set []byte) []byte {
	var list []byte
	for i := 0; i < len(set); i++ {
		if i+2 < len(set) && set[i+1] == '-' {
			if set[i] > set[i+2] {
				return nil
			}
			for c := int(set[i]); c <= int(set[i+2]); c++ {
				list = append(list, byte(c))
			}
			i += 2
			continue
		}
		list = append(list, set[i])
	}
	return list
}

// link resolves the names of rules, and computes the depth of their flattest
// texts.
func (g *Grammar) link() (list diag.List) {
	names := map[string]int{}
	for i, r := range g.rules {
		names[r.name] = i
	}
	for _, r := range g.rules {
		for _, c := range r.choices {
			for i := range c.parts {
				x := &c.parts[i]
				if x.name == "" {
					continue
				}
				at, known := names[x.name]
				if !known {
					d := refuse("grammar", "", "there is no rule %s", x.name)
					d.Pos = x.at
					list = append(list, *d)
					continue
				}
				x.rule = at
			}
		}
	}
	if len(list) > 0 {
		return list
	}
	for changed := true; changed; {
		changed = false
		for i := range g.rules {
			r := &g.rules[i]
			for k := range r.choices {
				c := &r.choices[k]
				depth := 1
				for _, x := range c.parts {
					if x.rule >= 0 && depth > 0 {
						if inner := g.rules[x.rule].depth; inner == 0 {
							depth = 0
						} else {
							depth = max(depth, inner+1)
						}
					}
				}
				if depth > 0 && (c.depth == 0 || depth < c.depth) {
					c.depth, changed = depth, true
				}
				if c.depth > 0 && (r.depth == 0 || c.depth < r.depth) {
					r.depth, changed = c.depth, true
				}
			}
		}
	}
	for _, r := range g.rules {
		if r.depth == 0 {
			d := refuse("grammar", "give it a choice without a rule that leads back to it", "the texts of rule %s never end", r.name)
			if len(r.choices[0].parts) > 0 {
				d.Pos = r.choices[0].parts[0].at
			}
			list = append(list, *d)
		}
	}
	return list
}

const (
	grammarDeep = 24      // levels below which the flattest alternatives are taken
	grammarMost = 1 << 14 // bytes of a text after which they are taken too
)

// sentence appends a random text of a rule.
func (g *Grammar) sentence(dst []byte, r *prng, at, level int) []byte {
	choices := g.rules[at].choices
	c := &choices[r.below(len(choices))]
	if level >= grammarDeep || len(dst) >= grammarMost || c.depth == 0 {
		for i := range choices {
			if d := choices[i].depth; d > 0 && (c.depth == 0 || d < c.depth) {
				c = &choices[i]
			}
		}
	}
	for i := range c.parts {
		switch x := &c.parts[i]; {
		case x.rule >= 0:
			dst = g.sentence(dst, r, x.rule, level+1)
		case x.set != nil:
			dst = append(dst, x.set[r.below(len(x.set))])
		default:
			dst = append(dst, x.text...)
		}
	}
	return dst
}

// grammarStep makes a change with the grammar: a whole text, or a text of a random
// rule before some place or instead of what is there.
func (c *deepCase) grammarStep() bool {
	whole := c.op == 0 && c.rng.oneIn(2)
	rule := 0
	if !whole {
		rule = c.rng.below(len(c.grammar.rules))
	}
	text := c.grammar.sentence(c.buf.deep.tmp[:0], &c.rng, rule, 0)
	c.buf.deep.tmp = text
	text = text[:min(len(text), c.limit)]
	if whole {
		return c.edit("grammar", 0, len(c.data), text)
	}
	at, length := c.place(), 0
	if o, from := c.outline(); len(o.Tokens) > 0 && !c.rng.oneIn(3) {
		t := o.Tokens[c.rng.below(len(o.Tokens))]
		at, length = from+t.From, t.To-t.From
		if c.rng.oneIn(4) {
			length = 0
		}
	}
	return c.edit("grammar", at, length, text)
}
