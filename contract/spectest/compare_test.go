package spectest

import (
	"encoding/json"
	"strings"
	"testing"
)

// How a failure says that two texts differ, also where it cannot be seen.
func TestCompare(t *testing.T) {
	long := strings.Repeat("ab", 30)
	for _, c := range []struct{ want, have, says string }{
		{"Ada", "Ada\n", "differs:  the actual text ends with \"\\n\", the expected one does not\n"},
		{"Ada \n", "Ada", "differs:  the expected text ends with \" \\n\", the actual one does not\n"},
		{"Ada", "\tAda", "differs:  the actual text begins with \"\\t\", the expected one does not\n"},
		{"  Ada", "Ada", "differs:  the expected text begins with \"  \", the actual one does not\n"},
		{"200", "\"200\"", "differs:  the actual value is in double quotes, as a text is in JSON, the expected one is not\n"},
		{"\"3\"", "3", "differs:  the expected value is in double quotes, as a text is in JSON, the actual one is not\n"},
		{"Ada", "Adam", "actual:   \"Adam\"\n"},
		{"mAda", "Ada", "actual:   \"Ada\"\n"},
		{"Ada", "ADA", "differs:  in upper and lower case alone\n"},
		{"A\u030a", "\u00c5", "differs:  the same characters in another composition: \"A\\u030a\" and \"\\u00c5\"\n"},
		{"a b", "a\u00a0b", "differs:  in blanks and invisible characters alone: \"a b\" and \"a\\u00a0b\"\n"},
		{"ab", "a\u200bb", "differs:  in blanks and invisible characters alone: \"ab\" and \"a\\u200bb\"\n"},
		{long + "x", long + "y", "differs:  from character 61 on: expected \"x\", actual \"y\"\n"},
		{long + "\u00e9", long + "\u00e8", "differs:  from character 61 on: expected \"\u00e9\", actual \"\u00e8\"\n"},
		{long[:40] + "1", long[:40] + "2", "differs:  from character 41 on: expected \"1\", actual \"2\"\n"},
		{long[:39] + "1", long[:39] + "2", "actual:   \"" + long[:39] + "2\"\n"},
		{long + "x", long + "xyz", "differs:  from character 62 on: expected \"\", actual \"yz\"\n"},
		{`{"b": 1, "a": [1, {"c": "<"}]}`, `{"a": [1, {"c": ">"}, 3], "d": 2}`, "differs:  at $.a[1].c: expected \"<\", actual \">\"\n" +
			"          at $.a: expected 2 items, actual 3\n          at $.b: expected 1, there is no such key\n          at $.d: 2, which is not expected\n"},
		{`[1, 1e2, 123456789012345678901]`, `[1.0, 100, 123456789012345678902]`, "differs:  at $[2]: expected 123456789012345678901, actual 123456789012345678902\n"},
		{`[1e400]`, `[2e400]`, "differs:  at $[0]: expected 1e400, actual 2e400\n"},
		{`[1e2]`, `[1e3]`, "differs:  at $[0]: expected 1e2, actual 1e3\n"},
		{`{"a": 1}`, `[1]`, "differs:  at $: expected {\"a\":1}, actual [1]\n"},
		{`[[1], {}]`, `[{}, [1]]`, "differs:  at $[0]: expected [1], actual {}\n          at $[1]: expected {}, actual [1]\n"},
		{`[1,2,3,4,5,6,7]`, `[2,3,4,5,6,7,8]`, "          at $[4]: expected 5, actual 6\n          and in 2 more places\n"},
		{`[1,2,3,4,5]`, `[2,3,4,5,6]`, "          at $[4]: expected 5, actual 6\n---"},
		{`{"a": 1} x`, `{"a": 2} x`, "actual:   \"{\\\"a\\\": 2} x\"\n"},
		{"one\ntwo\n", "one\n2\n", "--- expected\n+++ actual\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"},
		{"one\ntwo\n", "one\ntwo \n", "differs:  in line 2: in blanks and invisible characters alone: \"two\\n\" and \"two \\n\"\n--- expected\n"},
		{"one\ntwo", "one\ntwo\n", "differs:  in line 2: the actual text ends with \"\\n\", the expected one does not\n--- expected\n"},
		{"one\ntwo\n", "one\n2\n", "differs:  in line 2: expected \"two\\n\", actual \"2\\n\"\n--- expected\n"},
		{"one\ntwo\n", "one\n", "differs:  in line 2: expected \"two\\n\", actual the end\n--- expected\n"},
		{"one\n", "one\ntwo\n", "differs:  in line 2: expected the end, actual \"two\\n\"\n--- expected\n"},
		{"one\n", "two", "actual:   \"two\"\n"},
		{"one", "two\nthree", "+two\n"},
		{strings.Repeat("a\n", 30), strings.Repeat("b\n", 30), "(23 more lines of the difference)\n"},
	} {
		var b strings.Builder
		compare(c.want, c.have).write(&b)
		if !strings.Contains(b.String(), c.says) {
			t.Errorf("%q and %q:\n%swant\n%s", c.want, c.have, b.String(), c.says)
		}
		if strings.HasPrefix(c.says, "actual:") && strings.Contains(b.String(), "differs:") {
			t.Errorf("%q and %q are plain:\n%s", c.want, c.have, b.String())
		}
	}
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"1", "1", true}, {"1", "1.0", true}, {"0.1", "0.10", true}, {"1", "2", false}, {"1e2", "100", true}, {"1E2", "100.5", false}, {"1e999", "1e998", false},
		{strings.Repeat("9", 60), strings.Repeat("9", 59) + "8", true}, // so long ones are compared as floating point
		{strings.Repeat("9", 50), strings.Repeat("9", 49) + "8", false}, {"1e999", "1", false}, {"1", "1e999", false},
	} {
		if got := sameNumber(json.Number(c.a), json.Number(c.b)); got != c.same {
			t.Errorf("%s and %s: %t", c.a, c.b, got)
		}
	}
}
