//go:build unix

package driver

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/port/sut"
	"github.com/thresh-dev/thresh/system"
	"github.com/thresh-dev/thresh/system/systemtest"
)

// crowd opens a driver that several actors call at the same time.
func crowd(t *testing.T, script string) (sut.System, *sharedDriver) {
	t.Helper()
	var edge *sharedDriver
	all := system.New(map[sut.Kind]system.Kind{sut.Driver: func(ctx context.Context, s system.Site) (system.Edge, error) {
		e, err := Open(ctx, s)
		edge, _ = e.(*sharedDriver)
		return e, err
	}})
	ops := []sut.Operation{{Name: "pair", Returns: "$.right"}}
	for _, name := range strings.Fields("count refuse fail lie empty mute hang kill die quit last") {
		ops = append(ops, sut.Operation{Name: name})
	}
	p := &sut.Plan{Name: "shop", Kind: sut.Driver, Command: []string{"sh", "-c", script}, Operations: ops, Limits: sut.Limits{Timeout: 200 * time.Millisecond}}
	s, err := all.Open(t.Context(), p, sut.Worker{Of: 1, Crowd: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, edge
}

func TestSharedConversation(t *testing.T) {
	t.Parallel() // mostly waits
	s, edge := crowd(t, systemtest.Talker)
	if len(edge.Operations()) != 12 || len(edge.Notes()) > 0 || edge.Dead() {
		t.Errorf("%d operations, %v, dead %v", len(edge.Operations()), edge.Notes(), edge.Dead())
	}
	got := systemtest.Talk(t, s, "count count reset count pair refuse fail nothing die count kill count quit count hang count count lie count empty count mute count")
	const want = `count: answered 1
count: answered 2
reset: done
count: answered 1
pair: answered [2]
refuse: refused  (no money)
fail: crashed  (the driver reports an error: it broke)
nothing: error the system shop has no operation "nothing"
die: crashed  (the program ended during the call: exit status 3) signal 0, exit 3
count: answered 1
kill: crashed  (the program ended during the call: signal: killed) signal 9, exit 0
count: answered 1
quit: crashed  (the program ended during the call: exit status 0)
count: answered 1
hang: hung  (no whole answer within 200ms)
count: hung  (no whole answer within 200ms)
count: answered 2
lie: crashed  (the driver wrote a line that is not an answer with the id of a call: "hello")
count: answered 1
empty: crashed  (the driver wrote a line that is not an answer with the id of a call: "{\"x\":1,\"id\":2}")
count: answered 1
mute: crashed  (the driver closed its standard output)
count: answered 1
`
	if got != want {
		t.Errorf("got\n%s", got)
	}
	if !edge.Dead() {
		t.Error("the first one goes on")
	}
	_, edge = crowd(t, systemtest.Talker)
	edge.Kill()
	if <-edge.ended; !edge.Dead() {
		t.Error("one that was killed goes on")
	}
}

// Answers come in any order, and each goes to whoever asked.
func TestAnswersInAnyOrder(t *testing.T) {
	s, _ := crowd(t, `all=
while IFS= read -r line; do id=${line##*:}; id=${id%\}}; all="$id $all"
	case $all in *' '*' '*' '*' '*' ') for i in $all; do echo "{\"ok\":$i,\"id\":$i}"; done; all=;; esac
done`)
	var wait sync.WaitGroup
	var mu sync.Mutex
	var got []string
	for range 5 {
		c, err := s.(sut.Crowd).Join(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		wait.Go(func() {
			o, err := c.Call(t.Context(), sut.Call{Operation: "count", Timeout: 10 * time.Second})
			mu.Lock()
			defer mu.Unlock()
			got = append(got, fmt.Sprint(o.End, string(o.Value), o.Why, err, string(o.Output) == fmt.Sprintf(`{"ok":%s,"id":%[1]s}`, o.Value)))
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	slices.Sort(got)
	if text := fmt.Sprint(got); text != "[answered1<nil> true answered2<nil> true answered3<nil> true answered4<nil> true answered5<nil> true]" {
		t.Error(text)
	}
}
