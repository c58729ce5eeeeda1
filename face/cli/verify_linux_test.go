package cli_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/store"
)

// forge writes the journal of the lab's run again, in its own store, with
// another chain, and returns that store.
func (l *lab) forge(change func(*store.Entry) bool) string {
	l.t.Helper()
	dir := l.path("forged")
	must(l.t, os.RemoveAll(dir))
	must(l.t, os.CopyFS(dir, os.DirFS(l.path("store"))))
	st, err := store.Open(dir)
	must(l.t, err)
	defer st.Close()
	j, err := st.OpenJournal(l.report().RunID)
	must(l.t, err)
	defer j.Close()
	must(l.t, os.RemoveAll(filepath.Join(dir, "runs", l.report().RunID)))
	w, err := st.Begin(j.Manifest())
	must(l.t, err)
	rec, _, err := j.Record()
	must(l.t, err)
	for e, err := range j.Entries() {
		must(l.t, err)
		if e.Kind != store.KindManifest && e.Kind != store.KindEnd && change(&e) {
			must(l.t, w.Append(e))
		}
	}
	must(l.t, w.Finish(rec, "done", 0))
	must(l.t, w.Close())
	return dir
}

// A run that is what it says holds; one that was changed does not, and what
// differs is said.
func TestVerify(t *testing.T) {
	t.Parallel() // mostly waits
	l := newLab(t, `head -c 1 "$1" | grep -q A || kill -SEGV $$`)
	expect(t, l.run("--quiet"), 1)
	expect(t, l.stored("verify", "--sample", "100%"), 0, "holds: 20 cases folded again", "20 of the sample compared, 0 not comparable", "unsigned")
	expect(t, l.stored("verify", "--sample", "0.001%"), 0, "1 of the sample compared")
	expect(t, l.stored("verify", "--sample", "5"), 2, "--sample must be a share")
	key := l.path("run.key")
	expect(t, call("worker", "--keygen", key), 0)
	expect(t, call("worker", "--keygen", l.path("other.key")), 0)
	signed := l.path("verdict.json")
	expect(t, l.stored("verify", "latest", "--attest", key, "--to", signed), 0, signed)
	expect(t, l.stored("verify", signed, "--trust", key+".pub"), 0, "which is trusted")
	expect(t, l.stored("verify", signed, "--trust", l.path("other.key.pub")), 1, "no trusted key")

	in := func(dir, what string) result { return call("verify", "--store", dir, what) }
	removed := l.forge(func(e *store.Entry) bool { return e.Kind != store.KindOutcome || e.Case.Index != 3 })
	expect(t, in(removed, "latest"), 1, "DIFFERS", "the record counts")
	// Somebody passes all that failed, and has the chain and the record follow.
	passed := l.forge(func(e *store.Entry) bool {
		if e.Kind == store.KindOutcome {
			e.Outcome = campaign.Outcome{}
		}
		return true
	})
	expect(t, in(passed, "latest"), 1, "the record's digest is", "the record's root is not that of")
	// A forged case is missing where it was: what differs is said all the same.
	expect(t, call("verify", "--store", removed, "latest", "--sample", "100%"), 1, "DIFFERS", "the record counts")
	place := make(map[campaign.Verdict]int64) // of some case with that verdict
	l.forge(func(e *store.Entry) bool {
		if e.Kind == store.KindOutcome {
			place[e.Outcome.Verdict] = e.Case.Index
		}
		return true
	})
	swapped := l.forge(func(e *store.Entry) bool {
		switch pass, fail := place[campaign.VerdictPass], place[campaign.VerdictFail]; {
		case e.Kind != store.KindOutcome:
		case e.Case.Index == pass:
			e.Case.Index = fail
		case e.Case.Index == fail:
			e.Case.Index = pass
		}
		return true
	})
	expect(t, in(swapped, signed), 1, "DIFFERS", "the record's digest is")
	if r := in(passed, signed); r.code != 1 || !strings.Contains(r.out, "DIFFERS") {
		t.Errorf("a statement over a forged run: %d %s", r.code, r.text())
	}

	// A byte that is wrong in anything that the run keeps is named, also in what
	// decides nothing.
	flipped := func(path string, at int) {
		t.Helper()
		data, err := os.ReadFile(path)
		must(t, err)
		bad := bytes.Clone(data)
		bad[(at+len(bad))%len(bad)] ^= 1
		must(t, os.WriteFile(path, bad, 0o600))
		expect(t, l.stored("verify"), 1, "DIFFERS")
		expect(t, l.stored("verify", signed), 1)
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, bad) {
			t.Errorf("verify has changed %s: %v", path, err)
		}
		must(t, os.WriteFile(path, data, 0o600))
	}
	blobs, err := filepath.Glob(l.path("store/blobs/*/*"))
	must(t, err)
	if len(blobs) < 3 {
		t.Fatalf("%q", blobs)
	}
	for _, b := range blobs {
		flipped(b, -1)
	}
	journal := filepath.Join(l.path("store"), "runs", l.report().RunID, "journal")
	for _, at := range []int{0, 7, 9, 200} { // the head of the file, and the first record
		flipped(journal, at)
	}
	// Nor do lists say anything else than the journal.
	list := filepath.Join(filepath.Dir(journal), "outline")
	for _, at := range []int{0, 20, 100, -1} {
		flipped(list, at)
	}
	data, err := os.ReadFile(list)
	must(t, err)
	head := len("thresh outline 3\n") + 8
	size := int(binary.LittleEndian.Uint32(data[head-4:]))
	forged := bytes.Replace(data, []byte(`"verdict":"fail"`), []byte(`"verdict":"pass"`), 1)
	binary.LittleEndian.PutUint32(forged[head-8:], crc32.ChecksumIEEE(forged[head:head+size]))
	must(t, os.WriteFile(list, forged, 0o600))
	expect(t, l.stored("list"), 0, "pass")
	expect(t, l.stored("verify"), 1, "DIFFERS", "the outline, from which lists are made")
	must(t, os.WriteFile(list, data, 0o600))
	expect(t, l.stored("verify"), 0, "holds")
	data, err = os.ReadFile(journal)
	must(t, err)
	bad := bytes.Clone(data)
	bad[len(bad)/2] ^= 1
	must(t, os.WriteFile(journal, bad, 0o600))
	expect(t, l.stored("verify"), 1, "DIFFERS", "the journal")
	if now, err := os.ReadFile(journal); err != nil || !bytes.Equal(now, bad) {
		t.Error("verify has changed the journal")
	}
}
