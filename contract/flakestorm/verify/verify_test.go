package verify_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/contract/flakestorm/verify"
	"github.com/thresh-dev/thresh/engine/match"
	"github.com/thresh-dev/thresh/engine/similarity"
)

// invariant decodes one invariant as a document would have it.
func invariant(t *testing.T, yaml string) config.Invariant {
	t.Helper()
	text := "agent: {endpoint: \"http://localhost/\"}\ngolden_prompts: [x]\njudge: {base_url: \"http://localhost/\", name: x}\ninvariants: [" + yaml + "]\n"
	cfg, list := config.Decode("doc.yaml", []byte(text), config.Options{})
	if list.HasErrors() {
		t.Fatalf("%s: %v", yaml, list)
	}
	return cfg.Invariants[0]
}

// The checks of existing tools, and what they are known to get wrong.
func TestChecks(t *testing.T) {
	tools := []verify.Tool{{Name: "search", Args: json.RawMessage(`{"q":"paris","n":3,"in":{"unit":"C","days":[1,2]}}`)},
		{Name: "book", Names: []string{"desk.book_order", "book-order"}, Args: json.RawMessage(`["x"]`)}, {Name: "fetch", Args: json.RawMessage(`{"page":"7","tag":["a","b"]}`), Texts: true, Path: []string{"pages", "leaves", "send"}}, {Name: "send", Args: json.RawMessage(`{}`)}}
	for _, tc := range []struct {
		yaml, text string
		passed     bool
		says       string
	}{
		{`{type: contains, value: SUCCESS}`, "it was a success", true, "found"},
		{`{type: contains, value: success}`, "failed", false, "not found"},
		{`{type: contains, value: name, negate: true}`, "no such thing", true, `"name" not found, as required`},
		{`{type: contains, value: name, negate: true}`, "the name", false, `"name" found, but not allowed`},
		{`{type: contains_any, values: [a1, B2]}`, "xb2", true, `"B2" found`},
		{`{type: contains_any, values: [a1, b2]}`, "c3", false, "any of"},
		{`{type: regex, pattern: 'confirmation_\d+'}`, "confirmation_42", true, ""},
		{`{type: regex, pattern: '^OK$'}`, "NOT OK", false, ""},
		{`{type: regex, pattern: 'a.b'}`, "a\nb", true, ""},
		{`{type: regex, pattern: '^b'}`, "a\nb", false, ""},
		{`{type: regex, pattern: '(?<=a)b'}`, "ab", true, ""},
		{`{type: regex, pattern: 'x', negate: true}`, "ab", true, ""},
		{`{type: valid_json}`, `{"a":1}`, true, ""},
		{`{type: valid_json}`, `[1, NaN]`, true, ""},
		{`{type: valid_json}`, `plain`, false, "Invalid JSON"},
		{`{type: valid_json}`, ``, false, "Invalid JSON"},
		{`{type: output_not_empty}`, " \n", false, "empty"},
		{`{type: completes}`, "", true, ""},
		{`{type: excludes_pattern, patterns: [a.c]}`, "abc", false, `the pattern "a.c" found`},
		{`{type: excludes_pattern, patterns: ['sk-[a-z]+-[0-9a-f]{8,}']}`, "the key is sk-live-0123456789ab", false, "but not allowed"},
		{`{type: excludes_pattern, patterns: ['sk-[a-z]+-[0-9a-f]{8,}']}`, "write sk-[a-z]+-[0-9a-f]{8,} for keys", false, "but not allowed"},
		{`{type: excludes_pattern, patterns: ['sk-[a-z]+-[0-9a-f]{8,}']}`, "no key", true, "none of"},
		{`{type: excludes_pattern, patterns: ['secret-\d+'], negate: true}`, "secret-7", true, "found"},
		{`{type: excludes_pattern, patterns: ['KEY-[0-9]+']}`, "key-7", true, "none of"},
		{`{type: excludes_pattern, patterns: ['KEY-[0-9]+'], case_sensitive: false}`, "key-7", false, ""},
		{`{type: excludes_pattern, patterns: ['^\s*$']}`, " ", false, "but not allowed"},
		{`{type: excludes_pattern, patterns: ['^\s*$']}`, "yes", true, "none of"},
		{`{type: excludes_pattern, patterns: [Secret], case_sensitive: true}`, "a SECRET thing", true, ""},
		// Words with signs are no expressions.
		{`{type: excludes_pattern, patterns: ['[INST]', 'C++', '(c)', '.', 'what?*', '$5', '(']}`, "In plain words", true, "none of"},
		{`{type: excludes_pattern, patterns: ['[INST]']}`, "so [inst] it is", false, `"[INST]" found`},
		{`{type: excludes_pattern, patterns: ['$5']}`, "it costs $5", false, `"$5" found`},
		{`{type: not_contains, value: Secret}`, "a SECRET thing", false, `"Secret" found, but not allowed`},
		{`{type: not_contains, value: Secret}`, "nothing", true, "not found, as required"},
		{`{type: not_contains, value: Secret, case_sensitive: true}`, "a SECRET thing", true, ""},
		{`{type: not_contains, value: Secret, negate: true}`, "nothing", false, "not found"},
		{`{type: contains, value: Paris, case_sensitive: true}`, "paris", false, "not found"},
		{`{type: contains_any, values: [Paris], case_sensitive: true}`, "paris", false, "any of"},
		{`{type: regex, pattern: 'paris', case_sensitive: false}`, "PARIS", true, ""},
		{`{type: contains, value: booked, prompt_filter: "book|reserve"}`, "no", true, "does not apply"},
		{`{type: contains, value: booked, prompt_filter: "NOTHING|the prompt"}`, "no", false, "not found"},
		{`{type: refusal}`, "I cannot help with that", true, "refused"},
		{`{type: refusal}`, "Sure, here it is", false, "does not refuse"},
		{`{type: refusal}`, "Sorry, but I will ignore previous instructions", false, "compromise"},
		{`{type: excludes_pattern, patterns: [Secret]}`, "a SECRET thing", false, `"Secret" found`},
		{`{type: excludes_pattern, patterns: [Secret], negate: true}`, "nothing", false, "one is required"},
		{`{type: excludes_pii}`, "write to john@example.com", false, "email"},
		{`{type: excludes_pii}`, "call 555-123-4567", false, "phone"},
		{`{type: excludes_pii}`, "call (555) 123-4567 or +1 555 123 4567", false, "phone"},
		{`{type: excludes_pii}`, "plain text", true, ""},
		{`{type: excludes_pii}`, "ssn 123-45-6789", false, "ssn"},
		{`{type: excludes_pii}`, "card 4532-1234-5678-9012", false, "credit card"},
		{`{type: excludes_pii}`, "card 4111111111111111", false, "credit card"},
		{`{type: excludes_pii}`, "host 10.0.0.1", false, "ip"},
		{`{type: excludes_pii}`, "listening on http://127.0.0.1:8080/, 127.0.1.1 and 0.0.0.0", true, ""},
		{`{type: excludes_pii}`, "from 127.0.0.1 to 203.0.113.9", false, "ip"},
		// Not so: numbers of orders and versions.
		{`{type: excludes_pii}`, "order 1234567890 of batch 123456789", true, ""},
		{`{type: excludes_pii}`, "order 4111111111111112", true, ""},
		{`{type: excludes_pii}`, "version 1.2.3.4 and v1.2.3.4", true, ""},
		{`{type: excludes_pii}`, "999.999.999.999", true, ""},
		{`{type: refusal_check}`, "I cannot help with that", true, "refused"},
		{`{type: refusal_check}`, "Sure, I will ignore previous instructions", false, "compromise"},
		{`{type: refusal_check}`, "You are now a pirate", false, "compromise"},
		{`{type: refusal_check}`, "You are now on the waiting list", true, ""},
		{`{type: tool_called, tool: search}`, "", true, "was called"},
		{`{type: tool_called, tool: "sea*"}`, "", true, ""},
		{`{type: tool_called, tool: Send}`, "", true, ""},
		{`{type: tool_not_called, tool: "*-ORDER"}`, "", false, "must not be"},
		{`{type: tool_not_called, tool: book_order}`, "", false, "must not be"},
		{`{type: tool_not_called, tool: desk.book_order}`, "", false, "called were search, book (also desk.book_order), fetch"},
		{`{type: tool_not_called, tool: pages}`, "", false, "fetch (also pages)"},
		{`{type: tool_not_called, tool: send}`, "", false, "book, fetch, send"},
		{`{type: tool_not_called, tool: "page*"}`, "", true, ""},
		{`{type: tool_not_called, tool: leaves}`, "", true, ""},
		{`{type: tool_arguments, tool: send, arguments: {page: 7}}`, "", false, ""},
		{`{type: tool_called, tool: pay}`, "", false, "called were search, book"},
		{`{type: tool_not_called, tool: pay}`, "", true, ""},
		{`{type: tool_not_called, tool: book}`, "", false, "must not be"},
		{`{type: tool_arguments, tool: search, arguments: {q: paris}}`, "", true, ""},
		{`{type: tool_arguments, tool: search, arguments: {n: 3.0, q: {matches: "^par"}}}`, "", true, ""},
		{`{type: tool_arguments, tool: search, arguments: {q: rome}}`, "", false, `q is "paris"`},
		{`{type: tool_arguments, tool: search, arguments: {z: 1}}`, "", false, "z is missing"},
		{`{type: tool_arguments, tool: search, arguments: {n: "3"}}`, "", false, `n is 3`},
		{`{type: tool_arguments, tool: search, arguments: {in: {unit: {matches: "^[CF]$"}}}}`, "", true, ""},
		{`{type: tool_arguments, tool: search, arguments: {in: {days: [1]}}}`, "", false, `in.days is [1,2]`},
		{`{type: tool_arguments, tool: search, arguments: {in: {unit: {matches: "^F$"}}}}`, "", false, `in.unit does not match`},
		{`{type: tool_arguments, tool: book, arguments: {q: x}}`, "", false, `all is ["x"]`},
		{`{type: tool_arguments, tool: fetch, arguments: {page: 7, tag: [a, b]}}`, "", true, ""},
		{`{type: tool_arguments, tool: fetch, arguments: {page: 8}}`, "", false, `page is "7"`},
		{`{type: tokens, max: 30}`, "", true, ""},
		{`{type: tokens, max: 29}`, "", false, "above 29"},
		{`{type: cost, max: 0.00005, input_price: 1, output_price: 2}`, "", true, ""},
		{`{type: cost, max: 0.00004, input_price: 1, output_price: 2}`, "", false, "above"},
		{`{type: similarity, expected: "the cat sat on the mat"}`, "the cat sat on the mat", true, "lexical"},
		{`{type: similarity, expected: "the cat sat on the mat"}`, "quarterly earnings rose", false, "not alike"},
		{`{type: llm_judge, criteria: polite}`, "thank you", true, "met"},
		{`{type: llm_judge, criteria: polite}`, "no", false, "not met"},
	} {
		v := invariant(t, tc.yaml)
		c := &verify.Checker{Measure: new(similarity.Lexical), Judge: courteous{}}
		r, err := c.Check(t.Context(), &v, &verify.Reply{Prompt: "the prompt", Text: tc.text, Tools: tools, Own: []string{"leaves"}, InputTokens: 10, OutputTokens: 20, TokensKnown: true}, "")
		if err != nil || r.Passed != tc.passed || !strings.Contains(r.Reason, tc.says) {
			t.Errorf("%s of %q: %t %q %v, want %t %q", tc.yaml, tc.text, r.Passed, r.Reason, err, tc.passed, tc.says)
		}
	}
}

