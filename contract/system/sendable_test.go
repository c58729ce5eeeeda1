package system

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/engine/schemagen"
	"github.com/thresh-dev/thresh/port/sut"
)

// A value is sent only where it arrives as what it is: else a correct service would be
// blamed for what it never got.
func TestSendableAtItsLimits(t *testing.T) {
	quoted := func(s string) string { return fmt.Sprintf("%q", s) }
	x := func(n int) string { return quoted(strings.Repeat("x", n)) }
	const valid, wrong = "q: largest", "-"
	for _, c := range []struct {
		in, kind string // of the argument q
		style    string
		about    string // wrong: invalid because of q
		value    string // "": not given
		want     bool
	}{
		{"path", "string", "", valid, `"a"`, true},
		{"path", "string", "", valid, ``, false},
		{"path", "string", "", valid, `""`, false},
		{"path", "string", "", valid, `"."`, false},
		{"path", "string", "", valid, `".."`, false},
		{"path", "string", "", valid, `"..."`, true},
		{"path", "string", "", valid, `"a/b"`, false},
		{"path", "string", "", valid, `"a%b"`, false},
		{"path", "string", "", valid, x(2000), true},
		{"path", "string", "", valid, x(2001), false},
		{"path", "integer", "", valid, `7`, true},
		{"path", "integer", "", wrong, `"x"`, true},
		{"path", "string", "", wrong, `7`, false},
		{"path", "", "", wrong, `7`, false},
		{"path", "", "", wrong, `"x"`, false},
		{"path", "", "", valid, `7`, true},
		{"path", "string", "", wrong, `"too long"`, true},
		{"query", "string", "", valid, ``, true},
		{"query", "string", "", valid, `""`, true},
		{"query", "string", "", valid, `"a/b"`, true},
		{"query", "string", "", valid, x(6000), true},
		{"query", "string", "", valid, x(6001), false},
		{"query", "string", "", valid, `null`, false},
		{"query", "string", "", valid, `"한글"`, true},
		{"header", "string", "", valid, x(4000), true},
		{"header", "string", "", valid, x(4001), false},
		{"header", "string", "", valid, `" a"`, false},
		{"header", "string", "", valid, `"a ~b"`, true},
		{"header", "string", "", valid, `"a\u007f"`, false},
		{"header", "string", "", valid, `"a\nb"`, false},
		{"header", "string", "", valid, `"한글"`, false},
		{"cookie", "string", "", valid, x(2000), true},
		{"cookie", "string", "", valid, x(2001), false},
		{"cookie", "string", "", valid, `"a b"`, false},
		{"cookie", "string", "", valid, `"a!~b"`, true},
		{"cookie", "string", "", valid, `"a;b"`, false},
		{"cookie", "string", "", valid, `"a\u007f"`, false},
		{"body", "string", "", valid, x(9000), true},
		{"query", "array", "", valid, `[1,2]`, true},
		{"query", "array", "", valid, `[]`, false},
		{"query", "array", "", wrong, `[1]`, false},
		{"query", "array", "", valid, `[[1]]`, false},
		{"query", "array", "", valid, `["a,b"]`, true},
		{"query", "array", sut.StyleDeep, valid, `["a,b"]`, true},
		{"query", "array", sut.StylePipes, valid, `["a,b"]`, false},
		{"query", "array", sut.StylePipes, valid, `["a|b"]`, false},
		{"path", "array", "", valid, `["a","b"]`, true},
		{"path", "array", "", valid, `["a",""]`, false},
		{"path", "array", "", valid, `[0,1]`, true},
		{"path", "array", "", valid, `["a b"]`, false},
		{"path", "array", "", valid, `[` + x(300) + `]`, true},
		{"path", "array", "", valid, `[` + x(301) + `]`, false},
		{"path", "array", "", valid, `[1` + strings.Repeat(`,1`, 49) + `]`, true},
		{"path", "array", "", valid, `[1` + strings.Repeat(`,1`, 50) + `]`, false},
		{"query", "object", "", valid, `{"a":1}`, true},
		{"query", "object", "", valid, `{}`, false},
		{"query", "object", "", valid, `{"a":{}}`, false},
		{"query", "object", "", wrong, `{"a":1}`, false},
		{"path", "object", "", valid, `{"a":1}`, true},
		{"path", "object", "", valid, `{"a":"b,c"}`, false},
		{"path", "object", "", valid, `{"a":{}}`, false},
		{"path", "array", "label", valid, `["a.b"]`, false},
		{"path", "array", "label*", valid, `[1.5]`, false},
		{"path", "array", "", valid, `[1.5]`, true},
		{"path", "object", "matrix*", valid, `{"a=b":1}`, false},
		{"header", "object", "", valid, `{"a":1}`, true},
		{"cookie", "object", "", valid, `{"a":1}`, false},
		{"query", "object", sut.StyleJSON, valid, `{"a":{}}`, true},
	} {
		in := schemagen.Input{Valid: c.about == valid, About: map[bool]string{true: valid, false: "q: is wrong"}[c.about == valid], Value: json.RawMessage(`{"q":` + c.value + `}`)}
		if c.value == "" {
			in.Value = json.RawMessage(`{}`)
		}
		op := sut.Operation{Name: "o", Arguments: []sut.Argument{{Name: "q", In: c.in, Type: c.kind, Style: c.style}}}
		if got := sendable(&op, &in); got != c.want {
			t.Errorf("%s %s %s, valid %t: %t for %.60s", c.in, c.kind, c.style, in.Valid, got, c.value)
		}
	}
	if sendable(&sut.Operation{}, &schemagen.Input{Value: json.RawMessage(`[`)}) {
		t.Error("what is not an object is sent")
	}
}

