package fleet

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

const brokerToken = "a-token-of-the-broker"

func newBroker(t *testing.T) *broker {
	t.Helper()
	b, err := listen("127.0.0.1:0", brokerToken)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.shutdown)
	return b
}

// The embedded server passes messages on as the one whose protocol it speaks.
func TestBrokerIsLikeAServer(t *testing.T) {
	t.Parallel() // mostly waits
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, Authorization: brokerToken, MaxPayload: maxPayload, NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	go s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(20 * time.Second) {
		t.Fatal("the server does not come up")
	}
	want, got := converse(t, s.ClientURL()), converse(t, newBroker(t).url())
	if !slices.Equal(got, want) {
		t.Errorf("the broker:\n%s\nthe server:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(want) < 20 {
		t.Errorf("only %d lines: %q", len(want), want)
	}
}

// converse has clients of a server talk with each other, and writes down what they hear.
func converse(t *testing.T, url string) (log []string) {
	t.Helper()
	for _, opts := range [][]nats.Option{nil, {nats.Token("another-token-than-that")}, {nats.UserInfo("a", brokerToken)}} {
		_, err := nats.Connect(url, opts...)
		log = append(log, fmt.Sprint("without the token: ", err))
	}
	connect := func() *nats.Conn {
		nc, err := nats.Connect(url, nats.Token(brokerToken), nats.NoReconnect(), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(nc.Close)
		return nc
	}
	a, b := connect(), connect()
	log = append(log, fmt.Sprint("max payload ", a.MaxPayload(), ", headers ", a.HeadersSupported()))
	var mu sync.Mutex
	var heard []string
	listen := func(nc *nats.Conn, who, subject string) *nats.Subscription {
		sub, err := nc.Subscribe(subject, func(m *nats.Msg) {
			if strings.HasPrefix(m.Subject, "$") {
				return // a server's own news of clients, now and then
			}
			mu.Lock()
			defer mu.Unlock()
			heard = append(heard, fmt.Sprintf("%s hears %q on %s by %s", who, m.Data, m.Subject, m.Sub.Subject))
		})
		if err != nil {
			t.Fatal(err)
		}
		return sub
	}
	// settle waits until so many messages were heard, and a moment for what should not be.
	settle := func(messages int) {
		for _, nc := range []*nats.Conn{a, b, a} {
			if err := nc.FlushTimeout(time.Minute); err != nil {
				t.Fatal(err)
			}
		}
		end := time.Now().Add(time.Minute)
		for count := 0; count < messages && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			mu.Lock()
			count = len(heard)
			mu.Unlock()
		}
		mu.Lock()
		defer mu.Unlock()
		slices.Sort(heard)
		log = append(append(log, heard...), "--")
		heard = nil
	}
	publish := func(nc *nats.Conn, subject, text string) {
		if err := nc.Publish(subject, []byte(text)); err != nil {
			t.Error(err)
		}
	}
	for _, subject := range []string{"x.y", "x.*", "x.>", "*.y", ">", "x.y.*", "x"} {
		listen(b, "b", subject)
	}
	own, twice := listen(a, "a", "x.y"), listen(a, "a", "x.>")
	settle(0)
	for _, subject := range []string{"x", "x.y", "x.z", "x.y.z", "z.y", "X.y"} {
		publish(a, subject, "to "+subject)
	}
	publish(b, "x.y", "line\r\nMSG x.y 1 3\r\nabc\r\n")
	publish(b, "x.y", "")
	settle(35)
	_ = twice.AutoUnsubscribe(6) // five of them came
	_ = own.Unsubscribe()
	settle(0)
	for n := range 4 {
		publish(b, "x.y", fmt.Sprint("after ", n))
	}
	settle(21)
	question := func(nc *nats.Conn, subject string, data []byte) {
		m, err := nc.Request(subject, data, time.Minute)
		if err == nil {
			log = append(log, fmt.Sprintf("answer: %d bytes, %.20q", len(m.Data), m.Data))
		} else {
			log = append(log, fmt.Sprint("no answer: ", err))
		}
	}
	if _, err := a.Subscribe("echo", func(m *nats.Msg) { _ = m.Respond(m.Data) }); err != nil {
		t.Fatal(err)
	}
	settle(0)
	question(b, "echo", []byte("hello"))
	question(a, "echo", []byte("myself"))
	question(b, "echo", bytes.Repeat([]byte("ab"), maxPayload/2))
	for _, sub := range []string{"x", ">"} {
		b.Close()
		b = connect() // which no longer hears all
		question(b, "nobody."+sub, nil)
	}
	return log
}

// What is no NATS ends the connection, and only that one.
func TestBrokerAndStrangers(t *testing.T) {
	b := newBroker(t)
	nc, err := nats.Connect(b.url(), nats.Token(brokerToken))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	connect := `CONNECT {"auth_token":"` + brokerToken + `"}` + "\r\n"
	for text, want := range map[string]string{
		"GET / HTTP/1.1\r\n\r\n":                              "Authorization Violation",
		"SUB > 1\r\n":                                         "Authorization Violation",
		"CONNECT {\r\n":                                       "Authorization Violation",
		"CONNECT {}\r\n":                                      "Authorization Violation",
		connect + "PUB a -1\r\n":                              "Maximum Payload Violation",
		connect + "PUB a 99999999\r\n":                        "Maximum Payload Violation",
		connect + "PUB a many\r\n":                            "Maximum Payload Violation",
		connect + "PUB\r\n":                                   "Unknown Protocol Operation",
		connect + "PUB a 1\r\nxyz":                            "Unknown Protocol Operation",
		connect + "SUB a group 1\r\n":                         "Unknown Protocol Operation",
		connect + "UNSUB\r\n":                                 "Unknown Protocol Operation",
		connect + "\x00\xff\r\n":                              "Unknown Protocol Operation",
		connect + "SUB a 1\r\nSUB b 1\r\nUNSUB 2\r\nGONE\r\n": "Unknown Protocol Operation",
		strings.Repeat("x", maxLine+1):                        "Maximum Control Line Exceeded",
		connect + "PUB a 9\r\nshort":                          "", // the client goes
	} {
		conn, err := net.Dial("tcp", b.listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
		if _, err := io.WriteString(conn, text); err != nil {
			t.Error(err)
		}
		if want == "" {
			_ = conn.(*net.TCPConn).CloseWrite()
		}
		answer, _ := io.ReadAll(conn) // whose end may be a reset: not all was read
		conn.Close()
		if fault := fmt.Sprintf("-ERR '%s'\r\n", want); want != "" && !strings.HasSuffix(string(answer), fault) {
			t.Errorf("%.40q is answered with %q; want %q at the end", text, answer, fault)
		}
	}
	if err := nc.FlushTimeout(10 * time.Second); err != nil {
		t.Errorf("the others: %v", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for end := time.Now().Add(10 * time.Second); len(b.clients) > 1 && time.Now().Before(end); {
		b.mu.Unlock()
		time.Sleep(10 * time.Millisecond)
		b.mu.Lock()
	}
	if len(b.clients) != 1 || len(b.exact)+len(b.pattern) != 0 {
		t.Errorf("%d connections and %d subscriptions are left", len(b.clients), len(b.exact)+len(b.pattern))
	}
}

// A subscription ends after the messages that it is for.
func TestBrokerCountsMessages(t *testing.T) {
	b := newBroker(t)
	conn, err := net.Dial("tcp", b.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	one := "PUB a 1\r\nx\r\n"
	if _, err := fmt.Fprintf(conn, "CONNECT {\"auth_token\":%q}\r\nSUB a 1\r\n%sUNSUB 1 3\r\n%[2]s%[2]s%[2]sSUB a 2\r\n%[2]sUNSUB 2 1\r\n%[2]sEND\r\n", brokerToken, one); err != nil {
		t.Fatal(err)
	}
	answer, _ := io.ReadAll(conn)
	if first, second := strings.Count(string(answer), "MSG a 1 1"), strings.Count(string(answer), "MSG a 2 1"); first != 3 || second != 1 {
		t.Errorf("%d and %d messages, want 3 and 1:\n%s", first, second, answer)
	}
}

// A connection uses its small buffers again, and keeps none that a large message has made large.
func TestBrokerBuffers(t *testing.T) {
	b := newBroker(t)
	ours, conn := net.Pipe()
	c := &client{b: b, conn: conn, more: make(chan struct{}, 1)}
	t.Cleanup(func() { c.leave(""); ours.Close() })
	go c.write()
	send := func(size int) (kept int) { // what the next message goes into
		t.Helper()
		c.send(make([]byte, size))
		if _, err := io.ReadFull(ours, make([]byte, size)); err != nil {
			t.Fatal(err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		return cap(c.out)
	}
	send(100)
	if kept := send(100); kept < 100 {
		t.Errorf("%d bytes are kept of 100", kept)
	}
	send(maxPayload + 1)
	if kept := send(100); kept > 0 {
		t.Errorf("%d bytes are kept after a large message", kept)
	}
}

// Who does not read is left, and holds nobody up.
func TestBrokerAndWhoDoesNotRead(t *testing.T) {
	t.Parallel() // mostly waits
	b := newBroker(t)
	conn, err := net.Dial("tcp", b.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "CONNECT {\"auth_token\":%q}\r\nSUB flood 1\r\nPING\r\n", brokerToken); err != nil {
		t.Fatal(err)
	}
	for r := bufio.NewReader(conn); ; {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if line == "PONG\r\n" {
			break
		}
	}
	nc, err := nats.Connect(b.url(), nats.Token(brokerToken), nats.NoReconnect())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	data := make([]byte, maxPayload)
	for range 2*maxPending/maxPayload + 2 {
		if err := nc.Publish("flood", data); err != nil {
			t.Fatal(err)
		}
	}
	if err := nc.FlushTimeout(30 * time.Second); err != nil {
		t.Fatal(err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	left := 0
	for g := range b.clients {
		g.mu.Lock()
		if left++; g.gone {
			left--
		}
		g.mu.Unlock()
	}
	if left != 1 {
		t.Errorf("%d connections are left", left)
	}
}

// A lease is with one worker at a time, and with another once nothing is heard of it.
func TestQueue(t *testing.T) {
	var q queue
	now := time.Now()
	try := func(after time.Duration, want string) {
		t.Helper()
		got, _, wait := q.tryTake(now.Add(after))
		text := "none"
		if got.Lease != nil {
			text = fmt.Sprint(got.Lease.ID, " for the ", got.Deliveries, ".")
		}
		if text != want || got.Lease == nil && (wait <= 0 || wait > takeFor) {
			t.Errorf("%v later: %s, want %s (look again after %v)", after, text, want, wait)
		}
	}
	try(0, "none")
	q.put(lease{ID: "A"})
	q.put(lease{ID: "B"})
	try(0, "A for the 1.")
	try(0, "B for the 1.")
	try(unclaimedFor-1, "none")
	try(unclaimedFor, "A for the 2.") // nobody claimed it
	q.hold("A", 1, time.Hour)         // of the worker before
	q.hold("B", 1, time.Hour)
	try(2*unclaimedFor, "A for the 3.")
	q.hold("A", 3, 0) // given back
	try(time.Second, "A for the 4.")
	q.drop("A", "C")
	try(time.Minute, "none")
	_, changed, _ := q.tryTake(now)
	q.hold("B", 1, 2*time.Hour)
	select {
	case <-changed:
		t.Error("those who wait look again for nothing")
	default:
	}
	q.hold("B", 1, 0)
	<-changed
	if got := q.take(t.Context()); got.Lease == nil || got.Lease.ID != "B" || got.Deliveries != 2 {
		t.Errorf("%+v", got)
	}
}
