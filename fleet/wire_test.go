package fleet_test

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/thresh-dev/thresh/fleet"
)

// What comes from a worker is read without trust, and what can be read is
// written the same again.
func FuzzOutcomes(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{4, 1, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		again, err := fleet.Decode(b)
		if err != nil {
			return
		}
		if twice, err := fleet.Decode(again); err != nil || !bytes.Equal(again, twice) {
			t.Errorf("%x becomes %x, then %x (%v)", b, again, twice, err)
		}
	})
}

func TestKeys(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.key")
	if err := fleet.WriteKeys(path); err != nil {
		t.Fatal(err)
	}
	if err := fleet.WriteKeys(path); err == nil {
		t.Error("a key was overwritten")
	}
	private, err := fleet.ReadPrivateKey(path)
	if err != nil {
		t.Fatal(err)
	}
	trusted, err := fleet.ReadPublicKeys(path + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	a := fleet.Announcement{Run: "r1-1", Bundle: "bundle-00"}
	if a.Verify(trusted) {
		t.Error("an unsigned announcement is trusted")
	}
	a.Sign(private)
	if !a.Verify(trusted) {
		t.Error("a signed announcement is not trusted")
	}
	if a.Bundle = "bundle-01"; a.Verify(trusted) {
		t.Error("a signature holds for another bundle")
	}
	if _, err := fleet.ReadPublicKeys(path + ".none"); err == nil {
		t.Error("a missing file holds keys")
	}
}
