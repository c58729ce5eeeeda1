package fleet

import (
	"bufio"
	"bytes"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// broker is the embedded server: the part of the NATS protocol that the fleet's
// clients speak, for whoever has the token. It passes messages on and keeps none.
type broker struct {
	token    string
	listener net.Listener
	up       sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	guests  map[*guest]bool
	exact   map[string][]*interest // by subject
	pattern []*interest            // whose subjects have wildcards
}

// guest is one connection.
type guest struct {
	b    *broker
	conn net.Conn
	// noResponders: the client wants to know when nobody listens to its question.
	noResponders bool
	interests    map[string]*interest // by the client's own id; guarded by b.mu

	mu   sync.Mutex
	out  []byte // what is to be written
	more chan struct{}
	gone bool
}

// interest is one subscription.
type interest struct {
	of      *guest
	id      string
	subject string
	words   []string // of a subject with wildcards
	got     int      // messages so far
	most    int      // messages after which it ends; 0: it does not
}

const (
	maxPayload  = 8 << 20
	maxLine     = 32 << 10 // of the protocol; a client's credentials are in one
	maxPending  = 64 << 20 // for a client that does not read
	writeWithin = 10 * time.Second
	joinWithin  = 10 * time.Second // for the token
	// silentFor is longer than any client stays silent: ours ping every 5 s.
	silentFor = 5 * time.Minute
)

// listen starts a broker.
func listen(address, token string) (*broker, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	b := &broker{token: token, listener: l, guests: make(map[*guest]bool), exact: make(map[string][]*interest)}
	b.up.Go(func() {
		for {
			conn, err := l.Accept()
			switch {
			case err == nil:
				b.serve(conn)
			case errors.Is(err, net.ErrClosed):
				return
			default:
				time.Sleep(50 * time.Millisecond) // no file descriptor is free, say
			}
		}
	})
	return b, nil
}

// InProcessConn implements nats.InProcessConnProvider.
func (b *broker) InProcessConn() (net.Conn, error) {
	client, conn := net.Pipe()
	b.serve(conn)
	return client, nil
}

func (b *broker) url() string { return "nats://" + b.listener.Addr().String() }

// shutdown ends all connections.
func (b *broker) shutdown() {
	_ = b.listener.Close() // nothing can be done about it
	b.mu.Lock()
	b.closed = true
	for g := range b.guests {
		g.leave("")
	}
	b.mu.Unlock()
	b.up.Wait()
}

func (b *broker) serve(conn net.Conn) {
	g := &guest{b: b, conn: conn, interests: make(map[string]*interest), more: make(chan struct{}, 1)}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		_ = conn.Close() // the other side sees it
		return
	}
	b.guests[g] = true
	b.up.Go(g.write)
	b.up.Go(func() {
		err := g.read()
		b.forget(g)
		g.leave(err)
	})
}

// read serves what the client asks for until it leaves, and returns what is wrong with it, if
// anything is.
func (g *guest) read() (fault string) {
	info := mustJSON(map[string]any{
		"server_id": "thresh", "server_name": "thresh", "version": "2.10.0", "proto": 1, "headers": true, "auth_required": true, "max_payload": maxPayload,
	})
	g.send([]byte("INFO "), info, []byte("\r\n"))
	joined := false
	_ = g.conn.SetReadDeadline(time.Now().Add(joinWithin)) // without it, the client waits longer
	for r := bufio.NewReaderSize(g.conn, maxLine); ; {
		line, err := r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			return "Maximum Control Line Exceeded"
		}
		if err != nil {
			return ""
		}
		verb, rest, _ := strings.Cut(strings.TrimRight(string(line), "\r\n"), " ")
		verb = strings.ToUpper(verb)
		if !joined && verb != "CONNECT" {
			return "Authorization Violation"
		}
		switch words := strings.Fields(rest); {
		case verb == "CONNECT":
			if !g.join(rest) {
				return "Authorization Violation"
			}
			joined = true
		case verb == "PING":
			g.send([]byte("PONG\r\n"))
		case verb == "PONG":
		case verb == "SUB" && len(words) == 2:
			g.subscribe(words[0], words[1])
		case verb == "UNSUB" && (len(words) == 1 || len(words) == 2):
			g.unsubscribe(words)
		case verb == "PUB" && (len(words) == 2 || len(words) == 3):
			size, err := strconv.Atoi(words[len(words)-1])
			if err != nil || size < 0 || size > maxPayload {
				return "Maximum Payload Violation"
			}
			data := make([]byte, size+len("\r\n"))
			if _, err := io.ReadFull(r, data); err != nil {
				return ""
			}
			if !bytes.HasSuffix(data, []byte("\r\n")) {
				return "Unknown Protocol Operation"
			}
			reply := ""
			if len(words) == 3 {
				reply = words[1]
			}
			g.b.pass(g, words[0], reply, data)
		default:
			return "Unknown Protocol Operation"
		}
		_ = g.conn.SetReadDeadline(time.Now().Add(silentFor))
	}
}

