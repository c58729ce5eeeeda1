package crash

import (
	"strings"
	"testing"
)

// What a program logs and goes on from is no crash where its exit code is
// accepted; what the runtime ended it with is.
func TestUncaught(t *testing.T) {
	const (
		traceback  = "Traceback (most recent call last):\n  File \"tool.py\", line 3, in <module>\n    parse()\nValueError: bad tag\n"
		inFunction = "Traceback (most recent call last):\n  File \"tool.py\", line 3, in main\n    parse()\nValueError: bad tag\n"
		nodeStack  = "TypeError: x is not a function\n    at parse (/src/tool.js:3:9)\n    at main (/src/tool.js:9:1)\n"
		javaStack  = "java.lang.IllegalStateException: bad tag\n\tat a.b.Tool.parse(Tool.java:3)\n\tat a.b.Tool.main(Tool.java:9)\n"
		goTrace    = "panic: bad tag\n\ngoroutine 1 [running]:\nmain.parse(...)\n\t/src/tool.go:3\nmain.main()\n\t/src/tool.go:9 +0x1d\n"
		rustPanic  = "thread 'main' panicked at src/tool.rs:3:9:\nbad tag\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n"
		rubyTrace  = "tool.rb:3:in `parse': bad tag (ArgumentError)\n\tfrom tool.rb:9:in `main'\n"
		phpFatal   = "PHP Fatal error:  Uncaught Exception: bad tag in /src/tool.php:3\nStack trace:\n#0 /src/tool.php(9): parse('x')\n#1 {main}\n  thrown in /src/tool.php on line 3\n"
		dotnet     = "Unhandled exception. System.FormatException: bad tag\n   at Tool.Parse(String s) in /src/Tool.cs:line 3\n   at Tool.Main()\n"
	)
	for _, c := range []struct {
		stderr string
		code   int
		want   bool
	}{
		{traceback, 1, true},
		{"reading input\n" + traceback, 1, true},
		{traceback, 0, false}, // logged, and gone on from
		{traceback, 2, false}, // a code of the program's own
		{traceback, 101, false},
		{"ERROR:root:refused " + traceback, 1, false},
		{"ERROR:root:refused\n" + inFunction, 1, false}, // logging.exception in a function
		{inFunction + "\nDuring handling of the above exception, another exception occurred:\n\n" + traceback, 1, true},
		{strings.ReplaceAll(traceback, "<module>", "init tool"), 1, true},
		{"Process Process-1:\nTraceback (most recent call last):\n  File \"/usr/lib/python3.11/multiprocessing/process.py\", line 314, in _bootstrap\n    self.run()\nKeyError: 'a'\n", 0, true},
		{"Process orders:\n" + inFunction, 0, false},
		{"Exception in thread Thread-1 (work):\n" + traceback, 1, true}, // the thread died of it
		{"Exception in thread Thread-1 (work):\n" + traceback, 0, true},
		{"Exception in thread Thread-1 (work):\n" + traceback + "\nDuring handling of the above exception, another exception occurred:\n\n" + traceback, 0, true},
		{"Exception in thread pools is logged\n\n" + traceback, 0, false},
		{"Exception ignored in: <function A.__del__ at 0x7f>\n" + traceback, 1, false},
		{"  + Exception Group Traceback (most recent call last):\n  |   File \"tool.py\", line 3, in <module>\n  | ExceptionGroup: two (2 sub-exceptions)\n", 1, true},
		{"  + Exception Group Traceback (most recent call last):\n  |   File \"tool.py\", line 3, in <module>\n  | ExceptionGroup: one (1 sub-exception)\n" +
			"  +-+---------------- 1 ----------------\n    | Traceback (most recent call last):\n    |   File \"tool.py\", line 3, in f\n    | ValueError: bad tag\n    +------------------------------------\n", 1, true},
		{"/src/tool.js:3\n    x();\n    ^\n\n" + nodeStack, 1, true},
		{nodeStack + "\nNode.js v20.11.0\n", 1, true},
		{nodeStack + "\nNode.js v20.11.0\n", 7, true},
		{nodeStack + "\nNode.js v20.11.0\n", 2, false},
		{nodeStack, 1, false}, // console.error(e)
		{"refused: " + nodeStack, 1, false},
		{"/src/tool.js:3\nvar a = ;\n        ^\n\nSyntaxError: Unexpected token\n    at new Script (node:vm:94:7)\n    at check (/src/tool.js:9:1)\n", 1, false}, // printed: its stack has the source line
		{"/src/tool.js:3\n    x();\n    ^\n\n[Error: ENOENT: no such file] {\n  errno: -2\n}\n\nNode.js v20.11.0\n", 1, true},
		{"/src/tool.js:3\n    x();\n    ^\n\nbad_tag [Error]: x\n    at parse (/src/tool.js:3:9)\n\nNode.js v20.11.0\n", 1, true},
		{`Exception in thread "main" ` + javaStack, 1, true},
		{`Exception in thread "main" ` + javaStack, 0, false},
		{`Exception in thread "worker-1" ` + javaStack, 1, true},
		{`Exception in thread "worker-1" ` + javaStack, 0, true},
		{javaStack, 1, false}, // printStackTrace
		{`Exception in thread "main" java.lang.OutOfMemoryError: Java heap space` + "\n", 1, true},
		{`Exception in thread "worker-1" java.lang.OutOfMemoryError: Java heap space` + "\n", 0, true},
		{goTrace, 2, true},
		{goTrace, 1, false}, // recovered and printed
		{"panic: bad tag\n\ngoroutine 1 [running]:\nruntime/debug.Stack()\n\t/go/src/runtime/debug/stack.go:26 +0x5e\nmain.main.func1()\n\t/src/tool.go:9 +0x1d\n", 2, false},
		{"fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 [chan receive]:\nmain.main()\n\t/src/tool.go:9 +0x1d\n", 2, true},
		{"fatal error: runtime: out of memory\n\nruntime stack:\nruntime.throw()\n\t/go/panic.go:1\n", 2, true},
		{rustPanic, 101, true},
		{rustPanic, 1, false}, // of a thread that the program outlived
		{rubyTrace, 1, true},
		{rubyTrace, 0, false},
		{phpFatal, 255, true},
		{phpFatal, 1, false},
		{dotnet, 134, true},
		{dotnet, 0, false},
		{"tool.pl: bad tag at tool.pl line 3.\n", 255, false}, // how Perl programs refuse
		{"tool: bad tag\n", 1, false},
		{"", 1, false},
	} {
		if got := Analyze(Death{ExitCode: c.code, Stderr: []byte(c.stderr)}); got.Uncaught != c.want {
			t.Errorf("exit %d: uncaught %t, want %t (%s)\n%s", c.code, got.Uncaught, c.want, got.Title, c.stderr)
		}
		if c.want && Analyze(Death{Signal: 6, ExitCode: c.code, Stderr: []byte(c.stderr)}).Uncaught {
			t.Errorf("a signal is not an exit code: %s", c.stderr)
		}
	}
}

