// Package blob stores byte strings by content: a blob's name is the hex SHA-256
// of its bytes. Equal contents are stored once, a name can be written into a
// journal before or after the content, and every read is checked against the
// name.
//
// A blob is compressed (zstd) in ab/abcdef....zst below the folder. It is written to a
// temporary file, flushed to the disk and renamed, so a file with a blob's name is
// always whole. After the content, a frame that zstd skips holds a checksum of the
// file, as a changed bit in zstd's own headers may leave the content unchanged. The
// package imports the standard library, zstd and store/lock.
package blob

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/thresh-dev/thresh/store/lock"
)

// IDLen is the length of a blob's name in hex digits.
const IDLen = 2 * sha256.Size

// window is how far back the compression of a blob looks. The encoder keeps twice that
// much memory, from the first blob on until [Dir.Rest].
const window = 1 << 20

const (
	suffix     = ".zst"
	tempPrefix = ".put-"
	sweepLock  = ".sweep-lock"
)

// Dir is a folder of blobs. It is safe for concurrent use, by other processes too.
type Dir struct {
	path string
	enc  encoder
	dec  func() (*zstd.Decoder, error)
}

// encoder compresses one content at a time.
type encoder struct {
	mu sync.Mutex
	z  *zstd.Encoder // made when first needed
}

func (e *encoder) pack(data []byte) ([]byte, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.z == nil {
		z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window))
		if err != nil {
			return nil, err
		}
		e.z = z
	}
	return e.z.EncodeAll(data, make([]byte, 0, len(data)/8+64)), nil // with a nil buffer it would allocate room for all of data
}

// Rest frees the memory of the encoder, which is more than most blobs take, until it is
// needed again.
func (d *Dir) Rest() {
	d.enc.mu.Lock()
	defer d.enc.mu.Unlock()
	d.enc.z = nil
}

// Open returns the blobs in the folder, which must exist.
func Open(path string) *Dir {
	return &Dir{
		path: path,
		// Made when first needed: it is large, and many commands read no blob.
		dec: sync.OnceValues(func() (*zstd.Decoder, error) {
			return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
		}),
	}
}

// ID returns the name of the blob that holds data.
func ID(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func validID(id string) bool {
	return len(id) == IDLen && strings.Trim(id, "0123456789abcdef") == ""
}

func (d *Dir) file(id string) string { return filepath.Join(d.path, id[:2], id+suffix) }

// Put stores data and returns its name. A blob that exists is not written again, but
// counts as put now: see [Dir.Sweep].
func (d *Dir) Put(data []byte) (string, error) {
	p, err := d.Pack(data)
	if err != nil {
		return "", err
	}
	return p.ID, d.PutPacked(p)
}

// Packed is content that is ready to be written.
type Packed struct {
	ID    string
	bytes []byte // nil: the blob exists
}

// Pack compresses data, which the caller may then discard.
func (d *Dir) Pack(data []byte) (Packed, error) {
	p := Packed{ID: ID(data)}
	there, err := d.Refresh(p.ID)
	if there || err != nil {
		return p, err
	}
	if p.bytes, err = d.enc.pack(data); err != nil {
		return p, fmt.Errorf("store blob %s: %w", p.ID, err)
	}
	return p, nil
}

// PackFrom is [Dir.Pack] for content that is written in pieces. It holds only their
// compressed form.
func (d *Dir) PackFrom(write func(io.Writer) error) (Packed, error) {
	var p Packed
	var b bytes.Buffer
	enc, err := zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return p, err
	}
	h := sha256.New()
	if err := write(io.MultiWriter(h, enc)); err != nil {
		return p, errors.Join(err, enc.Close())
	}
	if err := enc.Close(); err != nil {
		return p, err
	}
	return Packed{ID: sum(h), bytes: b.Bytes()}, nil
}

// Bytes returns the compressed content; nil if [Dir.Pack] found that the blob exists.
func (p Packed) Bytes() []byte { return p.bytes }

// IsPacked reports whether data begins as compressed content does.
func IsPacked(data []byte) bool { return bytes.HasPrefix(data, []byte{0x28, 0xb5, 0x2f, 0xfd}) }

// PutPacked stores packed content.
func (d *Dir) PutPacked(p Packed) error {
	if p.bytes == nil {
		return nil
	}
	err := d.write(func(w io.Writer) (string, error) {
		_, err := w.Write(p.bytes)
		return p.ID, err
	})
	if err != nil {
		return fmt.Errorf("store blob %s: %w", p.ID, err)
	}
	return nil
}

// PutFrom stores all that r has, in constant memory, and returns its name. If r knows
// its size (Len, as bytes.Reader has it), that is stored too, and [Dir.Get] allocates
// no more than that.
func (d *Dir) PutFrom(r io.Reader) (string, error) {
	id := ""
	err := d.write(func(w io.Writer) (string, error) {
		enc, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window), zstd.WithLowerEncoderMem(true))
		if err != nil {
			return "", err
		}
		if known, ok := r.(interface{ Len() int }); ok {
			enc.ResetContentSize(w, int64(known.Len()))
		}
		h := sha256.New()
		if _, err := io.Copy(io.MultiWriter(h, enc), r); err != nil {
			return "", errors.Join(err, enc.Close())
		}
		if err := enc.Close(); err != nil {
			return "", err
		}
		id = sum(h)
		return id, nil
	})
	if err != nil {
		return "", fmt.Errorf("store a blob: %w", err)
	}
	return id, nil
}

