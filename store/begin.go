package store

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/store/journal"
	"github.com/thresh-dev/thresh/store/lock"
)

// Begin starts a run and chooses m.RunID: a prefix that its campaigns decide, and
// the smallest free number, so that equal runs in fresh stores have equal names.
// When it returns, the manifest is on the disk.
func (s *Store) Begin(m Manifest) (*Writer, error) {
	s.wrote.Store(true)
	if m.Created.IsZero() {
		m.Created = time.Now()
	}
	m.Created = m.Created.UTC().Round(0)
	w, err := s.begin(m)
	if err != nil {
		return nil, diag.Environment("begin a run in the store %s: %w", s.dir, err)
	}
	return w, nil
}

// begin prepares the run's folder under another name and renames it when the
// manifest is on the disk: a run with a folder has a manifest.
func (s *Store) begin(m Manifest) (_ *Writer, err error) {
	tmp := s.path(runsDir, unbornRun+rand.Text())
	if err := os.Mkdir(tmp, folderMode); err != nil {
		return nil, err
	}
	dir := tmp
	var closers []io.Closer
	defer func() {
		if err != nil {
			for _, c := range closers {
				c.Close()
			}
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	l, err := lock.Own(filepath.Join(tmp, runLock))
	if err != nil {
		return nil, err
	}
	closers = append(closers, l)
	f, err := os.OpenFile(filepath.Join(tmp, journalFile), os.O_RDWR|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return nil, err
	}
	closers = append(closers, f)

	var size int64
	var enc journal.Encoder
	prefix := runPrefix(m.Identities)
	taken := func(n int) bool {
		_, err := os.Lstat(s.path(runsDir, prefix+strconv.Itoa(n)))
		return err == nil
	}
	// Find a free number after a taken one in few lookups: a program that runs the
	// same documents all day has thousands.
	beyond := 1
	for taken(beyond) {
		beyond *= 2
	}
	for n := beyond/2 + 1 + sort.Search(beyond-beyond/2-1, func(i int) bool { return !taken(beyond/2 + 1 + i) }); ; n++ {
		m.RunID = prefix + strconv.Itoa(n)
		if taken(n) {
			continue
		}
		if size, enc, err = writeManifest(f, m); err != nil {
			return nil, err
		}
		// If another process has put a run there meanwhile, its folder is not
		// empty, and a rename does not replace it.
		err := os.Rename(tmp, s.path(runsDir, m.RunID))
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		break
	}
	dir = s.path(runsDir, m.RunID)
	flushDir(dir)
	flushDir(s.path(runsDir))
	before := chain{sum: sha256.New()}
	if _, err := io.Copy(before.sum, io.NewSectionReader(f, 0, size)); err != nil {
		return nil, err
	}
	return newWriter(s, m, l, f, size, enc, before), nil
}

func writeManifest(f *os.File, m Manifest) (int64, journal.Encoder, error) {
	var enc journal.Encoder
	data, err := json.Marshal(m)
	if err != nil {
		return 0, enc, fmt.Errorf("encode the manifest: %w", err)
	}
	b, err := enc.Append(journal.AppendHead(nil), &Entry{Kind: KindManifest, Data: data})
	if err != nil {
		return 0, enc, err
	}
	if err := f.Truncate(0); err != nil {
		return 0, enc, err
	}
	if _, err := f.WriteAt(b, 0); err != nil {
		return 0, enc, err
	}
	return int64(len(b)), enc, f.Sync()
}

// flushDir makes the names in a folder survive a crash of the machine, where the
// system can do that; elsewhere that is not an error.
func flushDir(path string) {
	if f, err := os.Open(path); err == nil {
		_ = f.Sync()
		f.Close()
	}
}

// Resume opens a run to continue it. It cuts a torn tail and notes it in
// Journal.Torn. It moves damaged bytes to a file beside the journal and notes them
// in Journal.Damage; the run continues from the last record before them. The
// journal holds what was written before; the caller closes both.
//
// If a live process writes the run, the error wraps a [*lock.HeldError]. A run
// whose process died is free at once.
func (s *Store) Resume(runID string) (*Writer, *Journal, error) {
	s.wrote.Store(true)
	if !isRunName(runID) {
		return nil, nil, s.noSuchRun(runID)
	}
	if _, err := os.Stat(s.runPath(runID, journalFile)); errors.Is(err, fs.ErrNotExist) {
		return nil, nil, s.noSuchRun(runID)
	}
	w, j, err := s.resume(runID)
	if _, ok := errors.AsType[*lock.HeldError](err); ok {
		return nil, nil, diag.WithHint(diag.Environment("run %s is still being written: %w", runID, err),
			"wait for it to end, or stop it")
	}
	if err != nil {
		return nil, nil, diag.Environment("resume run %s: %w", runID, err)
	}
	return w, j, nil
}

func (s *Store) resume(runID string) (_ *Writer, _ *Journal, err error) {
	var closers []io.Closer
	defer func() {
		if err != nil {
			for _, c := range closers {
				c.Close()
			}
		}
	}()
	l, err := lock.Own(s.runPath(runID, runLock))
	if err != nil {
		return nil, nil, err
	}
	closers = append(closers, l)
	f, err := os.OpenFile(s.runPath(runID, journalFile), os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	closers = append(closers, f)
	r, err := os.Open(s.runPath(runID, journalFile))
	if err != nil {
		return nil, nil, err
	}
	closers = append(closers, r)
	j, err := readJournal(r)
	if err != nil {
		return nil, nil, err
	}
	if j.damage != nil {
		if err := setAside(f, j.end, s.runPath(runID, fmt.Sprintf("lost-%d", j.end))); err != nil {
			return nil, nil, fmt.Errorf("set the damaged part of the journal aside: %w", err)
		}
	}
	if j.damage != nil || j.Torn > 0 {
		if err := errors.Join(f.Truncate(j.end), f.Sync()); err != nil {
			return nil, nil, fmt.Errorf("cut the journal: %w", err)
		}
	}
	before, err := readChain(f, j)
	if err != nil {
		return nil, nil, fmt.Errorf("read what the journal holds: %w", err)
	}
	w := newWriter(s, j.manifest, l, f, j.end, j.next, before)
	if h := s.readHead(runID); h != nil {
		w.record = h.Record
	}
	// The outline is outdated from here on. If it cannot be removed, nothing can
	// be written.
	if err := os.Remove(s.runPath(runID, outlineFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, errors.Join(err, w.Close())
	}
	return w, j, nil
}

// setAside copies f from an offset on to a new file.
func setAside(f *os.File, from int64, path string) error {
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, fileMode)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, io.NewSectionReader(f, from, fi.Size()-from))
	return errors.Join(err, out.Sync(), out.Close())
}

// Manifest is the first record of a journal: what the run is, and everything that
// is needed to compile its campaigns again.
type Manifest struct {
	RunID      string              `json:"run_id"`
	Created    time.Time           `json:"created"`
	Command    []string            `json:"command"`
	Folder     string              `json:"folder,omitempty"` // where the run was started: the base of relative paths
	Version    string              `json:"version"`          // of Thresh
	Specs      []SpecRef           `json:"specs"`
	Files      map[string]string   `json:"files,omitempty"`   // path to blob: files that documents named (seeds, dictionaries)
	Digests    map[string]string   `json:"digests,omitempty"` // path to hex SHA-256: files that decide the cases and are not stored (programs)
	Settings   json.RawMessage     `json:"settings,omitempty"`
	Identities []campaign.Identity `json:"identities"`
}

// runPrefix is the part of a run's name that its campaigns decide. Runs of the
// same campaigns share it and differ in the number after it.
func runPrefix(ids []campaign.Identity) string {
	var b []byte
	for _, id := range ids {
		for _, s := range [...]string{id.Contract, id.Name, id.Digest} {
			b = binary.AppendUvarint(b, uint64(len(s)))
			b = append(b, s...)
		}
	}
	sum := sha256.Sum256(b)
	return "r" + hex.EncodeToString(sum[:4]) + "-"
}
