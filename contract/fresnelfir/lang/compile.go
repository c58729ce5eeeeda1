package lang

import (
	"bytes"
	"cmp"
	_ "embed"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"go.starlark.net/syntax"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/starbox"
)

// Suffix is the end of a model's file name.
const Suffix = ".model.star"

// Example is a model that uses and explains every word of the language.
//
//go:embed example.model.star
var Example []byte

// Model is a translated model.
type Model struct {
	Tree   *doctree.Document
	Broken map[string]bool // names whose declarations could not be read
	Vague  map[int]bool    // lines that use a broken name, or a field whose type is refused
	lines  []string
	source *starbox.Source
}

// Stands returns the place in the source of a place in the tree.
func (m *Model) Stands(at doctree.Pos) doctree.Pos {
	return doctree.Pos{Line: m.source.Line(at.Line), Col: at.Col}
}

// Statement returns the first line of the statement that contains a line.
func (m *Model) Statement(n int) int {
	for n > 1 && !begins.MatchString(m.Line(n)) {
		n--
	}
	return n
}

// Further is a construct that existing readers of the IR ignore, with its key.
type Further struct {
	Pos  doctree.Pos
	Key  string // "$.effects.pay.steps"
	What string
}

// Line returns a line of the source.
func (m *Model) Line(n int) string {
	if n < 1 || n > len(m.lines) {
		return ""
	}
	return m.lines[n-1]
}

// declKind is the kind of a name in the source. Each kind has its own namespace.
type declKind uint8

const (
	declEntity declKind = iota
	declInput
	declDerived
	declRefinement
	declObserver
	declAction
	declProtocol
	declProperty
	declGenerator
	declRecord
	kinds
)

// decl is a statement that names something.
type decl struct {
	kind declKind
	name string
	stmt syntax.Stmt
	def  *syntax.DefStmt
	call *syntax.CallExpr
	fn   string

	shapes []part // shapes of an entity's fields; nil until needed
	open   bool   // a record whose shape is in progress, or a function that has been started
}

type compiler struct {
	file     string
	source   *starbox.Source
	ascii    bool
	list     diag.List
	decls    [kinds]map[string]*decl
	order    []*decl
	rest     []*syntax.CallExpr // statements without a name
	root     *node
	noting   bool
	further  []Further // filled only if noting is set
	beyond   bool      // the last expression needs an extension of the published format
	model    *Model
	acts     map[string]*action
	vars     map[string]map[string]bool // variables of actions, with their entities
	all      map[string]string          // the same with one entity each; nil until needed
	awaits   []*awaited                 // liveness properties
	posed    bool                       // the document lists coverage targets for inputs
	valued   map[string]bool            // entities whose instances are used as values
	expanded int                        // how many names were replaced by their values
	actor    func() string              // returns the acting entity
	acted    bool                       // actor was called
	before   kept                       // kept from the previous source
	now      kept
	fresh    map[syntax.Stmt]*translated // actions translated in advance
	near     map[string]string           // hints found for unknown names; nil: not kept
	asked    []declared                  // functions whose bodies the current action depends on
}

// constructors maps the calls that name something to kinds.
var constructors = map[string]declKind{
	"entity": declEntity, "input": declInput, "observer": declObserver, "protocol": declProtocol,
	"always": declProperty, "temporal": declProperty, "generator": declGenerator,
	"record": declRecord, "eventually": declProperty, "until": declProperty, "leads_to": declProperty,
}

// elsewhere maps words of other languages to constructors.
var elsewhere = map[string]string{"invariant": "always", "property": "always", "safety": "always", "globally": "always", "liveness": "eventually", "finally": "eventually"}

func didYouMean(word string, known []string) string {
	if to := elsewhere[word]; to != "" {
		return "did you mean " + to + "?"
	}
	return diag.DidYouMean(word, known)
}

// statements lists the calls without a name.
var statements = []string{"module", "system", "explore", "cover", "constraint", "hooks", "ir"}

// Compile translates a source. The diagnostics list everything that is wrong with its form. If some
// are errors, the model contains what could be translated, or is nil.
func (c *Compiler) Compile(file string, src []byte) (*Model, diag.List) {
	m, _, list := compile(c, file, src, false)
	return m, list
}

// Compile translates a source with a new [Compiler].
func Compile(file string, src []byte) (*Model, diag.List) { return new(Compiler).Compile(file, src) }

// Beyond lists the parts of a source that the published format cannot express, in the order of the
// text.
func Beyond(file string, src []byte) []Further {
	_, beyond, _ := compile(new(Compiler), file, src, true)
	return beyond
}

