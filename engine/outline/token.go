package outline

// class says what kind of token a byte begins.
var class = func() (t [256]Kind) {
	for c := range 256 {
		switch b := byte(c); {
		case b == ' ' || b >= '\t' && b <= '\r':
			t[c] = Space
		case b >= '0' && b <= '9':
			t[c] = Number
		case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b == '_', b >= 0x80:
			t[c] = Word
		case b < ' ' || b == 0x7f:
			t[c] = Control
		case b == '"' || b == '\'' || b == '`':
			t[c] = String
		case b == '(' || b == '[' || b == '{':
			t[c] = Open
		case b == ')' || b == ']' || b == '}':
			t[c] = Close
		default:
			t[c] = Punct
		}
	}
	return t
}()

func isSpace(c byte) bool { return class[c] == Space }
func isDigit(c byte) bool { return class[c] == Number }

// isWord reports whether c continues a word.
func isWord(c byte) bool { return class[c] == Word || class[c] == Number }

// isName reports whether c may be in the name of an XML tag.
func isName(c byte) bool { return isWord(c) || c == ':' || c == '-' || c == '.' }

func closing(open byte) byte {
	switch open {
	case '(':
		return ')'
	case '[':
		return ']'
	}
	return '}'
}

// next returns the kind and end of the token that begins at i. last is the kind of the
// previous token that is not space.
func (o *Outline) next(src []byte, i int, last Kind) (Kind, int) {
	switch k := class[src[i]]; k {
	case Space:
		for i++; i < len(src) && isSpace(src[i]); i++ {
		}
		return Space, i
	case Word:
		for i++; i < len(src) && isWord(src[i]); i++ {
		}
		return Word, i
	case Number:
		return Number, number(src, i)
	case String:
		if to := o.endless.quoted(src, i); to > 0 {
			return String, to
		}
		return Punct, i + 1
	case Punct:
		signed := src[i] == '-' || src[i] == '+'
		afterValue := last == Word || last == Number || last == String || last == Close
		if signed && !afterValue && i+1 < len(src) && isDigit(src[i+1]) {
			return Number, number(src, i+1)
		}
		return Punct, i + 1
	default:
		return k, i + 1
	}
}

// number returns the end of the number whose first digit is at i.
func number(src []byte, i int) int {
	digits := func(i int) int {
		for i < len(src) && isDigit(src[i]) {
			i++
		}
		return i
	}
	if src[i] == '0' && i+2 < len(src) && src[i+1]|0x20 == 'x' && isHex(src[i+2]) {
		for i += 2; i < len(src) && isHex(src[i]); i++ {
		}
		return i
	}
	i = digits(i)
	if i+1 < len(src) && src[i] == '.' && isDigit(src[i+1]) {
		i = digits(i + 1)
	}
	if i < len(src) && src[i]|0x20 == 'e' {
		j := i + 1
		if j < len(src) && (src[j] == '-' || src[j] == '+') {
			j++
		}
		if j < len(src) && isDigit(src[j]) {
			i = digits(j)
		}
	}
	return i
}

func isHex(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

// endless says how far the text is known to contain no end of a string, by the low bits
// of its quote. A quote before that follows a backslash, so a string that begins there
// continues like the one before.
type endless [8]int

// quoted returns the end of the string that begins at i, or 0 if there is none: it must
// end on its line, unless it is in back quotes.
func (e *endless) quoted(src []byte, i int) int {
	q := src[i]
	j, limit := max(i+1, e[q%8]), min(len(src), i+lookAhead)
	for ; j < limit; j++ {
		switch c := src[j]; {
		case c == q:
			return j + 1
		case c == '\\':
			j++
		case c == '\n' && q != '`':
			e[q%8] = j
			return 0
		}
	}
	e[q%8] = j
	return 0
}

// Texty reports whether an input is mostly text, judging by bytes from all parts of it.
func Texty(src []byte) bool {
	const samples = 64
	odd, seen := 0, 0
	for i := 0; i < len(src); i += max(1, len(src)/samples) {
		if class[src[i]] == Control || src[i] >= 0x80 {
			odd++
		}
		seen++
	}
	return seen > 0 && odd*4 <= seen
}
