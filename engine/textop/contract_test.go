package textop_test

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/pyrand"
	"github.com/thresh-dev/thresh/engine/pyrand/pyrandtest"
	"github.com/thresh-dev/thresh/engine/textop"
	"github.com/thresh-dev/thresh/internal/golden"
)

// errorsFile checks what is said of each input of a file: a line of JSON, then
// one line for each diagnostic, beginning with ###. An input without any is
// accepted.
func errorsFile(t *testing.T, name string, parse func(line []byte) diag.List) {
	t.Helper()
	path := "testdata/" + name
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	for line := range bytes.Lines(data) {
		if bytes.HasPrefix(line, []byte("### ")) {
			continue
		}
		got.Write(line)
		if line[0] == '\n' || line[0] == '#' {
			continue
		}
		for _, d := range parse(bytes.TrimSpace(line)) {
			if d.Code == "" {
				got.WriteString("### = " + d.Message + "\n")
				continue
			}
			got.WriteString("### " + d.Level.String() + " " + d.Path + ": " + d.Message)
			if d.Hint != "" {
				got.WriteString(" (" + d.Hint + ")")
			}
			got.WriteByte('\n')
		}
	}
	golden.Check(t, path, got.String())
}

func TestMetaErrors(t *testing.T) {
	errorsFile(t, "errors_meta.txt", func(line []byte) diag.List {
		var raw map[string]any
		if err := json.Unmarshal(line, &raw); err != nil {
			t.Fatal(err)
		}
		_, found := textop.ParseMeta(raw)
		return found
	})
}

func TestContextErrors(t *testing.T) {
	errorsFile(t, "errors_context.txt", func(line []byte) diag.List {
		_, found := textop.ParseContext(line)
		return found
	})
}

func TestBucketErrors(t *testing.T) {
	errorsFile(t, "errors_bucket.txt", func(line []byte) diag.List {
		b, found := textop.ParseBucket(string(bytes.Trim(line, `"`)))
		if !found.HasErrors() {
			found = append(diag.List{{Message: string(b)}}, found...)
		}
		return found
	})
}

func TestMetaOfOtherTools(t *testing.T) {
	m, found := textop.ParseMeta(map[string]any{
		"op_id": "op_syn_arguments", "bucket_tags": []any{"LLM08_TOOL_MISUSE", "LLM05_OUTPUT_HANDLING", "LLM05_OUTPUT_HANDLING"},
		"surface_compat": []any{"TOOL_CALL", "TOOL_ARGUMENTS"}, "risk_level": "high", "strength_range": []any{int64(1), int64(5)},
		"params_schema": map[string]any{"mode": []any{"insert", "expand"}, "max_inserts": "int"},
	})
	if found.HasErrors() || m.Risk != textop.High || !m.Serves(textop.ToolMisuse) || !m.Serves(textop.OutputHandling) || !m.Accepts(textop.ToolcallJSON) {
		t.Errorf("%+v, %v", m, found)
	}
	if got := m.SurfaceTag(textop.ToolcallJSON, ""); got != "TOOL_ARGUMENTS" {
		t.Errorf("surface tag %s", got)
	}
	if got := m.SurfaceTag(textop.ToolcallJSON, "TOOL_CALL"); got != "TOOL_CALL" {
		t.Errorf("surface tag %s", got)
	}
	want := []textop.ParamSpec{{Name: "max_inserts", Kind: "int"}, {Name: "mode", Kind: "choice", Choices: []string{"insert", "expand"}}}
	if diff := cmp.Diff(want, m.Params); diff != "" {
		t.Error(diff)
	}
}

func TestConceptNumbers(t *testing.T) {
	for _, list := range []struct {
		prefix, year string
	}{{"LLM", "2023"}, {"LLM", "2025"}, {"LLM", "2026"}, {"ASI", "2026"}} {
		seen := make(map[textop.Bucket]bool)
		for n := 1; n <= 10; n++ {
			id := list.prefix + string([]byte{byte('0' + n/10), byte('0' + n%10)}) + ":" + list.year
			b, found := textop.ParseBucket(id)
			if b == "" || len(found) > 0 || seen[b] {
				t.Errorf("%s is %q, %v", id, b, found)
			}
			seen[b] = true
		}
	}
}

