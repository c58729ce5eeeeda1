package speclang_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/engine/speclang"
)

// Each of the four orders holds of the numbers of which it is true, the infinite ones that
// JSON's large numbers become too, and none of what is no number.
func TestOrders(t *testing.T) {
	numbers := []string{"NaN", "-1e400", "-1e308", "-7", "-1e-320", "0", "1e-320", "0.1", "9007199254740992", "9007199254740993", "1e308", "1e400"}
	for i, a := range numbers {
		for j, b := range numbers {
			holds := map[string]bool{"<": i < j, "<=": i <= j, ">": i > j, ">=": i >= j}
			for sign, want := range holds {
				want = want && i*j > 0 && (i != j || !strings.HasSuffix(a, "400"))
				form, _, err := speclang.Infix{Root: "json"}.Parse("$[0] " + sign + " $[1]")
				if err != nil {
					t.Fatal(err)
				}
				text := strings.ReplaceAll(form.String(), `["get", ["subject"], "json"]`, fmt.Sprintf(`["json_parse", "[%s, %s]"]`, a, b))
				if r := compile(t, text).Eval(speclang.NullValue(), speclang.DefaultLimits(), host()); r.Err != nil || r.Value.Truthy() != want {
					t.Errorf("%s %s %s: %s, %v", a, sign, b, r.Value.Text(), r.Err)
				}
			}
		}
	}
}

