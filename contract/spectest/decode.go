package spectest

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
)

// decoder understands one case. Its checks stand in the order in which the
// reference makes them: the first fault is the one that the case fails with,
// all of them are told.
type decoder struct {
	doc      *document
	set      *settings
	c        *Case
	faults   diag.List
	warnings diag.List
}

// decode makes a case of an entry. The case is there also if it is faulty.
func decode(doc *document, set *settings, e entry) (*Case, diag.List, diag.List) {
	d := &decoder{doc: doc, set: set, c: &Case{From: e.from, To: e.to}}
	if e.fault != nil {
		d.faults = append(d.faults, *e.fault)
		d.c.fault = &Failure{Category: Schema, Message: e.fault.Message, Path: e.fault.Path, Line: e.fault.Pos.Line, Col: e.fault.Pos.Col}
		return d.c, d.faults, nil
	}
	for _, t := range e.twice {
		d.fail(Schema, t.Repeat, "duplicate-key", "", twiceIn(t), fmt.Sprintf("it stands on line %d already", t.First.Line))
	}
	d.decode(e.node)
	if d.c.skip != "" {
		d.c.fault = nil
	}
	return d.c, d.faults, d.warnings
}

func twiceIn(t doctree.Duplicate) string {
	return fmt.Sprintf("key %q stands twice in one mapping", t.Key)
}

// fail tells a fault; the first of them is the case's own.
func (d *decoder) fail(category string, at doctree.Pos, code, where, message, hint string) {
	d.faults = append(d.faults, d.doc.problem(at, code, where, message, hint))
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
	p := d.doc.problem(d.c.pos(n), code, where, message, hint)
	p.Level = diag.Warning
	d.warnings = append(d.warnings, p)
}

func (d *decoder) decode(n *doctree.Node) {
	c := d.c
	c.at = n.Pos
	id, kind := n.Get("id"), n.Get("type")
	if id == nil || kind == nil {
		var missing []string
		for _, k := range []string{"id", "type"} {
			if n.Get(k) == nil {
				missing = append(missing, k)
			}
		}
		hint := ""
		for _, k := range missing {
			for _, have := range keys(n) {
				if diag.Nearest(have, []string{k}) == k && have != k {
					hint = fmt.Sprintf("is %q meant to be %q?", have, k)
				}
			}
		}
		d.fail(Schema, n.Pos, "case-keys", "", "a case must include 'id' and 'type'; there is no "+strings.Join(missing, " and no "), hint)
	}
	if id != nil {
		c.ID = trimmed(id)
	}
	if kind != nil {
		c.Type = textOf(kind)
	}
	if t := n.Get("title"); !t.IsNull() {
		c.Title = textOf(t)
	}
	d.tags(n.Get("tags"))
	d.expect(n.Get("expect"))
	if c.fault != nil && (id == nil || kind == nil) {
		return
	}
	if d.requires(n.Get("requires")); c.skip != "" {
		return
	}
	if c.ID == "" {
		d.schema(id, "id", "id", "spec case must include non-empty id")
	}
	if !slices.Contains(caseTypes(), c.Type) {
		hint := diag.DidYouMean(c.Type, caseTypes())
		if hint == "" {
			hint = "known are " + oneOf(caseTypes())
		}
		d.fail(Runtime, kind.Pos, "type", "type", fmt.Sprintf("unknown spec-test type: %s (from %s)", c.Type, d.doc.name), hint)
	}
	d.unknown(n)
	harness := n.Get("harness")
	if !harness.IsNull() && harness.Kind != doctree.Map {
		d.schema(harness, "harness", "harness", "harness must be a mapping")
		harness = nil
	}
	d.budgets(harness)
	d.assertions(n.Get("assert"))
	d.captures(n.Get("capture"))
	d.flag(harness, "always", &d.c.always)
	switch c.Type {
	case typeTextFile:
		d.otherHarness(harness)
		d.textFile(n)
	case typeCLI:
		d.cliRun(n, harness)
	case typeHTTP:
		d.httpCall(n, harness)
	case typeSystem:
		d.systemCall(n, harness)
	default:
		return
	}
	d.health(n)
}

