package fleet

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/thresh-dev/thresh/diag"
)

// Kinds of messages. A signature is valid for one kind only.
const (
	kindAnnounce = "announce"
	kindTake     = "take"
	kindLease    = "lease"
	kindHold     = "hold"
	kindClaim    = "claim"
	kindGrant    = "grant"
	kindReport   = "report"
	kindReceipt  = "receipt"
	kindStats    = "stats"
	kindPass     = "pass"
	kindPermit   = "permit"
)

// messageFor is how long a signature is valid. Messages are read at once, and clocks may differ by
// a minute. Announcements are renewed.
const messageFor = 2 * time.Minute

// seal is what a signature binds a message to.
type seal struct {
	From   string `json:"from"` // public key of the sender
	Kind   string `json:"kind"`
	Run    string `json:"run,omitempty"`
	Epoch  string `json:"epoch,omitempty"`
	Bundle string `json:"bundle,omitempty"`
	Lease  string `json:"lease,omitempty"`
	// Nonce is chosen by the asking side; the answer repeats it.
	Nonce   string    `json:"nonce,omitempty"`
	Expires time.Time `json:"expires"`
	name    string    // name of the member with the key, once the signature is checked
	// stranger says that the signature is that of From, which is not enrolled.
	stranger bool
}

// channel signs and checks the messages about one run. Without keys, messages are unsigned.
type channel struct {
	keys               *Keys
	run, epoch, bundle string
}

const (
	sealMagic     = "TSM1"
	signatureSize = 64
)

// seal signs a message.
func (c channel) seal(kind, lease, nonce string, lasts time.Duration, data []byte) []byte {
	if c.keys == nil {
		return data
	}
	head := mustJSON(seal{
		From: c.keys.Self.Key, Kind: kind, Run: c.run, Epoch: c.epoch, Bundle: c.bundle, Lease: lease, Nonce: nonce, Expires: time.Now().Add(lasts).UTC(),
	})
	b := append([]byte(sealMagic), frame(head, data)...)
	signature, err := c.keys.pair.Sign(b)
	if err != nil {
		panic("a key that was read cannot sign: " + err.Error())
	}
	return append(b, signature...)
}

var errUnsigned = errors.New("not signed")

// open checks a message from a sender with a role and returns its content. nonce is what the
// message must repeat; "" leaves it to the sender. The returned seal names the alleged sender even
// if the message is refused.
func (c channel) open(kind, lease, nonce, role string, b []byte) (seal, []byte, error) {
	if c.keys == nil {
		if bytes.HasPrefix(b, []byte(sealMagic)) {
			return seal{}, nil, errors.New("signed, but there are no keys here to check it with (--fleet-keys)")
		}
		return seal{}, b, nil
	}
	var s seal
	rest, ok := bytes.CutPrefix(b, []byte(sealMagic))
	if !ok || len(rest) < signatureSize {
		return s, nil, errUnsigned
	}
	rest, signature := rest[:len(rest)-signatureSize], rest[len(rest)-signatureSize:]
	head, data, err := splitFrame(rest)
	if err == nil {
		err = json.Unmarshal(head, &s)
	}
	if err != nil {
		return s, nil, errMalformed
	}
	m, known := c.keys.member(s.From)
	public, err := nkeys.FromPublicKey(s.From)
	switch {
	case !known || err != nil:
		s.stranger = err == nil && public.Verify(b[:len(b)-signatureSize], signature) == nil
		return s, nil, fmt.Errorf("signed with key %s, which is not enrolled", diag.Cut(s.From, 60))
	case public.Verify(b[:len(b)-signatureSize], signature) != nil:
		return s, nil, fmt.Errorf("the signature is not one of %s", m.Name)
	case m.Role != role:
		return s, nil, fmt.Errorf("signed by %s, a %s, where only a %s may speak", m.Name, m.Role, role)
	case time.Now().After(s.Expires):
		return s, nil, fmt.Errorf("signed by %s, expired at %s", m.Name, s.Expires.Format(time.RFC3339))
	case s.Kind != kind || s.Run != c.run || s.Epoch != c.epoch || s.Bundle != c.bundle || s.Lease != lease || nonce != "" && s.Nonce != nonce:
		return s, nil, fmt.Errorf("signed by %s for something else (%s of run %s, lease %q)", m.Name, diag.Cut(s.Kind, 20), diag.Cut(s.Run, 40), diag.Cut(s.Lease, 40))
	}
	s.name = m.Name
	return s, data, nil
}

// speaksFor reports whether a checked message comes from the worker that it names.
func (s seal) speaksFor(worker string) bool {
	return s.name == "" || strings.HasPrefix(worker, s.name+"@")
}

// nonce returns a value that binds an answer to one request.
func (c channel) nonce() string {
	if c.keys == nil {
		return ""
	}
	return rand.Text()
}

// unsealed returns the content of a message that is only shown to people: its sender is not
// checked.
func unsealed(b []byte) []byte {
	rest, ok := bytes.CutPrefix(b, []byte(sealMagic))
	if !ok || len(rest) < signatureSize {
		return b
	}
	if _, data, err := splitFrame(rest[:len(rest)-signatureSize]); err == nil {
		return data
	}
	return b
}
