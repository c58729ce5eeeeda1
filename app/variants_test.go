package app

import (
	"os"
	"path/filepath"
	"testing"
)

func TestVariantsAreFiles(t *testing.T) {
	dir := t.TempDir()
	v := variants{dir: cacheFolder(func(string) string { return dir }, "variants")}
	if text, ok := v.Recall("abcdef"); ok {
		t.Errorf("%q is there before it was kept", text)
	}
	for _, text := range []string{"one", "an other\n"} {
		if err := v.Remember("abcdef", text); err != nil {
			t.Fatal(err)
		}
		if got, ok := v.Recall("abcdef"); !ok || got != text {
			t.Errorf("%q, want %q", got, text)
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "variants", "ab", "*"))
	if err != nil || len(files) != 1 {
		t.Errorf("%q, %v", files, err)
	}
	blocked := filepath.Join(dir, "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := (variants{dir: blocked}).Remember("abcdef", "x"); err == nil {
		t.Error("kept where there is no folder")
	}
	if err := (variants{}).Remember("abcdef", "x"); err != nil {
		t.Error(err)
	}
}
