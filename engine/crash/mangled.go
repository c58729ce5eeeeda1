package crash

import (
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/engine/lazy"
)

// demangle returns the qualified name of a mangled symbol of C++ or Rust, without
// parameters and template arguments; "" if it is not understood. It follows the
// Itanium C++ ABI, section 5.1, as far as names of functions go.
func demangle(symbol string) string {
	rest, ok := strings.CutPrefix(symbol, "_Z")
	if !ok || len(rest) > mostMangled {
		return ""
	}
	m := mangled{s: rest}
	parts := m.name()
	if m.bad || len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, "::")
}

// mostMangled bounds the length of a symbol, since it is read by recursion.
const mostMangled = 8 << 10

// mangled reads a symbol; beyond its end it reads zeros.
type mangled struct {
	s   string
	at  int
	bad bool
}

func (m *mangled) peek() byte {
	if m.at < len(m.s) {
		return m.s[m.at]
	}
	return 0
}

func (m *mangled) next() byte {
	c := m.peek()
	if m.at++; c == 0 {
		m.bad = true
	}
	return c
}

func (m *mangled) skip(set string) {
	for c := m.peek(); c != 0 && strings.IndexByte(set, c) >= 0; c = m.peek() {
		m.at++
	}
}

// name reads one name: a nested one, one in a function, or one of the outermost scope.
func (m *mangled) name() (parts []string) {
	switch m.peek() {
	case 'N':
		m.at++
		m.skip("rVKRO")
		for !m.bad && m.peek() != 'E' {
			parts = m.component(parts)
		}
		m.at++
	case 'Z':
		m.at++
		parts = m.name()
		if m.arguments(); m.peek() != 's' { // of the enclosing function; s: a text in it
			parts = append(parts, m.name()...)
		}
	default:
		if m.peek() == 'S' {
			parts = m.component(nil)
		}
		m.skip("L")
		if parts = m.component(parts); m.peek() == 'I' {
			parts = m.component(parts)
		}
	}
	return parts
}

