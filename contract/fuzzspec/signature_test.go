package fuzzspec

import (
	"strings"
	"testing"
)

// Bytes are read as Python's bytes.decode("utf-8", "replace") reads them, which gave
// what is wanted here.
func TestDecode(t *testing.T) {
	for bytes, want := range map[string]string{
		"plain": "plain", "\u20ac\u00e9": "\u20ac\u00e9",
		"\xc1x": "\ufffdx", "\xc2": "\ufffd", "\xc2x": "\ufffdx", "\xdfx": "\ufffdx", "\x80\xbf": "\ufffd\ufffd", "\xf5\x80x": "\ufffd\ufffdx",
		"\xe0\xa0x": "\ufffdx", "\xe0\x9fx": "\ufffd\ufffdx", "\xe0\xbfx": "\ufffdx", "\xed\x9fx": "\ufffdx", "\xed\xa0x": "\ufffd\ufffdx", "\xed\x80x": "\ufffdx",
		"\xe2\x82x": "\ufffdx", "\xe2\x82": "\ufffd", "\xe2\xbfx": "\ufffdx", "\xef\xbfx": "\ufffdx", "\xe2\x82\xe2\x82\xac": "\ufffd\u20ac",
		"\xf0\x90x": "\ufffdx", "\xf0\x8fx": "\ufffd\ufffdx", "\xf0\x90\x80x": "\ufffdx", "\xf0\xbf\xbfx": "\ufffdx", "\xf1\x80\x80": "\ufffd", "\xf1\xbf\xbfx": "\ufffdx",
		"\xf4\x8f\xbfx": "\ufffdx", "\xf4\x90x": "\ufffd\ufffdx", "\xf4\x80\x80x": "\ufffdx", "\xf1\xc0x": "\ufffd\ufffdx", "\xf1\x80\xc0x": "\ufffd\ufffdx",
		"\xef\xbf\xbd\xff": "\ufffd\ufffd", "a\xf3\x7fb": "a\ufffd\x7fb",
	} {
		if got := decode([]byte(bytes)); got != want {
			t.Errorf("%q is read as %q, want %q", bytes, got, want)
		}
	}
}

// What is a path in a text, at the edges of the rules.
func TestPathsInText(t *testing.T) {
	for text, want := range map[string]string{
		`/ x`: "/ x", `a /"b"`: `a /"b"`, `"/etc/x" y`: `"<PATH>" y`, `/a /b`: "<PATH> <PATH>", `1/2 a/b _/c é/d`: "1/2 a/b _/c é/d", `(/a`: "(<PATH>",
		`a:\x`: "<PATH>", `A:\x`: "<PATH>", `z:\x`: "<PATH>", `Z:\x y`: "<PATH> y", `[:\x`: `[:\x`, `@:\x`: `@:\x`, `{:\x`: `{:\x`, "`:\\x": "`:\\x",
		`1:\x`: `1:\x`, `xc:\y`: `xc:\y`, `c:\ y`: `c:\ y`, `c:\a 'd:\b'`: "<PATH> '<PATH>'",
		"a\x1cb\x1dc\x1ed\x1fe\x1bf": "a b c d e\x1bf",
	} {
		if got := NormalizeStderr(text, ""); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
	long := strings.Repeat("x", tailSize)
	if CrashSignature(long+"y", "", true) != CrashSignature(long+"z", "", true) {
		t.Error("what stands behind the tail decides")
	}
	if CrashSignature(long, "", true) == CrashSignature(long[1:]+"z", "", true) {
		t.Error("the last character of the tail does not decide")
	}
}
