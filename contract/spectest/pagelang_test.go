package spectest

import (
	"runtime"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
)

// A page runs what its reader would: Python's prompts in one session, programs of
// other languages as files, commands at a terminal.
func TestLanguagesOfAPage(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("makes a pseudo-terminal")
	}
	t.Chdir(t.TempDir())
	fence := func(words, body string) string { return "```" + words + "\n" + body + "```\n\n" }
	for _, c := range []struct{ name, doc, want string }{ // want: what the title ends with; "" holds
		{"a session", fence("pycon run", ">>> x = [1,\n...      2]\n>>> x\n[1, 2]\n") + fence("pycon run", ">>> for i in x:\n...     print(i)\n...\n1\n2\n\n>>> x.pop()\n2\n"), ""},
		{"no statements", fence("pycon run", ">>> # a comment\n>>>\n>>> 1\n1\n"), ""},
		{"another value", fence("pycon run", ">>> 1 + 1\n3\n"), `:2 transcript: expected ">>> 1 + 1" to print what the page shows`},
		{"an exception", fence("pycon run", ">>> 1 / 0\nTraceback (most recent call last):\n  ...\nZeroDivisionError: [..]\n>>> int('x')\nTraceback (most recent call last):\n...\nValueError: invalid literal for int() with base 10: 'x'\n"), ""},
		{"an exception that the page does not show", fence("pycon run", ">>> 1 / 0\n"), "to print what the page shows"},
		{"an exception without frames", fence("pycon run", ">>> def f():\n...     1 / 0\n>>> f()\nTraceback (most recent call last):\nZeroDivisionError: division by zero\n>>> f()\nTraceback (most recent call last):\n  File \"<stdin>\", line 1, in ?\nZeroDivisionError: division by zero\n"), ""},
		{"another exception without frames", fence("pycon run", ">>> 1 / 0\nTraceback (most recent call last):\nZeroDivisionError: division by one\n"), `:2 transcript: expected ">>> 1 / 0" to print what the page shows`},
		{"an ellipsis of doctest", fence("pycon run", ">>> object() # doctest: +ELLIPSIS\n<object object at 0x...>\n"), ""},
		{"an ellipsis that does not match", fence("pycon run", ">>> 'abc' # doctest: +ELLIPSIS\n'b...'\n"), "to print what the page shows"},
		{"a skipped statement", fence("pycon run", ">>> print( # doctest: +SKIP\n...   x)\n1\n>>> 2\n2\n"), ""},
		{"prompts under another name", fence("python run", ">>> 'a' * 3\n'aaa'\n"), ""},
		{"the end of a session", fence("pycon run", ">>> import sys; y = 1\n>>> sys.exit(3)\n[exit 3]\n>>> 'y' in globals()\nFalse\n"), ""},
		{"files, programs and variables", fence("text file=in/a", "12\n") + fence("pycon run env=WHO=Ada", ">>> import os, subprocess\n>>> open('in/a').read()\n'12\\n'\n>>> os.environ['WHO']\n'Ada'\n>>> _ = subprocess.run(['echo', 'sub'])\nsub\n"), ""},
		{"modules of a folder", fence("python file=src/beside.py", "x = 7\n") + fence("pycon run env=PYTHONPATH=src", ">>> import beside\n>>> beside.x\n7\n"), ""},
		{"captured", fence(`pycon run capture="v=/(\d+)/"`, ">>> 'no 47'\n'no 47'\n") + fence("console run", "$ echo $v\n${v}\n"), ""},
		{"captured between quotes", fence(`console run capture="v=/\"(\w+)\"/"`, "$ echo '{\"name\": 1}'\n{\"name\": 1}\n") + fence("console run", "$ echo $v\n${v}\n"), ""},
		{"too slow", fence("pycon run timeout=300ms", ">>> import time; time.sleep(20)\n"), "the statement did not end within 300ms, and python3 was killed"},
		{"the interpreter dies", fence("pycon run", ">>> import os; os._exit(4)\n"), "python3 has ended: the program ended during the call: exit status 4"},
		{"a program", fence("python run", "import sys\nprint('hello', __file__)\nsys.exit(2)\n") + fence("output", "hello block-1.py\n[exit 2]\n"), ""},
		{"a program beside the files of the page", fence("python file=beside.py", "x = 7\n") + fence("python run", "import beside\nprint(beside.x)\n") + fence("output", "7\n") +
			fence("console run", "$ rm -rf beside.py __pycache__; ls -A\n"), ""},
		{"a program that prints something else", fence("python run", "print(1)\n") + "text\n" + fence("output", "2\n"), `:1 transcript: expected "python3 block-1.py" to print what the page shows`},
		{"a program without output", fence("python run", "print(1)\n") + fence("text", "2\n") + fence("output", "3\n"), ""},
		{"a program that fails", fence("python run", "raise SystemExit(3)\n"), "to end with exit status 0, not 3"},
		{"other languages", fence("perl run", "print 6 * 7;\n") + fence("output", "42\n") + fence("sh run env=A=1", "echo $A\n") + fence("output", "1\n"), ""},
		{"a language of the page", "---\ninterpreters: {shout: tr a-z A-Z < FILE}\n---\n" + fence("shout run", "a\n") + fence("output", "A\n"), ""},
		{"no such interpreter", fence("julia run", "println(1)\n") + fence("console run", "$ true\n"), "(pass)not run: the block on line 1: needs julia"},
		{"a terminal", fence("console run tty=100x30", "$ test -t 0 && test -t 1 && stty size; echo $COLUMNS $TERM\n30 100\n100 xterm\n"), ""},
		{"keys", fence(`console run tty keys="<wait:name?>Ada<backspace>a<enter><wait:sure?>yes<enter>"`, "$ printf 'name? '; read a; printf 'sure? '; read b; echo \"$a $b\"\nname? Ada\nsure? yes\nAda yes\n"), ""},
		{"a prompt of arrows", fence(`console run tty keys="<wait:>>> >x<enter>"`, "$ printf '>>> '; read a; echo $a\n>>> x\nx\n"), ""},
		{"a key that interrupts", fence(`console run tty keys="<wait:on><ctrl-c>"`, "$ trap 'echo stopped; exit 3' INT; echo on; while :; do :; done\non\n^Cstopped\n[exit 3]\n"), ""},
		{"what moves the cursor", fence("console run tty", "$ printf '10%%\\r100%%\\n\\033[1mbold\\033[0m ab\\bc\\nx\\033[2K\\033[Gy\\n'\n100%\nbold ac\ny\n$ exit 2\n[exit 2]\n"), ""},
		{"keys that nobody asks for", fence(`console run tty keys="<wait:never>x" timeout=5s`, "$ true\n"), `the block ended and has not printed "never", which keys wait for`},
		{"a terminal that waits", fence("console run tty timeout=300ms", "$ read x\n"), "the block did not end within 300ms and was killed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel() // mostly waits
			camp := soleCampaign(t, c.doc, nil)
			o := outcomes(t, camp)
			got := o[0].Title
			if warnings := folded(camp, o).unread; len(warnings) > 0 && o[0].Verdict == campaign.VerdictPass {
				got = "(pass)" + strings.Join(warnings, "; ")
			}
			if c.want == "" && got != "" || !strings.HasSuffix(got, c.want) {
				t.Errorf("%s\n%s", got, o[0].Attached(stepsNote))
			}
		})
	}
}
