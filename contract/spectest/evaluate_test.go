package spectest

import (
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
		{`["nope"]`, DefaultBudget(), `{"error":{"category":"schema","message":"unsupported spec_lang symbol: nope"},"steps":1,"nodes":2}`, true},
		{`{}`, DefaultBudget(), `{"error":{"category":"schema","message":"spec_lang expression must be list-based s-expr or scalar literal, got a mapping"},"steps":1,"nodes":1}`, true},
	} {
		doc, err := jsontree.Parse([]byte(c.expr), jsontree.Python())
		if err != nil {
			t.Fatal(err)
		}
		got := Evaluate(doc, speclang.StringValue("abc"), c.budget)
		if string(got.JSON) != c.want || got.Failed != c.failed {
			t.Errorf("%s: %s, want %s", c.expr, got.JSON, c.want)
		}
	}
	doc, err := jsontree.Parse([]byte(`["let", [["f", ["fn", [], ["call", ["var", "f"]]]]], ["call", ["var", "f"]]]`), jsontree.Python())
	if err != nil {
		t.Fatal(err)
	}
	if got := Evaluate(doc, speclang.NullValue(), endless); !got.Failed {
		t.Errorf("%s", got.JSON)
	}
}

func TestFormat(t *testing.T) {
	const doc = "\ufeff# T\n\n~~~YML  Spec-Test x\nid: A\nassert:\n- target: text\n  must:\n  - evaluate:\n    - [eq, 1, 1] \n~~~\n\n" +
		"```yaml spec-test\nid: B # kept\n```\n\n````\n```yml spec-test\nid:   C\n  \n```\n````\n\n- item\n\n  ```yaml spec-test\n  id: D\n  tags:\n      - x\n  ```\n\n```yml spec-test\nnever: closed\n"
	const want = "\ufeff# T\n\n~~~yaml spec-test x\nid: A\nassert:\n  - target: text\n    must:\n      - evaluate:\n          - [\"eq\", 1, 1]\n~~~\n\n" +
		"```yaml spec-test\nid: B # kept\n```\n\n````\n```yml spec-test\nid:   C\n  \n```\n````\n\n- item\n\n  ```yaml spec-test\n  id: D\n  tags:\n    - x\n  ```\n\n```yml spec-test\nnever: closed\n"
	got := string(Format("a.spec.md", []byte(doc)))
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if again := string(Format("a.spec.md", []byte(got))); again != got {
		t.Errorf("a second time %q", again)
	}
	if got := string(Format("a.spec.yaml", []byte("id: A\nharness:\n    env: {}\n"))); got != "id: A\nharness:\n  env: {}\n" {
		t.Errorf("%q", got)
	}
	if got := string(Format("a.spec.json", []byte(`{ "id":1}`))); got != `{ "id":1}` {
		t.Errorf("%q", got)
	}
	if got := string(Format("a.spec.md", []byte("a\rb\n\n```yaml spec-test\rid: A\r```\r"))); got != "a\rb\n\n```yaml spec-test\rid: A\r```\r" {
		t.Errorf("%q", got)
	}
}
