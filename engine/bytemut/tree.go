package bytemut

import "github.com/thresh-dev/thresh/engine/outline"

// Operations on the parts of trees: bracketed groups, the items in them, and XML
// elements. They mostly keep a well-formed input well formed.

// literals can replace any value of JSON and similar languages.
var literals = []string{"null", "true", "false", "0", "-1", "1e309", `""`, `"a"`, "[]", "{}", "[null]", `{"":0}`, "NaN", "undefined", ""}

// bracket removes brackets, empties them, or changes their kind.
func bracket(c *deepCase, kind Kind) bool {
	o, base := c.outline()
	if len(o.Groups) == 0 {
		return false
	}
	g := pick(&c.rng, o.Groups)
	first, last := base+g.Open, base+g.Close
	switch c.rng.below(5) {
	case 0: // unwrap
		c.edit(kind, last, 1, nil)
		return c.edit(kind, first, 1, nil)
	case 1:
		return c.edit(kind, first, 1, nil)
	case 2:
		return c.edit(kind, last, 1, nil)
	case 3:
		return c.edit(kind, first+1, last-first-1, nil)
	default:
		pair := pick(&c.rng, []string{"[]", "{}", "()"})
		c.buf.deep.tmp = append(c.buf.deep.tmp[:0], pair...)
		opened := c.edit(kind, first, 1, c.buf.deep.tmp[:1])
		return c.edit(kind, last, 1, c.buf.deep.tmp[1:]) || opened
	}
}

// itemDelete deletes an item together with the separator on one side.
func itemDelete(c *deepCase, kind Kind) bool {
	o, base := c.outline()
	if len(o.Items) == 0 {
		return false
	}
	it := pick(&c.rng, o.Items)
	from, to := base+it.From, base+it.To
	if it.Prev >= 0 {
		from = base + o.Items[it.Prev].To
	} else {
		next := to
		for next < len(c.data) && (c.data[next] == ' ' || c.data[next] == '\n') {
			next++
		}
		if next < len(c.data) && (c.data[next] == ',' || c.data[next] == ';') {
			to = next + 1
		}
	}
	return c.edit(kind, from, to-from, nil)
}

// itemDuplicate copies an item to after another, usually to after itself; a
// member of an object then has its key twice.
func itemDuplicate(c *deepCase, kind Kind) bool {
	o, base := c.outline()
	if len(o.Items) == 0 {
		return false
	}
	it := pick(&c.rng, o.Items)
	behind := it
	if c.rng.oneIn(3) {
		behind = pick(&c.rng, o.Items)
	}
	b := append(c.buf.deep.tmp[:0], ',')
	if at := base + behind.To; at < len(c.data) && c.data[at] == ';' {
		b[0] = ';'
	}
	b = append(b, c.data[base+it.From:base+it.To]...)
	c.buf.deep.tmp = b
	return c.edit(kind, base+behind.To, 0, b)
}

// itemSwap exchanges two items of a group.
func itemSwap(c *deepCase, kind Kind) bool {
	o, base := c.outline()
	if len(o.Items) == 0 {
		return false
	}
	it := pick(&c.rng, o.Items)
	other := it
	for range 1 + c.rng.below(4) {
		if other.Prev < 0 {
			break
		}
		other = o.Items[other.Prev]
	}
	return other.To <= it.From && c.swap(kind, base+other.From, base+other.To, base+it.From, base+it.To)
}

// itemValue replaces a value by a literal or by the value of another item.
func itemValue(c *deepCase, kind Kind) bool {
	o, base := c.outline()
	if len(o.Items) == 0 {
		return false
	}
	it := pick(&c.rng, o.Items)
	from, length := base+it.Value, it.To-it.Value
	if c.rng.oneIn(3) {
		u := pick(&c.rng, o.Items)
		return c.edit(kind, from, length, c.data[base+u.Value:base+u.To])
	}
	c.buf.deep.tmp = append(c.buf.deep.tmp[:0], pick(&c.rng, literals)...)
	return c.edit(kind, from, length, c.buf.deep.tmp)
}

// element returns a random XML element.
func (c *deepCase) element() (e outline.Element, o *outline.Outline, base int, ok bool) {
	o, base = c.outline()
	if len(o.Elements) == 0 {
		return outline.Element{}, nil, 0, false
	}
	return pick(&c.rng, o.Elements), o, base, true
}

// elementDelete deletes an element, or its content, or only its tags.
func elementDelete(c *deepCase, kind Kind) bool {
	e, _, base, ok := c.element()
	if !ok {
		return false
	}
	switch c.rng.below(3) {
	case 0:
		return c.edit(kind, base+e.OpenTo, e.CloseFrom-e.OpenTo, nil)
	case 1:
		c.edit(kind, base+e.CloseFrom, e.To-e.CloseFrom, nil)
		return c.edit(kind, base+e.From, e.OpenTo-e.From, nil)
	default:
		return c.edit(kind, base+e.From, e.To-e.From, nil)
	}
}

// elementDuplicate copies an element to after itself, into itself, or into
// another.
func elementDuplicate(c *deepCase, kind Kind) bool {
	e, o, base, ok := c.element()
	if !ok {
		return false
	}
	at := e.To
	switch c.rng.below(3) {
	case 0:
		at = e.OpenTo
	case 1:
		at = pick(&c.rng, o.Elements).OpenTo
	}
	return c.edit(kind, base+at, 0, c.data[base+e.From:base+e.To])
}

// elementSwap exchanges two elements, neither of which contains the other.
func elementSwap(c *deepCase, kind Kind) bool {
	e, o, base, ok := c.element()
	if !ok {
		return false
	}
	f := pick(&c.rng, o.Elements)
	if f.From < e.From {
		e, f = f, e
	}
	return e.To <= f.From && c.swap(kind, base+e.From, base+e.To, base+f.From, base+f.To)
}

// elementRename gives an element the name of another, in both tags or,
// sometimes, only in the start tag.
func elementRename(c *deepCase, kind Kind) bool {
	e, o, base, ok := c.element()
	if !ok {
		return false
	}
	f := pick(&c.rng, o.Elements)
	name := append(c.buf.deep.tmp[:0], c.data[base+f.From+1:base+f.From+1+f.NameLen]...)
	c.buf.deep.tmp = name
	if string(name) == string(c.data[base+e.From+1:base+e.From+1+e.NameLen]) {
		return false
	}
	renamed := e.To > e.CloseFrom && !c.rng.oneIn(4) && c.edit(kind, base+e.CloseFrom+2, e.NameLen, name)
	return c.edit(kind, base+e.From+1, e.NameLen, name) || renamed
}
