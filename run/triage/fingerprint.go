package triage

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/thresh-dev/thresh/campaign"
)

// Fingerprint returns the identity of a problem: 16 hex digits of a hash over the
// contract, the kind of failure, the contract's own signature, and the layers of the
// cause (signal, exit code, sanitizer class, top frames). Whoever made the outcome
// has masked what varies between two occurrences of one problem.
func Fingerprint(contract string, o *campaign.Outcome) string {
	h := sha256.New()
	write := func(s string) {
		h.Write([]byte(s))
		h.Write([]byte{0})
	}
	write(contract)
	write(o.Kind)
	write(o.Signature)
	for _, c := range o.Cause {
		write(c)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// Nondeterminism returns the fingerprint of the finding that equal cases of a
// contract's campaign have different outcomes.
func Nondeterminism(contract string) string {
	return Fingerprint(contract, &campaign.Outcome{Kind: campaign.KindNondeterminism})
}

// FindingID names a finding the same way in every run: the same problem of the
// same campaign has the same id.
func FindingID(id campaign.Identity, fingerprint string) string {
	sum := sha256.Sum256([]byte(id.Contract + "\x00" + id.Name + "\x00" + fingerprint))
	return "F-" + hex.EncodeToString(sum[:5])
}
