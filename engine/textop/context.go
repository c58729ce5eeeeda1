package textop

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/diag"
)

// Context is the input of an operator besides the text: section 3 of the contract.
// Built-in operators keep working memory in it, so only one goroutine at a time may
// use it; keep one per worker and change its fields from case to case.
type Context struct {
	Bucket   Bucket  // "": any
	Surface  Surface // "": any
	Strength int     // clamped to the operator's range; the contract's default is 1
	// BucketTag and SurfaceTag are bucket and surface in the user's words, for
	// plug-ins that compare them; "" means Bucket and Surface.
	BucketTag, SurfaceTag string
	Constraints           Constraints
	Metadata              map[string]any // seed_id, testcase_id, step_id, ...
	// Partner is a second text, for operators that combine two (key partner_text).
	Partner string
	// Options are the parameters of single operators by name, which are further
	// top-level keys of the context, such as "format". A built-in operator reads
	// those that its Meta lists, and draws those that are missing.
	Options map[string]any

	work draft
}

// Constraints limit the children of an operator.
type Constraints struct {
	MaxChars     int        // code points; 0: no limit
	TrimTrailing bool       // key trim_trailing: see Normalize
	SchemaMode   SchemaMode // see Guard
	Placeholder  string     // see Guard
	KeepControls bool       // key keep_controls: see Guard
	// Given has all keys as they were given, for plug-ins, which may read others
	// and distinguish 0 or null from a missing key. Values from flags are only in
	// the fields.
	Given map[string]any
}

// contextFields are the keys of the contract, and that of Context.Partner.
var contextFields = []string{"bucket_id", "surface", "strength", "partner_text", "constraints", "metadata"}

// ParseContext reads a context from a JSON object. Missing keys have the contract's
// defaults; a value of the wrong type is an error, with the key as Path. It reports
// all errors.
func ParseContext(data []byte) (*Context, diag.List) {
	var l faults
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var raw map[string]any
	if err := d.Decode(&raw); err != nil || raw == nil {
		l.add("", "the context is not a JSON object")
		return nil, l.list
	}
	if d.More() {
		l.add("", "the context has something behind its JSON object")
	}
	c := NewContext(raw, &l.list)
	return c, l.list
}

// NewContext is ParseContext for a decoded object; it appends errors to found.
func NewContext(raw map[string]any, found *diag.List) *Context {
	l := faults{*found}
	c := &Context{Strength: 1}
	for _, key := range slices.Sorted(maps.Keys(raw)) {
		v := raw[key]
		if v == nil && slices.Contains(contextFields, key) {
			continue // null is absent
		}
		switch key {
		case "bucket_id":
			if c.BucketTag = l.text(key, v); c.BucketTag != "" {
				b, found := ParseBucket(c.BucketTag)
				l.nest(key, found)
				c.Bucket = b
			}
		case "surface":
			if c.SurfaceTag = l.text(key, v); c.SurfaceTag != "" {
				s, found := ParseSurface(c.SurfaceTag)
				l.nest(key, found)
				c.Surface = s
			}
		case "strength":
			c.Strength = l.whole(key, v)
		case "partner_text":
			c.Partner = l.text(key, v)
		case "constraints":
			c.Constraints = l.constraints(key, v)
		case "metadata":
			c.Metadata = l.object(key, v)
		default:
			if c.Options == nil {
				c.Options = make(map[string]any)
			}
			c.Options[key] = v
		}
	}
	*found = l.list
	return c
}

func (f *faults) constraints(path string, v any) Constraints {
	var c Constraints
	raw := f.object(path, v)
	c.Given = raw
	for _, key := range slices.Sorted(maps.Keys(raw)) {
		v, at := raw[key], path+"."+key
		if v == nil {
			continue
		}
		switch key {
		case "max_chars":
			if c.MaxChars = f.whole(at, v); c.MaxChars < 0 {
				f.add(at, fmt.Sprintf("is %d: expected a positive number of code points, or 0 for no limit", c.MaxChars))
			}
		case "trim_trailing":
			c.TrimTrailing = f.flag(at, v)
		case "keep_controls":
			c.KeepControls = f.flag(at, v)
		case "placeholder":
			c.Placeholder = f.text(at, v)
		case "schema_mode":
			switch v {
			case false:
			case true:
				c.SchemaMode = SchemaSuffix
			case string(SchemaBlank), string(SchemaSuffix):
				c.SchemaMode = SchemaMode(v.(string))
			default:
				f.add(at, "is "+describe(v)+`: expected false, true, "suffix" or "blank"`)
			}
		}
	}
	return c
}

func (f *faults) whole(path string, v any) int {
	n, ok := whole(v)
	if !ok {
		f.add(path, "is "+describe(v)+": expected an integer")
	}
	return n
}

func (f *faults) flag(path string, v any) bool {
	b, ok := v.(bool)
	if !ok {
		f.add(path, "is "+describe(v)+": expected true or false")
	}
	return b
}

func (f *faults) object(path string, v any) map[string]any {
	m, ok := v.(map[string]any)
	if !ok {
		f.add(path, "is "+describe(v)+": expected an object")
	}
	return m
}

// Values returns the context as the contract's dict, for hosts of plug-ins.
// surfaceTag is the operator's own name of the surface; see [Meta.SurfaceTag].
func (c *Context) Values(surfaceTag string) map[string]any {
	v := maps.Clone(c.Options)
	if v == nil {
		v = make(map[string]any, 6)
	}
	if c.Bucket != "" {
		v["bucket_id"] = string(c.Bucket)
		if c.BucketTag != "" {
			v["bucket_id"] = c.BucketTag
		}
	}
	if surfaceTag != "" {
		v["surface"] = surfaceTag
	}
	v["strength"] = c.Strength
	limits := maps.Clone(c.Constraints.Given)
	if limits == nil {
		limits = make(map[string]any)
	}
	if c.Constraints.MaxChars > 0 {
		limits["max_chars"] = c.Constraints.MaxChars
	}
	if c.Constraints.TrimTrailing {
		limits["trim_trailing"] = true
	}
	if c.Constraints.KeepControls {
		limits["keep_controls"] = true
	}
	v["constraints"] = limits
	v["metadata"] = map[string]any{}
	if c.Metadata != nil {
		v["metadata"] = c.Metadata
	}
	if c.Partner != "" {
		v["partner_text"] = c.Partner
	}
	return v
}

// Normalize normalizes an incoming text (OC-6.2): CRLF and CR become LF, tabs stay,
// blanks at the ends of lines stay unless the constraint trim_trailing is set, and
// invalid UTF-8 becomes U+FFFD.
func Normalize(text string, c Constraints) string {
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\ufffd")
	}
	if strings.IndexByte(text, '\r') >= 0 {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	}
	if c.TrimTrailing {
		text = trimTrailing(text)
	}
	return text
}

// trimTrailing removes blanks before every newline and at the end.
func trimTrailing(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		body, hasNewline := strings.CutSuffix(line, "\n")
		b.WriteString(strings.TrimRightFunc(body, unicode.IsSpace))
		if hasNewline {
			b.WriteByte('\n')
		}
	}
	return b.String()
}
