package command

import (
	"slices"
	"testing"
)

// Short texts come once, the shortest first; what is long, formatted or no text does not.
func TestTexts(t *testing.T) {
	got := texts([]byte("while\x00if\x00x\x00while\x00cannot open %s\x00a text that is too long for it\x00\x01\x02\x00one two\x00"))
	var names []string
	for _, b := range got {
		names = append(names, string(b))
	}
	if want := []string{"if", "while", "one two"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
}

// Constants are written as they would stand in an input; small ones and -1 say nothing.
func TestComparedWith(t *testing.T) {
	code := []byte("\x90\x3dRIFF\x81\xf9WAVE\x66\x3dBM\x3d\x05\x00\x00\x00\x3d\xff\xff\xff\xff\x3dRIFF\x90\x90\x90\x90\x90\x90\x90\x90")
	var names []string
	for _, b := range comparedWith(code) {
		names = append(names, string(b))
	}
	if want := []string{"RIFF", "WAVE", "BM"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
}