// In a form, in parts and in a body that is a text, everything is a text.
func TestSendableBodies(t *testing.T) {
	const form = "application/x-www-form-urlencoded"
	for _, c := range []struct {
		content, kind string
		wrong         bool
		value         string
		want          bool
	}{
		{"application/json", "string", true, `7`, true},
		{"", "string", true, `7`, true},
		{form, "string", false, `"a"`, true},
		{form, "string", true, `7`, false},
		{form, "", true, `7`, false},
		{form, "integer", true, `"x"`, true},
		{form, "integer", true, `true`, true},
		{form, "string", true, `"too long"`, true},
		{form, "string", false, `null`, false},
		{form, "object", false, `{"a":1}`, false},
		{sut.Multipart, "object", false, `{"a":1}`, true},
		{form, "array", false, `[1]`, true},
		{form, "array", false, `[]`, false},
		{form, "array", true, `[1]`, false},
		{form, "array", false, `[[1]]`, false},
	} {
		in := schemagen.Input{Valid: !c.wrong, About: "b: x", Value: json.RawMessage(`{"b":` + c.value + `}`)}
		op := sut.Operation{Arguments: []sut.Argument{{Name: "a", In: "body"}, {Name: "b", In: "body", Type: c.kind}}, Headers: [][2]string{{"content-type", c.content}}}
		if got := sendable(&op, &in); got != c.want {
			t.Errorf("%s, %s, wrong %t: %t for %s", c.content, c.kind, c.wrong, got, c.value)
		}
		in.About = "a: x" // the other argument is wrong
		if c.wrong && c.value == "7" && !sendable(&op, &in) {
			t.Errorf("%s: b is not sent because of a", c.content)
		}
	}
}

func TestArgumentsAreInOrder(t *testing.T) {
	for range 5 {
		list, err := arguments([]byte(`{"c":1,"a":2,"b":3,"d":4}`))
		if err != nil || len(list) != 4 || list[0].Name+list[1].Name+list[2].Name+list[3].Name != "abcd" {
			t.Fatal(list, err)
		}
	}
	if _, err := arguments([]byte("[")); err == nil {
		t.Error("no object has arguments")
	}
}
