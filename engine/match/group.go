package match

import (
	"strconv"
	"strings"
	"unicode"
)

// group reads what follows an opening parenthesis at start. It returns nil for
// a comment and for global flags, which it sets in f.
func (p *parser) group(start int, f *flags, first bool) *node {
	if !p.accept('?') {
		return p.capture(start, "", *f)
	}
	at := p.at
	c, escaped := p.next()
	switch {
	case c < 0:
		p.fail("unexpected end of pattern")
	case escaped != 0:
		p.failAt(at, `unknown extension ?\%c`, escaped)
	case c == 'P':
		return p.named(start, *f)
	case c == ':':
		return p.inner(start, *f)
	case c == '#':
		for {
			switch r, _ := p.next(); r {
			case -1:
				p.failAt(start, "missing ), unterminated comment")
			case ')':
				return nil
			}
		}
	case c == '=' || c == '!':
		return &node{op: opLook, negated: c == '!', subs: []*node{p.inner(start, *f)}}
	case c == '<':
		return p.parseLookbehind(start, *f)
	case c == '(':
		return p.condition(start, *f)
	case c == '>':
		return &node{op: opAtomic, subs: []*node{p.inner(start, *f)}}
	case c == '-' || isFlag(c):
		return p.inlineFlags(start, c, f, first)
	default:
		p.failAt(at, "unknown extension ?%c", c)
	}
	return nil
}

// inner reads alternatives and the parenthesis that closes them.
func (p *parser) inner(start int, f flags) *node {
	n := p.alternatives(f, false)
	if !p.accept(')') {
		p.failAt(start, "missing ), unterminated subpattern")
	}
	return &node{op: opCat, subs: []*node{n}}
}

func (p *parser) capture(start int, name string, f flags) *node {
	number := p.open(name, start)
	n := &node{op: opGroup, group: number, subs: []*node{p.inner(start, f)}}
	p.close(number, n)
	return n
}

// named reads (?P<name>...), (?P=name) after the P.
func (p *parser) named(start int, f flags) *node {
	at := p.at
	switch c, _ := p.next(); c {
	case '<':
		at = p.at
		name := p.until('>', "group name")
		p.checkName(name, at)
		return p.capture(start, name, f)
	case '=':
		at = p.at
		name := p.until(')', "group name")
		p.checkName(name, at)
		number, ok := p.names[name]
		if !ok {
			p.failAt(at, "unknown group name %q", name)
		}
		p.refer(number, at)
		return &node{op: opBackref, group: number, fold: f.fold}
	case -1:
		p.fail("unexpected end of pattern")
	default:
		p.failAt(at, "unknown extension ?P%c", c)
	}
	return nil
}

func (p *parser) parseLookbehind(start int, f flags) *node {
	at := p.at
	c, _ := p.next()
	switch {
	case c < 0:
		p.fail("unexpected end of pattern")
	case c != '=' && c != '!':
		p.failAt(at-1, "unknown extension ?<%c", c)
	}
	outermost := p.lookbehind == 0
	if outermost {
		p.lookbehind = len(p.widths)
	}
	n := p.inner(start, f)
	if outermost {
		p.lookbehind = 0
	}
	if w := n.width(p.widths); w.min != w.max {
		p.failAt(start, "look-behind requires fixed-width pattern")
	}
	return &node{op: opLook, behind: true, negated: c == '!', subs: []*node{n}}
}

// condition reads (?(group)yes|no) after its second parenthesis.
func (p *parser) condition(start int, f flags) *node {
	at := p.at
	name := p.until(')', "group name")
	number, ok := 0, false
	if isIdentifier(name) {
		if number, ok = p.names[name]; !ok {
			p.failAt(at, "unknown group name %q", name)
		}
	} else {
		// The text is what Python's int() reads, which allows white space.
		v, err := strconv.Atoi(strings.TrimSpace(name))
		switch {
		case err != nil || v < 0:
			p.failAt(at, "bad character in group name %q", name)
		case v == 0:
			p.failAt(at, "bad group number")
		}
		number = v
		p.later = append(p.later, reference{number, at})
	}
	p.referBehind(number, at)
	n := &node{op: opCond, group: number, subs: []*node{p.sequence(&f, false), {op: opCat}}}
	if p.accept('|') {
		n.subs[1] = p.sequence(&f, false)
		if p.peek() == '|' {
			p.fail("conditional backref with more than two branches")
		}
	}
	if !p.accept(')') {
		p.failAt(start, "missing ), unterminated subpattern")
	}
	return n
}

const flagLetters = "aiLmsux"

func isFlag(c rune) bool { return strings.ContainsRune(flagLetters, c) }

// inlineFlags reads (?flags), (?flags:...), (?flags-flags:...) after its first
// letter or hyphen.
func (p *parser) inlineFlags(start int, c rune, f *flags, first bool) *node {
	var on, off string
	if c != '-' {
		on, c = p.letters(c, "missing -, : or )")
		if strings.ContainsRune(on, 'a') && strings.ContainsRune(on, 'u') {
			p.fail("bad inline flags: flags 'a', 'u' and 'L' are incompatible")
		}
		if strings.ContainsRune(on, 'L') {
			p.fail("bad inline flags: cannot use 'L' flag with a str pattern")
		}
	}
	switch c {
	case ')':
		if !first {
			p.failAt(start, "global flags not at the start of the expression")
		}
		f.set(on, true)
		return nil
	case '-':
		r, _ := p.next()
		if !isFlag(r) {
			p.failAt(p.at-1, "missing flag")
		}
		if off, c = p.letters(r, "missing :"); c != ':' {
			p.failAt(p.at-1, "missing :")
		}
		if strings.ContainsAny(off, "auL") {
			p.fail("bad inline flags: cannot turn off flags 'a', 'u' and 'L'")
		}
		if strings.ContainsAny(on, off) {
			p.fail("bad inline flags: flag turned on and off")
		}
	case ':':
	default:
		p.failAt(p.at-1, "missing -, : or )")
	}
	scoped := *f
	scoped.set(on, true)
	scoped.set(off, false)
	return p.inner(start, scoped)
}

// letters reads flags up to another character, which it returns.
func (p *parser) letters(c rune, missing string) (string, rune) {
	var b strings.Builder
	for isFlag(c) {
		b.WriteRune(c)
		c, _ = p.next()
	}
	switch {
	case c < 0:
		p.fail("%s", missing)
	case unicode.IsLetter(c):
		p.failAt(p.at-1, "unknown flag")
	}
	return b.String(), c
}

func (f *flags) set(letters string, value bool) {
	for _, c := range letters {
		switch c {
		case 'a':
			f.ascii = value
		case 'u':
			f.ascii = !value
		case 'i':
			f.fold = value
		case 'm':
			f.multiline = value
		case 's':
			f.dotAll = value
		case 'x':
			f.verbose = value
		}
	}
}

func (p *parser) checkName(name string, at int) {
	if !isIdentifier(name) {
		p.failAt(at, "bad character in group name %q", name)
	}
}

func isIdentifier(s string) bool {
	for i, r := range s {
		letter := r == '_' || unicode.In(r, unicode.L, unicode.Nl, unicode.Other_ID_Start)
		if !letter && (i == 0 || !unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Other_ID_Continue)) {
			return false
		}
	}
	return s != ""
}