func compile(by *Compiler, file string, src []byte, noting bool) (*Model, []Further, diag.List) {
	lines := strings.Split(strings.ReplaceAll(string(src), "\r\n", "\n"), "\n")
	f, broken, list := parse(&by.parser, file, src, lines)
	if f == nil {
		return nil, nil, list
	}
	c := &compiler{file: file, source: f, list: list, noting: noting, acts: map[string]*action{}, fresh: map[syntax.Stmt]*translated{}, vars: map[string]map[string]bool{}, valued: map[string]bool{}}
	c.model = &Model{Broken: broken, Vague: map[int]bool{}, lines: lines, source: f}
	c.ascii = !bytes.ContainsFunc(src, func(r rune) bool { return r >= utf8.RuneSelf })
	c.actor = sync.OnceValue(c.acting)
	for k := range c.decls {
		c.decls[k] = map[string]*decl{}
	}
	for _, s := range f.Stmts {
		c.declare(s)
	}
	top := doctree.Pos{Line: 1, Col: 1}
	c.root = object(top)
	for _, key := range []string{"bindings", "effects", "entities", "exploration", "functions", "generators", "inputs", "properties", "protocols", "refinements"} {
		set(c.root, top, key, *object(top))
	}
	c.defaults(top)
	if k := by.kept.Load(); k != nil {
		c.before = *k
	}
	c.translate()
	if broken[c.actor()] {
		broken["actor"] = true
	}
	if !noting {
		if c.acted {
			actor := c.actor()
			c.now.around.actor = &actor
		}
		by.kept.Store(&c.now)
	}
	c.model.Tree = &doctree.Document{Root: *c.root}
	c.list = slices.DeleteFunc(c.list, func(d diag.Diagnostic) bool { return d.Code == "fresnelfir.unknown-field" && c.model.Vague[d.Pos.Line] })
	c.list.Sort()
	c.list = slices.CompactFunc(c.list, func(a, b diag.Diagnostic) bool { // a record is read at every use
		return a.Pos == b.Pos && a.Message == b.Message
	})
	return c.model, c.further, c.list
}

// noteExtension notes an extension of the published format, if the caller wants to know.
func (c *compiler) noteExtension(at doctree.Pos, said func() (key, what string)) {
	if c.noting {
		key, what := said()
		c.further = append(c.further, Further{c.model.Stands(at), key, what})
	}
}

// names returns the names of a kind.
func (c *compiler) names(k declKind) []string { return slices.Sorted(maps.Keys(c.decls[k])) }

// section returns a mapping of the document, or a mapping nested in it, and creates it if
// necessary.
func (c *compiler) section(keys ...string) *node {
	n := c.root
	for _, k := range keys {
		next := n.Get(k)
		if next == nil {
			set(n, n.Pos, k, *object(n.Pos))
			next = n.Get(k)
		}
		n = next
	}
	return n
}

// declare notes the name that a top-level statement declares.
func (c *compiler) declare(s syntax.Stmt) {
	d := &decl{stmt: s}
	switch x := s.(type) {
	case *syntax.DefStmt:
		d.name, d.def, d.kind = x.Name.Name, x, kindOf(x)
	case *syntax.AssignStmt:
		id, ok := x.LHS.(*syntax.Ident)
		call, is := x.RHS.(*syntax.CallExpr)
		if ok && is && x.Op == syntax.EQ {
			if fn, ok := call.Fn.(*syntax.Ident); ok {
				if kind, known := constructors[fn.Name]; known {
					d.kind, d.name, d.call, d.fn = kind, id.Name, call, fn.Name
					break
				}
				known := slices.Sorted(maps.Keys(constructors))
				c.fail(call, "unknown-word", didYouMean(fn.Name, known), "must be %s, got %s(...)", doctree.Either(known), fn.Name)
				c.model.Broken[id.Name] = true
				return
			}
		}
		if ok {
			c.model.Broken[id.Name] = true
		}
		c.fail(s, "expression", "", "must be NAME = entity(...), record(...), input(...), observer(...), protocol(...), always(...), temporal(...), eventually(...), until(...), leads_to(...) or generator(...)")
		return
	case *syntax.ExprStmt:
		if lit, ok := x.X.(*syntax.Literal); ok && lit.Token == syntax.STRING {
			return // a text about the model
		}
		call, ok := x.X.(*syntax.CallExpr)
		if ok {
			if fn, ok := call.Fn.(*syntax.Ident); ok && slices.Contains(statements, fn.Name) {
				c.rest = append(c.rest, call)
				return
			} else if ok {
				known := append(slices.Sorted(maps.Keys(constructors)), statements...)
				hint := didYouMean(fn.Name, known)
				to := cmp.Or(diag.Meant(hint), fn.Name)
				if _, names := constructors[to]; names {
					hint = "give it a name: NAME = " + to + "(...)"
				}
				c.fail(s, "unknown-word", hint, "%s(...) is not a statement of a model", fn.Name)
				return
			}
		}
		c.fail(s, "expression", "", "is not a statement of a model")
		return
	default:
		c.fail(s, "expression", "", "a model has no such statement: it is a list of declarations, which is read and never executed")
		return
	}
	if first, twice := c.decls[d.kind][d.name]; twice {
		c.fail(s, "duplicate-key", "", "%q is already declared in line %d", d.name, c.model.Stands(c.position(first.stmt)).Line)
		return
	}
	c.decls[d.kind][d.name] = d
	c.order = append(c.order, d)
}

