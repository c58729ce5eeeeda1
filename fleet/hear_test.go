package fleet

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// A run is over for a worker if the coordinator that it works for says so.
func TestRunIsOver(t *testing.T) {
	public, private, _ := ed25519.GenerateKey(nil)
	_, stranger, _ := ed25519.GenerateKey(nil)
	for name, c := range map[string]struct {
		epoch  string
		trust  bool
		signed ed25519.PrivateKey
		over   bool
	}{
		"said by its coordinator":   {"new", false, nil, true},
		"said by the one before":    {"old", false, nil, false},
		"signed by whom it trusts":  {"new", true, private, true},
		"signed by whom it doesn't": {"new", true, stranger, false},
		"not signed":                {"new", true, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			said := ""
			w := &Worker{Say: func(format string, args ...any) { said += fmt.Sprintf(format, args...) }}
			s := &session{w: w, ann: Announcement{Run: "R", Epoch: "new"}, cancel: func() {}}
			w.runs = map[string]*session{"R": s}
			if c.trust {
				w.Trust = []ed25519.PublicKey{public}
			}
			a := Announcement{Run: "R", Epoch: c.epoch, Over: true}
			if c.signed != nil {
				a.Sign(c.signed)
			}
			w.hear(t.Context(), t.Context(), &nats.Msg{Subject: runsSubject + ".R", Data: mustJSON(a)})
			if over := w.runs["R"] == nil; over != c.over || over != strings.Contains(said, "run R is over") {
				t.Errorf("over: %t, want %t; said: %s", over, c.over, said)
			}
		})
	}
}

// An object is fetched in parts from whoever has it, as long as somebody has.
func TestObjects(t *testing.T) {
	t.Parallel() // mostly waits
	has, err := Connect(t.Context(), Access{URL: "embedded", Dir: t.TempDir()}, "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(has.Close)
	wants, err := Connect(t.Context(), Access{URL: has.URL(), Token: has.Token()}, "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(wants.Close)
	big := bytes.Repeat([]byte("0123456"), partBytes/3)
	for name, data := range map[string][]byte{"big": big, "even": big[:2*partBytes], "one": []byte("1"), "none": {}} {
		if err := has.put(name, data); err != nil {
			t.Fatal(err)
		}
	}
	if err := wants.put("other", nil); err != nil { // who has others does not answer
		t.Fatal(err)
	}
	for name, want := range map[string][]byte{"big": big, "even": big[:2*partBytes], "one": []byte("1"), "none": {}} {
		if got, err := wants.get(t.Context(), name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, %v; want %d", name, len(got), err, len(want))
		}
	}
	bad := func(answer, want string) {
		t.Helper()
		sub, err := has.nc.Subscribe(objectSubject+"bad", func(m *nats.Msg) { _ = m.Respond([]byte(answer)) })
		if err == nil {
			err = has.nc.Flush()
		}
		if err != nil {
			t.Fatal(err)
		}
		if got, err := wants.get(t.Context(), "bad"); err == nil || !strings.Contains(err.Error(), "fetch object bad") || !strings.Contains(err.Error(), want) {
			t.Errorf("%q for an object: %q, %v; want %s", answer, got, err, want)
		}
		_ = sub.Unsubscribe()
	}
	Wait(wants, 5*time.Second)
	bad("\x02\x00\x00\x00\x00\x00\x00\x00", "it has 2 bytes, and a part of 0") // it would never be complete
	bad("\xff\xff\xff\xff\xff\xff\xff\x00x", "it has 72057594037927935 bytes, and a part of 1")
	has.drop("one")
	Wait(wants, 300*time.Millisecond)
	bad("short", "")
	for _, name := range []string{"one", "never"} {
		if got, err := wants.get(t.Context(), name); err == nil || !strings.Contains(err.Error(), "fetch object "+name) {
			t.Errorf("%s, which nobody has: %q, %v", name, got, err)
		}
	}
}

// A worker whose server is away says so, tries again, and ends when it is to.
func TestServerIsAway(t *testing.T) {
	t.Parallel() // mostly waits
	link, err := Connect(t.Context(), Access{URL: "embedded", Dir: t.TempDir()}, "test")
	if err != nil {
		t.Fatal(err)
	}
	link.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var said []string
	w := &Worker{Lanes: 1, Say: func(format string, args ...any) {
		if said = append(said, fmt.Sprintf(format, args...)); len(said) == 2 {
			cancel()
		}
	}}
	const want = "cannot ask the fleet's server for runs: nats: connection closed; trying again"
	if err := w.Serve(ctx, t.Context(), link); err != nil || !slices.Equal(said, []string{want, want}) {
		t.Errorf("%v; said %q", err, said)
	}
}
