package store

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// Many documents share blobs, long ones have their own, and all come back.
func TestSpecs(t *testing.T) {
	s := openStore(t, t.TempDir())
	var refs []SpecRef
	var texts [][]byte
	for i := range 500 {
		refs = append(refs, SpecRef{Path: fmt.Sprint(i)})
		texts = append(texts, fmt.Appendf(nil, "document %d", i))
	}
	texts[7] = nil
	texts[100] = []byte(strings.Repeat("long ", sheaf))
	if err := s.PutSpecs(refs, texts, func() {}); err != nil {
		t.Fatal(err)
	}
	names := make(map[string]int)
	for _, r := range refs {
		names[r.Blob]++
	}
	if len(names) != 3 || names[refs[100].Blob] != 1 || refs[100].Part != nil {
		t.Errorf("500 documents are in %d blobs", len(names))
	}
	reads := 0
	var got [][]byte
	keep := func(_ SpecRef, text []byte) error {
		got = append(got, text)
		return nil
	}
	err := ReadSpecs(refs, func(name string) ([]byte, error) {
		reads++
		return s.Blob(name)
	}, keep)
	if err != nil || reads != len(names) {
		t.Fatal(reads, err)
	}
	for i := range texts {
		if !bytes.Equal(got[i], texts[i]) {
			t.Errorf("document %d is %.40q", i, got[i])
		}
	}
	one := []SpecRef{{Path: "one"}}
	if err := s.PutSpecs(one, texts[:1], func() {}); err != nil || one[0].Part != nil {
		t.Errorf("a document alone is a part: %+v %v", one, err)
	}
	refs[3].Part = &Part{From: 1 << 40, Size: 1}
	if err := ReadSpecs(refs, s.Blob, keep); err == nil || !strings.Contains(err.Error(), "read 3 back") {
		t.Errorf("a part beyond its blob: %v", err)
	}
}
