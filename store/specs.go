package store

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
)

// SpecRef is one document of a run.
type SpecRef struct {
	Path     string `json:"path"` // as the user named it
	Contract string `json:"contract"`
	Blob     string `json:"blob"`           // its content, or what holds its content
	Part     *Part  `json:"part,omitempty"` // where in the blob; nil: the blob is the content
}

// Part is a piece of a blob.
type Part struct {
	From int `json:"from"`
	Size int `json:"size"`
}

// sheaf is about how much text one blob holds for several documents: a run of
// many small ones would otherwise flush a file for each. A longer document has
// a blob of its own.
const sheaf = 1 << 20

// keptAtOnce is how many blobs are written at a time: a disk flushes many files
// in nearly the time of one.
const keptAtOnce = 16

// PutSpecs keeps the texts of documents and notes in refs where they are.
func (s *Store) PutSpecs(refs []SpecRef, texts [][]byte) error {
	errs := make([]error, len(refs))
	var wg sync.WaitGroup
	room := make(chan struct{}, keptAtOnce)
	for n := 0; len(refs) > 0; n++ {
		several, size := 1, len(texts[0])
		for several < len(refs) && size+len(texts[several]) <= sheaf {
			size += len(texts[several])
			several++
		}
		some, theirs := refs[:several], texts[:several]
		room <- struct{}{}
		wg.Go(func() {
			errs[n] = s.putSheaf(some, theirs)
			<-room
		})
		refs, texts = refs[several:], texts[several:]
	}
	wg.Wait()
	return errors.Join(errs...)
}

// putSheaf keeps documents in one blob.
func (s *Store) putSheaf(refs []SpecRef, texts [][]byte) error {
	text := texts[0]
	if len(texts) > 1 {
		text = bytes.Join(texts, nil)
	}
	blob, err := s.PutBlob(text)
	if err != nil {
		return fmt.Errorf("keep %s: %w", refs[0].Path, err)
	}
	from := 0
	for i := range refs {
		refs[i].Blob = blob
		if len(refs) > 1 {
			refs[i].Part = &Part{From: from, Size: len(texts[i])}
		}
		from += len(texts[i])
	}
	return nil
}

// ReadSpecs returns the texts of documents; blob reads a content.
func ReadSpecs(refs []SpecRef, blob func(name string) ([]byte, error)) ([][]byte, error) {
	texts := make([][]byte, len(refs))
	name, held := "", []byte(nil)
	for i, r := range refs {
		if r.Blob != name || held == nil {
			var err error
			if held, err = blob(r.Blob); err != nil {
				return nil, fmt.Errorf("read %s back from the store: %w", r.Path, err)
			}
			name = r.Blob
		}
		texts[i] = held
		if p := r.Part; p != nil {
			if p.From < 0 || p.Size < 0 || p.From > len(held) || p.Size > len(held)-p.From {
				return nil, fmt.Errorf("read %s back from the store: blob %s has no bytes %d to %d", r.Path, r.Blob, p.From, p.From+p.Size)
			}
			texts[i] = held[p.From : p.From+p.Size : p.From+p.Size]
		}
	}
	return texts, nil
}