// kindOf distinguishes actions, derived functions and refinements. The last two return a value, and
// the first parameter of a refinement is self.
func kindOf(x *syntax.DefStmt) declKind {
	ret, ok := statementsOf(x)[len(statementsOf(x))-1].(*syntax.ReturnStmt)
	if !ok || len(statementsOf(x)) > 1 || ret.Result == nil || isCall(ret.Result, "call") {
		return declAction
	}
	if len(x.Params) > 0 {
		if name, _ := parameter(x.Params[0]); name == "self" {
			return declRefinement
		}
	}
	return declDerived
}

// statementsOf returns the statements of a function without its docstring.
func statementsOf(x *syntax.DefStmt) []syntax.Stmt {
	if e, ok := x.Body[0].(*syntax.ExprStmt); ok && len(x.Body) > 1 {
		if lit, ok := e.X.(*syntax.Literal); ok && lit.Token == syntax.STRING {
			return x.Body[1:]
		}
	}
	return x.Body
}

func isCall(e syntax.Expr, name string) bool {
	call, ok := e.(*syntax.CallExpr)
	if !ok {
		return false
	}
	fn, ok := call.Fn.(*syntax.Ident)
	return ok && fn.Name == name
}

// parameter returns a parameter's name and its default or type.
func parameter(e syntax.Expr) (name string, is syntax.Expr) {
	switch x := e.(type) {
	case *syntax.Ident:
		return x.Name, nil
	case *syntax.BinaryExpr:
		if id, ok := x.X.(*syntax.Ident); ok {
			return id.Name, x.Y
		}
	}
	return "", nil
}

// translate fills the document's sections.
func (c *compiler) translate() {
	for _, d := range c.order {
		if d.kind == declAction {
			c.acts[d.name] = c.survey(d)
		}
	}
	for _, d := range c.order {
		if d.kind == declProperty && slices.Contains(liveness, d.fn) {
			c.await(d)
		}
	}
	c.look()
	c.ahead()
	for _, d := range c.order {
		at := c.position(d.stmt)
		switch d.kind {
		case declEntity:
			c.entity(d, at)
		case declRecord:
			d.open = true
			c.shapeOf(d.call, false)
			d.open = false
		case declInput:
			c.input(d, at)
		case declDerived, declRefinement, declObserver:
			c.defined(d)
		case declAction:
			c.enter(c.acts[d.name])
		case declProperty:
			if !slices.Contains(liveness, d.fn) {
				c.property(d, at)
			}
		case declGenerator:
			c.generator(d, at)
		}
	}
	for _, w := range c.awaits {
		c.awaitedProperty(w)
	}
	for _, d := range c.order { // after the actions, because guards come from them
		if d.kind == declProtocol {
			pos, _ := c.arguments(d.call)
			root := object(c.position(d.call))
			if len(pos) != 1 {
				c.fail(d.call, "arity", "", "protocol takes one node, got %d", len(pos))
				continue
			}
			set(root, root.Pos, "root", c.step(pos[0]))
			set(c.section("protocols"), c.position(d.stmt), d.name, *root)
		}
	}
	c.usual()
	c.giveDefaults()
	for _, call := range c.rest {
		c.statement(call)
	}
	c.targets()
	c.identified()
	c.noteExtensions()
	ordered(c.root)
}

// usual adds the protocol of a model that has none: any actions in any order.
func (c *compiler) usual() {
	var branches []node
	at := c.root.Pos
	for _, d := range c.order {
		if d.kind == declAction {
			branches = append(branches, c.branchOf(d.name, c.position(d.stmt)))
		}
	}
	if len(c.decls[declProtocol]) > 0 || len(branches) == 0 || slices.ContainsFunc(c.rest, func(x *syntax.CallExpr) bool {
		return x.Fn.(*syntax.Ident).Name == "ir" && len(x.Args) > 0 && c.literalOrNone(x.Args[0]).Text == "protocols"
	}) {
		return
	}
	alt := object(at)
	set(alt, at, "type", text(at, "alt"))
	set(alt, at, "branches", list(at, branches...))
	rep := object(at)
	set(rep, at, "type", text(at, "repeat"))
	set(rep, at, "min", integer(at, 1))
	set(rep, at, "max", integer(at, usualLength))
	set(rep, at, "body", *alt)
	root := object(at)
	set(root, at, "root", *rep)
	set(c.section("protocols"), at, "main", *root)
}

// usualLength is the maximum number of actions in a traversal by default.
const usualLength = 24
