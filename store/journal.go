package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/store/journal"
)

// Entry is one record of a journal.
type Entry = journal.Entry

// Kind says what an entry holds.
type Kind = journal.Kind

// The kinds of entries.
const (
	KindManifest    = journal.KindManifest
	KindFacts       = journal.KindFacts
	KindOutcome     = journal.KindOutcome
	KindRedo        = journal.KindRedo
	KindWarning     = journal.KindWarning
	KindFinding     = journal.KindFinding
	KindProgress    = journal.KindProgress
	KindCampaignEnd = journal.KindCampaignEnd
	KindEnd         = journal.KindEnd
	KindResumed     = journal.KindResumed
	KindEvidence    = journal.KindEvidence
	KindChain       = journal.KindChain
	KindClosing     = journal.KindClosing
)

// Journal reads what a run wrote up to the moment it was opened.
type Journal struct {
	// Torn is the number of bytes at the end that are no whole record: what a writer that died left
	// or, if the run is live, what it is writing now.
	Torn int64
	// Damage says what is wrong if the journal is damaged in its middle; "": it is not.
	// [Journal.Entries] then ends with an error.
	Damage string
	// Again means that some outcomes may not count: there are cases without a result, which may
	// have been executed again, or attempts that were dropped.
	Again bool

	f        *os.File
	end      int64 // of the last whole record
	damage   error
	manifest Manifest
	next     journal.Encoder // continues at end
	version  int             // of the format
}

// Manifest returns the manifest of the run.
func (j *Journal) Manifest() Manifest { return j.manifest }

// Entries yields the records in the order of writing, the manifest first, without the hashes of the
// chain. It takes constant memory, and may be ranged over several times, even at the same time. An
// entry's slices are valid until the next entry. A torn tail ends the sequence; damage ends it with
// an error that says how much is lost.
func (j *Journal) Entries() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		s := journal.NewScanner(j.f, j.end)
		for s.Next() {
			if s.Kind() == KindChain {
				continue // see [Journal.CheckChain]
			}
			e, err := s.Entry()
			if !yield(e, err) || err != nil {
				return
			}
		}
		if err := errors.Join(s.Err(), j.damage); err != nil {
			yield(Entry{}, err)
		}
	}
}

// Close closes the journal.
func (j *Journal) Close() error { return j.f.Close() }

// openRun opens the file of a run's journal.
func (s *Store) openRun(runID string) (*os.File, error) {
	if !isRunName(runID) {
		return nil, s.noSuchRun(runID)
	}
	f, err := os.Open(s.runPath(runID, journalFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, s.noSuchRun(runID)
	}
	if err != nil {
		return nil, diag.Environment("open the journal of run %s: %w", runID, err)
	}
	return f, nil
}

// DamageError says where a journal is damaged.
type DamageError = journal.DamageError

// OpenJournal opens the journal of a run for reading, even while another process writes it. It
// leaves a torn tail as it is and notes it in Journal.Torn.
func (s *Store) OpenJournal(runID string) (*Journal, error) {
	f, err := s.openRun(runID)
	if err != nil {
		return nil, err
	}
	j, err := readJournal(f)
	if err != nil {
		return nil, diag.Environment("the journal of run %s cannot be used: %w", runID, errors.Join(err, f.Close()))
	}
	return j, nil
}

// readJournal finds where the whole records of f end. The caller closes f on error.
func readJournal(f *os.File) (*Journal, error) {
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	j := &Journal{f: f}
	s := journal.NewScanner(f, fi.Size())
	for first := true; s.Next(); first = false {
		j.Again = j.Again || s.Kind() == KindRedo || s.Verdict() == campaign.VerdictError
		if !first {
			continue
		}
		e, err := s.Entry()
		if err != nil {
			return nil, err
		}
		if err := readManifest(e, &j.manifest); err != nil {
			return nil, err
		}
	}
	j.end, j.next, j.version = s.Offset(), s.Encoder(), s.Version()
	var torn *journal.TornError
	var damage *journal.DamageError
	switch err := s.Err(); {
	case err == nil:
	case errors.As(err, &torn):
		j.Torn = torn.Bytes
	case errors.As(err, &damage):
		j.Damage, j.damage = damage.Error(), damage
	default:
		return nil, err
	}
	if j.manifest.RunID == "" {
		return nil, errors.Join(errors.New("it has no whole manifest"), s.Err())
	}
	return j, nil
}

func readManifest(first Entry, m *Manifest) error {
	if first.Kind != KindManifest {
		return fmt.Errorf("it begins with a record of kind %v instead of a manifest", first.Kind)
	}
	if err := json.Unmarshal(first.Data, m); err != nil {
		return fmt.Errorf("decode its manifest: %w", err)
	}
	return nil
}

// manifestOf reads the beginning of a run's journal.
func (s *Store) manifestOf(runID string) (m Manifest, err error) {
	f, err := os.Open(s.runPath(runID, journalFile))
	if err != nil {
		return m, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return m, err
	}
	scan := journal.NewScanner(f, fi.Size())
	if !scan.Next() {
		return m, errors.Join(errors.New("it has no whole manifest"), scan.Err())
	}
	e, err := scan.Entry()
	if err != nil {
		return m, err
	}
	return m, readManifest(e, &m)
}
