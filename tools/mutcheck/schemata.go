package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// variable is the environment variable that selects the mutant.
const variable = "MUTCHECK"

// chooser is the file added to a package to read the variable.
const chooser = `package %s

import (
	mutcheckOS "os"
	mutcheckConv "strconv"
)

var mutcheckNumber, _ = mutcheckConv.Atoi(mutcheckOS.Getenv("` + variable + `"))
`

// span is the lines of one mutant's copy in the compiled text.
type span struct{ from, to, number int }

// render writes a file with all of its mutants. Each mutant is a copy of its function, which the
// original calls if the variable selects it, so one compilation serves all of them. Functions that
// cannot be copied this way are left out. Numbers are the positions of the mutants in the list,
// from 1.
func render(name string, src []byte, list []mutant, numbers []int) ([]byte, []span, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, nil, fmt.Errorf("reading %s: %w", name, err)
	}
	at := func(p token.Pos) int { return fset.Position(p).Offset }
	var edits []edit
	var copies bytes.Buffer
	type piece struct{ lo, hi, number int }
	var pieces []piece
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil || recovers(fn.Body) {
			continue
		}
		var cases strings.Builder
		var call *signature
		for i, number := range numbers {
			m := &list[i]
			if m.lo < at(fn.Body.Lbrace) || m.hi > at(fn.Body.Rbrace) {
				continue
			}
			if call == nil {
				call = readSignature(fn, at, string(src))
				edits = append(edits, call.edits...)
			}
			as := fmt.Sprintf("mutcheck%d%s", number, fn.Name.Name)
			fmt.Fprintf(&cases, "case %d: %s; ", number, call.text(as))
			lo := copies.Len() + 1
			copies.WriteByte('\n')
			copies.Write(src[at(fn.Type.Func):at(fn.Name.Pos())])
			copies.WriteString(as)
			copies.Write(src[at(fn.Name.End()):m.lo])
			copies.WriteString(m.text)
			copies.Write(src[m.hi:at(fn.End())])
			copies.WriteByte('\n')
			pieces = append(pieces, piece{lo, copies.Len(), number})
		}
		if call != nil {
			edits = append(edits, edit{at: at(fn.Body.Lbrace) + 1, text: " if mutcheckNumber != 0 { switch mutcheckNumber { " + cases.String() + "} }; "})
		}
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return a.at - b.at })
	var out bytes.Buffer
	last := 0
	for _, e := range edits {
		out.Write(src[last:e.at])
		out.WriteString(e.text)
		last = e.at + e.drop
	}
	out.Write(src[last:])
	lines := bytes.Count(out.Bytes(), []byte("\n"))
	var spans []span
	text := copies.Bytes()
	done := 0
	for _, p := range pieces {
		lines += bytes.Count(text[done:p.lo], []byte("\n"))
		from := lines + 1
		lines += bytes.Count(text[p.lo:p.hi], []byte("\n"))
		done = p.hi
		spans = append(spans, span{from, lines, p.number})
	}
	out.Write(text)
	return out.Bytes(), spans, nil
}

// recovers reports whether a function itself calls recover: a function called in its place could
// not recover.
func recovers(body *ast.BlockStmt) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			if id, ok := x.Fun.(*ast.Ident); ok && id.Name == "recover" {
				found = true
			}
		}
		return !found
	})
	return found
}

// edit replaces text.
type edit struct {
	at, drop int
	text     string
}

// signature is what a call needs to pass everything on to a copy.
type signature struct {
	receiver, types string
	args            []string
	results         bool
	edits           []edit // names for unnamed parameters
}

func readSignature(fn *ast.FuncDecl, at func(token.Pos) int, src string) *signature {
	s := &signature{results: fn.Type.Results != nil && len(fn.Type.Results.List) > 0}
	count := 0
	names := func(list *ast.FieldList) []string {
		var all []string
		for _, f := range list.List {
			var of []string
			for _, n := range f.Names {
				if n.Name == "_" {
					count++
					of = append(of, fmt.Sprint("mutcheckArg", count))
					s.edits = append(s.edits, edit{at(n.Pos()), 1, of[len(of)-1]})
				} else {
					of = append(of, n.Name)
				}
			}
			if len(f.Names) == 0 {
				count++
				of = []string{fmt.Sprint("mutcheckArg", count)}
				s.edits = append(s.edits, edit{at(f.Type.Pos()), 0, of[0] + " "})
			}
			if _, ok := f.Type.(*ast.Ellipsis); ok {
				of[len(of)-1] += "..."
			}
			all = append(all, of...)
		}
		return all
	}
	if fn.Recv != nil {
		s.receiver = names(fn.Recv)[0] + "."
	}
	if fn.Type.TypeParams != nil {
		s.types = "[" + strings.Join(names(fn.Type.TypeParams), ", ") + "]"
	}
	s.args = names(fn.Type.Params)
	return s
}