// A framework that wraps what a handler raised has no part in the cause: two
// handlers that fail in different ways are two findings.
func TestTheCauseThatAFrameworkWraps(t *testing.T) {
	wrapped := func(own, exception string) string {
		return "Tool 'weekday' raised an unexpected exception\nTraceback (most recent call last):\n" +
			"  File \"/venv/lib/python3.11/site-packages/frame/base.py\", line 179, in run\n    result = await call()\n" +
			own + exception + "\n\nThe above exception was the direct cause of the following exception:\n\n" +
			"Traceback (most recent call last):\n  File \"/venv/lib/python3.11/site-packages/frame/base.py\", line 213, in run\n" +
			"    raise ToolError\nframe.ToolError: Error executing tool weekday\n"
	}
	frame := "  File \"/src/clinic.py\", line 32, in weekday\n    d.replace(year=d.year + 1)\n"
	for _, c := range []struct{ stderr, want string }{
		{wrapped(frame, "ValueError: day is out of range"), "ValueError in clinic.py:weekday line 32: day is out of range"},
		{wrapped("", "ValueError: day is out of range"), "frame.ToolError in base.py:run: Error executing tool weekday"},
		{"Traceback (most recent call last):\n" + frame + "KeyError: 'a'\n\n" + wrapped("", "ValueError: b"), "frame.ToolError in base.py:run: Error executing tool weekday"},
	} {
		if got := Analyze(Death{Stderr: []byte(c.stderr)}).Title; got != c.want {
			t.Errorf("%s\ngives %q instead of %q", c.stderr, got, c.want)
		}
	}
}

// An exception that a statement of the program's own code raises is how it refuses;
// one of the runtime, of a library or of an assertion is not.
func TestRaisedByTheProgram(t *testing.T) {
	head := "Traceback (most recent call last):\n  File \"/venv/lib/python3.11/site-packages/frame/base.py\", line 179, in run\n    result = await call()\n"
	own := func(code string) string { return "  File \"/src/shop.py\", line 32, in ship\n    " + code + "\n" }
	marks := "          ^^^^^^\n"
	for stderr, want := range map[string]bool{
		head + own("raise ValueError(f\"no order {n}\")") + "ValueError: no order 0\n":                true,
		head + own("if n < 0: raise shop.NoOrder(n)") + marks + "shop.NoOrder: 0\n":                   true,
		head + own("return orders[n]") + marks + "KeyError: 0\n":                                      false,
		head + own("raise RuntimeError(\"stock is negative\")") + "RuntimeError: stock is negative\n": false,
		head + own("return json.loads(text)") + "  File \"/usr/lib/python3.11/json/decoder.py\", line 355, in raw_decode\n    raise JSONDecodeError(\"a\", s, 0)\njson.decoder.JSONDecodeError: a\n": false,
		head + "ValueError: no order 0\n": false,
	} {
		if got := Analyze(Death{Stderr: []byte(stderr)}).Raised; got != want {
			t.Errorf("raised %t, want %t\n%s", got, want, stderr)
		}
	}
}