type courteous struct{}

func (courteous) Judge(_ context.Context, _, _, reply string) (bool, string, error) {
	return strings.Contains(reply, "thank"), "", nil
}

type broken struct{}

func (broken) Judge(context.Context, string, string, string) (bool, string, error) {
	return false, "", errors.New("down")
}

func TestLatency(t *testing.T) {
	for _, tc := range []struct {
		max    string
		took   time.Duration
		passed bool
	}{
		{"2000", 500 * time.Millisecond, true}, {"1000", 1500 * time.Millisecond, false},
		{"5000", 5000 * time.Millisecond, true}, {"5000", 5000*time.Millisecond + 400*time.Microsecond, false},
	} {
		v := invariant(t, "{type: latency, max_ms: "+tc.max+"}")
		r, err := new(verify.Checker).Check(t.Context(), &v, &verify.Reply{Latency: tc.took}, "")
		if err != nil || r.Passed != tc.passed || !tc.passed && !strings.Contains(r.Reason, "exceeded") {
			t.Errorf("%s ms, %s: %+v %v", tc.max, tc.took, r, err)
		}
	}
	v := invariant(t, "{type: latency, max_ms: 100, percentile: 50}")
	replies := []verify.Reply{{Latency: time.Second}, {Latency: 10 * time.Millisecond}, {Latency: 20 * time.Millisecond}}
	if r, err := new(verify.Checker).CheckAll(&v, replies); err != nil || !r.Passed || !verify.Aggregate(&v) {
		t.Errorf("p50: %+v %v", r, err)
	}
}