func TestContextRoundTrip(t *testing.T) {
	const text = `{"bucket_id":"LLM01_PROMPT_INJECTION","constraints":{"keep_controls":true,"max_chars":80,"mode":"x","placeholder":"-","schema_mode":true,"trim_trailing":true},"format":"yaml","metadata":{"seed_id":"a"},"partner_text":"b","strength":3,"surface":"TOOL_CALL"}`
	c, found := textop.ParseContext([]byte(text))
	if len(found) > 0 {
		t.Fatal(found)
	}
	if c.Bucket != textop.PromptInjection || c.Surface != textop.ToolcallJSON || c.Constraints.MaxChars != 80 {
		t.Errorf("%+v", c)
	}
	got, err := json.Marshal(c.Values("TOOL_CALL"))
	if err != nil || string(got) != text {
		t.Errorf("%s\nwant %s", got, text)
	}
	if c, _ := textop.ParseContext([]byte("{}")); c.Strength != 1 {
		t.Errorf("default strength %d", c.Strength)
	}
}

func TestNormalize(t *testing.T) {
	for _, c := range []struct{ in, want, trimmed string }{
		{"a\r\nb\rc\n", "a\nb\nc\n", "a\nb\nc\n"},
		{"a \t\r\n\tb  ", "a \t\n\tb  ", "a\n\tb"},
		{"x\xffy\xed\xa0\x80", "x\ufffdy\ufffd", "x\ufffdy\ufffd"},
		{"", "", ""},
	} {
		if got := textop.Normalize(c.in, textop.Constraints{}); got != c.want {
			t.Errorf("%q: %q, want %q", c.in, got, c.want)
		}
		if got := textop.Normalize(c.in, textop.Constraints{TrimTrailing: true}); got != c.trimmed {
			t.Errorf("%q trimmed: %q, want %q", c.in, got, c.trimmed)
		}
	}
}

func TestGuard(t *testing.T) {
	suffix, blank := textop.SchemaSuffix, textop.SchemaBlank
	for _, c := range []struct {
		guard    textop.Guard
		in, want string
		facts    string
	}{
		{textop.Guard{}, "a\x00b\x1b\x7f\tc\r\n\u0085\u200b", "ab\tc\r\n\u0085\u200b", "removed_control_chars"},
		{textop.Guard{KeepControls: true}, "a\x1b[1m", "a\x1b[1m", ""},
		{textop.Guard{MaxChars: 3}, "abcd", "abc", "truncated"},
		{textop.Guard{MaxChars: 3}, "abc", "abc", ""},
		{textop.Guard{MaxChars: 0}, "abc", "abc", ""},
		{textop.Guard{MaxChars: 3}, "abe\u0301x", "ab", "truncated"},
		{textop.Guard{MaxChars: 2}, "👩‍💻", "👩\u200d", "truncated"},
		{textop.Guard{MaxChars: 4}, "서울시민들", "서울시민", "truncated"},
		{textop.Guard{SchemaMode: blank}, " \n", "N/A", "schema_placeholder_applied"},
		{textop.Guard{SchemaMode: blank, Placeholder: "-"}, "", "-", "schema_placeholder_applied"},
		{textop.Guard{SchemaMode: blank}, " a ", " a ", ""},
		{textop.Guard{SchemaMode: suffix}, " a ", "a\nN/A", "schema_placeholder_suffix_appended"},
		{textop.Guard{SchemaMode: suffix}, "a\nN/A", "a\nN/A", ""},
		{textop.Guard{SchemaMode: suffix}, "N/A", "N/A", ""},
		{textop.Guard{SchemaMode: suffix}, "", "N/A", "schema_placeholder_applied"},
		{textop.Guard{SchemaMode: suffix, MaxChars: 8}, "abcdefgh", "abcd\nN/A", "schema_placeholder_suffix_appended truncated"},
		{textop.Guard{SchemaMode: suffix, MaxChars: 2}, "abcdefgh", "N/", "schema_placeholder_suffix_appended truncated"},
	} {
		g := c.guard.Apply(c.in)
		var facts []string
		for _, p := range g.Params(c.guard.MaxChars) {
			if p.Value == true && p.Key != "guard_applied" {
				facts = append(facts, p.Key)
			}
		}
		if g.Text != c.want || strings.Join(facts, " ") != c.facts || g.Acted() != (c.facts != "") || g.Len != utf8.RuneCountInString(g.Text) {
			t.Errorf("%+v %q: %+v, want %q, %s", c.guard, c.in, g, c.want, c.facts)
		}
	}
}

func TestGuardProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := textop.Guard{MaxChars: rapid.IntRange(1, 30).Draw(t, "max"), SchemaMode: rapid.SampledFrom([]textop.SchemaMode{"", textop.SchemaBlank, textop.SchemaSuffix}).Draw(t, "mode")}
		once := g.Apply(rapid.String().Draw(t, "text"))
		if once.Len > g.MaxChars || once.Len != utf8.RuneCountInString(once.Text) || strings.ContainsAny(once.Text, "\x00\x1b\x7f") {
			t.Errorf("%+v: %+v", g, once)
		}
		if twice := g.Apply(once.Text); g.SchemaMode == "" && twice.Text != once.Text {
			t.Errorf("%+v: %q, then %q", g, once.Text, twice.Text)
		}
	})
}

