package app

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/fleet"
)

// A run is verified as far as it can be; what was changed in it, in its store or in a statement
// about it is a problem that is named.
func TestVerifiedRuns(t *testing.T) {
	dir, a, st := office(t)
	key, other := filepath.Join(dir, "key"), filepath.Join(dir, "other")
	for _, k := range []string{key, other} {
		if err := MakeKeys(k); err != nil {
			t.Fatal(err)
		}
	}
	rec, err := a.Run(t.Context(), Job{Paths: []string{filepath.Join(dir, "page.spec.md")}, Store: st.Dir(), Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	v, err := a.Verify(t.Context(), st, "latest", VerifyJob{Sample: 1, Attest: key})
	if err != nil || v.RunID != rec.RunID || len(v.Problems)+len(v.Notes) > 0 || v.Cases != 3 || v.Compared != 3 || v.Unknown != 0 || v.Groups < 1 || v.SignedBy != "" || len(v.Statement) == 0 {
		t.Fatalf("%+v %v", v, err)
	}
	text := v.Statement
	if v, err = a.Verify(t.Context(), st, rec.RunID, VerifyJob{Sample: 1e-9}); err != nil || v.Compared != 1 || v.Statement != nil {
		t.Errorf("of a share that holds no case one is run: %+v %v", v, err)
	}
	for job, want := range map[VerifyJob]string{{Attest: filepath.Join(dir, "none")}: "none", {Attest: key + ".pub"}: "2 " + key + ".pub is a public key; only a private key can sign (sign with " + key + ")"} {
		if _, err := a.Verify(t.Context(), st, rec.RunID, job); !strings.Contains(said(err), want) {
			t.Errorf("%+v: %s", job, said(err))
		}
	}
	if _, err := a.Verify(t.Context(), st, "r00000000-1", VerifyJob{}); err == nil {
		t.Error("a run of nobody is verified")
	}

	// What a statement says is compared with the run, once its signature holds.
	private, err := fleet.ReadPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	public := hex.EncodeToString(private.Public().(ed25519.PublicKey))
	change := func(f func(e *envelope, s *statement)) []byte {
		var e envelope
		var s statement
		if json.Unmarshal(text, &e) != nil || json.Unmarshal(e.Payload, &s) != nil {
			t.Fatal("not a statement")
		}
		f(&e, &s)
		e.Payload, _ = json.Marshal(s)
		for i := range e.Signatures {
			if len(e.Signatures[i].Sig) > 0 {
				e.Signatures[i].Sig = ed25519.Sign(private, e.encoded())
			}
		}
		out, _ := json.Marshal(e)
		return out
	}
	short := func(s string) string { return strings.NewReplacer(rec.RunID, "RUN", rec.Digest, "DIGEST").Replace(s) }
	for _, x := range []struct {
		name  string
		text  []byte
		trust string
		want  string
	}{
		{"as it was signed", text, "", "RUN by its key: "},
		{"by a trusted key", text, key + ".pub", "RUN by its key: "},
		{"by another key", text, other + ".pub", "RUN: no trusted key signed this statement"},
		{"without a signature that holds", bytes.Replace(text, []byte(`"keyid": "`), []byte(`"keyid": "00`), 1), "", "RUN: no trusted key signed this statement"},
		{"another key is named", change(func(e *envelope, _ *statement) { e.Signatures[0].KeyID = strings.Repeat("00", 32) }), "", "RUN: no trusted key signed this statement"},
		{"no key at all", change(func(e *envelope, _ *statement) { e.Signatures[0].KeyID = "zz" }), "", "RUN: no trusted key signed this statement"},
		{"the second of two signatures", change(func(e *envelope, _ *statement) {
			e.Signatures = append([]signature{{KeyID: public}}, e.Signatures...)
		}), key + ".pub", "RUN by its key: "},
		{"another verdict", change(func(_ *envelope, s *statement) { s.Says.Verdict = "pass" }), "", `RUN by its key: the statement's verdict is "pass", that of the run "fail"`},
		{"another digest", change(func(_ *envelope, s *statement) { s.Says.Digest = "0" }), "", `RUN by its key: the statement's digest is "0", that of the run "DIGEST"`},
		{"another system", change(func(_ *envelope, s *statement) { s.Says.System = map[string]string{"p": "0"} }), "", `RUN by its key: the statement's system is {"p":"0"}, that of the run null`},
		{"other identities", change(func(_ *envelope, s *statement) { s.Says.Identities = nil }), "", `RUN by its key: the statement's identities is null, that of the run `},
		{"no statement", []byte("x"), "", "refused: 2 it is not a statement made by thresh verify --attest"},
		{"of another type", change(func(e *envelope, _ *statement) { e.PayloadType = "x" }), "", "refused: 2 it is not a statement"},
		{"of another claim", change(func(_ *envelope, s *statement) { s.Predicate = "x" }), "", "refused: 2 it is not a statement"},
		{"of two runs", change(func(_ *envelope, s *statement) { s.Subject = append(s.Subject, s.Subject[0]) }), "", "refused: 2 it is not a statement"},
		{"unsigned", change(func(e *envelope, _ *statement) { e.Signatures = nil }), "", "refused: 2 it is not a statement"},
		{"no file of keys", text, filepath.Join(dir, "none"), "refused: "},
		{"of a run of nobody", change(func(_ *envelope, s *statement) { s.Subject[0].Name = "r00000000-1" }), "", "refused: "},
	} {
		v, err := a.VerifyStatement(t.Context(), st, x.text, VerifyJob{Trust: x.trust})
		got := short(v.RunID)
		if v.SignedBy != "" {
			got += " by its key"
		}
		got += ": " + short(strings.Join(v.Problems, "; "))
		if err != nil {
			got = "refused: " + said(err)
		}
		if v.SignedBy != "" && v.SignedBy != public || !strings.HasPrefix(got, x.want) || !strings.HasSuffix(x.want, " ") && !strings.HasSuffix(x.want, "statement") && strings.Contains(x.want, `"`) && got != x.want {
			t.Errorf("%s: %s", x.name, got)
		}
	}

	// A case whose result differs from the stored one is named.
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("two\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	v, err = a.Verify(t.Context(), st, rec.RunID, VerifyJob{Sample: 1, Attest: key})
	got := strings.Join(v.Problems, "\n")
	if err != nil || v.Statement != nil || v.Compared != 3 || len(v.Problems) != 2 || !strings.Contains(got, ": case 0 is stored as pass, and executed again it is fail (001/page.spec.md:7 HELD_1: ") || !strings.Contains(got, ": case 1 is stored as fail (001/page.spec.md:14 MISSED_1: ") {
		t.Error(err, got)
	}

	// What is damaged is named. Nothing of it is executed again.
	var problems []string
	for _, file := range []string{"outline", "journal"} { // an outline of a journal that was written to counts for nothing
		name := filepath.Join(st.Dir(), "runs", rec.RunID, file)
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, text := range [][]byte{data[:len(data)-len(data)/8-1], bytes.Replace(data, []byte("assertion"), []byte("assertiom"), 1)} {
			if err := os.WriteFile(name, text, 0o600); err != nil {
				t.Fatal(err)
			}
			v, err := a.Verify(t.Context(), st, rec.RunID, VerifyJob{Attest: key})
			missed := len(v.Problems) == 0 && err == nil || v.Statement != nil
			problems = append(problems, fmt.Sprint(file, i, " ", !bytes.Equal(text, data) && missed))
			if err := os.WriteFile(name, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := strings.Join(problems, ", "); strings.Contains(got, "true") {
		t.Error(got)
	}
	if got := brief(campaign.Outcome{Verdict: campaign.VerdictFail}) + ", " + brief(campaign.Outcome{Title: "held"}); got != "fail, pass (held)" {
		t.Error(got)
	}
	if _, ok := ReadStatement(dir); ok {
		t.Error("a folder is read as a statement")
	}
	if text, ok := ReadStatement(key); !ok || len(text) == 0 {
		t.Error("a file is not read")
	}
}

// A file is written wholly or not at all; what is no file is written to as it is.
func TestFilesAreWrittenWholly(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "file")
	see := func(want string) {
		t.Helper()
		data, err := os.ReadFile(name)
		info, err2 := os.Stat(name)
		all, _ := os.ReadDir(dir)
		if string(data) != want || err != nil || err2 != nil || info.Mode().Perm() != 0o600 || len(all) != 1 {
			t.Errorf("%q %v %v %v, want %q", data, err, info.Mode(), all, want)
		}
	}
	if err := WriteWhole(name, []byte("first"), 0o600); err != nil {
		t.Fatal(err)
	}
	see("first")
	fails := fmt.Errorf("the disk is full")
	err := WriteWholly(name, 0o644, func(w io.Writer) error {
		_, _ = w.Write(bytes.Repeat([]byte("x"), 1<<17))
		return fails
	})
	if err != fails {
		t.Error(err)
	}
	see("first")
	if err := WriteWhole(os.DevNull, []byte("x"), 0o600); err != nil {
		t.Error(err)
	}
	if err := WriteWholly(os.DevNull, 0o600, func(io.Writer) error { return fails }); err == nil {
		t.Error("written to nothing without a word")
	}
	if err := WriteWhole(dir, []byte("x"), 0o600); err == nil {
		t.Error("a folder is written to")
	}
	if err := WriteWhole(filepath.Join(dir, "none", "file"), nil, 0o600); err == nil {
		t.Error("a folder that is not there is written to")
	}
	if err := WriteFiles(name, []campaign.File{{Name: "x"}}); !strings.HasPrefix(said(err), "3 making a folder for "+name+"/x: ") {
		t.Error(said(err))
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := WriteFiles(dir, []campaign.File{{Name: "folder"}}); !strings.HasPrefix(said(err), "3 writing "+dir+"/folder: ") {
		t.Error(said(err))
	}
	if err := WriteFiles(dir, []campaign.File{{Name: "a/run.sh", Exec: true, Data: []byte("x")}, {Name: "a/text", Data: []byte("y")}}); err != nil {
		t.Error(err)
	}
	for f, want := range map[string]os.FileMode{"a/run.sh": 0o755, "a/text": 0o644} {
		if info, err := os.Stat(filepath.Join(dir, f)); err != nil || info.Mode().Perm() != want {
			t.Error(f, err, info.Mode())
		}
	}
	own, err := OwnFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OwnFile(name); err == nil {
		t.Error("a file has two owners")
	}
	if err := own.Close(); err != nil {
		t.Error(err)
	}
}
