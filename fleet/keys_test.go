package fleet_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/fleet"
)

// enrolled is a folder of keys with a coordinator and some workers.
func enrolled(t *testing.T, workers ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "keys")
	if _, err := fleet.InitKeys(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range workers {
		if _, err := fleet.Enroll(dir, fleet.RoleWorker, name, ""); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// keysOf are those of one member, in a folder as it stands on its machine.
func keysOf(t *testing.T, dir, role, name string) *fleet.Keys {
	t.Helper()
	own := t.TempDir()
	for _, f := range []string{fleet.TrustFile, name + ".key"} {
		data, err := os.ReadFile(filepath.Join(dir, f))
		if err == nil {
			err = os.WriteFile(filepath.Join(own, f), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	k, err := fleet.OpenKeys(own, role)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestMembers(t *testing.T) {
	dir := enrolled(t, "gpu-box")
	list, err := fleet.Members(dir)
	if err != nil || len(list) != 3 || list[0].Role != fleet.RoleCoordinator || list[2].Name != "gpu-box" {
		t.Fatalf("%+v, %v", list, err)
	}
	for _, name := range []string{"coordinator", "gpu-box"} {
		if fi, err := os.Stat(filepath.Join(dir, name+".key")); err != nil || fi.Mode().Perm() != 0o600 {
			t.Errorf("%s.key: %v, %v", name, fi, err)
		}
	}
	for want, do := range map[string]func() error{
		"already":                 func() error { _, err := fleet.InitKeys(dir); return err },
		"is already a member":     func() error { _, err := fleet.Enroll(dir, fleet.RoleWorker, "gpu-box", ""); return err },
		"not a valid member name": func() error { _, err := fleet.Enroll(dir, fleet.RoleWorker, "../x", ""); return err },
		"not the public key":      func() error { _, err := fleet.Enroll(dir, fleet.RoleWorker, "x", "UABC"); return err },
		"is not a member":         func() error { _, err := fleet.Revoke(dir, "gpu"); return err },
		"read the trust":          func() error { _, err := fleet.Members(t.TempDir()); return err },
		"has no key of a wo":      func() error { _, err := fleet.OpenKeys(onlyTrust(t, dir), fleet.RoleWorker); return err },
	} {
		if err := do(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	if m, err := fleet.Revoke(dir, "gpu-box"); err != nil || m.Name != "gpu-box" {
		t.Error(m, err)
	}
	if list, _ := fleet.Members(dir); len(list) != 2 {
		t.Errorf("%+v", list)
	}
	path := filepath.Join(dir, fleet.TrustFile)
	if err := os.WriteFile(path, []byte("# keys\n\nworker only-two\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := fleet.Members(dir); err == nil || !strings.Contains(err.Error(), path+":3:") {
		t.Error(err)
	}
}

func onlyTrust(t *testing.T, dir string) string {
	t.Helper()
	own := t.TempDir()
	data, err := os.ReadFile(filepath.Join(dir, fleet.TrustFile))
	if err == nil {
		err = os.WriteFile(filepath.Join(own, fleet.TrustFile), data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return own
}

// forger publishes what it can think of for each claim that it hears: passes, a
// fatal error, garbage; and announces the run again in its own name.
func forger(t *testing.T, y *yard, kinds ...string) {
	t.Helper()
	nc, err := nats.Connect(y.link.URL(), nats.Token(y.link.Token()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	pass := campaign.Outcome{}
	var first sync.Once
	_, err = nc.Subscribe("thresh.*.claim.*", func(m *nats.Msg) {
		part := strings.Split(m.Subject, ".")
		to := fmt.Sprintf("thresh.%s.report.%s", part[1], part[3])
		for _, kind := range kinds {
			switch kind {
			case "fatal":
				_ = nc.Publish(to, fleet.Report(map[string]any{"worker": "evil", "fatal": "over"}, nil))
			case "garbage":
				_ = nc.Publish(to, []byte("\xff\xff\xff"))
				_ = nc.Publish(to, fleet.Report(map[string]any{"worker": "evil"}, []byte("\x01\x02garbage")))
			case "passes":
				for i := range int64(1000) {
					_ = nc.Publish(to, fleet.Report(map[string]any{"worker": "evil"}, fleet.Entry(i, pass)))
				}
			case "probe": // what the first claim is for: it has no cases
				first.Do(func() { _ = nc.Publish(to, fleet.Report(map[string]any{"worker": "evil"}, fleet.Entry(0, pass))) })
			case "answers":
				_ = nc.Publish(m.Reply, []byte(`{"stale":true}`))
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Whoever is on the bus but not of the fleet changes nothing, and is named.
func TestForgedMessagesChangeNothing(t *testing.T) {
	t.Parallel() // mostly waits
	c := &tally{rounds: 3, perRound: 200}
	want := newYard(t).must(c, false, nil)
	dir := enrolled(t)
	for _, kind := range []string{"passes", "fatal", "garbage", "answers"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			y := newYard(t)
			stop := y.worker(c, 2, func(w *fleet.Worker) { w.Keys = keysOf(t, dir, fleet.RoleWorker, "worker") })
			defer stop()
			forger(t, y, kind)
			got := y.must(c, true, func(s *fleet.Settings) { s.Keys = keysOf(t, dir, fleet.RoleCoordinator, "coordinator") })
			same(t, got, want)
			if notes := strings.Join(got.Environment.Notes, "\n"); kind != "answers" && !strings.Contains(notes, "dropped: report: not signed") {
				t.Errorf("it is not told of: %s", notes)
			}
		})
	}
}

// A member speaks for no other one, and so neither answers for it nor takes it out of the run.
func TestNobodySpeaksForAnother(t *testing.T) {
	t.Parallel() // mostly waits
	y := newYard(t)
	c := &tally{rounds: 3, perRound: 200}
	want := y.must(c, false, nil)
	dir := enrolled(t, "liar")
	liar := keysOf(t, dir, fleet.RoleWorker, "liar")
	nc, err := nats.Connect(y.link.URL(), nats.Token(y.link.Token()))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if _, err := nc.Subscribe("thresh.*.claim.*", func(m *nats.Msg) {
		to := strings.Replace(m.Subject, ".claim.", ".report.", 1)
		var passes []byte
		for i := range int64(600) {
			passes = append(passes, fleet.Entry(i, campaign.Outcome{Data: []byte("0")})...)
		}
		_ = nc.Publish(to, fleet.Forge(liar, m.Data, map[string]any{"last": true}, passes))
		_ = nc.Publish(to, fleet.Forge(liar, m.Data, map[string]any{"unfit": "no such program"}, nil))
	}); err != nil {
		t.Fatal(err)
	}
	y.worker(c, 2, func(w *fleet.Worker) { w.Keys = keysOf(t, dir, fleet.RoleWorker, "worker") })
	got := y.must(c, true, func(s *fleet.Settings) { s.Keys = keysOf(t, dir, fleet.RoleCoordinator, "coordinator") })
	same(t, got, want)
	if notes := strings.Join(got.Environment.Notes, "\n"); !strings.Contains(notes, `dropped: report in the name of "worker@`) || !strings.Contains(notes, ": signed by liar") {
		t.Errorf("notes: %s", notes)
	}
}

// Without keys a malformed report is dropped too.
func TestGarbageDoesNotEndARun(t *testing.T) {
	t.Parallel() // mostly waits
	y := newYard(t)
	c := &tally{rounds: 2, perRound: 100}
	want := y.must(c, false, nil)
	y.worker(c, 2, nil)
	forger(t, y, "garbage", "probe")
	got := y.must(c, true, nil)
	same(t, got, want)
	if notes := strings.Join(got.Environment.Notes, "\n"); !strings.Contains(notes, "malformed outcomes") || !strings.Contains(notes, `"evil"`) {
		t.Errorf("notes: %s", notes)
	}
}

// What a member signed for one message is good for no other, and not for ever.
func TestSignaturesAreBound(t *testing.T) {
	dir := enrolled(t, "second")
	worker, coordinator := keysOf(t, dir, fleet.RoleWorker, "worker"), keysOf(t, dir, fleet.RoleCoordinator, "coordinator")
	sign := func(k *fleet.Keys, run, epoch, bundle, kind, lease, nonce string, lasts time.Duration) []byte {
		return fleet.Seal(k, run, epoch, bundle, kind, lease, nonce, lasts, []byte("content"))
	}
	good := sign(worker, "R", "E", "B", "report", "L", "N", time.Minute)
	if data, err := fleet.Open(coordinator, "R", "E", "B", "report", "L", "N", fleet.RoleWorker, good); err != nil || string(data) != "content" {
		t.Fatal(string(data), err)
	}
	flipped := slices.Clone(good)
	flipped[len(flipped)-70] ^= 1
	for name, c := range map[string]struct {
		message []byte
		fault   string
	}{
		"another run":      {sign(worker, "X", "E", "B", "report", "L", "N", time.Minute), "something else"},
		"another epoch":    {sign(worker, "R", "X", "B", "report", "L", "N", time.Minute), "something else"},
		"another bundle":   {sign(worker, "R", "E", "X", "report", "L", "N", time.Minute), "something else"},
		"another kind":     {sign(worker, "R", "E", "B", "claim", "L", "N", time.Minute), "something else"},
		"another lease":    {sign(worker, "R", "E", "B", "report", "X", "N", time.Minute), "something else"},
		"another question": {sign(worker, "R", "E", "B", "report", "L", "X", time.Minute), "something else"},
		"expired":          {sign(worker, "R", "E", "B", "report", "L", "N", -time.Second), "expired"},
		"another role":     {sign(coordinator, "R", "E", "B", "report", "L", "N", time.Minute), "only a worker may speak"},
		"a flipped bit":    {flipped, "not one of worker"},
		"nobody of ours":   {sign(keysOf(t, enrolled(t), fleet.RoleWorker, "worker"), "R", "E", "B", "report", "L", "N", time.Minute), "not enrolled"},
		"plain":            {[]byte(`{}`), "not signed"},
		"cut":              {good[:len(good)-1], "not"},
	} {
		if _, err := fleet.Open(coordinator, "R", "E", "B", "report", "L", "N", fleet.RoleWorker, c.message); err == nil || !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Who is revoked is not believed any more, by those who are running.
	live, err := fleet.OpenKeys(dir, fleet.RoleCoordinator)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fleet.Revoke(dir, "worker"); err != nil {
		t.Fatal(err)
	}
	fleet.Forget(live)
	if _, err := fleet.Open(live, "R", "E", "B", "report", "L", "N", fleet.RoleWorker, good); err == nil || !strings.Contains(err.Error(), "not enrolled") {
		t.Error(err)
	}
}

// An announcement that was heard before, or is signed by nobody, brings no
// worker to run anything.
func TestReplayedAnnouncements(t *testing.T) {
	t.Parallel() // mostly waits
	y := newYard(t)
	dir := enrolled(t)
	c := &tally{rounds: 1, perRound: 50}
	var mu sync.Mutex
	var said []string
	ran := 0
	y.worker(c, 1, func(w *fleet.Worker) {
		w.Keys = keysOf(t, dir, fleet.RoleWorker, "worker")
		compile := w.Compile
		w.Compile = func(ctx context.Context, b fleet.Bundle) ([]campaign.Any, error) {
			mu.Lock()
			ran++
			mu.Unlock()
			return compile(ctx, b)
		}
		w.Say = func(format string, args ...any) {
			mu.Lock()
			said = append(said, fmt.Sprintf(format, args...))
			mu.Unlock()
		}
	})
	nc, err := nats.Connect(y.link.URL(), nats.Token(y.link.Token()))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	var kept []byte
	var run string
	if _, err := nc.Subscribe("thresh.runs.*", func(m *nats.Msg) {
		mu.Lock()
		defer mu.Unlock()
		if kept == nil {
			kept = m.Data
		}
	}); err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	y.must(c, true, func(s *fleet.Settings) { s.Keys, run = keysOf(t, dir, fleet.RoleCoordinator, "coordinator"), s.Run })
	mu.Lock()
	old := kept
	mu.Unlock()
	if old == nil {
		t.Fatal("the announcement was not heard")
	}
	forged, _ := json.Marshal(fleet.Announcement{Run: "R-forged", Epoch: "e", Began: time.Now(), Expires: time.Now().Add(time.Minute)})
	for key, value := range map[string][]byte{run: old, "R-other": old, "R-forged": forged} {
		if err := nc.Publish("thresh.runs."+key, value); err != nil {
			t.Fatal(err)
		}
	}
	// On a busy machine the old announcement may have expired.
	for _, want := range []string{"old announcement|" + run + " was ignored: .*expired", "R-other was ignored", "R-forged was ignored: its announcement is not signed"} {
		for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
			mu.Lock()
			heard := regexp.MustCompile(want).MatchString(strings.Join(said, "\n"))
			mu.Unlock()
			if heard {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("nobody says %q: %q", want, said)
			}
		}
	}
	if mu.Lock(); ran != 1 {
		t.Errorf("compiled %d runs, want the one", ran)
	}
	mu.Unlock()
}

// A worker whose key is not enrolled any more says that it gets no cases, and why.
func TestRevokedWorkerSaysSo(t *testing.T) {
	t.Parallel() // mostly waits
	y := newYard(t)
	dir := enrolled(t, "stays", "goes")
	gone := keysOf(t, dir, fleet.RoleWorker, "goes")
	if _, err := fleet.Revoke(dir, "goes"); err != nil {
		t.Fatal(err)
	}
	said := make(chan string, 100)
	y.worker(&tally{rounds: 1, perRound: 4}, 1, func(w *fleet.Worker) {
		w.Keys = gone
		w.Say = func(format string, args ...any) { said <- fmt.Sprintf(format, args...) }
	})
	staying := &tally{rounds: 1, perRound: 4}
	heard := sync.OnceFunc(func() { // the run lasts until the other worker has spoken
		for line := range said {
			if strings.Contains(line, "gives this worker no cases: its key is not enrolled") {
				return
			}
		}
	})
	staying.hook = func(campaign.Lane, campaign.Case) error { heard(); return nil }
	y.worker(staying, 1, func(w *fleet.Worker) { w.Keys = keysOf(t, dir, fleet.RoleWorker, "stays") })
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if _, err := y.run(ctx, &tally{rounds: 1, perRound: 4}, true, func(s *fleet.Settings) { s.Keys = keysOf(t, dir, fleet.RoleCoordinator, "coordinator") }); err != nil {
		t.Fatal(err)
	}
}

// What a revoked worker has taken is given out again as soon as it speaks, not
// when it gives up waiting for an answer.
func TestLeasesOfARevokedWorker(t *testing.T) {
	t.Parallel() // mostly waits
	y := newYard(t)
	y.patience = time.Hour
	c := &tally{rounds: 2, perRound: 40}
	want := y.must(c, false, nil)
	dir := enrolled(t, "stays", "goes")
	began, revoked := make(chan struct{}), make(chan struct{})
	var first sync.Once
	going := *c
	going.hook = func(campaign.Lane, campaign.Case) error {
		first.Do(func() { close(began) })
		<-revoked
		return nil
	}
	staying := *c
	staying.hook = func(campaign.Lane, campaign.Case) error { <-revoked; return nil }
	y.worker(&going, 2, func(w *fleet.Worker) { w.Keys = keysOf(t, dir, fleet.RoleWorker, "goes") })
	go func() {
		<-began
		y.worker(&staying, 1, func(w *fleet.Worker) { w.Keys = keysOf(t, dir, fleet.RoleWorker, "stays") })
		if _, err := fleet.Revoke(dir, "goes"); err != nil {
			t.Error(err)
		}
		time.Sleep(2100 * time.Millisecond) // the list is read again after two seconds
		close(revoked)
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	got, err := y.run(ctx, c, true, func(s *fleet.Settings) {
		keys, err := fleet.OpenKeys(dir, fleet.RoleCoordinator)
		if err != nil {
			t.Fatal(err)
		}
		s.Keys = keys
	})
	if err != nil {
		t.Fatal(err)
	}
	same(t, got, want)
	if notes := strings.Join(got.Environment.Notes, "\n"); !strings.Contains(notes, "not enrolled") {
		t.Errorf("notes: %s", notes)
	}
}
