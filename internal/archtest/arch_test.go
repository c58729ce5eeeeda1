package archtest

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/thresh-dev/thresh"

// layer is a part of the tree and what of the house it may import.
type layer struct {
	dir    string   // the folder, without the module
	may    []string // folders it may import, itself included where packages build on each other
	reason string
}

var layers = []layer{
	{"diag", nil, "diag is a leaf that everything may import"},
	{"campaign", []string{"diag"}, "the core knows neither contracts nor systems"},
	{"port", []string{"campaign", "diag", "port"}, "ports are values and small interfaces that contracts and systems share"},
	{"engine", []string{"diag", "engine", "port"}, "engines are pure algorithms; lower ones may serve higher ones"},
	{"contract", []string{"campaign", "engine", "port", "diag"}, "contracts never touch an edge or each other: they declare what they need of a system"},
	{"system", []string{"campaign", "diag", "engine", "port", "system"}, "systems know no contract and no run"},
	{"store", []string{"campaign", "engine", "diag", "store"}, "the store keeps and compares values of the core"},
	{"report", []string{"campaign", "diag", "engine", "report"}, "reports are projections of a stored record, whatever contract it is of"},
	{"run", []string{"campaign", "store", "diag", "run"}, "a run executes campaigns of any contract"},
	{"fleet", []string{"campaign", "run", "store", "diag", "fleet"}, "a fleet speaks values of the core and of a run; it knows no contract and no system"},
	{"app", []string{"app", "campaign", "contract", "engine", "port", "system", "store", "run", "fleet", "report", "diag", "examples"}, "use cases name everything but the faces, which are layers over them"},
	{"face", []string{"app", "campaign", "run", "diag", "report", "store", "face"}, "faces are layers over the use cases, and know no format and no system"},
	{".", []string{"app", "campaign", "face"}, "package thresh is names over the use cases, and Main, which starts the command line"},
	{"threshtest", []string{"."}, "tests of other modules have what package thresh offers"},
	{"cmd", []string{".", "cmd"}, "main only"},
	{"examples/palindromes", []string{".", "campaign", "diag", "engine", "examples/palindromes"}, "a format of another module has what other modules may import"},
	{"examples", []string{"examples", "engine", "port", "diag"}, "examples are programs to be tested, not parts of the tool"},
}

// source is one parsed Go file.
type source struct {
	path string // slash-separated, from the root of the module
	dir  string
	test bool
	file *ast.File
	fset *token.FileSet
}

func sources(t *testing.T) []source {
	t.Helper()
	list, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// parsed are all Go files of the module.
var parsed = sync.OnceValues(func() (list []source, err error) {
	root, err := filepath.Abs("../..")
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	err = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && p != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "node_modules") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		f, err := parser.ParseFile(fset, p, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		list = append(list, source{path: rel, dir: path.Dir(rel), test: strings.HasSuffix(name, "_test.go"), file: f, fset: fset})
		return nil
	})
	if err == nil && len(list) < 50 {
		err = fmt.Errorf("only %d Go files found under %s", len(list), root)
	}
	return list, err
})

func within(dir, folder string) bool {
	return folder == "" || dir == folder || strings.HasPrefix(dir, folder+"/")
}

// frontDoor is the contract that a package of it belongs to.
func frontDoor(dir string) string {
	parts := strings.SplitN(dir, "/", 3)
	return strings.Join(parts[:min(len(parts), 2)], "/")
}

func imports(s source) []string {
	var list []string
	for _, i := range s.file.Imports {
		p, err := strconv.Unquote(i.Path.Value)
		if err == nil {
			list = append(list, p)
		}
	}
	return list
}

func TestImports(t *testing.T) {
	used := make(map[string]bool)
	for _, s := range sources(t) {
		if s.test || strings.HasSuffix(s.dir, "test") && s.dir != "threshtest" {
			continue // tests and test suites may look across
		}
		i := slices.IndexFunc(layers, func(l layer) bool { return within(s.dir, l.dir) || l.dir == "." && s.dir == "." })
		for _, p := range imports(s) {
			house, ok := strings.CutPrefix(p, module+"/")
			if p == module {
				house, ok = ".", true
			}
			if !ok {
				continue
			}
			if i < 0 {
				if !within(s.dir, "bench") && !within(s.dir, "tools") && !within(s.dir, "docs") {
					t.Errorf("%s: package %s belongs to no layer", s.path, s.dir)
				}
				continue
			}
			l := layers[i]
			used[l.dir] = true
			same := house == s.dir || l.dir == "contract" && frontDoor(house) == frontDoor(s.dir) // which may have parts
			if !same && !slices.ContainsFunc(l.may, func(m string) bool { return within(house, m) }) {
				t.Errorf("%s imports %s: %s", s.path, house, l.reason)
			}
		}
	}
	for _, l := range layers {
		if len(l.may) > 0 && !used[l.dir] {
			t.Errorf("the rule for %s is idle: nothing there imports anything of the house", l.dir)
		}
	}
}

