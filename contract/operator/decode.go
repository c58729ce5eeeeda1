package operator

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/textop"
)

// Decode reads a document and tells everything that is wrong with it. The spec
// can be used if the list has no errors.
func Decode(file string, text []byte) (*Spec, diag.List) {
	doc, err := jsontree.Parse(text, jsontree.Strict())
	if err != nil {
		e := err.(*jsontree.Error) // Parse gives no other
		return nil, diag.List{{
			Code: "operator.syntax", Pos: diag.Pos{File: file, Line: e.Position.Line, Col: e.Position.Col}, Message: e.Message(), Source: e.Source,
		}}
	}
	spec := defaults()
	d := &decoder{file: file, doc: doc, spec: &spec}
	d.document(&doc.Root)
	return &spec, d.list
}

// decoder walks a document.
type decoder struct {
	file string
	doc  *jsontree.Document
	spec *Spec
	list diag.List
}

func (d *decoder) report(n *jsontree.Node, level diag.Level, code, path, hint, format string, args ...any) {
	d.reportAt(n.Offset, level, code, path, hint, format, args...)
}

func (d *decoder) reportAt(offset int, level diag.Level, code, path, hint, format string, args ...any) {
	p := d.doc.Position(offset)
	d.list = append(d.list, diag.Diagnostic{
		Code: "operator." + code, Level: level, Pos: diag.Pos{File: d.file, Line: p.Line, Col: p.Col}, Path: path,
		Message: fmt.Sprintf(format, args...), Hint: hint, Source: d.doc.Line(p.Line),
	})
}

func (d *decoder) fail(n *jsontree.Node, code, path, format string, args ...any) {
	d.report(n, diag.Error, code, path, "", format, args...)
}

// nest adds what a parser of a value says, at the value.
func (d *decoder) nest(n *jsontree.Node, path string, found diag.List) {
	for _, x := range found {
		d.report(n, x.Level, strings.TrimPrefix(x.Code, "operator."), path, x.Hint, "%s", x.Message)
	}
}

// fields calls a function for every member of an object by its key; an unknown
// key is an error that names the nearest.
func (d *decoder) fields(n *jsontree.Node, at string, known map[string]func(*jsontree.Node, string)) {
	names := make([]string, 0, len(known))
	for k := range known {
		names = append(names, k)
	}
	slices.Sort(names)
	for i := range n.Members {
		m := &n.Members[i]
		if read := known[m.Key]; read != nil {
			read(&m.Value, join(at, m.Key))
			continue
		}
		hint := diag.DidYouMean(m.Key, names)
		if hint == "" {
			hint = "known fields: " + strings.Join(names, ", ")
		}
		d.reportAt(m.KeyOffset, diag.Error, "unknown-field", join(at, m.Key), hint, "must be a known field, got %q", m.Key)
	}
}

func join(at, key string) string {
	if at == "" {
		return key
	}
	return at + "." + key
}

