package doctree

// flow reads a list or a mapping in brackets, which may span several lines.
func (d *direct) flow(depth int) (n Node, ok bool) {
	if d.text[d.pos] == '[' {
		n, ok = d.flowList(depth)
	} else {
		n, ok = d.flowMapping(depth)
	}
	n.Style = Flow
	return n, ok
}

func (d *direct) flowList(depth int) (Node, bool) {
	base := d.items.Len()
	n, ok := d.place(Seq, depth)
	ok = ok && d.separated(']', func() bool {
		item, ok := d.flowValue(depth + 1)
		d.items.Push(item, d.pos, len(d.text))
		return ok
	})
	return n.WithItems(d.items.Take(base)), ok
}

func (d *direct) flowMapping(depth int) (Node, bool) {
	base := d.members.Len()
	n, ok := d.place(Map, depth)
	ok = ok && d.separated('}', func() bool {
		m, ok := d.flowMember(depth)
		d.members.Push(m, d.pos, len(d.text))
		return ok
	})
	own := d.members.Take(base)
	return n, ok && d.b.members(&n, nil, own) == nil
}

func (d *direct) flowMember(depth int) (m Member, ok bool) {
	end := 0
	if c := d.text[d.pos]; c == '"' || c == '\'' {
		if end = d.quoteEnd(); end == 0 || end >= len(d.text) || d.text[end] != ':' {
			return m, false
		}
	} else if end = d.flowWord(); end >= len(d.text) || d.text[end] != ':' || !d.blankAt(end+1) {
		return m, false
	}
	if end-d.pos > longestKey {
		return m, false
	}
	if m.Key, ok = d.scalar(end, depth+1); !ok {
		return m, false
	}
	d.pos++
	if !d.flowSpace() {
		return m, false
	}
	m.Value, ok = d.flowValue(depth + 1)
	return m, ok
}

// separated reads comma-separated items from the opening bracket, which is the
// next character, to the closing bracket last.
func (d *direct) separated(last byte, one func() bool) bool {
	d.pos++
	if !d.flowSpace() {
		return false
	}
	if d.text[d.pos] == last {
		d.pos++
		return true
	}
	for {
		if !one() || !d.flowSpace() {
			return false
		}
		c := d.text[d.pos]
		d.pos++
		switch {
		case c == last:
			return true
		case c != ',' || !d.flowSpace():
			return false
		}
	}
}

// flowSpace moves to the next character outside blanks and comments.
func (d *direct) flowSpace() bool {
	for ; d.pos < len(d.text); d.pos++ {
		switch d.text[d.pos] {
		case ' ':
		case '\n':
			d.line++
			d.start = d.pos + 1
		case '#':
			if d.pos > d.start && d.text[d.pos-1] != ' ' {
				return false
			}
			d.pos = d.lineEnd() - 1
		default:
			return true
		}
	}
	return false
}

func (d *direct) flowValue(depth int) (Node, bool) {
	switch d.text[d.pos] {
	case '[', '{':
		return d.flow(depth)
	case '"', '\'':
		return d.scalar(d.quoteEnd(), depth)
	}
	return d.scalar(d.flowWord(), depth)
}

// flowWord returns the offset after a plain scalar in brackets; 0 if its
// meaning depends on what follows.
func (d *direct) flowWord() int {
	if d.dash() {
		return 0
	}
	i := d.pos
loop:
	for ; i < len(d.text); i++ {
		switch d.text[i] {
		case ',', ']', '}', '\n':
			break loop
		case '[', '{', '?':
			return 0
		case '#':
			if d.text[i-1] == ' ' {
				break loop
			}
		case ':':
			if d.blankAt(i + 1) {
				return i
			}
			if i+1 < len(d.text) && (d.text[i+1] == ',' || d.text[i+1] == ']' || d.text[i+1] == '}' || d.text[i+1] == '[' || d.text[i+1] == '{') {
				return 0
			}
		}
	}
	for i > d.pos && d.text[i-1] == ' ' {
		i--
	}
	return i
}