func (s *signature) text(name string) string {
	call := s.receiver + name + s.types + "(" + strings.Join(s.args, ", ") + ")"
	if s.results {
		return "return " + call
	}
	return call + "; return"
}

// program is the test program of a package, compiled with all mutants of a list.
type program struct {
	bin  string
	left map[int]bool // numbers of mutants that cannot be compiled or copied
}

var problem = regexp.MustCompile(`(?m)^(\S+?\.go):(\d+):\d+: (.+)$`)

// compile builds the tests of a package with its mutants. It leaves out mutants that do not
// compile.
func compile(ctx context.Context, root, dir, tmp string, list []mutant) (*program, error) {
	p := &program{bin: filepath.Join(tmp, "mutants.test"), left: make(map[int]bool)}
	for range 12 {
		spans, overlay, err := p.overlay(root, dir, tmp, list)
		if err != nil {
			return nil, err
		}
		said, err := goTest(ctx, root, "-c", "-o", p.bin, "-overlay", overlay, "-gcflags=./"+dir+"=-e", "./"+dir)
		if err == nil {
			return p, nil
		}
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			return nil, err
		}
		more := false
		for _, m := range problem.FindAllStringSubmatch(said, -1) {
			line, _ := strconv.Atoi(m[2])
			for _, s := range spans[filepath.Base(m[1])] {
				if s.from <= line && line <= s.to && !p.left[s.number] {
					p.left[s.number] = true
					more = true
				}
			}
		}
		if !more {
			return nil, fmt.Errorf("building the mutants of %s: %w\n%s", dir, err, said)
		}
	}
	return nil, fmt.Errorf("the mutants of %s do not compile", dir)
}

// overlay writes the files that the compiler reads instead of the package's.
func (p *program) overlay(root, dir, tmp string, list []mutant) (map[string][]span, string, error) {
	replace := make(map[string]string)
	spans := make(map[string][]span)
	for from := 0; from < len(list); {
		to := from
		var of []mutant
		var numbers []int
		for ; to < len(list) && list[to].file == list[from].file; to++ {
			if !p.left[to+1] {
				of = append(of, list[to])
				numbers = append(numbers, to+1)
			}
		}
		file := filepath.Join(root, filepath.FromSlash(list[from].file))
		src, err := os.ReadFile(file)
		if err != nil {
			return nil, "", err
		}
		text, at, err := render(list[from].file, src, of, numbers)
		if err != nil {
			return nil, "", err
		}
		copied := make(map[int]bool)
		for _, s := range at {
			copied[s.number] = true
		}
		for _, n := range numbers {
			p.left[n] = p.left[n] || !copied[n]
		}
		base := filepath.Base(file)
		spans[base] = at
		replace[file] = filepath.Join(tmp, base)
		if err := os.WriteFile(replace[file], text, 0o600); err != nil {
			return nil, "", err
		}
		if len(replace) == 1 {
			f, err := parser.ParseFile(token.NewFileSet(), file, src, parser.PackageClauseOnly)
			if err != nil {
				return nil, "", err
			}
			name := filepath.Join(root, filepath.FromSlash(dir), "mutcheck_chooser.go")
			replace[name] = filepath.Join(tmp, "mutcheck_chooser.go")
			if err := os.WriteFile(replace[name], fmt.Appendf(nil, chooser, f.Name.Name), 0o600); err != nil {
				return nil, "", err
			}
		}
		from = to
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, "", err
	}
	name := filepath.Join(tmp, "overlay.json")
	return spans, name, os.WriteFile(name, data, 0o600)
}

func goTest(ctx context.Context, root string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"test"}, args...)...)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	return string(out), err
}
