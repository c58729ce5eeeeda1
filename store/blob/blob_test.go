package blob

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

func TestPutGet(t *testing.T) {
	d := Open(t.TempDir())
	for _, data := range [][]byte{{}, []byte("x"), bytes.Repeat([]byte("thresh "), 100_000)} {
		id, err := d.Put(data)
		if err != nil {
			t.Fatal(err)
		}
		if id != ID(data) || !d.Has(id) {
			t.Errorf("%d bytes: id %s", len(data), id)
		}
		got, err := d.Get(id)
		if err != nil || !bytes.Equal(got, data) {
			t.Errorf("%d bytes: got %d back, %v", len(data), len(got), err)
		}
		from, err := d.PutFrom(iotest.OneByteReader(io.LimitReader(bytes.NewReader(data), int64(len(data)))))
		if err != nil || from != id {
			t.Errorf("from a reader: %s, %v", from, err)
		}
	}
	if _, err := d.Get(ID([]byte("other"))); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("unknown blob: %v", err)
	}
	for _, bad := range []string{"", "../../../etc/passwd", strings.Repeat("A", IDLen), strings.Repeat("a", IDLen-1)} {
		if _, err := d.Get(bad); err == nil || d.Has(bad) || d.Remove(bad) == nil {
			t.Errorf("%q was taken for a blob's name", bad)
		}
	}
}

func TestPutFromLarge(t *testing.T) {
	d := Open(t.TempDir())
	const size = 8 << 20
	r := io.LimitReader(rand.NewChaCha8([32]byte{1}), size)
	id, err := d.PutFrom(r)
	if err != nil {
		t.Fatal(err)
	}
	if data, err := d.Get(id); err != nil || len(data) != size {
		t.Fatalf("%d bytes back, %v", len(data), err)
	}
}

func TestPutFromFailingReaderLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	d := Open(dir)
	if _, err := d.PutFrom(iotest.ErrReader(errors.New("the disk fell off"))); err == nil {
		t.Fatal("no error")
	}
	if files, _ := filepath.Glob(filepath.Join(dir, tempPrefix+"*")); len(files) != 0 {
		t.Errorf("left behind: %v", files)
	}
}

func TestDamagedBlobIsRefused(t *testing.T) {
	d := Open(t.TempDir())
	id, _ := d.Put([]byte("something that is long enough to be damaged"))
	other, _ := d.Put([]byte("something else"))
	whole, _ := os.ReadFile(d.file(id))
	for name, content := range map[string]func() []byte{
		"garbage": func() []byte { return []byte("garbage") },
		"empty":   func() []byte { return nil },
		"swapped": func() []byte { b, _ := os.ReadFile(d.file(other)); return b },
		"cut":     func() []byte { return whole[:len(whole)-3] },
	} {
		os.WriteFile(d.file(id), content(), 0o666)
		if _, err := d.Get(id); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("%s: %v", name, err)
		}
	}
	// An empty file is what a crash of the whole machine may leave; putting
	// the blob again mends it.
	os.WriteFile(d.file(id), nil, 0o666)
	d.Put([]byte("something that is long enough to be damaged"))
	if _, err := d.Get(id); err != nil {
		t.Errorf("put again: %v", err)
	}
}

// No bit of a blob's file can change without notice. A blob that an earlier version
// wrote, without a checksum of its file, is read.
func TestFlippedBits(t *testing.T) {
	d := Open(t.TempDir())
	for _, data := range []string{"", "x", strings.Repeat("kept outcomes ", 40)} {
		packed, _ := d.Put([]byte(data))
		for _, put := range []func() (string, error){
			func() (string, error) { return packed, nil },
			func() (string, error) { return d.PutFrom(iotest.HalfReader(strings.NewReader(data))) },
		} {
			id, err := put()
			whole, _ := os.ReadFile(d.file(id))
			if err != nil || len(whole) == 0 {
				t.Fatal(err)
			}
			for bit := range 8 * len(whole) {
				b := bytes.Clone(whole)
				b[bit/8] ^= 1 << (bit % 8)
				os.WriteFile(d.file(id), b, 0o600)
				if _, err := d.Get(id); err == nil {
					t.Errorf("%d bytes: bit %d of byte %d flipped unnoticed", len(data), bit%8, bit/8)
				}
			}
			os.WriteFile(d.file(id), whole[:len(whole)-len(seal(0))], 0o600)
			if got, err := d.Get(id); err != nil || string(got) != data {
				t.Errorf("without a checksum: %q, %v", got, err)
			}
		}
	}
}

