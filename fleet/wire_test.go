package fleet_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
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
	for name, list := range map[string][]campaign.Identity{"no list of campaigns": nil, "no campaigns": {}, "a campaign": {{Name: "one"}}} {
		a := fleet.Announcement{Run: "r1-1", Bundle: "bundle-00", Identities: list}
		if a.Verify(trusted) {
			t.Errorf("%s: an unsigned announcement is trusted", name)
		}
		a.Sign(private)
		text, err := json.Marshal(a)
		var heard fleet.Announcement
		if err == nil {
			err = json.Unmarshal(text, &heard)
		}
		if err != nil || !heard.Verify(trusted) {
			t.Errorf("%s: a signed announcement is not trusted, %v", name, err)
		}
		for field, change := range map[string]func(*fleet.Announcement){
			"run":       func(a *fleet.Announcement) { a.Run = "r1-2" },
			"epoch":     func(a *fleet.Announcement) { a.Epoch = "later" },
			"bundle":    func(a *fleet.Announcement) { a.Bundle = "bundle-01" },
			"campaigns": func(a *fleet.Announcement) { a.Identities = []campaign.Identity{{Name: "two"}} },
			"labels":    func(a *fleet.Announcement) { a.Require = []string{"gpu"} },
			"end":       func(a *fleet.Announcement) { a.Over = true },
			"expiry":    func(a *fleet.Announcement) { a.Expires = a.Expires.Add(1) },
		} {
			other := heard
			if change(&other); other.Verify(trusted) {
				t.Errorf("%s: the signature does not cover the %s", name, field)
			}
		}
	}
	if _, err := fleet.ReadPublicKeys(path + ".none"); err == nil {
		t.Error("a missing file holds keys")
	}
}
