package secret

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/engine/seq"
)

// Redactor removes the values of secrets from bytes. A nil Redactor removes nothing.
type Redactor struct{ known []known }

// known is one secret, and how it may be written.
type known struct {
	name   string
	value  []byte
	plain  [][]byte // escaped in some way, to be replaced directly
	coded  []coded  // part of a longer text in another alphabet
	pieced [][]byte // may come in pieces, as in a stream
	loose  bool     // some language escapes its characters
}

type coded struct {
	needle []byte
	decode func([]byte) ([]byte, func([]byte) []byte, bool)
	letter func(byte) bool
}

// New returns a redactor for these secrets; nil if none is long enough.
func New(list []Secret) *Redactor {
	list = slices.Clone(list)
	for _, s := range list { // a URL has it escaped, and its server reads it differently
		if text, err := url.QueryUnescape(s.Value); err == nil {
			list = append(list, Secret{Name: s.Name, Value: text})
		}
		if text, err := url.PathUnescape(s.Value); err == nil {
			list = append(list, Secret{Name: s.Name, Value: text})
		}
	}
	for _, s := range list {
		list = append(list, credentials(s)...)
	}
	for _, s := range list { // a server reads the bytes of a header as characters of Latin-1
		list = append(list, Secret{Name: s.Name, Value: latin1([]byte(s.Value))})
	}
	// A value that contains another one must be replaced first.
	slices.SortStableFunc(list, func(a, b Secret) int { return len(b.Value) - len(a.Value) })
	r := &Redactor{}
	seen := make(map[string]bool)
	for _, s := range list {
		if len(s.Value) >= Shortest && !seen[s.Value] {
			seen[s.Value] = true
			r.known = append(r.known, learn(s))
		}
	}
	if len(r.known) == 0 {
		return nil
	}
	return r
}

// latin1 returns a text with a character for every byte.
func latin1(b []byte) string {
	text := seq.Map(b, func(c byte) rune { return rune(c) })
	return string(text)
}

// credentials returns the parts of a value that are credentials on their own: what
// follows the name of a scheme, each parameter of a header or a cookie, and for the
// scheme Basic the user with the password, and the password alone, or the user if a key
// takes its place.
func credentials(s Secret) (list []Secret) {
	if words := strings.Fields(s.Value); len(words) == 2 {
		list = append(list, Secret{Name: s.Name, Value: words[1]})
	}
	for _, m := range parameter().FindAllStringSubmatch(s.Value, -1) {
		list = append(list, Secret{Name: s.Name, Value: m[1] + m[2]})
	}
	if _, password, pair := strings.Cut(s.Value, ":"); pair && !strings.HasPrefix(password, "//") {
		list = append(list, Secret{Name: s.Name, Value: password})
	}
	text, _, ok := decodeBase64([]byte(s.Value))
	user, password, pair := strings.Cut(string(text), ":")
	if !ok || !pair || !utf8.Valid(text) {
		return list
	}
	return append(list, Secret{Name: s.Name, Value: string(text)}, Secret{Name: s.Name, Value: cmp.Or(password, user)})
}

func learn(s Secret) known {
	k := known{name: s.Name, value: []byte(s.Value), loose: escapable([]byte(s.Value))}
	add := func(text string) {
		if !slices.ContainsFunc(k.plain, func(b []byte) bool { return string(b) == text }) {
			k.plain = append(k.plain, []byte(text))
		}
	}
	add(s.Value)
	escaped, _ := json.Marshal(s.Value) // a string
	once := string(escaped[1 : len(escaped)-1])
	add(once)
	loose := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(once)
	add(loose)
	twice, _ := json.Marshal(once)
	add(string(twice[1 : len(twice)-1]))
	add(html.EscapeString(s.Value))
	add(strings.ReplaceAll(s.Value, "'", "''")) // in YAML
	var all strings.Builder
	for i := range len(s.Value) {
		fmt.Fprintf(&all, "%%%02X", s.Value[i])
	}
	for _, form := range []string{url.QueryEscape(s.Value), url.PathEscape(s.Value), all.String()} {
		add(form)
		add(lowerEscapes(form))
	}
	k.pieced = append(k.pieced, k.value)
	if once != s.Value {
		k.pieced = append(k.pieced, []byte(once), []byte(loose))
	}
	for _, h := range []string{hex.EncodeToString(k.value), strings.ToUpper(hex.EncodeToString(k.value))} {
		k.coded = append(k.coded, coded{[]byte(h), decodeHex, isHex})
		k.pieced = append(k.pieced, []byte(h))
	}
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for shift := range 3 { // a longer text may have it at any position
			b := enc.EncodeToString(append(make([]byte, shift), k.value...))
			from, to := (shift*8+5)/6, (shift+len(k.value))*8/6
			needle := []byte(b[from:to])
			if !slices.ContainsFunc(k.coded, func(c coded) bool { return bytes.Equal(c.needle, needle) }) {
				k.coded = append(k.coded, coded{needle, decodeBase64, isBase64})
				k.pieced = append(k.pieced, needle)
			}
		}
	}
	return k
}

