package speclang_test

import (
	"testing"
)

// A program asks if anything in it looks at its subject or at the world.
func TestAsks(t *testing.T) {
	for text, asks := range map[string]bool{
		`["subject"]`:                                 true,
		`["eq", ["subject"], "a"]`:                    true,
		`["eq", "b", "a"]`:                            false,
		`["path_exists", "a.txt"]`:                    true,
		`["contains", "b"]`:                           true, // the operand that is left out is the subject
		`["contains", "ab", "b"]`:                     false,
		`["len", "abc"]`:                              false,
		`["not", ["not", ["contains", "b"]]]`:         true,
		`["let", [["x", ["subject"]]], ["var", "x"]]`: true,
		`["let", [["x", "subject"]], ["var", "x"]]`:   false,
		`["if", true, "path_exists", "subject"]`:      false,
		`true`:                                        false,
		`"subject"`:                                   false,
	} {
		if got := compile(t, text).Asks(); got != asks {
			t.Errorf("%s: %t", text, got)
		}
	}
}

// What is said of a call that is none.
func TestAdvice(t *testing.T) {
	for text, want := range map[string]string{
		`["contain", "a", "b"]`: "did you mean contains?",
		`["zzzzzzzz", "a"]`:     `a list is a call, and there is no function "zzzzzzzz"; write a list of values as ["json_parse", "[\"a\", \"b\"]"]`,
		`["len"]`:               "",
		`["contains"]`:          "",
		`[1, 2]`:                `a list is a call, which begins with the name of a function; write a list of values as ["json_parse", "[\"a\", \"b\"]"]`,
		`[]`:                    `a list is a call, which begins with the name of a function; write a list of values as ["json_parse", "[\"a\", \"b\"]"]`,
	} {
		for _, e := range compile(t, text).Problems() {
			if got := e.Advice(); got != want {
				t.Errorf("%s: %s: %q, want %q", text, e.Message, got, want)
			}
		}
	}
}
