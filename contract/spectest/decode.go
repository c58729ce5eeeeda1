package spectest

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
)

// decoder decodes one case. Its checks follow the order of the reference: the case fails with the
// first fault, and all of them are reported.
type decoder struct {
	doctree.Decoder
	doc      *document
	set      *settings
	c        *Case
	harness  *doctree.Section
	lenient  bool // faults are only warnings
	faults   diag.List
	more     int // errors and warnings that are not listed
	warnings diag.List
}

func newDecoder(doc *document, set *settings, c *Case) *decoder {
	d := &decoder{doc: doc, set: set, c: c, Decoder: doctree.Decoder{Format: "spectest", File: doc.path, Unknown: diag.Warning}}
	d.Said = d.addFault
	return d
}

// decode makes a case of an entry. A faulty entry also yields a case.
func decode(doc *document, set *settings, e entry) (*Case, diag.List, diag.List) {
	d := newDecoder(doc, set, &Case{From: e.from, To: e.to})
	if e.fault != nil {
		d.faults = append(d.faults, *e.fault)
		d.c.fault = &Failure{Category: Schema, Message: e.fault.Message, Path: e.fault.Path, Line: e.fault.Pos.Line, Col: e.fault.Pos.Col}
		return d.c, d.faults, nil
	}
	for _, t := range e.twice {
		d.fail(Schema, t.Repeat, "duplicate-key", "", twiceIn(t), fmt.Sprintf("it is already on line %d", t.First.Line))
	}
	d.decode(e.node)
	d.texts(e.node, "", doctree.Object(format().one))
	if d.c.skip != "" {
		d.c.fault = nil
	}
	if d.more > 0 {
		p := d.doc.problem(d.c.at, "more", "", diag.Plural(d.more, "more problem")+" in this case, not listed", "")
		p.Level = diag.Warning
		d.warnings = append(d.warnings, p)
	}
	return d.c, d.faults, d.warnings
}

func twiceIn(t doctree.Duplicate) string {
	return fmt.Sprintf("key %q is given twice in one mapping", t.Key)
}

// addFault converts a fault of the generic decoder to a diagnostic of this format.
func (d *decoder) addFault(f doctree.Fault) {
	g := f.Given()
	p := d.doc.problem(doctree.Pos{Line: g.Pos.Line, Col: g.Pos.Col}, f.Code, f.Path, g.Message, g.Hint)
	if d.lenient {
		g.Level = diag.Warning
	}
	if f.Code == "unknown-key" && f.In == "" {
		harness := format().one.Field("harness").Type.Shape.Field(f.Key)
		if harness != nil {
			p.Hint = "it belongs under harness"
		}
		if harness != nil && d.c.Type == typeCLI && slices.Contains([]string{"block_imports", "setup_files", "stdin_isatty", "stdin_text", "stub_modules"}, f.Key) {
			p.Code, p.Message, g.Level = "spectest.misplaced-key", "move harness-only keys under 'harness:'", diag.Error
		}
	}
	if f.Code == "type" {
		p.Hint = cmp.Or(map[string]string{
			"capture":           "such as {token: $.access}: names of values, and where they are",
			"request.redirects": "how many are followed, or false for none",
		}[f.Path], p.Hint)
	}
	message := strings.TrimSpace(f.Path + " " + p.Message)
	if f.Code == "unknown-key" && f.In == "harness" && g.Level == diag.Error {
		message = d.strangeHarness(f.Key, &p)
	}
	if p.Level = g.Level; g.Level != diag.Error {
		d.warnings = append(d.warnings, p)
		return
	}
	d.faults = append(d.faults, p)
	if d.c.fault == nil {
		d.c.fault = &Failure{Category: Schema, Message: message, Path: f.Path, Line: p.Pos.Line, Col: p.Pos.Col}
	}
}

// strangeHarness describes a key of harness that the type of the case does not use. The failure of
// the case begins with the words that runners of the format share; the diagnostic names the nearest
// key and the types that accept it.
func (d *decoder) strangeHarness(key string, p *diag.Diagnostic) string {
	if p.Message == "is not a known key" {
		p.Message = "is not a key of type " + d.c.Type
		shape := format().one.Field("harness").Type.Shape
		var names []string
		for i := range shape.Fields {
			names = append(names, shape.Fields[i].Name)
		}
		near := diag.Nearest(key, names)
		if i := slices.IndexFunc(names, func(n string) bool { return strings.HasPrefix(n, key+"_") || strings.HasPrefix(key, n) }); near == "" && i >= 0 {
			near = names[i]
		}
		if of := shape.Field(near); of != nil {
			p.Hint = "did you mean " + near + "?"
			if !slices.Contains(of.For, d.c.Type) && len(of.For) > 0 {
				p.Hint = "did you mean " + near + ", which belongs to " + doctree.Either(of.For) + "?"
			}
		}
	}
	message := "unsupported harness key(s): " + key + " " + p.Message
	if strings.HasPrefix(p.Hint, "did you mean") {
		message += " (" + p.Hint + ")"
	}
	return message
}