const (
	digits    = "0123456789"
	sequences = digits + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

// component reads one part of a name and adds it.
func (m *mangled) component(parts []string) []string {
	last := ""
	if len(parts) > 0 {
		last = parts[len(parts)-1]
	}
	switch c := m.peek(); {
	case isDigit(c):
		return append(parts, m.identifier())
	case c == 'L', c == 'M':
		m.at++
		return parts
	case c == 'B':
		m.at++
		m.identifier()
		return parts
	case c == 'I':
		m.at++
		m.arguments()
		return parts
	case c == 'S':
		m.at++
		if i := strings.IndexByte("tabsiod", m.next()); i >= 0 {
			return append(parts, [][]string{{"std"}, {"std", "allocator"}, {"std", "basic_string"}, {"std", "string"}, {"std", "istream"},
				{"std", "ostream"}, {"std", "iostream"}}[i]...)
		}
		m.bad = true // stands for an earlier part: names seldom begin with it
		return parts
	case (c == 'C' || c == 'D') && last != "":
		m.at++
		if m.peek() != 'I' {
			m.at++
			return append(parts, strings.Repeat("~", int(c-'C'))+last)
		}
		for m.at += 2; !m.bad && m.peek() != 'E'; { // inherited from another type
			m.element()
		}
		return append(parts, last)
	case c == 'U':
		return append(parts, m.unnamed())
	}
	code := string([]byte{m.next(), m.next()})
	if code == "cv" {
		m.element()
		return append(parts, "operator cast")
	}
	i := slices.Index(operatorCodes, code)
	if m.bad = m.bad || i < 0; m.bad {
		return parts
	}
	return append(parts, "operator"+operatorNames[i])
}

// The mangled codes of operators, and the operators.
var (
	operatorCodes = strings.Fields("cl ix eq ne lt gt le ge ss pl mi ml dv rm aS pL mI mL dV rM ls rs lS rS an or eo co aN oR eO aa oo nt pp mm " +
		"de ad pt pm ng ps cm nw na dl da")
	operatorNames = append(strings.Fields("() [] == != < > <= >= <=> + - * / % = += -= *= /= %= << >> <<= >>= & | ^ ~ &= |= ^= && || ! ++ -- "+
		"* & -> ->* - + ,"), " new", " new[]", " delete", " delete[]")
)

// unnamed reads a lambda or a type without a name.
func (m *mangled) unnamed() (name string) {
	m.at++
	switch m.next() {
	case 'l':
		name = "lambda"
		m.arguments()
	case 't':
		name = "unnamed"
	default:
		m.bad = true
	}
	m.skip(digits)
	m.next()
	return name
}

// identifier reads a length and as many bytes.
func (m *mangled) identifier() string {
	n := 0
	for isDigit(m.peek()) && n < 1<<16 {
		n = n*10 + int(m.next()-'0')
	}
	if n == 0 || n > len(m.s)-m.at {
		m.bad = true
		return ""
	}
	m.at += n
	name := m.s[m.at-n : m.at]
	if strings.HasPrefix(name, "_GLOBAL__N_") {
		return "anon"
	}
	return rustEscapes.Replace(name)
}

// rustEscapes decodes characters that cannot occur in a symbol's names.
var rustEscapes = strings.NewReplacer("_$LT$", "<", "_$u7b$", "{", "$LT$", "<", "$GT$", ">", "$RF$", "&", "$BP$", "*", "$LP$", "(", "$RP$", ")", "$C$", ",", "$u20$", " ",
	"$u7b$", "{", "$u7d$", "}", "$u5b$", "[", "$u5d$", "]", "..", "::")

// arguments skips the contents of a list, and its end.
func (m *mangled) arguments() {
	for !m.bad && m.peek() != 'E' {
		m.element()
	}
	m.next()
}

// element skips one part of a type, an argument or an expression.
func (m *mangled) element() {
	if isDigit(m.peek()) {
		m.identifier()
		return
	}
	switch c := m.next(); c {
	case 'S', 'T':
		if c == 'T' || strings.IndexByte("tabsiod", m.peek()) < 0 {
			m.skip(sequences)
		}
		m.next()
	case 'N', 'I', 'J', 'X', 'F', 'Z':
		m.arguments()
	case 'L': // a value: its type, then digits
		if strings.HasPrefix(m.s[min(m.at, len(m.s)):], "_Z") {
			m.at += 2
			m.arguments()
			return
		}
		m.element()
		m.skip(digits + "n")
		m.arguments()
	case 'D':
		if strings.IndexByte("tTOw", m.next()) >= 0 {
			m.arguments()
		}
	case 'A':
		m.skip(digits)
	case 'U':
		if m.peek() == 'l' || m.peek() == 't' {
			m.at--
			m.unnamed()
		}
	}
}

// rustSymbol finds the crate of a symbol in Rust's own mangling (v0).
var rustSymbol = lazy.Pattern(`^_R[A-Za-z0-9_]*?Cs[0-9a-zA-Z]*_(3std|4core|5alloc|[0-9])`)

// Standard reports whether a function belongs to the standard library of C++ or Rust,
// which headers or the compiler make part of every program.
func Standard(f string) bool {
	for _, p := range [...]string{"std::", "__gnu_cxx::", "__cxxabiv1::"} {
		if strings.HasPrefix(f, p) {
			return true
		}
	}
	if m := rustSymbol().FindStringSubmatch(f); m != nil {
		return len(m[1]) > 1
	}
	crate, path, _ := strings.Cut(f, "::")
	module, _, ok := strings.Cut(path, "::")
	return ok && slices.Contains(rustModules[crate], module) // a program of C++ may have a namespace core
}

// rustModules are the modules of Rust's libraries besides std.
var rustModules = map[string][]string{
	"core": strings.Fields("alloc any array ascii async_iter bool cell char clone cmp convert default error escape f32 f64 ffi fmt future hash hint " +
		"intrinsics iter marker mem net num ops option panic panicking pin ptr result slice str sync task time tuple ub_checks unicode"),
	"alloc": strings.Fields("alloc borrow boxed collections ffi fmt raw_vec rc slice str string sync task vec"),
}
