package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/thresh-dev/thresh/store/blob"
)

// SpecRef is one document of a run.
type SpecRef struct {
	Path     string `json:"path"`           // as the user named it
	Name     string `json:"name,omitempty"` // see [campaign.Spec]; "": the path
	Contract string `json:"contract"`
	Blob     string `json:"blob"`             // blob with its content, or with several contents
	Digest   string `json:"digest,omitempty"` // of its content, if the blob holds several
	Part     *Part  `json:"part,omitempty"`   // where in the blob; nil: the whole blob
}

// Part is a piece of a blob.
type Part struct {
	From int `json:"from"`
	Size int `json:"size"`
}

// sheaf is about how much text of several documents one blob holds: otherwise a
// run of many small documents would flush a file for each. A longer document has
// a blob of its own.
const sheaf = 1 << 20

// keptAtOnce is how many blobs are written at a time: a disk flushes many files
// in nearly the time of one.
const keptAtOnce = 16

// PutSpecs stores the texts of documents and notes in refs where they are. It
// calls release after reading them, see [campaign.Spec].
func (s *Store) PutSpecs(refs []SpecRef, texts [][]byte, release func()) error {
	s.wrote.Store(true)
	errs := make([]error, len(refs))
	blobs := 0
	var wg sync.WaitGroup
	room := make(chan struct{}, keptAtOnce)
	var joined []byte
	for n := 0; len(refs) > 0; n++ {
		several, size := 1, len(texts[0])
		for several < len(refs) && size+len(texts[several]) <= sheaf {
			size += len(texts[several])
			several++
		}
		some := refs[:several]
		text := texts[0]
		if several > 1 {
			joined = slices.Grow(joined[:0], size)
			from := 0
			for i, t := range texts[:several] {
				joined = append(joined, t...)
				sum := sha256.Sum256(t)
				some[i].Part, some[i].Digest = &Part{From: from, Size: len(t)}, hex.EncodeToString(sum[:])
				from += len(t)
			}
			text = joined
		}
		packed, err := s.packSpecs(text, release)
		blobs++
		for i := range some {
			some[i].Blob = packed.ID
		}
		refs, texts = refs[several:], texts[several:]
		if err != nil {
			errs[n] = fmt.Errorf("keep %s: %w", some[0].Path, err)
			continue
		}
		room <- struct{}{}
		wg.Go(func() {
			if err := s.blobs.PutPacked(packed); err != nil {
				errs[n] = fmt.Errorf("keep %s: %w", some[0].Path, err)
			}
			<-room
		})
	}
	wg.Wait()
	if blobs > 1 {
		s.blobs.Rest()
	}
	return environment(errors.Join(errs...))
}

// packSpecs packs a text for a blob. A long text is stored at once, in little
// memory.
func (s *Store) packSpecs(text []byte, release func()) (blob.Packed, error) {
	if len(text) <= sheaf {
		defer release()
		return s.blobs.Pack(text)
	}
	h := sha256.New()
	_, _ = io.Copy(h, &releasing{text: text, release: release}) // neither fails
	p := blob.Packed{ID: hex.EncodeToString(h.Sum(nil))}
	there, err := s.blobs.Refresh(p.ID)
	if there || err != nil {
		return p, err
	}
	_, err = s.blobs.PutFrom(&releasing{text: text, release: release})
	return p, err
}

// releasing reads a text and releases its memory as it goes.
type releasing struct {
	text    []byte
	read    int
	release func()
}

// Len returns how many bytes are left to read.
func (r *releasing) Len() int { return len(r.text) }

// Read implements [io.Reader].
func (r *releasing) Read(p []byte) (int, error) {
	n := copy(p, r.text)
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	r.text = r.text[n:]
	if r.read += n; r.read >= sheaf {
		r.release()
		r.read = 0
	}
	return n, nil
}

// ReadSpecs calls each for documents with their texts, in order. blob reads a
// content; at most one is held at a time. An error of each ends the loop.
func ReadSpecs(refs []SpecRef, blob func(name string) ([]byte, error), each func(r SpecRef, text []byte) error) error {
	name, held := "", []byte(nil)
	for _, r := range refs {
		if r.Blob != name || held == nil {
			var err error
			if held, err = blob(r.Blob); err != nil {
				return fmt.Errorf("read %s back from the store: %w", r.Path, err)
			}
			name = r.Blob
		}
		text := held
		if p := r.Part; p != nil {
			if p.From < 0 || p.Size < 0 || p.From > len(held) || p.Size > len(held)-p.From {
				return fmt.Errorf("read %s back from the store: blob %s has no bytes %d to %d", r.Path, r.Blob, p.From, p.From+p.Size)
			}
			text = held[p.From : p.From+p.Size : p.From+p.Size]
		}
		if err := each(r, text); err != nil {
			return err
		}
	}
	return nil
}