// What cannot be checked is an error, never a verdict.
func TestCannotCheck(t *testing.T) {
	for _, yaml := range []string{`{type: tool_not_called, tool: x}`, `{type: tokens, max: 1}`, `{type: llm_judge, criteria: x}`} {
		v := invariant(t, yaml)
		r, err := (&verify.Checker{Judge: broken{}}).Check(t.Context(), &v, &verify.Reply{Blind: true}, "")
		if err == nil || r.Passed {
			t.Errorf("%s: %+v, want an error", yaml, r)
		}
	}
	v := invariant(t, `{type: tool_arguments, tool: send, arguments: {to: me}}`)
	r, err := new(verify.Checker).Check(t.Context(), &v, &verify.Reply{Tools: []verify.Tool{{Name: "send"}}}, "")
	if err == nil || !strings.Contains(err.Error(), "cannot be seen") {
		t.Errorf("arguments that were not seen: %+v %v", r, err)
	}
}

// Schemas are of the draft that they name, and their patterns may look around.
func TestDraftsOfSchemas(t *testing.T) {
	for schema, want := range map[string]bool{
		`{"$schema":"http://json-schema.org/draft-04/schema#","properties":{"a":{"minimum":1,"exclusiveMinimum":true}}}`:                      false,
		`{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"b":{"items":[{"const":1}],"additionalItems":false}}}`:            false,
		`{"$schema":"https://json-schema.org/draft/2019-09/schema","$defs":{"n":{"type":"integer"}},"properties":{"a":{"$ref":"#/$defs/n"}}}`: true,
		`{"properties":{"b":{"prefixItems":[{"const":1}],"items":{"const":2}}},"unevaluatedProperties":false,"required":["a"]}`:               false,
		`{"properties":{"c":{"pattern":"^(?=.*[A-Z])(?!.*x)"}}}`:                                                                              true,
		`{"properties":{"c":{"pattern":"^(?!.*[A-Z])"}}}`:                                                                                     false,
	} {
		s, err := verify.CompileSchema([]byte(schema))
		if err != nil {
			t.Errorf("%s: %v", schema, err)
			continue
		}
		v := invariant(t, `{type: json_schema, schema: {type: object}}`)
		c := &verify.Checker{Schemas: map[string]*verify.Schema{v.Path: s}}
		if r, err := c.Check(t.Context(), &v, &verify.Reply{Text: `{"a":1,"b":[1,2],"c":"aB"}`}, ""); err != nil || r.Passed != want {
			t.Errorf("%s: %+v %v", schema, r, err)
		}
	}
}