// mostFaults limits the listed errors, and the listed warnings, of a case. Others are only counted,
// so that memory stays bounded.
const mostFaults = 1000

// fail reports a fault; the first one becomes the fault of the case.
func (d *decoder) fail(category string, at doctree.Pos, code, where, message, hint string) {
	if len(d.faults) < mostFaults {
		d.faults = append(d.faults, d.doc.problem(at, code, where, message, hint))
	} else {
		d.more++
	}
	if d.c.fault == nil {
		if strings.HasPrefix(where, "assert[") && category == Schema {
			message = fmt.Sprintf("[case_id=%s assert_path=%s] %s", d.c.ID, where, message)
		}
		d.c.fault = &Failure{Category: category, Message: message, Path: where, Line: at.Line, Col: at.Col}
	}
}

func (d *decoder) schema(n *doctree.Node, code, where, format string, args ...any) {
	d.fail(Schema, d.c.pos(n), code, where, fmt.Sprintf(format, args...), "")
}

func (d *decoder) warn(n *doctree.Node, code, where, message, hint string) {
	if len(d.warnings) >= mostFaults {
		d.more++
		return
	}
	p := d.doc.problem(d.c.pos(n), code, where, message, hint)
	p.Level = diag.Warning
	d.warnings = append(d.warnings, p)
}

func (d *decoder) decode(n *doctree.Node) {
	c := d.c
	c.at = n.Pos
	id, kind := n.Get("id"), n.Get("type")
	if !id.IsNull() {
		c.ID = trimmed(id)
	}
	if kind != nil {
		c.Type = textOf(kind)
	}
	if t := n.Get("title"); !t.IsNull() {
		c.Title = textOf(t)
	}
	s := d.Section(n, "", format().one)
	d.tags(n.Get("tags"))
	d.expect(n.Get("expect"))
	if id == nil || kind == nil {
		return
	}
	if d.requires(s.Sub("requires")); c.skip != "" {
		return
	}
	if c.ID == "" {
		d.schema(id, "id", "id", "spec case must include non-empty id")
	} else if !diag.OneLine(c.ID) {
		d.schema(id, "id", "id", "must be one line without control characters, got %q", diag.Cut(c.ID, 60))
	}
	if !slices.Contains(caseTypes(), c.Type) {
		d.fail(Runtime, kind.Pos, "type", "type", fmt.Sprintf("unknown spec-test type: %s (from %s)", c.Type, d.doc.name),
			cmp.Or(diag.DidYouMean(c.Type, caseTypes()), "known are "+oneOf(caseTypes())))
	}
	d.harness = d.strict(c.Type == typeCLI, func() *doctree.Section { return s.Sub("harness") })
	d.budgets()
	d.captures(s)
	d.assertions(n.Get("assert"))
	c.always = d.harness.True("always")
	switch c.Type {
	case typeTextFile:
		d.textFile(s.Node("path"))
	case typeCLI:
		d.cliRun(s)
	case typeHTTP:
		d.httpCall(s.Sub("request"))
	case typeSystem:
		d.systemCall(s)
	default:
		return
	}
	d.health(s)
}

// texts warns about lists and mappings where a text is expected: like other runners, decoding makes
// a text of them, which nobody means.
func (d *decoder) texts(n *doctree.Node, path string, t doctree.Type) {
	if n.Kind != doctree.Seq && n.Kind != doctree.Map {
		return
	}
	text := false
	for _, form := range append([]doctree.Type{t}, t.Or...) {
		switch text = text || form.Form == doctree.TextForm || form.Form == doctree.WordForm; {
		case form.Form == doctree.AnyForm:
			return
		case n.Kind == doctree.Map && (form.Form == doctree.ShapeForm || form.Form == doctree.NamedForm), n.Kind == doctree.Seq && form.Form == doctree.ListForm:
			eachPart(n, path, form, d.texts)
			return
		}
	}
	said := func(x diag.Diagnostic) bool { return x.Path == path }
	if text && !slices.ContainsFunc(d.faults, said) && !slices.ContainsFunc(d.warnings, said) {
		d.warn(n, "operand", path, fmt.Sprintf("%s counts as the text %s", n.Kind, diag.Cut(textOf(n), 60)), "write one text")
	}
}

