// Package outline finds the structure of text without knowing its language:
// tokens, balanced brackets, the items that commas separate inside them, and XML
// elements. Mutation and shrinking need this of JSON, XML, programs and similar
// texts. It accepts broken input: parts without a partner are ignored, and every
// input has an outline.
//
// The package imports the standard library alone. It is linear in time: no
// construct looks further ahead than a fixed distance, or where a similar one
// has already found no end.
package outline

// Kind says what a token is.
type Kind uint8

// The kinds of tokens. Every byte belongs to exactly one token.
const (
	Space   Kind = iota // spaces, tabs and line ends
	Word                // letters, digits, underscores and bytes beyond ASCII, not beginning with a digit
	Number              // 12, -1.5e3, 0x1f
	String              // in single, double or back quotes, which belong to it
	Open                // ( [ {
	Close               // ) ] }
	Punct               // any other printable byte, alone
	Control             // any other control byte, alone
)

// Token is the half-open range From:To of the input.
type Token struct {
	Kind     Kind
	From, To int
}

// Group is a pair of brackets that belong together, at Open and Close.
type Group struct{ Open, Close int }

// Item is the text between commas or semicolons in a group, without surrounding
// space: a JSON member or array element, an argument, a statement.
type Item struct {
	From, To int
	// Value is where the part after the item's first colon or equals sign
	// begins; From if there is none.
	Value int
	// Prev is the index in Outline.Items of the previous item of its group; -1
	// if it is the first.
	Prev int
}

// Element is an XML element, from its start tag to its end tag. A self-closing
// tag has OpenTo == To == CloseFrom.
type Element struct {
	From, OpenTo  int // start tag
	CloseFrom, To int // end tag
	NameLen       int // length of the name, which begins at From+1 and CloseFrom+2
}

// Outline is the structure of one input. Groups, items and elements are in the
// order in which they end, inner before outer.
type Outline struct {
	Tokens   []Token
	Groups   []Group
	Items    []Item
	Elements []Element

	frames  []frame
	tags    []Element
	endless endless
}

// frame is a bracket that is still open.
type frame struct {
	open     int
	want     byte // the bracket that closes it
	from, to int  // the item so far; from < 0: none
	value    int
	prev     int
}

const (
	lookAhead = 4096 // furthest end of a string or tag
	maxDepth  = 1024 // brackets and tags open at once; deeper ones are not paired
	lookDown  = 16   // open brackets that a closing one may skip to find its own
)

// Scan replaces the outline by that of src, reusing its memory.
func (o *Outline) Scan(src []byte) {
	o.Tokens, o.Groups, o.Items, o.Elements = o.Tokens[:0], o.Groups[:0], o.Items[:0], o.Elements[:0]
	o.frames = append(o.frames[:0], frame{open: -1, from: -1, prev: -1})
	o.endless = endless{}
	last := Space // kind of the last token that is not space
	angle := false
	for i := 0; i < len(src); {
		t := Token{From: i}
		t.Kind, t.To = o.next(src, i, last)
		o.Tokens = append(o.Tokens, t)
		f := &o.frames[len(o.frames)-1]
		switch t.Kind {
		case Space, Control:
		case Open:
			f.extend(t)
			if len(o.frames) < maxDepth {
				o.frames = append(o.frames, frame{open: i, want: closing(src[i]), from: -1, prev: -1})
			}
		case Close:
			o.close(src[i], t)
		case Punct:
			switch c := src[i]; {
			case (c == ',' || c == ';') && f.open >= 0:
				o.endItem(f)
			default:
				f.extend(t)
				if (c == ':' || c == '=') && f.value < 0 {
					f.value = t.To
				}
				angle = angle || c == '<'
			}
		default:
			f.extend(t)
		}
		if t.Kind != Space {
			last = t.Kind
		}
		i = t.To
	}
	if angle {
		o.scanElements(src)
	}
	for i, it := range o.Items {
		for it.Value < it.To && isSpace(src[it.Value]) {
			it.Value++
		}
		o.Items[i] = it
	}
}

// extend extends the current item to the end of a token.
func (f *frame) extend(t Token) {
	if f.from < 0 {
		f.from, f.value = t.From, -1
	}
	f.to = t.To
}

func (o *Outline) endItem(f *frame) {
	if f.from < 0 {
		return
	}
	value := f.value
	if value < 0 || value >= f.to {
		value = f.from
	}
	o.Items = append(o.Items, Item{From: f.from, To: f.to, Value: value, Prev: f.prev})
	f.prev = len(o.Items) - 1
	f.from = -1
}

// close ends the innermost group that c closes, and drops unclosed brackets
// inside it.
func (o *Outline) close(c byte, t Token) {
	for k := len(o.frames) - 1; k > 0 && k > len(o.frames)-1-lookDown; k-- {
		if o.frames[k].want != c {
			continue
		}
		f := &o.frames[k]
		if inner := &o.frames[len(o.frames)-1]; inner != f && f.from >= 0 {
			f.to = max(f.to, inner.to)
		}
		o.endItem(f)
		o.Groups = append(o.Groups, Group{Open: f.open, Close: t.From})
		o.frames = o.frames[:k]
		o.frames[k-1].extend(t)
		return
	}
	o.frames[len(o.frames)-1].extend(t)
}

// scanElements pairs XML tags.
func (o *Outline) scanElements(src []byte) {
	o.tags = o.tags[:0]
	for i := 0; i+1 < len(src); i++ {
		if src[i] != '<' {
			continue
		}
		isEnd := src[i+1] == '/'
		name := i + 1
		if isEnd {
			name++
		}
		nameTo := name
		for nameTo < len(src) && isName(src[nameTo]) {
			nameTo++
		}
		to := tagEnd(src, nameTo)
		if nameTo == name || to < 0 {
			continue
		}
		switch {
		case isEnd:
			for k := len(o.tags) - 1; k >= 0 && k >= len(o.tags)-lookDown; k-- {
				e := o.tags[k]
				if string(src[e.From+1:e.From+1+e.NameLen]) == string(src[name:nameTo]) {
					e.CloseFrom, e.To = i, to
					o.Elements = append(o.Elements, e)
					o.tags = o.tags[:k]
					break
				}
			}
		case src[to-2] == '/':
			o.Elements = append(o.Elements, Element{From: i, OpenTo: to, CloseFrom: to, To: to, NameLen: nameTo - name})
		case len(o.tags) < maxDepth:
			o.tags = append(o.tags, Element{From: i, OpenTo: to, NameLen: nameTo - name})
		}
		i = to - 1
	}
}

// tagEnd returns the position after the > that ends a tag, or -1.
func tagEnd(src []byte, i int) int {
	var quote byte
	for limit := min(len(src), i+lookAhead); i < limit; i++ {
		switch c := src[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '>':
			return i + 1
		case c == '<':
			return -1
		}
	}
	return -1
}
