package operator

import (
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/textop"
)

// Decode reads a document and reports every fault in it. The spec is usable if the list has no
// errors.
func Decode(file string, text []byte) (*Spec, diag.List) {
	doc, err := doctree.ParseJSON(text, jsontree.Options{})
	if err != nil {
		e := err.(*doctree.Error) // ParseJSON gives no other
		return nil, diag.List{{Code: "operator.syntax", Pos: e.Pos.In(file), Message: e.Message(), Source: e.Source}}
	}
	spec := defaults()
	spec.doc = doc
	d := &decoder{Decoder: doctree.Decoder{Format: "operator", File: file, JSON: true, Line: doc.Line}, spec: &spec}
	d.Repeats(doc, "", func(doctree.Duplicate) diag.Level { return diag.Error })
	d.controls(&doc.Root, "")
	d.document(d.Section(&doc.Root, "", format()))
	d.List.Sort()
	return &spec, d.List
}

// decoder interprets the declared fields.
type decoder struct {
	doctree.Decoder
	spec *Spec
}

// nest adds the diagnostics of a value's parser, at the place of the value.
func (d *decoder) nest(at doctree.Pos, path string, found diag.List) {
	for _, x := range found {
		d.Report(x.Level, at, strings.TrimPrefix(x.Code, "operator."), path, x.Hint, "%s", x.Message)
	}
}

// controls rejects U+0000 anywhere in the document.
func (d *decoder) controls(n *doctree.Node, path string) {
	if n.Kind == doctree.String && strings.ContainsRune(n.Text, 0) {
		d.Fail(n.Pos, "control", path, "must not contain U+0000, which names, paths and arguments cannot have")
	}
	for i := range n.Items() {
		d.controls(&n.Items()[i], doctree.ItemPath(path, i))
	}
	for i := range n.Members() {
		d.controls(&n.Members()[i].Value, strings.TrimPrefix(path+"."+n.Members()[i].Key.Text, "."))
	}
}

// warnEmpty warns about an empty list, and states what applies instead.
func (d *decoder) warnEmpty(s *doctree.Section, key, counts string) {
	if n := s.Node(key); n != nil && n.Kind == doctree.Seq && len(n.Items()) == 0 {
		d.Warn(n.Pos, "no-effect", s.At(key), "", "has no effect, since it is empty: %s", counts)
	}
}

func (d *decoder) document(s *doctree.Section) {
	x := d.spec
	if v := s.Text("schema_version"); s.Given("schema_version") && s.Node("schema_version").Kind == doctree.String && v != SchemaVersion {
		d.Fail(s.PosOf("schema_version"), "schema-version", "schema_version", "must be %q, got %q", SchemaVersion, v)
	}
	x.Name, x.Description, x.Seeds, x.Operators = s.Text("name"), s.Text("description"), s.Texts("seeds"), s.Texts("operators")
	d.warnEmpty(s, "operators", "it names no plug-in")
	x.All = s.Text("builtins") == "all"
	x.Edition3 = s.Text("builtins") == "edition-3"
	x.Builtins = x.All || x.Edition3 || s.True("builtins")
	d.chain(s)
	d.filter(s.Sub("select"))
	x.Children, x.Steps, x.Redraws, x.Rounds = int64(s.Integer("children")), s.Integer("steps"), s.Integer("redraws"), s.Integer("rounds")
	d.testcases(s)
	d.strength(s)
	if mutator.Policy(s.Text("policy")) == mutator.Search {
		d.search(s)
	}
	if v := s.Big("seed_base"); v != nil {
		x.SeedBase = v
	}
	x.Rule, x.Policy = textop.Rule(s.Text("rng_rule")), mutator.Policy(s.Text("policy"))
	d.weights(s)
	d.constraints(s)
	x.Duplicates, x.Stats, x.Verdicts = Duplicates(s.Text("duplicates")), s.Text("stats"), s.Text("verdicts")
	if o := s.Sub("oracle"); o.There() {
		x.Oracle = &Oracle{
			Command: o.Texts("command"), Folder: o.Text("folder"), TimeoutS: o.Float("timeout_s"), Retries: o.Integer("retries"),
			HangFails: o.Text("on_timeout") == "fail",
		}
		if n := o.Node("command"); n != nil && alwaysSucceeds(x.Oracle.Command) {
			d.Warn(n.Pos, "vacuous", "oracle.command", "name a program that judges the child: exit code 0 is PASS, 1 is FAIL", "says PASS to every child: no child changes the verdict")
		}
	}
	x.Verbatim = s.True("verbatim")
	d.attacker(s)
	d.target(s)
	d.budget(s)
	if s.There() {
		d.together(s)
	}
}