func TestSweep(t *testing.T) {
	dir := t.TempDir()
	d := Open(dir)
	a, _ := d.Put([]byte("a"))
	b, _ := d.Put([]byte("b"))
	hourAgo := time.Now().Add(-time.Hour)
	os.Chtimes(d.file(a), hourAgo, hourAgo)
	os.WriteFile(filepath.Join(dir, tempPrefix+"dead"), []byte("1234567"), 0o666)
	os.WriteFile(filepath.Join(dir, tempPrefix+"live"), nil, 0o666)
	os.Chtimes(filepath.Join(dir, tempPrefix+"dead"), hourAgo, hourAgo)

	limit := time.Now().Add(-time.Minute)
	old := func(i Info) bool { return i.Put.Before(limit) }
	fi, _ := os.Stat(d.file(a))
	for _, dry := range []bool{true, false} {
		n, freed, err := d.Sweep(old, limit, dry)
		if n != 1 || freed != fi.Size()+7 || err != nil {
			t.Errorf("dry %v: %d blobs, %d bytes, %v", dry, n, freed, err)
		}
		if d.Has(a) != dry || !d.Has(b) {
			t.Errorf("dry %v: a there: %v, b there: %v", dry, d.Has(a), d.Has(b))
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, tempPrefix+"*")); len(left) != 1 || !strings.HasSuffix(left[0], "live") {
		t.Errorf("temporary files left: %v", left)
	}

	// Putting a blob that is there makes it young again.
	os.Chtimes(d.file(b), hourAgo, hourAgo)
	d.Put([]byte("b"))
	if n, _, _ := d.Sweep(old, limit, false); n != 0 {
		t.Error("a blob that was just put again was swept")
	}
}

// Content that is written in pieces gets the name that it has as a whole.
func TestPackFrom(t *testing.T) {
	d := Open(t.TempDir())
	text := strings.Repeat("some text ", 1000)
	p, err := d.PackFrom(func(w io.Writer) error {
		for _, part := range []string{text[:10], text[10:]} {
			if _, err := io.WriteString(w, part); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || p.ID != ID([]byte(text)) || !IsPacked(p.Bytes()) || len(p.Bytes()) > 200 || IsPacked([]byte(text)) {
		t.Fatalf("%s, %d bytes, %v", p.ID, len(p.Bytes()), err)
	}
	if err := d.PutPacked(p); err != nil {
		t.Fatal(err)
	}
	if got, err := d.Get(p.ID); err != nil || string(got) != text {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	broken := errors.New("broken")
	if _, err := d.PackFrom(func(io.Writer) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	for range 2 { // the second time, there is none
		if err := d.Remove(p.ID); err != nil {
			t.Error(err)
		}
	}
	if d.Has(p.ID) || d.Remove("x") == nil {
		t.Error("it is there, or a wrong name was taken")
	}
}

// A sweep takes what is unwanted, and what writers that died left behind.
func TestSweepOfLeftovers(t *testing.T) {
	d := Open(t.TempDir())
	var ids []string
	for _, text := range []string{"a", "b", "c"} {
		id, err := d.Put([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	now := time.Now()
	for name, age := range map[string]time.Duration{tempPrefix + "old": 2 * time.Hour, tempPrefix + "new": 0, "another": 2 * time.Hour} {
		path := filepath.Join(d.path, name)
		if err := errors.Join(os.WriteFile(path, []byte("12345"), 0o600), os.Chtimes(path, now.Add(-age), now.Add(-age))); err != nil {
			t.Fatal(err)
		}
	}
	size := int64(0)
	if err := d.All(func(b Info) error {
		if b.ID == ids[1] {
			size = b.Size
		}
		return nil
	}); err != nil || size == 0 {
		t.Fatal(size, err)
	}
	for _, dry := range []bool{true, false} {
		n, freed, err := d.Sweep(func(b Info) bool { return b.ID == ids[1] }, now.Add(-time.Hour), dry)
		if err != nil || n != 1 || freed != size+5 {
			t.Errorf("dry %v: %d blobs, %d of %d bytes, %v", dry, n, freed, size+5, err)
		}
		if d.Has(ids[1]) != dry || !d.Has(ids[0]) || !d.Has(ids[2]) {
			t.Errorf("dry %v: other blobs are there", dry)
		}
		for name, stays := range map[string]bool{tempPrefix + "old": dry, tempPrefix + "new": true, "another": true} {
			if _, err := os.Stat(filepath.Join(d.path, name)); (err == nil) != stays {
				t.Errorf("dry %v: %s: %v", dry, name, err)
			}
		}
	}
	stop := errors.New("stop")
	seen := 0
	if err := d.All(func(Info) error { seen++; return stop }); !errors.Is(err, stop) || seen != 1 {
		t.Errorf("%d seen, %v", seen, err)
	}
}
