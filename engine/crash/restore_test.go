package crash

import "testing"

func TestRestore(t *testing.T) {
	for _, x := range []struct{ title, printed, want string }{
		{"KeyError in recipe.py:units line 18: <str>", "Traceback (most recent call last):\n  x\nKeyError: 'ounce'\n", "KeyError in recipe.py:units line 18: 'ounce'"},
		{"exit status 2: <path>: <n>: arithmetic: division by zero: <str>", "hello\n/home/me/divide.sh: 11: arithmetic: division by zero: \"100/0\"\n",
			`exit status 2: divide.sh: 11: arithmetic: division by zero: "100/0"`},
		{"go panic: index out of range: index out of range [<n>] with length <n>", "panic: runtime error: index out of range [5] with length 3\n",
			"go panic: index out of range: index out of range [5] with length 3"},
		{"exit status 1: process <n> died at <n>", "process 4711 died at 0x7f001234\n", "exit status 1: process … died at …"},
		{"OSError: cannot open <str>", "OSError: cannot open '/tmp/tmpab3k_9xq/menu.txt'\n", "OSError: cannot open 'menu.txt'"},
		{"OSError: cannot open <str>", "something else\n", `OSError: cannot open "…"`},
		{"SEGV in f: READ of size <n>", "", "SEGV in f: READ of size …"},
		{"ValueError: no <str> in the pan…", "ValueError: no 'leek' in the pan of the cook\n", "ValueError: no 'leek' in the pan of the cook"},
		{"ValueError: no <str>", "ValueError: no 'leek' in the pan\n", `ValueError: no "…"`},                       // another message
		{"ValueError: no <str> in the po…", "ValueError: no 'leek' in the pan\n", `ValueError: no "…" in the po…`}, // another one, too
		{"exit status 1: cannot open <path>", "cannot open /var/log/4711\n", "exit status 1: cannot open …"},       // a number that may be chance
		{"exit status 1: cannot open <path>", "cannot open /var/log/day-4711\n", "exit status 1: cannot open …"},
		{"SIGSEGV in row (image.c:44)", "SIGSEGV\n", "SIGSEGV in row (image.c:44)"},
		{"", "x", ""},
	} {
		if got := Restore(x.title, []byte(x.printed)); got != x.want {
			t.Errorf("%q, of %q:\n got %q\nwant %q", x.title, x.printed, got, x.want)
		}
	}
}