// together checks fields that depend on others: a field without effect is an error.
func (d *decoder) together(s *doctree.Section) {
	idle := func(key, needs string) {
		if n := s.Node(key); n != nil {
			d.Fail(n.Pos, "no-effect", key, "has no effect without %s", needs)
		}
	}
	p := d.spec.Policy
	without := []string{"chain", "steps", "redraws", "policy", "weights", "rounds", "stats", "strength", "testcases", "operators", "builtins", "verdicts", "oracle"}
	switch {
	case d.spec.Attacker != nil:
		for _, key := range without {
			if n := s.Node(key); n != nil {
				d.Fail(n.Pos, "no-effect", key, "has no effect: the attacker writes the children")
			}
		}
		return
	case d.spec.Verbatim:
		for _, key := range append(without[:len(without)-2], "duplicates") {
			if n := s.Node(key); n != nil {
				d.Fail(n.Pos, "no-effect", key, "has no effect: verbatim sends the seeds as they are")
			}
		}
		if d.spec.Duplicates = KeepDuplicates; !s.Given("children") {
			d.spec.Children = 1
		}
		return
	}
	if p != mutator.Weighted {
		idle("weights", `"policy": "weighted"`)
	}
	if !p.Learns() {
		if p != mutator.Search {
			idle("rounds", `"policy": "ucb1", "exp3" or "search"`)
		}
		idle("stats", `"policy": "ucb1" or "exp3"`)
	}
	if s.Given("testcases") {
		for _, key := range []string{"children", "rounds", "duplicates"} {
			if n := s.Node(key); n != nil {
				d.Fail(n.Pos, "no-effect", key, "has no effect: testcases names the children")
			}
		}
		d.spec.Rounds, d.spec.Duplicates = 1, KeepDuplicates
	}
	if s.Given("chain") {
		for _, key := range []string{"steps", "redraws", "policy", "weights", "rounds", "stats"} {
			if n := s.Node(key); n != nil {
				d.Fail(n.Pos, "no-effect", key, "has no effect: chain names the operators")
			}
		}
	}
	if v, o := s.Node("verdicts"), s.Node("oracle"); v != nil && o != nil {
		d.Fail(v.Pos, "no-effect", "verdicts", "cannot be given together with oracle: a child has one judge")
	}
	if p.Learns() && int64(d.spec.Rounds) > d.spec.Children {
		d.spec.Rounds = int(d.spec.Children)
	}
	if b := s.Node("builtins"); b != nil && !d.spec.Builtins && len(d.spec.Operators) == 0 {
		d.Fail(b.Pos, "no-operators", "builtins", "leaves no operators: name some in operators")
	}
}

// search sets the defaults of the policy search, and rejects what it does not support.
func (d *decoder) search(s *doctree.Section) {
	x := d.spec
	if !s.Given("steps") {
		x.Steps = searchSteps
	}
	if !s.Given("strength") {
		x.Strength = searchStrength
	}
	if !s.Given("rounds") {
		x.Rounds = 0
	}
	if n := s.Node("testcases"); n != nil {
		d.Fail(n.Pos, "no-effect", "testcases", "cannot be used together with a search, which chooses the most promising children")
	}
	if n := s.Node("redraws"); n != nil {
		d.Warn(n.Pos, "no-effect", "redraws", "", "has no effect: a search names the operators of every child")
	}
	if n := s.Node("duplicates"); n != nil && s.Text("duplicates") == string(RejectNear) {
		d.Warn(n.Pos, "no-effect", "duplicates", "", "is taken as \"exact\": a search sends no text twice")
	}
}

// chain reads operators as ids, or as ids with a strength.
func (d *decoder) chain(s *doctree.Section) {
	s.Each("chain", func(n *doctree.Node, path string) {
		step := Step{Op: n.Text}
		if n.Kind == doctree.Map {
			x := d.Section(n, path, linkShape())
			step = Step{x.Text("op"), x.Integer("strength")}
		}
		if step.Op != "" { // otherwise already reported
			d.spec.Chain = append(d.spec.Chain, step)
		}
	})
}

// testcases reads a list of ids, each of one child.
func (d *decoder) testcases(s *doctree.Section) {
	list := s.Texts("testcases")
	seen := map[string]bool{}
	s.Each("testcases", func(n *doctree.Node, place string) {
		switch _, _, ok := parseTestcase(n.Text); {
		case n.Kind != doctree.String || n.Text == "": // reported
		case !ok:
			d.Fail(n.Pos, "testcase", place, "must be the id of a child, the seed's id and the child's number such as question:3, got %q", n.Text)
		case seen[n.Text]:
			d.Fail(n.Pos, "testcase", place, "is given twice: %q", n.Text)
		}
		seen[n.Text] = true
	})
	d.spec.Testcases = list
}

// parseTestcase splits the id of a child, as made by [mutator.TestcaseID].
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

