package textop

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// SchemaMode says what the guard does with children that must fill a field.
type SchemaMode string

const (
	// SchemaOff keeps blank children.
	SchemaOff SchemaMode = ""
	// SchemaBlank replaces a blank child by the placeholder, as in the text of
	// the original policy.
	SchemaBlank SchemaMode = "blank"
	// SchemaSuffix (schema_mode true) strips blanks around a child, replaces a
	// blank one by the placeholder, and appends the placeholder on its own line
	// to any other, as the original program does.
	SchemaSuffix SchemaMode = "suffix"
)

// DefaultMaxChars is the length that the engine's guard allows by default.
const DefaultMaxChars = 8000

// Guard is the last step for every child, whatever its operator and status: it
// removes control characters except tab, newline and carriage return, and cuts
// the text to a maximum length. It is policy A of the original engine, with two
// differences: a cut falls between characters as readers see them, where policy
// A could separate a letter from its accent, and KeepControls opts out of the
// removal, without which operators that work with control characters would have
// no effect.
type Guard struct {
	MaxChars     int // code points; 0 or less: no limit
	SchemaMode   SchemaMode
	Placeholder  string // "": "N/A"
	KeepControls bool
}

// NewGuard returns the guard for the constraints.
func NewGuard(c Constraints) Guard {
	g := Guard{c.MaxChars, c.SchemaMode, c.Placeholder, c.KeepControls}
	g.MaxChars = cmp.Or(g.MaxChars, DefaultMaxChars)
	return g
}

// Guarded is the result of a guard.
type Guarded struct {
	Text            string
	Len             int // code points of Text
	RemovedControls bool
	Placeholder     bool // the text was blank and is now the placeholder
	Suffix          bool // the placeholder was appended
	Truncated       bool
}

// Acted reports whether the guard changed anything.
func (g *Guarded) Acted() bool {
	return g.RemovedControls || g.Placeholder || g.Suffix || g.Truncated
}

// Params returns the facts for a trace, with the names of the original engine.
func (g *Guarded) Params(maxLen int) Params {
	return Params{
		{"guard_applied", g.Acted()},
		{"removed_control_chars", g.RemovedControls},
		{"schema_placeholder_applied", g.Placeholder},
		{"schema_placeholder_suffix_appended", g.Suffix},
		{"truncated", g.Truncated},
		{"max_len", maxLen},
	}
}

// Apply guards a text. It returns a text that passes unchanged, without
// copying. Applying the guard to its own result changes nothing.
func (g Guard) Apply(text string) Guarded {
	n, controls := measure(text)
	out := Guarded{Text: text, Len: n}
	if controls && !g.KeepControls {
		out.Text = strings.Map(func(r rune) rune {
			if isControl(r) {
				return -1
			}
			return r
		}, text)
		out.RemovedControls = true
		out.Len = utf8.RuneCountInString(out.Text)
	}
	if g.SchemaMode != SchemaOff {
		g.schema(&out)
	}
	if g.MaxChars > 0 && out.Len > g.MaxChars {
		g.truncate(&out)
	}
	return out
}

func (g Guard) placeholder() string {
	if g.Placeholder == "" {
		return "N/A"
	}
	return g.Placeholder
}

func (g Guard) schema(out *Guarded) {
	p := g.placeholder()
	stripped := strings.TrimFunc(out.Text, unicode.IsSpace)
	switch {
	case stripped == "":
		out.Placeholder = out.Text != p
		out.Text = p
	case g.SchemaMode == SchemaBlank:
		return
	case !strings.HasSuffix(stripped, p):
		out.Text = stripped + "\n" + p
		out.Suffix = true
	default:
		out.Text = stripped
	}
	out.Len = utf8.RuneCountInString(out.Text)
}

func (g Guard) truncate(out *Guarded) {
	out.Truncated = true
	p, whole := g.placeholder(), out.Text
	out.Text = cut(whole, g.MaxChars)
	if g.SchemaMode == SchemaSuffix {
		tail := "\n" + p
		room := g.MaxChars - utf8.RuneCountInString(tail)
		switch {
		case room > 0:
			out.Text = strings.TrimRightFunc(cut(strings.TrimSuffix(whole, tail), room), unicode.IsSpace) + tail
		default:
			out.Text = cut(p, g.MaxChars)
		}
	}
	if g.SchemaMode != SchemaOff && strings.TrimFunc(out.Text, unicode.IsSpace) == "" {
		out.Text = cut(p, g.MaxChars)
		out.Placeholder = true
	}
	out.Len = utf8.RuneCountInString(out.Text)
	if len(out.Text) < len(whole)/2 {
		out.Text = strings.Clone(out.Text) // frees the rest
	}
}

// cut returns the longest beginning of at most n code points that splits no
// character as readers see it, unless the first character is longer than n.
func cut(text string, n int) string {
	at := offset(text, n)
	if at == len(text) {
		return text
	}
	if b := clusterStart(text, at); b > 0 {
		return text[:b]
	}
	return text[:at]
}

// offset returns the byte at which code point n of the text begins, or its end.
func offset(text string, n int) int {
	for i := range text {
		if n == 0 {
			return i
		}
		n--
	}
	return len(text)
}

// measure counts code points and looks for control characters, in one pass.
func measure(text string) (points int, controls bool) {
	for i := 0; i < len(text); i++ {
		b := text[i]
		if b < 0x20 || b == 0x7f {
			controls = controls || isControl(rune(b))
		}
		if b&0xc0 != 0x80 {
			points++
		}
	}
	return points, controls
}

// isControl reports whether policy A removes a character.
func isControl(r rune) bool {
	return r < 0x20 && r != '\t' && r != '\n' && r != '\r' || r == 0x7f
}
