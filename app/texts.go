package app

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/thresh-dev/thresh/campaign"
)

// texts holds the texts of a run's documents: on the heap as long as they are
// few, and then in a file of the run's own that is mapped into memory, so that
// many or long documents take no more memory than few. What happens to a
// document meanwhile changes nothing. The file has no name, goes with the
// process, and is never unmapped. A nil texts holds everything on the heap.
type texts struct {
	dir string // where the file is made

	mu     sync.Mutex
	onHeap int // bytes
	file   *os.File
	off    bool     // there can be no file
	sheets [][]byte // the file, mapped
	used   int      // bytes of the last sheet
}

const (
	// MaxDocument is the largest size of a document, in bytes.
	MaxDocument = campaign.MaxDocument
	// sheetSize is how much of the file is mapped at a time: address space, of
	// which no more is taken than is used.
	sheetSize = MaxDocument
	// heapTexts is how much text is held on the heap, and longText the length
	// from which a text does not get there even while it is read.
	heapTexts = 512 << 10
	longText  = 512 << 10
)

// text is a document that was read.
type text struct {
	data    []byte
	filed   bool
	release func() // see [campaign.Spec]
}

// read reads a file that may be a document.
func (t *texts) read(f *os.File) (text, error) {
	size := 0
	if info, err := f.Stat(); err == nil { // so that a long one is not copied again and again
		size = int(min(info.Size(), MaxDocument+1))
	}
	if size > MaxDocument {
		return text{}, errTooLong()
	}
	if t != nil && size >= longText {
		if x, ok := t.copy(f, size); ok {
			return x, nil
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return text{}, err
		}
	}
	data := make([]byte, 0, size+1) // with room to see the end
	for {
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case errors.Is(err, io.EOF):
			return text{data: data}, nil
		case err != nil:
			return text{}, err
		case len(data) > MaxDocument:
			return text{}, errTooLong()
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
	}
}

func errTooLong() error {
	return fmt.Errorf("larger than %d MiB", MaxDocument>>20)
}

// hold holds the text of a document.
func (t *texts) hold(x text) text {
	switch {
	case t == nil:
		return x
	case !x.filed:
		t.mu.Lock()
		stays := t.onHeap+len(x.data) <= heapTexts
		if stays {
			t.onHeap += len(x.data)
		}
		t.mu.Unlock()
		if stays {
			return x
		}
		at, ok := t.reserve(len(x.data))
		if !ok {
			return x
		}
		if _, err := t.file.WriteAt(x.data, at); err != nil {
			return x
		}
		x = t.added(len(x.data))
	}
	x.release = t.release
	return x
}

// copy copies a file of a size into that of the texts.
func (t *texts) copy(f *os.File, size int) (text, bool) {
	at, ok := t.reserve(size)
	if !ok {
		return text{}, false
	}
	n, err := io.Copy(io.NewOffsetWriter(t.file, at), io.LimitReader(f, int64(size)))
	if err != nil {
		return text{}, false
	}
	return t.added(int(n)), true
}

// reserve is where in the file there is room for a text. False means that there
// is none, or no file: the text stays on the heap then.
func (t *texts) reserve(size int) (at int64, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.off && (len(t.sheets) == 0 || t.used+size > sheetSize) {
		t.off = t.mapSheet() != nil
	}
	return int64(len(t.sheets)-1)*sheetSize + int64(t.used), !t.off
}

// mapSheet maps a further part of the file, which is made for the first.
func (t *texts) mapSheet() error {
	if t.file == nil {
		if err := os.MkdirAll(t.dir, 0o777); err != nil {
			return err
		}
		f, err := os.CreateTemp(t.dir, ".texts-*")
		if err != nil {
			return err
		}
		t.file = f
		if err := os.Remove(f.Name()); err != nil {
			return err
		}
	}
	s, err := mapFile(t.file, int64(len(t.sheets))*sheetSize, sheetSize)
	if err == nil {
		t.sheets, t.used = append(t.sheets, s), 0
	}
	return err
}

// added is the text of n bytes that was written where there was room.
func (t *texts) added(n int) text {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.sheets[len(t.sheets)-1]
	t.used += n
	return text{data: s[t.used-n : t.used : t.used], filed: true}
}

// release gives the memory of the file back. What is looked at again is read
// from it again.
func (t *texts) release() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, s := range t.sheets {
		if i == len(t.sheets)-1 {
			s = s[:t.used]
		}
		dropPages(s)
	}
}