func TestInfix(t *testing.T) {
	x := speclang.Infix{Names: []string{"status", "text"}, Root: "json"}
	for text, want := range map[string]string{
		`status == 200 and $.name == "Ada"`:    `["and", ["eq", ["get", ["subject"], "status"], 200], ["eq", ["get", ["get", ["subject"], "json"], "name"], "Ada"]]`,
		`not (text contains 'a' || 1 != -2.5)`: `["not", ["or", ["contains", ["get", ["subject"], "text"], "a"], ["neq", 1, -2.5]]]`,
		`a`:                                    `there is no value a at 0`,
		`length($["odd name"][0].x-y) + 1 == 3 - 1`:   `["eq", ["add", ["len", ["get", ["get", ["get", ["get", ["subject"], "json"], "odd name"], 0], "x-y"]], 1], ["sub", 3, 1]]`,
		`text matches "^\d+\"$" && true or null in $`: `["or", ["and", ["regex_match", ["get", ["subject"], "text"], "^\\d+\"$"], true], ["in", null, ["get", ["subject"], "json"]]]`,
		`! text == subject`:                           `["not", ["eq", ["get", ["subject"], "text"], ["subject"]]]`,
		`status >= 200`:                               `["not", ["regex_match", ["sub", ["get", ["subject"], "status"], 200], "^-(.*[1-9]|inf)|nan"]]`,
		`status < 200`:                                `["regex_match", ["sub", ["get", ["subject"], "status"], 200], "^-(.*[1-9]|inf)"]`,
		`status > 200 and 1 <= 2`:                     `["and", ["regex_match", ["sub", 200, ["get", ["subject"], "status"]], "^-(.*[1-9]|inf)"], ["not", ["regex_match", ["sub", 2, 1], "^-(.*[1-9]|inf)|nan"]]]`,
		`$.a == ["b", [2]] or status in [1,2]`:        `["or", ["eq", ["get", ["get", ["subject"], "json"], "a"], ["json_parse", "[\"b\", [2]]"]], ["in", ["get", ["subject"], "status"], ["json_parse", "[1,2]"]]]`,
		`status in [1, x]`:                            `a list holds values as JSON has them at 10`,
		`status == `:                                  `expected a value, got the end at 10`,
		`status 200`:                                  `the expression ends before "200" at 7`,
		`"x" not in $.tags and 1 == 1`:                `["and", ["not", ["in", "x", ["get", ["get", ["subject"], "json"], "tags"]]], ["eq", 1, 1]]`,
		`text not 1`:                                  `not needs a comparison after it at 5`,
		`len(text`:                                    `expected ",", got the end at 8`,
		`$.a[0`:                                       `the bracket is never closed at 0`,
		`"a`:                                          `the quote is never closed at 0`,
		`1.2.3`:                                       `1.2.3 is not a number at 0`,
		strings.Repeat("(", 300):                      `brackets are nested too deeply at 200`,
		`$.a[x] == 1`:                                 `"x" is neither a number nor a quoted name at 0`,
		`$.a["] == 1`:                                 `"\"" is neither a number nor a quoted name at 0`,
		`status = 200`:                                `= is not a comparison at 7`,
		`- status == 1`:                               `expected a number after -, got "status" at 2`,
		`lenn(text)`:                                  `there is no function lenn at 0`,
		`status == -99999999999999999999`:             `["eq", ["get", ["subject"], "status"], -99999999999999999999]`,
		`'a\nb\tc\d' == text`:                         `["eq", "a\nb\tc\\d", ["get", ["subject"], "text"]]`,
		`$.a-b.z9 == Zz`:                              `there is no value Zz at 12`,
		`$.a[10] == text`:                             `["eq", ["get", ["get", ["get", ["subject"], "json"], "a"], 10], ["get", ["subject"], "text"]]`,
		`$.a['x'] == 9`:                               `["eq", ["get", ["get", ["get", ["subject"], "json"], "a"], "x"], 9]`,
		`$.a[x'] == 9`:                                `"x'" is neither a number nor a quoted name at 0`,
		`$.a[''] == 9`:                                `"''" is neither a number nor a quoted name at 0`,
		`$.a["x"] == 1`:                               `["eq", ["get", ["get", ["get", ["subject"], "json"], "a"], "x"], 1]`,
	} {
		form, _, err := x.Parse(text)
		got := form.String()
		var e *speclang.InfixError
		if errors.As(err, &e) {
			got = fmt.Sprintf("%s at %d", e.Message, e.At)
		}
		if got != want {
			t.Errorf("%s:\n%s, want\n%s", text, got, want)
		}
	}
	for text, want := range map[string]string{
		`text equals "a"`: "did you mean ==?", `text includes "a"`: "did you mean contains?", `text contain "a"`: "did you mean contains?", `text startswith "a"`: "did you mean starts_with?",
		`text ne "a"`: "did you mean !=?", `1 == 1 annd 2 == 2`: "did you mean and?", `1 < status < 5`: "conditions are joined by and, or", `status == 1 | last`: "filters follow a target or a path in when, such as $.ref | last == 7", `status = 1`: "write ==", `status 200`: "conditions are joined by and, or",
	} {
		_, _, err := x.Parse(text)
		var e *speclang.InfixError
		if !errors.As(err, &e) || e.Hint != want {
			t.Errorf("%s: %v, want the hint %q", text, e, want)
		}
	}
	for text, want := range map[string]string{
		"1 < 2": "true", "2 < 1": "false", "2 < 2": "false", "2 <= 2": "true", "3 <= 2": "false", "3 > 2.5": "true", "-1 > -1.5": "true", "0 >= 0.0": "true", "0.0 < 0": "false",
		"-0.0 < 0": "false", "0.1 + 0.2 > 0.3": "true", "1 < 1.0000000001": "true", "10 < 9": "false", "100000000000000000000.0 > 1": "true", "1 < 100000000000000000000.0": "true", "9 >= 10": "false",
	} {
		form, _, err := x.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := speclang.Compile(form, speclang.Options{}).Eval(speclang.StringValue(""), speclang.DefaultLimits(), speclang.Host{}); got.Err != nil || got.Value.JSON() != want {
			t.Errorf("%s is %s, %v", text, got.Value.JSON(), got.Err)
		}
	}
	if _, _, err := x.Parse(strings.Repeat("(1) == 1 and ", 300) + "true"); err != nil {
		t.Errorf("brackets one after the other: %v", err)
	}
	if _, _, err := (speclang.Infix{Names: []string{"text"}}).Parse("text == $.a"); err == nil || err.Error() != "there is no JSON value for $ to refer to" {
		t.Errorf("without JSON: %v", err)
	}
	if _, used, _ := x.Parse("status == 1 or $ == 2 or status == 3"); strings.Join(used, " ") != "status json" {
		t.Errorf("looks at %v", used)
	}
	for name, want := range map[string]string{"equals": "did you mean eq?", "equls": "did you mean eq?", "containz": "did you mean contains?", "it": "did you mean subject?", "zzzzzz": ""} {
		if got := speclang.Near(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestReferenceShowsEveryFunction(t *testing.T) {
	page, err := os.ReadFile("../../docs/speclang.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range speclang.Symbols() {
		if !strings.Contains(string(page), "\n| `"+name+"` |") || !strings.Contains(string(page), "[\""+name+"\"") {
			t.Errorf("docs/speclang.md does not show %s", name)
		}
	}
}
