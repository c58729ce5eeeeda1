package report

import (
	"regexp"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
)

func TestProse(t *testing.T) {
	for _, c := range []struct{ name, source, want string }{
		{"heading", "## A *title*", `<p class="heading level2">A <em>title</em></p>`},
		{"list", "1. one\n2. `two`\n", "<ol><li>one</li>\n<li><code>two</code></li>\n</ol>"},
		{"tasks", "- [x] done\n- [ ] not", "☑ done"},
		{"table", "|a|b|\n|-|-|\n|1|~~2~~|\n", "<th>a</th>"},
		{"code", "```sh\n<b>$x\n```\n", `<pre dir="auto">&lt;b&gt;$x` + "\n</pre>"},
		{"break", "a  \nb", "a<br>\nb"},
		{"link of the web", "[x](https://example.org/?a=1&b=\"2\")", `<a rel="noreferrer noopener" href="https://example.org/?a=1&amp;b=`},
		{"link that is a script", "[x](javascript:alert(1))", `<span class="link">x</span>`},
		{"link to a file", "[x](../secret)", `<span class="link">x</span>`},
		{"picture", "![a cat](http://example.org/cat.png)", `<span class="picture">picture: a cat (http://example.org/cat.png)</span>`},
		{"markup in a line", "a <img src=x onerror=y> b", `a <code>&lt;img src=x onerror=y&gt;</code> b`},
		{"markup as a block", "<script>\nalert(1)\n</script>\n", `&lt;script&gt;`},
		{"entity", "&lt;script&gt; &#x202e;", `<p>&lt;script&gt; <span class="hidden">\u202e</span></p>`},
		{"escape", `\*a\* ` + "`&amp;`", `<p>*a* <code>&amp;amp;</code></p>`},
		{"what cannot be seen", "a\u202eb", `<span class="hidden">\u202e</span>`},
		{"Korean and Arabic", "**가나** مرحبا", "<strong>가나</strong> مرحبا"},
	} {
		if got := string(prose(c.source)); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q in it", c.name, got, c.want)
		}
	}
}

// allowedTag is what prose may hold: elements of the closed set, with no
// attribute that a document decides but the address of a link of the web.
var allowedTag = regexp.MustCompile(`^<(/?(p|ol|ul|li|blockquote|code|em|strong|s|table|tr|th|td|pre|span|a)|br|hr|p class="heading level[1-6]"|pre dir="auto"|span class="(hidden|link|picture)"|a rel="noreferrer noopener" href="https?://[^"<>]*")>`)

func FuzzProse(f *testing.F) {
	for _, s := range []string{"# a\n\n[b](javascript:c) <d e=f>", "<!-- -->\n![](x)", "[a]: b\n\n[a] <https://c\"> `` ` ``", "| a |\n|-|\n| <b> |", hostile} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		out := string(prose(source))
		for i := strings.IndexByte(out, '<'); i >= 0; {
			if !allowedTag.MatchString(out[i:]) {
				t.Fatalf("%q becomes %q, which has %.60q", source, out, out[i:])
			}
			next := strings.IndexByte(out[i+1:], '<')
			if next < 0 {
				break
			}
			i += 1 + next
		}
		for _, p := range pieces(out, true) {
			if p.Hidden {
				t.Fatalf("%q becomes %q, in which %s cannot be seen", source, out, p.Text)
			}
		}
	})
}

// A block keeps its source, with all of the fence that it stands in; the rest
// is drawn.
func TestDocumentParts(t *testing.T) {
	body := "# T\n\n~~~\nfree\n~~~\n\n```yaml spec-test\na: 1\nb: 2\n```\nafter\n"
	doc := &campaign.Document{Body: body, Blocks: []campaign.Block{{From: 9, To: 9, Verdict: campaign.VerdictFail, Note: "b is 3"}}}
	d := &drawer{left: evidenceBudget}
	parts, note := d.document(doc)
	if len(parts) != 3 || note != "" {
		t.Fatalf("%d parts, %q", len(parts), note)
	}
	if !strings.Contains(string(parts[0].Prose), "free") || !strings.Contains(string(parts[2].Prose), "<p>after</p>") {
		t.Errorf("prose %q and %q", parts[0].Prose, parts[2].Prose)
	}
	lines := parts[1].Lines
	if len(lines) != 4 || lines[0].Number != 7 || lines[1].Verdict != "" || lines[2].Verdict != "fail" || !lines[2].First || lines[2].Notes[0] != "b is 3" {
		t.Errorf("lines %+v", lines)
	}
}

// A block within another points at a part of it: its line alone is what the
// reader is led to, with the note below it.
func TestDocumentPointsAtWhatFailed(t *testing.T) {
	doc := &campaign.Document{Body: "```\na\nb\nc\n```\n", Blocks: []campaign.Block{
		{From: 1, To: 5, Verdict: campaign.VerdictFail, Note: "T-1"}, {From: 3, To: 3, Verdict: campaign.VerdictFail, Note: "b is 3"},
	}}
	parts, _ := (&drawer{left: evidenceBudget}).document(doc)
	if len(parts) != 1 || len(parts[0].Lines) != 5 {
		t.Fatalf("parts %+v", parts)
	}
	for i, l := range parts[0].Lines {
		if l.At != (i == 2) || l.Verdict != "fail" {
			t.Errorf("line %d: %+v", i+1, l)
		}
	}
	if l := parts[0].Lines; l[2].Notes[0] != "b is 3" || l[4].Notes[0] != "T-1" || len(l[1].Notes) != 0 {
		t.Errorf("notes: %+v", l)
	}
	excerpt := &campaign.Document{First: 4, Body: "- id: T-1\n  path: a\n- b", Blocks: []campaign.Block{{From: 2, To: 2, Verdict: campaign.VerdictFail}}}
	if parts, _ := (&drawer{left: evidenceBudget}).document(excerpt); len(parts) != 1 || len(parts[0].Lines) != 3 {
		t.Errorf("part of a block is no prose: %+v", parts)
	}
	s := newScreen(Options{})
	s.document(doc)
	if text := s.String(); !strings.Contains(text, "FAIL  3  b\n") || !strings.Contains(text, "^ b is 3") {
		t.Errorf("on a terminal:\n%s", text)
	}
}