func sum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// Refresh reports whether the blob exists, and if so sets its time to now, so that no
// collector takes it for an old one before it is referred to.
func (d *Dir) Refresh(id string) (bool, error) {
	path := d.file(id)
	if fi, err := os.Stat(path); err != nil || fi.Size() == 0 {
		return false, nil
	}
	// Under the lock, a collector cannot remove the file between looking at its time
	// and removing it.
	l, err := lock.Wait(filepath.Join(d.path, sweepLock), lock.Shared)
	if err != nil {
		return false, err
	}
	defer l.Close()
	now := time.Now()
	err = os.Chtimes(path, now, now)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return false, nil // the file of another user is replaced
	}
	return err == nil, err
}

// write makes a blob from what fill writes; fill returns its name.
func (d *Dir) write(fill func(io.Writer) (string, error)) (err error) {
	// Not os.CreateTemp: its files are only for one user, and stay so.
	f, err := os.OpenFile(filepath.Join(d.path, tempPrefix+rand.Text()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close() // again, if closing is what failed
			os.Remove(f.Name())
		}
	}()
	w := &counted{to: f}
	id, err := fill(w)
	if err != nil {
		return err
	}
	if _, err := w.Write(seal(w.sum)); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	// A write that the system repeated or lost makes a file that only its reader would
	// find damaged, long after its source is gone.
	if fi, err := f.Stat(); err != nil {
		return err
	} else if fi.Size() != w.n {
		return fmt.Errorf("%s has %d bytes, %d were written to it", f.Name(), fi.Size(), w.n)
	}
	if err := f.Close(); err != nil {
		return err
	}
	// Under the lock, a collector that has just found the blob old cannot
	// remove the new file instead.
	l, err := lock.Wait(filepath.Join(d.path, sweepLock), lock.Shared)
	if err != nil {
		return err
	}
	defer l.Close()
	path := d.file(id)
	err = os.Rename(f.Name(), path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return err
	}
	flushDir(filepath.Dir(path))
	return nil
}

// counted counts and sums what is written to a file.
type counted struct {
	to  io.Writer
	n   int64
	sum uint32
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (c *counted) Write(p []byte) (int, error) {
	n, err := c.to.Write(p)
	c.n, c.sum = c.n+int64(n), crc32.Update(c.sum, castagnoli, p[:n])
	return n, err
}

// seal returns what follows the content: a frame that zstd skips, with a checksum.
func seal(sum uint32) []byte {
	return binary.LittleEndian.AppendUint32([]byte{0x5e, 0x2a, 0x4d, 0x18, 4, 0, 0, 0}, sum)
}

// sealed reports whether a file matches the checksum that it ends with. A file of an
// earlier version ends without one.
func sealed(file []byte) bool {
	n := len(file) - len(seal(0))
	if n < 0 || file[n]&0xf0 != 0x50 || string(file[n+1:n+4]) != "\x2a\x4d\x18" {
		return true
	}
	return bytes.Equal(file[n:], seal(crc32.Checksum(file[:n], castagnoli)))
}

// flushDir makes the names in a folder survive a crash of the machine, where the system
// can do that; elsewhere that is not an error.
func flushDir(path string) {
	if f, err := os.Open(path); err == nil {
		_ = f.Sync()
		f.Close()
	}
}

// Has reports whether the blob exists.
func (d *Dir) Has(id string) bool {
	if !validID(id) {
		return false
	}
	_, err := os.Stat(d.file(id))
	return err == nil
}

// Get returns the content of a blob. It fails with fs.ErrNotExist if there is no blob
// of that name.
func (d *Dir) Get(id string) ([]byte, error) {
	if !validID(id) {
		return nil, fmt.Errorf("blob %q: a blob's name has %d hex digits", id, IDLen)
	}
	packed, err := os.ReadFile(d.file(id))
	if err != nil {
		return nil, fmt.Errorf("read blob %s: %w", id, err)
	}
	dec, err := d.dec()
	if err != nil {
		return nil, fmt.Errorf("read blob %s: %w", id, err)
	}
	data, err := dec.DecodeAll(packed, nil)
	if err != nil {
		return nil, fmt.Errorf("blob %s is damaged: %w", id, err)
	}
	if ID(data) != id {
		return nil, fmt.Errorf("blob %s is damaged: its content does not match its name", id)
	}
	if !sealed(packed) {
		return nil, fmt.Errorf("blob %s is damaged: its file does not match its checksum", id)
	}
	if data == nil {
		data = []byte{}
	}
	return data, nil
}

// Remove removes a blob that nothing refers to any more; a missing blob is not an
// error.
func (d *Dir) Remove(id string) error {
	if !validID(id) {
		return fmt.Errorf("blob %q: a blob's name has %d hex digits", id, IDLen)
	}
	if err := os.Remove(d.file(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
