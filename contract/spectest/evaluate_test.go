package spectest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/engine/speclang"
)

func TestEvaluate(t *testing.T) {
	small := DefaultBudget()
	small.Steps = 1
	endless := DefaultBudget()
	endless.Steps, endless.Time = 1<<40, 10*time.Millisecond
	for _, c := range []struct {
		expr   string
		budget Budget
		want   string
		failed bool
	}{
		{`["add", 1, ["len", ["subject"]]]`, DefaultBudget(), `{"value":4,"steps":4,"nodes":7}`, false},
		{`"word"`, DefaultBudget(), `{"value":"word","steps":1,"nodes":1}`, false},
		{`["get", ["json_parse", "{\"a\": [1.5, null, \"\\u00e9\"]}"], "a"]`, DefaultBudget(), `{"value":[1.5,null,"é"],"steps":4,"nodes":6}`, false},
		{`["starts_with", ["subject"]]`, small, `{"error":{"category":"runtime","message":"spec_lang budget exceeded: steps"},"steps":2,"nodes":4}`, true},
		{`["nott"]`, DefaultBudget(), `{"error":{"category":"schema","message":"unsupported spec_lang symbol: nott","hint":"did you mean not?"},"steps":1,"nodes":2}`, true},
		{`{}`, DefaultBudget(), `{"error":{"category":"schema","message":"spec_lang expression must be list-based s-expr or scalar literal, got a mapping"},"steps":1,"nodes":1}`, true},
	} {
		doc, err := jsontree.Parse([]byte(c.expr), jsontree.Python())
		if err != nil {
			t.Fatal(err)
		}
		got := Evaluate(speclang.FormOfJSON(&doc.Root, doc.Position), speclang.StringValue("abc"), c.budget)
		if string(got.JSON) != c.want || got.Failed != c.failed {
			t.Errorf("%s: %s, want %s", c.expr, got.JSON, c.want)
		}
	}
	doc, err := jsontree.Parse([]byte(`["let", [["f", ["fn", [], ["call", ["var", "f"]]]]], ["call", ["var", "f"]]]`), jsontree.Python())
	if err != nil {
		t.Fatal(err)
	}
	if got := Evaluate(speclang.FormOfJSON(&doc.Root, doc.Position), speclang.NullValue(), endless); !got.Failed {
		t.Errorf("%s", got.JSON)
	}
}

// formatted is a document laid out, all of it.
func formatted(t *testing.T, path, doc string) string {
	t.Helper()
	form, left := Format(path, []byte(doc))
	if len(left) > 0 {
		t.Errorf("%s: %v", path, left)
	}
	return string(form)
}

// What cannot be read is left alone and told, and nothing is lost with it.
func TestFormatUnread(t *testing.T) {
	doc := "\ufeff- ~~~YML x spec-test\n  id:  A\n  harness:\n      env: {}\n  ~~~\n\n```yaml spec-test\nid: [\n```\n```yaml spec-test\nid: A\nid: B\n```\n```yaml spec-test\nid: C\n"
	form, left := Format("a.spec.md", []byte(doc))
	want := strings.Replace(strings.Replace(doc, "YML x spec-test", "yaml spec-test x", 1), "      env", "    env", 1)
	if string(form) != want {
		t.Errorf("%q, want %q", form, want)
	}
	var lines []int
	for _, d := range left {
		lines = append(lines, d.Pos.Line)
	}
	if !slices.Equal(lines, []int{9, 12, 14}) || left.HasErrors() {
		t.Errorf("%v", left)
	}
}

func TestFormat(t *testing.T) {
	const doc = "\ufeff# T\n\n~~~YML  Spec-Test x\nid: A\nassert:\n- target: text\n  must:\n  - evaluate:\n    - [eq, 1, 1] \n~~~\n\n" +
		"```yaml spec-test\nid: B # kept\n```\n\n````\n```yml spec-test\nid:   C\n  \n```\n````\n\n- item\n\n  ```yaml spec-test\n  id: D\n  tags:\n      - x\n  ```\n"
	const want = "\ufeff# T\n\n~~~yaml spec-test x\nid: A\nassert:\n  - target: text\n    must:\n      - evaluate:\n          - [\"eq\", 1, 1]\n~~~\n\n" +
		"```yaml spec-test\nid: B # kept\n```\n\n````\n```yml spec-test\nid:   C\n  \n```\n````\n\n- item\n\n  ```yaml spec-test\n  id: D\n  tags:\n    - x\n  ```\n"
	got := formatted(t, "a.spec.md", doc)
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if again := formatted(t, "a.spec.md", got); again != got {
		t.Errorf("a second time %q", again)
	}
	if got := formatted(t, "a.spec.yaml", "id: A\nharness:\n    env: {}\n"); got != "id: A\nharness:\n  env: {}\n" {
		t.Errorf("%q", got)
	}
	if got := formatted(t, "a.spec.json", `{ "id":1}`); got != `{ "id":1}` {
		t.Errorf("%q", got)
	}
	if got := formatted(t, "a.spec.md", "a\rb\n\n```yaml spec-test\rid: A\r```\r"); got != "a\rb\n\n```yaml spec-test\rid: A\r```\r" {
		t.Errorf("%q", got)
	}
}
