package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
)

// mutant is one change of one file: the bytes from lo to hi become text.
type mutant struct {
	file   string // slash-separated, from the root of the module
	line   int
	col    int
	lo, hi int
	text   string
	kind   string // such as "< to <="
	fn     string // the enclosing function
	nth    int    // index among mutants of its kind in the function, from 1
	from   int    // first line of the function
	to     int
}

// name does not change when lines are added or removed above the mutant.
func (m *mutant) name() string {
	return fmt.Sprintf("%s %s: %s #%d", m.file, m.fn, m.kind, m.nth)
}

func (m *mutant) String() string {
	return fmt.Sprintf("%s:%d:%d %s: %s #%d", m.file, m.line, m.col, m.fn, m.kind, m.nth)
}

// opposites maps operators to their replacements: comparisons move their boundary, others reverse
// their meaning.
var opposites = map[token.Token]token.Token{
	token.EQL: token.NEQ, token.NEQ: token.EQL,
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.LAND: token.LOR, token.LOR: token.LAND,
	token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL,
	token.SHL: token.SHR, token.SHR: token.SHL, token.AND: token.OR, token.OR: token.AND,
}

// zeros maps the types of dropped results to their zero values.
var zeros = map[string]string{"error": "nil", "string": `""`, "int": "0", "int64": "0", "float64": "0", "time.Duration": "0"}

// mutants lists the possible changes of a file, in the order of the text.
func mutants(name string, src []byte) ([]mutant, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	c := &collector{fset: fset, src: src, file: name, count: make(map[string]int)}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		c.fn = fn.Name.Name
		if fn.Recv != nil {
			c.fn = c.receiver(fn.Recv) + "." + c.fn
		}
		c.from, c.to = c.fset.Position(fn.Pos()).Line, c.fset.Position(fn.End()).Line
		c.results = []*ast.FieldList{fn.Type.Results}
		ast.Inspect(fn.Body, c.visit)
	}
	return c.list, nil
}

type collector struct {
	fset    *token.FileSet
	src     []byte
	file    string
	fn      string
	from    int
	to      int
	results []*ast.FieldList // of the function, and of the literals around a place
	open    []ast.Node
	count   map[string]int // by function and kind
	list    []mutant
}

func (c *collector) receiver(r *ast.FieldList) string {
	t := r.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return "?"
		}
	}
}

func (c *collector) at(p token.Pos) int { return c.fset.Position(p).Offset }

func (c *collector) textOf(n ast.Node) string { return string(c.src[c.at(n.Pos()):c.at(n.End())]) }

func (c *collector) add(from, to token.Pos, text, kind string) {
	p := c.fset.Position(from)
	key := c.fn + "\x00" + kind
	c.count[key]++
	c.list = append(c.list, mutant{
		file: c.file, line: p.Line, col: p.Column, lo: c.at(from), hi: c.at(to), text: text, kind: kind, fn: c.fn, nth: c.count[key],
		from: c.from, to: c.to,
	})
}

// replace changes a whole node.
func (c *collector) replace(n ast.Node, text, kind string) { c.add(n.Pos(), n.End(), text, kind) }

func (c *collector) visit(n ast.Node) bool {
	if n == nil {
		last := c.open[len(c.open)-1]
		c.open = c.open[:len(c.open)-1]
		if _, ok := last.(*ast.FuncLit); ok {
			c.results = c.results[:len(c.results)-1]
		}
		return true
	}
	c.open = append(c.open, n)
	switch x := n.(type) {
	case *ast.FuncLit:
		c.results = append(c.results, x.Type.Results)
	case *ast.BinaryExpr:
		if to, ok := opposites[x.Op]; ok {
			c.add(x.OpPos, x.OpPos+token.Pos(len(x.Op.String())), to.String(), x.Op.String()+" to "+to.String())
		}
	case *ast.UnaryExpr:
		if x.Op == token.NOT {
			c.replace(x, c.textOf(x.X), "drop !")
		}
	case *ast.IfStmt:
		c.replace(x.Cond, "!("+c.textOf(x.Cond)+")", "negate if")
	case *ast.IncDecStmt:
		to := map[token.Token]string{token.INC: "--", token.DEC: "++"}[x.Tok]
		c.add(x.TokPos, x.TokPos+2, to, x.Tok.String()+" to "+to)
	case *ast.BasicLit:
		// -1 and -2 both mean all, or none.
		if u, ok := c.open[max(len(c.open)-2, 0)].(*ast.UnaryExpr); ok && u.Op == token.SUB {
			break
		}
		if x.Kind == token.INT {
			if v, err := strconv.ParseInt(x.Value, 0, 64); err == nil {
				c.replace(x, strconv.FormatInt(v+1, 10), "constant + 1")
			}
		}
	case *ast.Ident:
		if to, ok := map[string]string{"true": "false", "false": "true"}[x.Name]; ok {
			c.replace(x, to, x.Name+" to "+to)
		}
	case *ast.ReturnStmt:
		c.dropped(x)
	case *ast.ExprStmt:
		c.replace(x, "", "drop call")
	case *ast.BranchStmt:
		if x.Label == nil && (x.Tok == token.BREAK || x.Tok == token.CONTINUE) {
			c.replace(x, "", "drop "+x.Tok.String())
		}
	}
	return true
}

// dropped replaces a returned value by the zero value.
func (c *collector) dropped(r *ast.ReturnStmt) {
	var types []ast.Expr
	fields := c.results[len(c.results)-1]
	if fields == nil {
		return
	}
	for _, f := range fields.List {
		for range max(len(f.Names), 1) {
			types = append(types, f.Type)
		}
	}
	if len(types) != len(r.Results) {
		return // it returns the results of another function
	}
	for i, v := range r.Results {
		kind := c.textOf(types[i])
		to, ok := zeros[kind]
		switch types[i].(type) {
		case *ast.StarExpr, *ast.ArrayType, *ast.MapType:
			to, ok = "nil", true
		}
		text := c.textOf(v)
		if _, simple := v.(*ast.Ident); kind == "bool" && !simple {
			to, ok = "!("+text+")", true
		}
		if ok && text != to {
			c.replace(v, to, "drop result")
		}
	}
}