func (d *decoder) document(root *jsontree.Node) {
	if root.Kind != jsontree.Object {
		d.fail(root, "type", "", "must be a JSON object, got %s", root.Kind)
		return
	}
	s := d.spec
	for _, key := range []string{"schema_version", "seeds"} {
		if root.Get(key) == nil {
			d.fail(root, "missing-field", key, "must be given, got no such field")
		}
	}
	d.fields(root, "", map[string]func(*jsontree.Node, string){
		"schema_version": func(n *jsontree.Node, at string) {
			if v := d.text(n, at); n.Kind == jsontree.String && v != SchemaVersion {
				d.fail(n, "schema-version", at, "must be %q, got %q", SchemaVersion, v)
			}
		},
		"name":        func(n *jsontree.Node, at string) { s.Name = d.text(n, at) },
		"description": func(n *jsontree.Node, at string) { s.Description = d.text(n, at) },
		"seeds": func(n *jsontree.Node, at string) {
			if s.Seeds = d.texts(n, at); len(s.Seeds) == 0 && n.Kind == jsontree.Array {
				d.fail(n, "empty", at, "must name at least one file")
			}
		},
		"operators": func(n *jsontree.Node, at string) { s.Operators = d.texts(n, at) },
		"builtins":  func(n *jsontree.Node, at string) { s.Builtins = d.flag(n, at) },
		"select":    d.filter,
		"children":  func(n *jsontree.Node, at string) { s.Children = d.whole(n, at, 1, maxChildren) },
		"testcases": d.testcases,
		"steps":     func(n *jsontree.Node, at string) { s.Steps = int(d.whole(n, at, 1, maxSteps)) },
		"redraws":   func(n *jsontree.Node, at string) { s.Redraws = int(d.whole(n, at, 0, 100)) },
		"rounds":    func(n *jsontree.Node, at string) { s.Rounds = int(d.whole(n, at, 1, maxRounds)) },
		"strength":  d.strength,
		"seed_base": func(n *jsontree.Node, at string) {
			if n.Kind != jsontree.Int {
				d.fail(n, "type", at, "must be an integer, got %s", n.Kind)
				return
			}
			s.SeedBase = n.Int()
		},
		"rng_rule": func(n *jsontree.Node, at string) {
			s.Rule = textop.Rule(d.word(n, at, string(textop.RuleContract), string(textop.RuleWide)))
		},
		"policy":      func(n *jsontree.Node, at string) { s.Policy = mutator.Policy(d.word(n, at, policies()...)) },
		"weights":     d.weights,
		"constraints": d.constraints,
		"duplicates": func(n *jsontree.Node, at string) {
			s.Duplicates = Duplicates(d.word(n, at, string(RejectExact), string(RejectNear), string(KeepDuplicates)))
		},
		"stats":    func(n *jsontree.Node, at string) { s.Stats = d.text(n, at) },
		"verdicts": func(n *jsontree.Node, at string) { s.Verdicts = d.text(n, at) },
		"oracle":   d.oracle,
	})
	d.together(root)
}

// together checks fields that mean something only with others: a field that
// nothing would follow is an error.
func (d *decoder) together(root *jsontree.Node) {
	idle := func(key, needs string) {
		if n := root.Get(key); n != nil {
			d.fail(n, "idle", key, "has no effect: it is followed only with %s", needs)
		}
	}
	p := d.spec.Policy
	if p != mutator.Weighted {
		idle("weights", `"policy": "weighted"`)
	}
	if !p.Learns() {
		for _, key := range []string{"rounds", "stats"} {
			idle(key, `"policy": "ucb1" or "exp3"`)
		}
	}
	if root.Get("testcases") != nil {
		for _, key := range []string{"children", "rounds", "duplicates"} {
			if n := root.Get(key); n != nil {
				d.fail(n, "idle", key, "has no effect: testcases names the children")
			}
		}
		d.spec.Rounds, d.spec.Duplicates = 1, KeepDuplicates
	}
	if v, o := root.Get("verdicts"), root.Get("oracle"); v != nil && o != nil {
		d.fail(v, "idle", "verdicts", "cannot be given together with oracle: a child has one judge")
	}
	if p.Learns() && int64(d.spec.Rounds) > d.spec.Children {
		d.spec.Rounds = int(d.spec.Children)
	}
	if b := root.Get("builtins"); b != nil && !d.spec.Builtins && len(d.spec.Operators) == 0 {
		d.fail(b, "no-operators", "builtins", "leaves no operators: name some in operators")
	}
}

// testcases is a list of ids, each of one child.
func (d *decoder) testcases(n *jsontree.Node, at string) {
	list := d.texts(n, at)
	if len(list) == 0 && n.Kind == jsontree.Array {
		d.fail(n, "empty", at, "must name at least one child")
	}
	for i, id := range list {
		place := fmt.Sprintf("%s[%d]", at, i)
		switch _, _, ok := parseTestcase(id); {
		case id == "": // was told
		case !ok:
			d.fail(&n.Items[i], "testcase", place, "must be the id of a child, the seed's id and the child's number such as question:3, got %q", id)
		case slices.Contains(list[:i], id):
			d.fail(&n.Items[i], "testcase", place, "is there twice: %q", id)
		}
	}
	d.spec.Testcases = list
}

// parseTestcase takes the id of a child apart, which [mutator.TestcaseID] made.
func parseTestcase(id string) (prefix string, child int32, ok bool) {
	at := strings.LastIndexByte(id, ':')
	if at <= 0 {
		return "", 0, false
	}
	n, err := strconv.ParseInt(id[at+1:], 10, 32)
	return id[:at], int32(n), err == nil && n >= 0 && mutator.TestcaseID(id[:at], n) == id
}

