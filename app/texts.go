package app

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/thresh-dev/thresh/campaign"
)

// texts holds the texts of a run's documents. Short texts stay on the heap up to a limit; the
// others go to a file that is mapped into memory, so that many or long documents take no more
// memory than few. Later changes to a document have no effect. The file has no name, ends with the
// process, and is never unmapped. A nil texts holds everything on the heap.
type texts struct {
	dir string // folder of the file

	mu     sync.Mutex
	onHeap int // bytes
	file   *os.File
	off    bool     // no file can be made or mapped
	sheets [][]byte // the file, mapped
	used   int      // bytes of the last sheet
}

const (
	// MaxDocument is the largest size of a document, in bytes.
	MaxDocument = campaign.MaxDocument
	// sheetSize is how many bytes of the file are mapped at a time. That reserves address space,
	// not memory.
	sheetSize = MaxDocument
	// heapTexts is the limit of text on the heap, and longText the length from which a text
	// bypasses the heap even while it is read, both in bytes.
	heapTexts = 512 << 10
	longText  = 512 << 10
)

// text is a document's text.
type text struct {
	data    []byte
	filed   bool
	release func() // see [campaign.Spec]
}

// read reads a file that may be a document.
func (t *texts) read(f *os.File) (text, error) {
	size := 0
	if info, err := f.Stat(); err == nil { // so that a long text is not copied repeatedly
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
	data := make([]byte, 0, size+1) // one byte more, to detect the end
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

// hold takes charge of a document's text.
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

// copy copies size bytes of a file into the mapped file.
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

// reserve returns where the file has room for a text. False means that there is no room or no file;
// the text then stays on the heap.
func (t *texts) reserve(size int) (at int64, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.off && (len(t.sheets) == 0 || t.used+size > sheetSize) {
		t.off = t.mapSheet() != nil
	}
	return int64(len(t.sheets)-1)*sheetSize + int64(t.used), !t.off
}

// mapSheet maps a further part of the file. The first call creates the file.
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

// added returns the text of n bytes that was written to the reserved place.
func (t *texts) added(n int) text {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.sheets[len(t.sheets)-1]
	t.used += n
	return text{data: s[t.used-n : t.used : t.used], filed: true}
}

// release gives the memory of the file's pages back. A page read later is loaded again.
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