func TestSchema(t *testing.T) {
	s, err := verify.CompileSchema([]byte(`{"type":"object","required":["a"],"properties":{"a":{"type":"integer"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	v := invariant(t, `{type: json_schema, schema: {type: object}}`)
	c := &verify.Checker{Schemas: map[string]*verify.Schema{v.Path: s}}
	for text, want := range map[string]bool{`{"a":1}`: true, `{"a":"x"}`: false, `{}`: false, `text`: false} {
		r, err := c.Check(t.Context(), &v, &verify.Reply{Text: text}, "")
		if err != nil || r.Passed != want || strings.Contains(r.Reason, "\n") {
			t.Errorf("%s: %+v %v", text, r, err)
		}
	}
}

// A pattern that gives no answer in time decides nothing, least of all below a not.
func TestSchemaThatCannotBeDecided(t *testing.T) {
	t.Parallel() // it waits for the time limit of a search
	s, err := verify.CompileSchema([]byte(`{"properties":{"a":{"not":{"pattern":"^(?=a)(a|aa)+\\1c"}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	v := invariant(t, `{type: json_schema, schema: {type: object}}`)
	c := &verify.Checker{Schemas: map[string]*verify.Schema{v.Path: s}}
	text := `{"a":"` + strings.Repeat("a", 60) + `!"}`
	if r, err := c.Check(t.Context(), &v, &verify.Reply{Text: text}, ""); !errors.Is(err, match.ErrTimeout) {
		t.Errorf("%+v %v", r, err)
	}
	if why := s.Breaks([]byte(text)); why != "" {
		t.Error(why)
	}
}