func policies() []string {
	var names []string
	for _, p := range mutator.Policies() {
		names = append(names, string(p))
	}
	return names
}

func (d *decoder) filter(n *jsontree.Node, at string) {
	if n.Kind != jsontree.Object {
		d.fail(n, "type", at, "must be an object, got %s", n.Kind)
		return
	}
	s := d.spec
	d.fields(n, at, map[string]func(*jsontree.Node, string){
		"buckets": func(n *jsontree.Node, at string) {
			for i, tag := range d.texts(n, at) {
				b, found := textop.ParseBucket(tag)
				d.nest(&n.Items[i], fmt.Sprintf("%s[%d]", at, i), found)
				if b != "" && !slices.Contains(s.Buckets, b) {
					s.Buckets = append(s.Buckets, b)
				}
			}
		},
		"surface": func(n *jsontree.Node, at string) {
			if tag := d.text(n, at); n.Kind == jsontree.String {
				surface, found := textop.ParseSurface(tag)
				d.nest(n, at, found)
				s.Surface = surface
			}
		},
		"risk_max": func(n *jsontree.Node, at string) {
			s.RiskMax = textop.Risk(strings.ToUpper(d.word(n, at, "LOW", "MEDIUM", "HIGH")))
		},
		"include": func(n *jsontree.Node, at string) { s.Include = d.patterns(n, at) },
		"exclude": func(n *jsontree.Node, at string) { s.Exclude = d.patterns(n, at) },
	})
}

func (d *decoder) patterns(n *jsontree.Node, at string) []string {
	list := d.texts(n, at)
	for i, p := range list {
		if _, err := path.Match(p, ""); err != nil {
			d.fail(&n.Items[i], "pattern", fmt.Sprintf("%s[%d]", at, i), "%q is no pattern: * stands for any letters, ? for one, [a-z] for one of them", p)
		}
	}
	return list
}

func (d *decoder) strength(n *jsontree.Node, at string) {
	const least, most = 1, 100
	if n.Kind == jsontree.Int {
		v := int(d.whole(n, at, least, most))
		d.spec.Strength = textop.Range{Min: v, Max: v}
		return
	}
	if n.Kind != jsontree.Array || len(n.Items) != 2 {
		d.fail(n, "type", at, "must be an integer, or [least, most], got %s", n.Kind)
		return
	}
	r := textop.Range{Min: int(d.whole(&n.Items[0], at+"[0]", least, most)), Max: int(d.whole(&n.Items[1], at+"[1]", least, most))}
	if r.Min > r.Max {
		d.fail(n, "range", at, "must be [least, most], got [%d, %d]", r.Min, r.Max)
	}
	d.spec.Strength = r
}

// weights is {bucket: {op_id: factor}}; the bucket "*" is any.
func (d *decoder) weights(n *jsontree.Node, at string) {
	if n.Kind != jsontree.Object {
		d.fail(n, "type", at, "must be an object, got %s", n.Kind)
		return
	}
	d.spec.Weights = make(mutator.Weights)
	for i := range n.Members {
		m := &n.Members[i]
		place := join(at, m.Key)
		bucket := textop.Bucket("")
		if m.Key != "*" {
			b, found := textop.ParseBucket(m.Key)
			for _, x := range found {
				d.reportAt(m.KeyOffset, x.Level, strings.TrimPrefix(x.Code, "operator."), place, x.Hint, "%s", x.Message)
			}
			bucket = b
		}
		if m.Value.Kind != jsontree.Object {
			d.fail(&m.Value, "type", place, "must be an object from op_id to a factor, got %s", m.Value.Kind)
			continue
		}
		factors := make(map[string]float64)
		for j := range m.Value.Members {
			f := &m.Value.Members[j]
			v, ok := f.Value.Float()
			if !ok || v < 0 {
				d.fail(&f.Value, "range", join(place, f.Key), "must be a number of at least 0")
				continue
			}
			factors[f.Key] = v
		}
		d.spec.Weights[bucket] = factors
	}
}