// eachPart visits the values in a list or a mapping, with their declared types.
func eachPart(n *doctree.Node, path string, t doctree.Type, visit func(n *doctree.Node, path string, t doctree.Type)) {
	for i := range n.Items() {
		visit(&n.Items()[i], doctree.ItemPath(path, i), *t.Of)
	}
	for i := range n.Members() {
		m := &n.Members()[i]
		if t.Form == doctree.NamedForm {
			visit(&m.Value, doctree.KeyPath(path, textOf(&m.Key)), *t.Of)
		} else if f := t.Shape.Field(textOf(&m.Key)); f != nil {
			visit(&m.Value, doctree.KeyPath(path, f.Name), f.Type)
		}
	}
}

// strict opens a section; if strict is set, its unknown keys are errors.
func (d *decoder) strict(strict bool, open func() *doctree.Section) *doctree.Section {
	if strict {
		d.Unknown = diag.Error
		defer func() { d.Unknown = diag.Warning }()
	}
	return open()
}

func (d *decoder) tags(n *doctree.Node) {
	switch {
	case n.IsNull():
	case n.Kind == doctree.Seq:
		for i := range n.Items() {
			d.c.Tags = append(d.c.Tags, trimmed(&n.Items()[i]))
		}
	case n.Kind == doctree.Map:
		d.warn(n, "tags", "tags", "tags must be a list of words; they are ignored", "")
	default:
		d.c.Tags = strings.Fields(textOf(n))
	}
}

// requires decides whether the case can run here.
func (d *decoder) requires(s *doctree.Section) {
	when := "fail"
	if w := s.Node("when_missing"); w != nil {
		when = strings.ToLower(trimmed(w))
		if when != "skip" && when != "fail" {
			d.schema(w, "requires", "requires.when_missing", "requires.when_missing must be one of: skip, fail")
			return
		}
	}
	caps := s.Value("capabilities")
	if caps == nil {
		return
	}
	var missing []string
	for i := range caps.Items() {
		name := trimmed(&caps.Items()[i])
		if name != "" && !slices.Contains(capabilities(), name) {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return
	}
	slices.Sort(missing)
	if when == "skip" {
		d.c.skip = "this runner has no capability " + strings.Join(slices.Compact(missing), ", ")
		return
	}
	d.fail(Runtime, caps.Pos, "capability", "requires.capabilities", "missing required capabilities: "+strings.Join(slices.Compact(missing), ", "), "")
}

// expect reads the expected result of a conformance case. A run goes on with what it cannot read.
func (d *decoder) expect(n *doctree.Node) {
	if n == nil || n.IsNull() {
		return
	}
	if n.Kind != doctree.Map {
		d.warn(n, "expect", "expect", "expect must be a mapping; it is ignored", "")
		return
	}
	d.lenient = true
	d.shaped(n, "expect", doctree.Object(format().expect))
	d.lenient = false
	base := n.Get("portable")
	if base == nil || base.Kind != doctree.Map {
		base = n // the keys of expect itself are the baseline
	}
	e := &expectation{}
	for _, layer := range []*doctree.Node{base, n.Get("impl").Get(implementation)} {
		if v := layer.Get("status"); v != nil {
			e.Status = trimmed(v)
		}
		if v := layer.Get("category"); v != nil {
			e.Category = ""
			if !v.IsNull() {
				e.Category = trimmed(v)
			}
		}
		if v := layer.Get("message_tokens"); v != nil {
			e.Tokens = nil
			for i := range v.Items() {
				e.Tokens = append(e.Tokens, textOf(&v.Items()[i]))
			}
		}
	}
	if e.Status == "" {
		d.warn(n, "expect", "expect.portable", "expect names no status; it is ignored", "expect.portable.status is required of a conformance case")
		return
	}
	d.c.expect = e
}

// shaped reports what in a value is not as declared.
func (d *decoder) shaped(n *doctree.Node, path string, t doctree.Type) {
	if n.Kind == doctree.Null && t.Null || !d.Is(n, path, &t) || n.Kind != doctree.Map && n.Kind != doctree.Seq {
		return
	}
	if t.Form == doctree.ShapeForm {
		d.Section(n, path, t.Shape)
	}
	if t.Of != nil || t.Shape != nil {
		eachPart(n, path, t, d.shaped)
	}
}

// integer converts a value as Python's int() does.
func integer(n *doctree.Node) (*big.Int, bool) {
	switch n.Kind {
	case doctree.Int:
		return n.Int(), true
	case doctree.Bool:
		if n.Bool {
			return big.NewInt(1), true
		}
		return new(big.Int), true
	case doctree.Float:
		f, _ := n.Float() // it is one
		b := big.NewFloat(0)
		if f-f != 0 { // not finite
			return nil, false
		}
		i, _ := b.SetFloat64(f).Int(nil)
		return i, true
	case doctree.String:
		return new(big.Int).SetString(strings.TrimPrefix(strings.TrimSpace(n.Text), "+"), 10)
	}
	return nil, false
}