// The core and the engines are values and pure functions: equal input, equal
// output, on every machine and at any time.
func TestCoreIsPure(t *testing.T) {
	banned := map[string]string{
		"os": "no files", "os/exec": "no processes", "net": "no network", "net/http": "no network", "math/rand": "no global randomness",
		"math/rand/v2": "randomness comes from an explicit generator of the engine", "crypto/rand": "no randomness", "syscall": "no system calls",
	}
	for _, s := range sources(t) {
		if s.test || !within(s.dir, "campaign") && !within(s.dir, "engine") && !within(s.dir, "port") {
			continue
		}
		for _, p := range imports(s) {
			if why, bad := banned[p]; bad {
				t.Errorf("%s imports %s: %s in the core", s.path, p, why)
			}
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.SelectorExpr:
				id, ok := x.X.(*ast.Ident)
				if ok && id.Name == "time" && slices.Contains([]string{"Now", "Since", "Sleep", "After", "NewTimer", "Tick"}, x.Sel.Name) {
					t.Errorf("%s: time.%s: the core reads no clock", s.fset.Position(x.Pos()), x.Sel.Name)
				}
			case *ast.GoStmt:
				t.Errorf("%s: the core starts no goroutine", s.fset.Position(x.Pos()))
			}
			return true
		})
	}
}

// A program that looks up a method by a name of run time keeps every exported
// method of all its packages: 4 MB of the release binary.
func TestMethodsStayPrunable(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || within(s.dir, "bench") || within(s.dir, "tools") || within(s.dir, "examples") {
			continue
		}
		for _, p := range imports(s) {
			if p == "html/template" {
				t.Errorf("%s imports %s: use engine/markup", s.path, p)
			}
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if x, ok := n.(*ast.SelectorExpr); ok && slices.Contains([]string{"MethodByName", "SetVersionTemplate", "SetHelpTemplate", "SetUsageTemplate"}, x.Sel.Name) {
				t.Errorf("%s: %s finds methods by name", s.fset.Position(x.Pos()), x.Sel.Name)
			}
			return true
		})
	}
}

func TestPackages(t *testing.T) {
	type pkg struct{ comment bool }
	seen := make(map[string]*pkg)
	for _, s := range sources(t) {
		for _, d := range s.file.Decls {
			own := within(s.dir, "cmd") || slices.Contains([]string{"examples/fuzzspec/demo", "face/lsp/early"}, s.dir) // act or exit before others are initialized, register nothing
			if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == "init" && f.Recv == nil && !own {
				t.Errorf("%s: no init functions: the composition root lists what there is", s.fset.Position(f.Pos()))
			}
		}
		if s.test {
			continue
		}
		base := path.Base(s.dir)
		if slices.Contains([]string{"util", "utils", "common", "helpers", "types", "manager", "lib", "misc"}, base) {
			t.Errorf("%s: a package is named for its one reason to exist, not %q", s.dir, base)
		}
		p := seen[s.dir]
		if p == nil {
			p = &pkg{}
			seen[s.dir] = p
		}
		p.comment = p.comment || s.file.Doc != nil && len(s.file.Doc.Text()) > 40
	}
	for dir, p := range seen {
		if !p.comment {
			t.Errorf("%s: the package has no comment that says what it is for", dir)
		}
	}
}

// maxLines keeps files small enough to read in one go.
const maxLines = 450

func TestFileLength(t *testing.T) {
	for _, s := range sources(t) {
		if n := s.fset.File(s.file.Pos()).LineCount(); n > maxLines && !s.test {
			t.Errorf("%s has %d lines, more than %d: split it by what it holds", s.path, n, maxLines)
		}
	}
}

// What pages and reports say of a format comes from its exhibits, and what servers
// offer for it from its contract: what draws and serves names none.
func TestFacesNameNoFormat(t *testing.T) {
	named := regexp.MustCompile(`(?i)fuzz-?spec|flakestorm|fresnel|spec-?test|"operator"|operator contract`)
	for _, dir := range []string{"../../report", "../../face/web", "../../face/mcp", "../../face/lsp"} {
		err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasSuffix(p, "_test.go") || strings.Contains(filepath.ToSlash(p), "/testdata/") {
				return err
			}
			text, err := os.ReadFile(p)
			for i, line := range strings.Split(string(text), "\n") {
				if name := named.FindString(line); name != "" {
					t.Errorf("%s:%d names a format: %s", p, i+1, name)
				}
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// The tree speaks of the project alone.
func TestNoForeignPaths(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	words := []string{"/wo" + "rk/main", "sha" + "red/", "/ro" + "ot/", "/fa" + "rm/"}
	err = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == ".git" || d.Name() == ".thresh" || d.Name() == "node_modules") {
			if err == nil {
				err = filepath.SkipDir
			}
			return err
		}
		switch filepath.Ext(p) {
		case ".go", ".md", ".c", ".h", ".s", ".sh", ".json", ".txtar", ".yml", ".tmpl", ".css", ".js", "":
		default:
			return nil
		}
		if !d.Type().IsRegular() || strings.Contains(filepath.ToSlash(p), "/testdata/fuzz/") {
			return nil
		}
		text, err := os.ReadFile(p)
		if err != nil || bytes.IndexByte(text, 0) >= 0 { // a program that was built here is none of the tree's
			return err
		}
		for _, w := range words {
			for i := strings.Index(string(text), w); i >= 0; {
				if i == 0 || !isLetter(text[i-1]) { // "rt/work/" is a path of a fixture
					t.Errorf("%s: holds %q: %q", p, w, text[max(0, i-20):min(len(text), i+30)])
					break
				}
				next := strings.Index(string(text[i+1:]), w)
				if next < 0 {
					break
				}
				i += 1 + next
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }
