package starbox

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"go.starlark.net/syntax"
)

// outline is every node of some statements with its place.
func outline(stmts []syntax.Stmt, line func(own int) int) string {
	var b strings.Builder
	for _, s := range stmts {
		syntax.Walk(s, func(n syntax.Node) bool {
			if n == nil {
				return false
			}
			from, to := n.Span()
			fmt.Fprintf(&b, "%T %d:%d to %d:%d", n, line(int(from.Line)), from.Col, line(int(to.Line)), to.Col)
			switch x := n.(type) {
			case *syntax.Literal:
				b.WriteString(" " + x.Raw)
			case *syntax.Ident:
				b.WriteString(" " + x.Name)
			}
			b.WriteString("\n")
			return true
		})
	}
	return b.String()
}

// lines are what sources are made of: statements, parts of some, and what looks like the
// beginning of one.
var lines = []string{
	"x = 1\n", "x = 1\n", "def f(a, b):\n", "    return a\n", "    if a:\n", "        pass\n", "    else:\n", "if x: pass\n", "elif y: pass\n", "else: pass\n", "el = 2\n",
	"y = g(\n", "a = 1,\n", ")\n", "z = [\n", "]\n", "'''\n", "\"\"\"a text\n", "def in_text():\n", "x = 1 \\\n", "x = 1 \\\r\n", "# it's (\n", "'\n", "\"(\"\n", "'\\''\n", "r'\\'\n",
	"\n", "  \n", "\t\n", "x = 1\r\n", "w = 'é😀' + b\"x\"\n", "\x00", "\r", "\\", "(", "\"", "for i in x: pass\n", "load('a', 'b')\n", "x = 1; y = 2\n", "_p = 3 # (\n", "π = 3\n", "\ufeff",
}

// A source that is edited has the statements and the errors that it has alone.
func TestParserKeepsWhatIsTheSame(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	parsed, kept := 0, 0
	for range 300 {
		p := Parser{next: math.MaxInt32 - 3} // as after years of typing
		var src []string
		for range 12 {
			src = append(src, lines[r.IntN(6)])
		}
		for range 40 {
			switch at := r.IntN(len(src) + 1); r.IntN(3) {
			case 0:
				src = slices.Insert(src, at, lines[r.IntN(len(lines))])
			case 1:
				src = slices.Delete(src, at, min(at+1, len(src)))
			default:
				if at < len(src) {
					src[at] = lines[r.IntN(len(lines))]
				}
			}
			text := strings.Join(src, "")
			before := p.made
			got, list := p.Parse("x", []byte(text))
			want, err := (&syntax.FileOptions{}).Parse("x", text, 0)
			if err != nil {
				if alone := faults("x", []byte(text), err); fmt.Sprint(list) != fmt.Sprint(alone) {
					t.Fatalf("%q: %v, alone %v", text, list, alone)
				}
				src = slices.Delete(src, len(src)/2, len(src)) // else hardly any text is read
				continue
			}
			if len(list) > 0 {
				t.Fatalf("%q: %v, alone nothing", text, list)
			}
			a, b := outline(got.Stmts, got.Line), outline(want.Stmts, func(n int) int { return n })
			if a != b {
				t.Fatalf("%q:\n%s, alone\n%s", text, a, b)
			}
			parsed, kept = parsed+len(pieces(text)), kept+len(pieces(text))-(p.made-before)
		}
	}
	if parsed < 5_000 || kept < parsed/2 {
		t.Errorf("%d pieces, of which %d were kept", parsed, kept)
	}
}

// What an edit leaves as it was is not parsed again, wherever it has moved.
func TestParserParsesTheEdit(t *testing.T) {
	var src strings.Builder
	for i := range 100 {
		fmt.Fprintf(&src, "def f%d():\n    x = \"\"\"\nis no statement (\n\"\"\"\n    return (1 +\n%d)\n\n", i, i)
	}
	var p Parser
	for _, text := range []string{src.String(), "# above\nn = 1\n" + src.String(), "# above\nn = \n" + src.String(), "# above\nn = 1\n" + strings.Replace(src.String(), "+\n50", "+\n49", 1)} {
		before := p.made
		_, list := p.Parse("x", []byte(text))
		if broken := strings.Contains(text, "n = \n"); broken != (len(list) > 0) {
			t.Fatal(list)
		}
		if made := p.made - before; before > 0 && made > 2 || made > 101 {
			t.Errorf("%d pieces are parsed", made)
		}
	}
}