// join checks the token.
func (g *guest) join(text string) bool {
	var c struct {
		Token        string `json:"auth_token"`
		NoResponders bool   `json:"no_responders"`
	}
	if json.Unmarshal([]byte(text), &c) != nil || subtle.ConstantTimeCompare([]byte(c.Token), []byte(g.b.token)) == 0 {
		return false
	}
	g.noResponders = c.NoResponders
	return true
}

func (g *guest) subscribe(subject, id string) {
	i := &interest{of: g, id: id, subject: subject}
	g.b.mu.Lock()
	defer g.b.mu.Unlock()
	if g.interests[id] != nil {
		return
	}
	g.interests[id] = i
	if words := strings.Split(subject, "."); slices.Contains(words, "*") || slices.Contains(words, ">") {
		i.words = words
		g.b.pattern = append(g.b.pattern, i)
	} else {
		g.b.exact[subject] = append(g.b.exact[subject], i)
	}
}

func (g *guest) unsubscribe(words []string) {
	g.b.mu.Lock()
	defer g.b.mu.Unlock()
	i := g.interests[words[0]]
	if i == nil {
		return
	}
	if len(words) == 2 {
		if i.most, _ = strconv.Atoi(words[1]); i.got < i.most {
			return
		}
	}
	g.b.end(i)
}

// end takes an interest away. Call it with mu held.
func (b *broker) end(i *interest) {
	delete(i.of.interests, i.id)
	same := func(other *interest) bool { return other == i }
	if i.words != nil {
		b.pattern = slices.DeleteFunc(b.pattern, same)
	} else if b.exact[i.subject] = slices.DeleteFunc(b.exact[i.subject], same); len(b.exact[i.subject]) == 0 {
		delete(b.exact, i.subject)
	}
}

func (b *broker) forget(g *guest) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.guests, g)
	for _, i := range g.interests {
		b.end(i)
	}
}

// pass gives a message to all who are interested. A question that nobody hears is
// answered by the broker.
func (b *broker) pass(from *guest, subject, reply string, data []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := b.interested(subject)
	for _, i := range list {
		head := fmt.Appendf(nil, "MSG %s %s ", subject, i.id)
		if reply != "" {
			head = fmt.Appendf(head, "%s ", reply)
		}
		i.give(fmt.Appendf(head, "%d\r\n", len(data)-len("\r\n")), data)
	}
	if len(list) > 0 || reply == "" || !from.noResponders {
		return
	}
	const none = "NATS/1.0 503\r\n\r\n"
	for _, i := range b.interested(reply) {
		if i.of == from {
			i.give(fmt.Appendf(nil, "HMSG %s %s %d %d\r\n%s\r\n", reply, i.id, len(none), len(none), none))
		}
	}
}

// give sends a message to an interest, which may be its last.
func (i *interest) give(parts ...[]byte) {
	i.of.send(parts...)
	if i.got++; i.got == i.most {
		i.of.b.end(i)
	}
}

func (b *broker) interested(subject string) []*interest {
	list := slices.Clone(b.exact[subject])
	if len(b.pattern) > 0 {
		words := strings.Split(subject, ".")
		for _, i := range b.pattern {
			if matches(i.words, words) {
				list = append(list, i)
			}
		}
	}
	return list
}

// matches reports whether a subject is one of a pattern's: * stands for a word, > for
// all that follow.
func matches(pattern, subject []string) bool {
	for n, p := range pattern {
		if p == ">" {
			return n < len(subject)
		}
		if n >= len(subject) || p != "*" && p != subject[n] {
			return false
		}
	}
	return len(pattern) == len(subject)
}

// send queues what is to be written. A client that does not keep up is left.
func (g *guest) send(parts ...[]byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.gone {
		return
	}
	for _, p := range parts {
		g.out = append(g.out, p...)
	}
	if len(g.out) > maxPending {
		g.out = nil
		g.end("Slow Consumer")
		return
	}
	select {
	case g.more <- struct{}{}:
	default:
	}
}

// leave ends the connection once what is queued is written, and says why.
func (g *guest) leave(fault string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.gone {
		g.end(fault)
	}
}

func (g *guest) end(fault string) {
	g.gone = true
	if fault != "" {
		g.out = fmt.Appendf(g.out, "-ERR '%s'\r\n", fault)
	}
	close(g.more)
}

// write writes what is queued until the connection ends, which ends read as well.
func (g *guest) write() {
	defer g.conn.Close()
	var out []byte
	for open := true; open; {
		_, open = <-g.more
		g.mu.Lock()
		if out, g.out = g.out, out[:0]; cap(g.out) > maxPayload {
			g.out = nil
		}
		g.mu.Unlock()
		if len(out) == 0 {
			continue
		}
		_ = g.conn.SetWriteDeadline(time.Now().Add(writeWithin)) // without it, a write takes as long as it takes
		if _, err := g.conn.Write(out); err != nil {
			g.leave("")
			return
		}
	}
}