// unknown tells of keys that nothing reads: a misspelt assert would let a case
// pass that asserts nothing.
func (d *decoder) unknown(n *doctree.Node) {
	if !slices.Contains(caseTypes(), d.c.Type) {
		return
	}
	for i := range n.Members {
		key := textOf(&n.Members[i].Key)
		if isTopKey(d.c.Type, key) || d.c.Type == typeCLI && slices.Contains(misplaced(), key) {
			continue
		}
		hint := diag.DidYouMean(key, topKeys(d.c.Type))
		if underHarness(key) {
			hint = "it belongs under harness"
		}
		d.warn(&n.Members[i].Key, "unknown-key", key, fmt.Sprintf("no %s case has a key %q; it is ignored", d.c.Type, key), hint)
	}
}

// strange tells of keys of a mapping that nothing reads.
func (d *decoder) strange(n *doctree.Node, where string, known ...string) {
	for i := range n.Members {
		if key := textOf(&n.Members[i].Key); !slices.Contains(known, key) {
			d.warn(&n.Members[i].Key, "unknown-key", where+"."+key, fmt.Sprintf("%s has no key %q; it is ignored", where, key), diag.DidYouMean(key, known))
		}
	}
}

func (d *decoder) tags(n *doctree.Node) {
	switch {
	case n.IsNull():
	case n.Kind == doctree.Seq:
		for i := range n.Items {
			d.c.Tags = append(d.c.Tags, trimmed(&n.Items[i]))
		}
	case n.Kind == doctree.Map:
		d.warn(n, "tags", "tags", "tags must be a list of words; they are ignored", "")
	default:
		d.c.Tags = strings.Fields(textOf(n))
	}
}

// requires decides whether the case can be run here.
func (d *decoder) requires(n *doctree.Node) {
	if n == nil || n.IsNull() {
		return
	}
	if n.Kind != doctree.Map {
		d.schema(n, "requires", "requires", "requires must be a mapping")
		return
	}
	d.strange(n, "requires", "capabilities", "when_missing")
	caps, when := n.Get("capabilities"), "fail"
	if w := n.Get("when_missing"); w != nil {
		when = strings.ToLower(trimmed(w))
		if when != "skip" && when != "fail" {
			d.schema(w, "requires", "requires.when_missing", "requires.when_missing must be one of: skip, fail")
			return
		}
	}
	if caps.IsNull() {
		return
	}
	if caps.Kind != doctree.Seq {
		d.schema(caps, "requires", "requires.capabilities", "requires.capabilities must be a list")
		return
	}
	var missing []string
	for i := range caps.Items {
		name := trimmed(&caps.Items[i])
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

// expect resolves what a conformance case is expected to come to.
func (d *decoder) expect(n *doctree.Node) {
	if n == nil || n.IsNull() {
		return
	}
	if n.Kind != doctree.Map {
		d.warn(n, "expect", "expect", "expect must be a mapping; it is ignored", "")
		return
	}
	base := n.Get("portable")
	if base == nil || base.Kind != doctree.Map {
		base = n // the keys themselves serve as the baseline
	}
	d.strange(n, "expect", "portable", "impl", "status", "category", "message_tokens")
	e := &expectation{}
	impl := n.Get("impl")
	var own *doctree.Node
	if impl != nil && impl.Kind == doctree.Map {
		own = impl.Get(implementation)
	}
	for _, layer := range []*doctree.Node{base, own} {
		if layer == nil || layer.Kind != doctree.Map {
			continue
		}
		if layer != n {
			d.strange(layer, "expect", "status", "category", "message_tokens")
		}
		if v := layer.Get("status"); v != nil {
			e.Status = trimmed(v)
			if !slices.Contains([]string{"pass", "fail", "skip"}, e.Status) {
				d.warn(v, "expect", "expect.status", fmt.Sprintf("status must be pass, fail or skip, not %q", e.Status), diag.DidYouMean(e.Status, []string{"pass", "fail", "skip"}))
			}
		}
		if v := layer.Get("category"); v != nil {
			e.Category = ""
			if !v.IsNull() {
				e.Category = trimmed(v)
			}
		}
		if v := layer.Get("message_tokens"); v != nil {
			e.Tokens = nil
			if v.Kind == doctree.Seq {
				for i := range v.Items {
					e.Tokens = append(e.Tokens, textOf(&v.Items[i]))
				}
			}
		}
	}
	if e.Status == "" {
		d.warn(n, "expect", "expect.portable", "expect names no status; it is ignored", "expect.portable.status is required of a conformance case")
		return
	}
	d.c.expect = e
}

// integer is Python's int() of a value.
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
