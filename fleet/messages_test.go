package fleet_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/fleet"
)

// What becomes of one message between a worker and the server.
const (
	lost  = "lost"
	twice = "twice"
	late  = "late" // those after it overtake it
	cut   = "cut"  // the connection ends in its middle
)

// wire passes on the NATS protocol between clients and a server, and lets one
// message of all that go either way meet a fate.
type wire struct {
	net.Listener
	server string
	nth    int64 // the message that meets it, from 1; 0 for none
	fate   string
	seen   atomic.Int64
}

func newWire(t *testing.T, to string, nth int64, fate string) *wire {
	t.Helper()
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	w := &wire{Listener: l, server: u.Host, nth: nth, fate: fate}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go w.connect(client)
		}
	}()
	return w
}

func (w *wire) connect(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", w.server)
	if err != nil {
		return
	}
	defer server.Close()
	both := make(chan error, 2)
	go func() { both <- w.pass(server, client) }()
	go func() { both <- w.pass(client, server) }()
	<-both
}

// pass copies one direction, message by message.
func (w *wire) pass(to io.Writer, from io.Reader) error {
	var writing sync.Mutex
	send := func(message []byte) error {
		writing.Lock()
		defer writing.Unlock()
		_, err := to.Write(message)
		return err
	}
	for r := bufio.NewReader(from); ; {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return err
		}
		words := strings.Fields(string(line))
		if len(words) == 0 || !strings.Contains(" PUB HPUB MSG HMSG ", " "+strings.ToUpper(words[0])+" ") {
			if err := send(line); err != nil {
				return err
			}
			continue
		}
		size, err := strconv.Atoi(words[len(words)-1])
		if err != nil {
			return err
		}
		message := append(line, make([]byte, size+len("\r\n"))...)
		if _, err := io.ReadFull(r, message[len(line):]); err != nil {
			return err
		}
		fate := ""
		if w.seen.Add(1) == w.nth {
			fate = w.fate
		}
		switch fate {
		case lost:
		case late:
			time.AfterFunc(300*time.Millisecond, func() { _ = send(message) })
		case cut:
			_ = send(message[:len(message)/2])
			return io.ErrUnexpectedEOF
		case twice:
			err = send(append(message, message...))
		default:
			err = send(message)
		}
		if err != nil {
			return err
		}
	}
}

// Every message between a worker and the server is lost, doubled, late or cut
// short in turn: the run ends as one without a fleet does.
func TestEveryMessageFails(t *testing.T) {
	t.Parallel() // mostly waits
	if testing.Short() {
		t.Skip("some hundred runs")
	}
	part, step := int64(0), int64(181) // every 181st message, another one with each fate
	switch long := os.Getenv("THRESH_TEST_LONG"); long {
	case "":
	case "all":
		step = 1
	default:
		step = 31
		_, _ = fmt.Sscanf(long, "%d/%d", &part, &step) // the parts 0/31 to 30/31 are all points
	}
	c := &tally{rounds: 2, perRound: 60}
	want := newYard(t).must(c, false, nil)
	messages := runOverWire(t, c, want, 0, "")
	t.Logf("%d messages", messages)
	for k, fate := range []string{lost, twice, late, cut} {
		for n := 1 + (int64(k)+part)%step; n <= messages; n += step {
			t.Run(fmt.Sprintf("%s/%d", fate, n), func(t *testing.T) {
				t.Parallel()
				if seen := runOverWire(t, c, want, n, fate); seen < n {
					t.Logf("only %d messages went by", seen)
				}
			})
		}
	}
}

// runOverWire runs a campaign by one worker behind a wire, holds its record
// against the one wanted, and returns how many messages went by.
func runOverWire(t *testing.T, c *tally, want campaign.Record, nth int64, fate string) int64 {
	t.Helper()
	y := newYard(t)
	w := newWire(t, y.link.URL(), nth, fate)
	link, err := fleet.Connect(t.Context(), fleet.Access{URL: "nats://" + w.Addr().String(), Token: y.link.Token()}, "worker")
	if err != nil {
		t.Fatal(err)
	}
	y.serve(link, c, 3, nil)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	rec, err := y.run(ctx, c, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	same(t, rec, want)
	return w.seen.Load()
}