// A bundler puts a whole program in one line: the column tells its errors apart.
func TestErrorsOfOneLine(t *testing.T) {
	of := func(column string) string {
		return Analyze(Death{ExitCode: 1, Stderr: []byte("Error: bad\n    at a (/src/min.js:1:" + column + ")\n    at c (/src/min.js:1:99)\n\nNode.js v20.20.2\n")}).Title
	}
	if one, two := of("45"), of("68"); one != "Error in a (min.js:1:45): bad" || one == two {
		t.Errorf("%q and %q", one, two)
	}
}

// The words around a report, and those in its message, do not change which exception it
// is, and the place where it was raised tells two of them apart.
func TestWhichException(t *testing.T) {
	at := func(frames ...string) string { return "\tat " + strings.Join(frames, "\n\tat ") + "\n" }
	node := func(before, head string) string {
		return before + "/src/tool.js:3\n    x();\n    ^\n\n" + head + "\n    at parse (/src/tool.js:3:9)\n\nNode.js v20.11.0\n"
	}
	for stderr, want := range map[string]string{
		"cfg.loader: reading\ncom.acme.Loader: refused\njava.io.IOException: bad tag\n" + at("a.Tool.parse(Tool.java:3)"):                                                                         "java.io.IOException in a.Tool.parse (Tool.java:3): bad tag",
		"com.acme.Failure: two\nlines: here\n" + at("a.Tool.parse(Tool.java:3)"):                                                                                                                  "com.acme.Failure in a.Tool.parse (Tool.java:3): two lines: here",
		"cfg.loader: reading\nTool$Failure: bad tag\n" + at("Tool.parse(Tool.java:3)"):                                                                                                            "Tool$Failure in Tool.parse (Tool.java:3): bad tag",
		"a.Bad: x\n" + at("a.Tool.key(Tool.java:3)", "a.Tool.main(Tool.java:9)") + "Caused by: b.Low: few\n" + at("java.lang.Integer.parseInt(Integer.java:9)") + "\t... 2 more\n":                "b.Low in a.Tool.key (Tool.java:3): few",
		"a.Bad: x\n" + at("a.Tool.main(Tool.java:9)") + "\tSuppressed: a.Late: close\n\t\tat a.Tool.close(Tool.java:5)\n\t\t... 1 more\nCaused by: b.Low: few\n" + at("a.Tool.read(Tool.java:4)"): "b.Low in a.Tool.read (Tool.java:4): few",
		"pure virtual method called\nterminate called without an active exception\n":                                                                                                              "pure virtual method called",
		node("", "Bad: one\nTwo: x"):                                                                  "Bad in parse (tool.js:3:9): one",
		node("TypeError: told\n    at f (/src/a.js:1:1)\n", "e: x"):                                   "e in parse (tool.js:3:9): x",
		"/src/tool.js:3\n    x();\n    ^\n\n[Error: no file] {\n  errno: -2\n}\n\nNode.js v20.11.0\n": "Error in tool.js:3: no file",
		"concurrent.futures.process._RemoteTraceback: \n\"\"\"\nTraceback (most recent call last):\n  File \"tool.py\", line 3, in work\n    d[1]\nKeyError: 1\n\"\"\"\n\n" +
			"The above exception was the direct cause of the following exception:\n\nTraceback (most recent call last):\n  File \"tool.py\", line 9, in <module>\n    f.result()\nKeyError: 1\n": "KeyError in tool.py:work line 3: <n>",
	} {
		if got := Analyze(Death{ExitCode: 1, Stderr: []byte(stderr)}).Title; got != want {
			t.Errorf("%s\ngives %q instead of %q", stderr, got, want)
		}
	}
}

// What a program puts into its own words does not make findings: the place does.
func TestWordsOfAPanic(t *testing.T) {
	for _, form := range []string{
		"thread 'main' panicked at src/tool.rs:3:9:\nno such tag WORD\n", "thread 'main' panicked at src/tool.rs:3:9:\nattempt to read tag WORD\n", "no tag WORD at tool.pl line 3.\n",
	} {
		layers := func(word string) string {
			return strings.Join(Analyze(Death{ExitCode: 101, Stderr: []byte(strings.ReplaceAll(form, "WORD", word))}).Layers, "|")
		}
		if one, two := layers("alpha"), layers("beta"); one != two || !strings.Contains(one, ":3") {
			t.Errorf("%q and %q", one, two)
		}
	}
}

// Other programs than sanitizers speak of sanitizers and of runtime errors.
func TestNoSanitizer(t *testing.T) {
	for stderr, want := range map[string]bool{
		"WARNING: HtmlSanitizer: removed 2 tags\n":                                     false,
		"==1==ERROR: HWAddressSanitizer: tag-mismatch on address 0x1\n":                true,
		"prog.bas:3: runtime error: division by zero\n":                                false,
		"prog.lox:3:7: runtime error: unknown variable\n":                              false,
		"a.c:3:7: runtime error: division by zero\n":                                   true,
		"a.c:3:7: runtime error: passing zero to clz(), which is not a valid argument": true,
	} {
		if got := Analyze(Death{Stderr: []byte(stderr)}); (got.Class == ClassSanitizer) != want {
			t.Errorf("%s is %s", stderr, got.Class)
		}
	}
}