func (d *decoder) constraints(n *jsontree.Node, at string) {
	if n.Kind != jsontree.Object {
		d.fail(n, "type", at, "must be an object, got %s", n.Kind)
		return
	}
	var raw map[string]any
	numbers := json.NewDecoder(strings.NewReader(jsontree.Compact.Format(n)))
	numbers.UseNumber() // plug-ins are to get 3 as 3, not as 3.0
	if err := numbers.Decode(&raw); err != nil {
		d.fail(n, "type", at, "cannot be read: %v", err)
		return
	}
	known := []string{"max_chars", "trim_trailing", "keep_controls", "placeholder", "schema_mode"}
	var found diag.List
	d.spec.Constraints = textop.NewContext(map[string]any{"constraints": raw}, &found).Constraints
	for _, x := range found {
		place := n
		if v := n.Get(strings.TrimPrefix(x.Path, "constraints.")); v != nil {
			place = v
		}
		d.report(place, x.Level, strings.TrimPrefix(x.Code, "operator."), x.Path, x.Hint, "%s", x.Message)
	}
	for i := range n.Members {
		if key := n.Members[i].Key; !slices.Contains(known, key) {
			d.reportAt(n.Members[i].KeyOffset, diag.Warning, "constraint", join(at, key), diag.DidYouMean(key, known),
				"is read by no operator of the house; plug-ins are given it")
		}
	}
}

func (d *decoder) oracle(n *jsontree.Node, at string) {
	if n.Kind != jsontree.Object {
		d.fail(n, "type", at, "must be an object, got %s", n.Kind)
		return
	}
	o := &Oracle{TimeoutS: 10}
	d.spec.Oracle = o
	if n.Get("command") == nil {
		d.fail(n, "missing-field", join(at, "command"), "must be given, got no such field")
	}
	d.fields(n, at, map[string]func(*jsontree.Node, string){
		"command": func(n *jsontree.Node, at string) {
			if o.Command = d.texts(n, at); len(o.Command) == 0 && n.Kind == jsontree.Array {
				d.fail(n, "empty", at, "must name a program")
			}
		},
		"timeout_s": func(n *jsontree.Node, at string) {
			v, ok := n.Float()
			if !ok || !(v > 0) || v > 86400 {
				d.fail(n, "range", at, "must be a number of seconds above 0, at most 86400")
				return
			}
			o.TimeoutS = v
		},
	})
}

func (d *decoder) text(n *jsontree.Node, at string) string {
	s, ok := n.Str()
	if !ok {
		d.fail(n, "type", at, "must be a string, got %s", n.Kind)
	}
	return s
}

// texts reads a list of strings.
func (d *decoder) texts(n *jsontree.Node, at string) []string {
	if n.Kind != jsontree.Array {
		d.fail(n, "type", at, "must be an array of strings, got %s", n.Kind)
		return nil
	}
	list := make([]string, len(n.Items))
	for i := range n.Items {
		list[i] = d.text(&n.Items[i], fmt.Sprintf("%s[%d]", at, i))
		if n.Items[i].Kind == jsontree.String && list[i] == "" {
			d.fail(&n.Items[i], "empty", fmt.Sprintf("%s[%d]", at, i), "must not be empty")
		}
	}
	return list
}

func (d *decoder) flag(n *jsontree.Node, at string) bool {
	if n.Kind != jsontree.Bool {
		d.fail(n, "type", at, "must be true or false, got %s", n.Kind)
	}
	return n.Bool
}

func (d *decoder) whole(n *jsontree.Node, at string, least, most int64) int64 {
	v := n.Int()
	if v == nil {
		d.fail(n, "type", at, "must be an integer, got %s", n.Kind)
		return least
	}
	if !v.IsInt64() || v.Int64() < least || v.Int64() > most {
		d.fail(n, "range", at, "must be from %d to %d, got %s", least, most, n.Text)
		return least
	}
	return v.Int64()
}

// word is one of a few; the first of them is what a wrong one counts as.
func (d *decoder) word(n *jsontree.Node, at string, words ...string) string {
	v := d.text(n, at)
	if n.Kind == jsontree.String && !slices.Contains(words, v) {
		d.report(n, diag.Error, "choice", at, diag.DidYouMean(v, words), "must be one of %s, got %q", strings.Join(words, ", "), v)
	}
	if !slices.Contains(words, v) {
		return words[0]
	}
	return v
}
