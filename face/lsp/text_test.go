package lsp

import (
	"runtime"
	"testing"

	"github.com/thresh-dev/thresh/diag"
)

// Bytes, UTF-16 units and the columns of diagnostics lead to the same place, on
// lines of either end; a place that there is not is the nearest that there is.
func TestPlacesInAText(t *testing.T) {
	const smile = "😀"
	x := newText("ab\r\n" + smile + "é!\n\nlast")
	for _, c := range []struct {
		offset int
		at     position
		column int // of a diagnostic, from 1
	}{
		{0, position{0, 0}, 1}, {1, position{0, 1}, 2}, {2, position{0, 2}, 3},
		{4, position{1, 0}, 1}, {8, position{1, 2}, 5}, {10, position{1, 3}, 7}, {11, position{1, 4}, 8},
		{12, position{2, 0}, 1}, {13, position{3, 0}, 1}, {17, position{3, 4}, 5},
	} {
		if got := x.position(c.offset); got != c.at {
			t.Errorf("offset %d is at %v, want %v", c.offset, got, c.at)
		}
		if got := x.offset(c.at); got != c.offset {
			t.Errorf("%v is offset %d, want %d", c.at, got, c.offset)
		}
		if got := x.offsetOf(diag.Pos{Line: c.at.Line + 1, Col: c.column}); got != c.offset {
			t.Errorf("line %d, column %d is offset %d, want %d", c.at.Line+1, c.column, got, c.offset)
		}
	}
	for at, want := range map[position]int{
		{-1, 3}: 0, {0, 9}: 2, {1, 1}: 8, {1, 99}: 11, {2, 5}: 12, {3, 9}: 17, {4, 0}: 17, {9, 9}: 17, {1, -1}: 4,
	} {
		if got := x.offset(at); got != want {
			t.Errorf("%v is offset %d, want %d", at, got, want)
		}
	}
	for at, want := range map[diag.Pos]int{
		{}: 0, {Line: 1}: 0, {Line: 1, Col: 99}: 2, {Line: 2, Col: 99}: 11, {Line: 4, Col: 99}: 17, {Line: 5, Col: 1}: 17, {Line: 99}: 17,
	} {
		if got := x.offsetOf(at); got != want {
			t.Errorf("%v is offset %d, want %d", at, got, want)
		}
	}
	if got, want := x.position(-4), (position{}); got != want {
		t.Errorf("before the text: %v", got)
	}
	if got, want := x.position(99), (position{3, 4}); got != want {
		t.Errorf("behind the text: %v", got)
	}
	if got, want := x.span(8, 4), (span{position{1, 2}, position{1, 2}}); got != want {
		t.Errorf("a span that ends before it begins: %v", got)
	}
	for n, want := range []string{"ab", smile + "é!", "", "last"} {
		if got := x.line(n); got != want {
			t.Errorf("line %d is %q, want %q", n, got, want)
		}
	}
}

func TestNamesOfFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("paths look otherwise there")
	}
	for path, uri := range map[string]string{
		"/a/b.md": "file:///a/b.md", "/with space/100%/ä?#.md": "file:///with%20space/100%25/%C3%A4%3F%23.md",
	} {
		if got := uriOf(path); got != uri {
			t.Errorf("%s is %s, want %s", path, got, uri)
		}
		if got := pathOf(uri); got != path {
			t.Errorf("%s is %q, want %q", uri, got, path)
		}
	}
	if got := uriOf("c:/x.md"); got != "file:///c:/x.md" {
		t.Errorf("a path with a drive: %s", got)
	}
	for _, uri := range []string{"", "untitled:Untitled-1", "https://example.com/a.md", "file://%zz", "/a/b.md"} {
		if got := pathOf(uri); got != "" {
			t.Errorf("%s is %q, and names no file", uri, got)
		}
	}
}