func lowerEscapes(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], bytes.ToLower(b[i+1:i+3]))
		}
	}
	return string(b)
}

// String is [Redactor.Bytes] for a text.
func (r *Redactor) String(s string) string {
	if r == nil || s == "" {
		return s
	}
	return string(r.Bytes([]byte(s)))
}

// Bytes returns b with a mark instead of every secret. An encoding of a longer text,
// such as a reply in base64, stays an encoding. b is not changed.
func (r *Redactor) Bytes(b []byte) []byte { return r.marked(b, Mark) }

func (r *Redactor) marked(b []byte, mark func(name string) string) []byte {
	if r == nil {
		return b
	}
	escaped := mayBeEscaped(b)
	for i := range r.known {
		k := &r.known[i]
		m := []byte(mark(k.name))
		put := func(_ int, first bool) []byte {
			if !first {
				return nil
			}
			return m
		}
		for _, form := range k.plain {
			if bytes.Contains(b, form) {
				b = bytes.ReplaceAll(b, form, m)
			}
		}
		if k.loose || escaped {
			b = replaceEscaped(b, k.value, put)
		}
		for _, c := range k.coded {
			b = c.replace(b, k.value, m)
		}
		for _, form := range k.pieced {
			b = replacePieces(b, form, put)
		}
		b = k.replaceCut(b, put)
	}
	return b
}

// mayBeEscaped reports whether even letters and digits may be escaped, which is rare.
func mayBeEscaped(b []byte) bool {
	return bytes.Contains(b, []byte(`\u00`)) || bytes.Contains(b, []byte(`\x`)) || bytes.Contains(b, []byte("&#")) || bytes.IndexByte(b, '%') >= 0
}

// Template returns b with the document's own text instead of each secret: the variable,
// or the placeholder of a literal.
func (r *Redactor) Template(b []byte) []byte {
	return r.marked(b, func(name string) string {
		if strings.Trim(name, "0123456789") == "" {
			return "${secret:" + name + "}"
		}
		return "${" + name + "}"
	})
}

// Fixed is [Redactor.Bytes] for an encoding with fixed lengths: a replacement is as
// long as the secret.
func (r *Redactor) Fixed(b []byte) []byte {
	if r == nil {
		return b
	}
	escaped := mayBeEscaped(b)
	for i := range r.known {
		k := &r.known[i]
		put := func(n int, first bool) []byte {
			m := bytes.Repeat([]byte("*"), n)
			if first {
				copy(m, Mark(k.name))
			}
			return m
		}
		for _, form := range k.plain {
			b = bytes.ReplaceAll(b, form, put(len(form), true))
		}
		if k.loose || escaped {
			b = replaceEscaped(b, k.value, put)
		}
		for _, c := range k.coded {
			b = bytes.ReplaceAll(b, c.needle, put(len(c.needle), true))
		}
		for _, form := range k.pieced {
			b = replacePieces(b, form, put)
		}
		b = k.replaceCut(b, put)
	}
	return b
}

// Restore replaces the marks that [Redactor.Bytes] has left in a text of JSON by their
// values.
func (r *Redactor) Restore(b []byte) []byte {
	if r == nil {
		return b
	}
	for i := range r.known {
		k := &r.known[i]
		if m := []byte(Mark(k.name)); bytes.Contains(b, m) {
			text, _ := json.Marshal(string(k.value)) // a string
			b = bytes.ReplaceAll(b, m, text[1:len(text)-1])
		}
	}
	return b
}

// replace replaces a value in the encoded texts that contain it.
func (c *coded) replace(b, value, mark []byte) []byte {
	for from := 0; ; {
		i := bytes.Index(b[from:], c.needle)
		if i < 0 {
			return b
		}
		lo, hi := from+i, from+i+len(c.needle)
		put := mark
		start, end := lo, hi
		for start > 0 && c.letter(b[start-1]) {
			start--
		}
		for end < len(b) && c.letter(b[end]) {
			end++
		}
		if text, encode, ok := c.decode(b[start:end]); ok && bytes.Contains(text, value) {
			lo, hi, put = start, end, encode(bytes.ReplaceAll(text, value, mark))
		}
		b = slices.Concat(b[:lo], put, b[hi:])
		from = lo + len(put)
	}
}

func isHex(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f' }

func isBase64(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || strings.IndexByte("+/-_=", c) >= 0
}

func decodeHex(b []byte) ([]byte, func([]byte) []byte, bool) {
	out, err := hex.DecodeString(string(b))
	return out, func(b []byte) []byte { return hex.AppendEncode(nil, b) }, err == nil
}

func decodeBase64(b []byte) ([]byte, func([]byte) []byte, bool) {
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		if out, err := enc.DecodeString(string(b)); err == nil {
			return out, func(b []byte) []byte { return enc.AppendEncode(nil, b) }, true
		}
	}
	return nil, nil, false
}