// stub is an operator that gives the answer it was made with.
type stub struct {
	meta  textop.Meta
	apply func(seed string) textop.Result
}

func (s *stub) Meta() *textop.Meta { return &s.meta }

func (s *stub) Apply(seed string, _ *textop.Context, _ *pyrand.Rand) textop.Result {
	return s.apply(seed)
}

// Run mends what an operator does against the contract and says so.
func TestRunHolds(t *testing.T) {
	answer := func(status textop.Status, child string, before, after int) func(string) textop.Result {
		return func(string) textop.Result {
			return textop.Result{Status: status, Child: child, Trace: textop.Step{OpID: "op_x_y", Status: status, LenBefore: before, LenAfter: after}}
		}
	}
	for name, c := range map[string]struct {
		apply    func(string) textop.Result
		over     textop.OverLength
		status   textop.Status
		child    string
		reason   string
		breaches int
	}{
		"good":            {answer("OK", "child", 4, 5), "", textop.OK, "child", "", 0},
		"no change":       {answer("OK", "seed", 4, 4), "", textop.Skipped, "seed", "no_change", 0},
		"skipped":         {answer("SKIPPED", "seed", 4, 4), "", textop.Skipped, "seed", "", 0},
		"changed skip":    {answer("SKIPPED", "child", 4, 5), "", textop.Skipped, "seed", "", 0}, // is advised against
		"wrong lengths":   {answer("OK", "child", 1, 1), "", textop.OK, "child", "", 2},
		"too long":        {answer("OK", "very long child", 4, 15), "", textop.Skipped, "seed", "max_chars_exceeded", 1},
		"too long, B":     {answer("OK", "very long child", 4, 15), textop.RefuseLong, textop.Invalid, "seed", "max_chars_exceeded", 1},
		"unknown status":  {answer("FINE", "child", 4, 5), "", textop.Invalid, "seed", "", 1},
		"not text":        {answer("OK", "a\xff", 4, 2), "", textop.Invalid, "seed", "", 1},
		"silent invalid":  {answer("INVALID", "seed", 4, 4), "", textop.Invalid, "seed", "", 1},
		"panic":           {func(string) textop.Result { panic("boom") }, "", textop.Invalid, "seed", "", 0},
		"trace of others": {func(string) textop.Result { return textop.Result{Status: textop.OK, Child: "child"} }, "", textop.OK, "child", "", 4},
	} {
		op := &stub{textop.Meta{ID: "op_x_y", OverLength: c.over}, c.apply}
		r := textop.Run(op, "seed", &textop.Context{Constraints: textop.Constraints{MaxChars: 10}}, pyrandtest.New(1))
		if r.Status != c.status || r.Child != c.child || r.Trace.Reason() != c.reason || len(r.Breaches) != c.breaches || len(r.Advice) > 0 != (name == "changed skip") || (r.Error != "") != (r.Status == textop.Invalid) {
			t.Errorf("%s: %+v", name, r)
		}
		if r.Trace.OpID != "op_x_y" || r.Trace.Status != r.Status || r.Trace.LenBefore != 4 || r.Trace.LenAfter != len(r.Child) {
			t.Errorf("%s: trace %+v", name, r.Trace)
		}
	}
}

// What AppendString writes is what encoding/json reads back.
func TestAppendString(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		var back string
		if err := json.Unmarshal(textop.AppendString(nil, s), &back); err != nil || back != s {
			t.Errorf("%q came back as %q, %v", s, back, err)
		}
	})
}

func TestRules(t *testing.T) {
	for name, want := range map[string]textop.Rule{"": textop.RuleContract, "contract": textop.RuleContract, "wide": textop.RuleWide} {
		if r, ok := textop.ParseRule(name); r != want || !ok {
			t.Errorf("%q: %q, %t", name, r, ok)
		}
	}
	if _, ok := textop.ParseRule("narrow"); ok {
		t.Error("a rule of no name is accepted")
	}
	if !slices.IsSorted([]int{textop.Low.Rank(), textop.Medium.Rank(), textop.High.Rank()}) || textop.Range.Clamp(textop.Range{Min: 1, Max: 5}, 9) != 5 {
		t.Error("risks or ranges are out of order")
	}
}