func (d *decoder) filter(s *doctree.Section) {
	x := d.spec
	for i, tag := range s.Texts("buckets") {
		b, found := textop.ParseBucket(tag)
		d.nest(s.Node("buckets").Items()[i].Pos, doctree.ItemPath(s.At("buckets"), i), found)
		if b != "" && !slices.Contains(x.Buckets, b) {
			x.Buckets = append(x.Buckets, b)
		}
	}
	if tag := s.Text("surface"); tag != "" {
		surface, found := textop.ParseSurface(tag)
		d.nest(s.PosOf("surface"), s.At("surface"), found)
		x.Surface = surface
	}
	x.RiskMax = textop.Risk(s.Text("risk_max"))
	d.warnEmpty(s, "buckets", "those of the seeds count")
	d.warnEmpty(s, "include", "every operator passes")
	d.warnEmpty(s, "exclude", "every operator passes")
	x.Include, x.Exclude = d.patterns(s, "include"), d.patterns(s, "exclude")
}

func (d *decoder) patterns(s *doctree.Section, key string) []string {
	list := s.Texts(key)
	for i, p := range list {
		if _, err := path.Match(p, ""); err != nil {
			d.Fail(s.PosOf(key), "pattern", doctree.ItemPath(s.At(key), i), "%q is not a pattern: * matches any letters, ? one, [a-z] one of them", p)
		}
	}
	return list
}

func (d *decoder) strength(s *doctree.Section) {
	n := s.Node("strength")
	v := s.Integer("strength")
	d.spec.Strength = textop.Range{Min: v, Max: v}
	if n == nil || n.Kind != doctree.Seq {
		return
	}
	var pair []int
	s.Each("strength", func(n *doctree.Node, path string) {
		t := doctree.Integer(1, maxStrength)
		if v, ok := n.Int64(); d.Is(n, path, &t) && ok {
			pair = append(pair, int(v))
		}
	})
	switch {
	case len(n.Items()) != 2:
		d.Fail(n.Pos, "type", "strength", "must be an integer, or [least, most], got %s", d.Describe(n))
	case len(pair) < 2: // already reported
	case pair[0] > pair[1]:
		d.Fail(n.Pos, "range", "strength", "must be [least, most], got [%d, %d]", pair[0], pair[1])
	default:
		d.spec.Strength = textop.Range{Min: pair[0], Max: pair[1]}
	}
}

// weights reads {bucket: {op_id: factor}}; the bucket "*" stands for any.
func (d *decoder) weights(s *doctree.Section) {
	if !s.Given("weights") {
		return
	}
	d.spec.Weights = make(mutator.Weights)
	factor := doctree.Number(0, 1e12)
	named := doctree.Named(factor)
	for _, e := range s.Entries("weights") {
		bucket := textop.Bucket("")
		if e.Name != "*" {
			b, found := textop.ParseBucket(e.Name)
			d.nest(e.Key.Pos, e.Path, found)
			bucket = b
		}
		if !d.Is(e.Node, e.Path, &named) {
			continue
		}
		factors := make(map[string]float64)
		for _, f := range d.Entries(e.Node, e.Path) {
			if v, ok := f.Node.Float(); d.Is(f.Node, f.Path, &factor) && ok {
				factors[f.Name] = v
			}
		}
		d.spec.Weights[bucket] = factors
	}
}

// constraintOfPlugins is what is said of a constraint that is none of ours.
const constraintOfPlugins = "has no effect on built-in operators; plug-ins get it"

func (d *decoder) constraints(s *doctree.Section) {
	x := s.Sub("constraints")
	if !x.There() {
		return
	}
	var raw map[string]any
	tree := x.Raw().JSON()
	numbers := json.NewDecoder(strings.NewReader(jsontree.Compact.Format(&tree)))
	numbers.UseNumber() // plug-ins must get 3 as 3, not as 3.0
	if err := numbers.Decode(&raw); err != nil {
		d.Fail(x.Pos(), "type", "constraints", "cannot be read: %v", err)
		return
	}
	var found diag.List
	d.spec.Constraints = textop.NewContext(map[string]any{"constraints": raw}, &found).Constraints
	for _, f := range found {
		at := x.Pos()
		if v := x.Raw().Get(strings.TrimPrefix(f.Path, "constraints.")); v != nil {
			at = v.Pos
		}
		d.nest(at, f.Path, diag.List{f})
	}
	for _, e := range d.Entries(x.Raw(), "constraints") {
		if known := x.Shape.Keys(""); !slices.Contains(known, e.Name) {
			d.Warn(e.Key.Pos, "constraint", e.Path, diag.DidYouMean(e.Name, known), constraintOfPlugins)
		}
	}
}

// alwaysSucceeds reports whether a command succeeds on any input.
func alwaysSucceeds(argv []string) bool {
	if len(argv) == 3 && argv[1] == "-c" && strings.HasSuffix(argv[0], "sh") {
		argv = strings.Fields(argv[2])
	}
	line := strings.Join(argv, " ")
	return line == ":" || line == "exit" || line == "exit 0" || len(argv) > 0 && path.Base(argv[0]) == "true"
}
