package spectest

import (
	"fmt"
	"testing"
)

// Command lines of other tools are read as a shell reads them.
func TestShellWords(t *testing.T) {
	for text, want := range map[string]string{
		`a b  "c d" 'e  f'` + "\t\r\n" + `g`: `1 [a b c d e  f] | 2 [g]`,
		`$ a b`:                              `1 [a b]`,
		`$`:                                  ``,
		"# no\na # b\nc#d":                   `2 [a] | 3 [c#d]`,
		"a;b && c":                           `1 [a] | 1 [b] | 1 [c]`,
		"a \\\n b\\\r\nc":                    `1 [a bc]`,
		`a\ b \"`:                            `1 [a b "]`,
		`'a\b' '' ""`:                        `1 [a\b  ]`,
		`"a\"b\\c\$d\q"`:                     `1 [a"b\c$d\q]`,
		"\"a\\\nb\nc\"\nd":                   "1 [ab\nc] | 4 [d]",
		`$'a\n\t\'\"\?b'`:                    "1 [a\n\t'\"?b]",
		`$'\x41\u00e9\101\\'`:                `1 [AéA\]`,
		`$'\q\xzz'`:                          `1 [\q\xzz]`,
		`$'a`:                                `1 [a] wrong a quote is never closed`,
		`'a`:                                 `1 [a] wrong a quote is never closed`,
		`"a`:                                 `1 [a] wrong a quote is never closed`,
		`a $b "${c}d" $1 $`:                  `1 [a ${b} ${c}d $1 $]`,
		`${a-b}`:                             `1 [{a-b}] wrong it uses more of the shell than the name of a variable: ${`,
		`${a:-b}`:                            `1 [{a:-b}] wrong it uses more of the shell than the name of a variable: ${`,
		`${}${1}`:                            `1 [{}{1}] wrong it uses more of the shell than the name of a variable: ${`,
		`$a_1-b$A9.c`:                        `1 [${a_1}-b${A9}.c]`,
		`${a`:                                `1 [{a] wrong it uses more of the shell than the name of a variable: ${`,
		`a $(b)`:                             `1 [a $] wrong ( belongs to the shell`,
		`"$(b)"`:                             `1 [$(b)] wrong it holds a command of the shell`,
		"\"`b`\"":                            `1 [b] wrong it holds a command of the shell`,
		"a | b | c\nd":                       `1 [a] after | b | c | 2 [d]`,
		"a > b":                              `1 [a] after > b`,
		"a 2> b":                             `1 [a] after > b`,
		"a 3> b":                             `1 [a 3] after > b`,
		"a || b":                             `1 [a] wrong | belongs to the shell`,
		"a < b":                              `1 [a] wrong < belongs to the shell`,
		"a &":                                `1 [a] wrong & belongs to the shell`,
		"(a)":                                `1 [] wrong ( belongs to the shell`,
		"":                                   ``,
		" \n\n ":                             ``,
		`a\`:                                 `1 [a\]`,
	} {
		got := ""
		for i, l := range shellLines(text) {
			if i > 0 {
				got += " | "
			}
			got += fmt.Sprintf("%d %s", l.number, l.words)
			if l.after != "" {
				got += " after " + l.after
			}
			if l.wrong != "" {
				got += " wrong " + l.wrong
			}
		}
		if got != want {
			t.Errorf("%q:\n%q, want\n%q", text, got, want)
		}
	}
}
