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

// broker is the embedded server. It speaks the part of the NATS protocol that the fleet's clients
// use, with clients that have the token. It passes messages on and stores none.
type broker struct {
	token    string
	listener net.Listener
	up       sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	clients map[*client]bool
	exact   map[string][]*subscription // by subject
	pattern []*subscription            // with wildcards in the subject
}

// client is one connection.
type client struct {
	b    *broker
	conn net.Conn
	// noResponders: the client wants a reply if nobody subscribes to the subject of its request.
	noResponders  bool
	subscriptions map[string]*subscription // by the client's own id; guarded by b.mu

	mu   sync.Mutex
	out  []byte // queued output
	more chan struct{}
	gone bool
}

// subscription is one subscription of a client.
type subscription struct {
	of      *client
	id      string
	subject string
	words   []string // of a subject with wildcards
	got     int      // messages so far
	most    int      // messages after which it ends; 0: never
}

const (
	maxPayload  = 8 << 20
	maxLine     = 32 << 10 // of the protocol; one line carries a client's credentials
	maxPending  = 64 << 20 // bytes queued for a client that does not read
	writeWithin = 10 * time.Second
	joinWithin  = 10 * time.Second // time to send the token
	// silentFor is longer than any client stays silent: the fleet's clients ping every 5 s.
	silentFor = 5 * time.Minute
)

// listen starts a broker.
func listen(address, token string) (*broker, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	b := &broker{token: token, listener: l, clients: make(map[*client]bool), exact: make(map[string][]*subscription)}
	b.up.Go(func() {
		for {
			conn, err := l.Accept()
			switch {
			case err == nil:
				b.serve(conn)
			case errors.Is(err, net.ErrClosed):
				return
			default:
				time.Sleep(50 * time.Millisecond) // for example, no file descriptor is free
			}
		}
	})
	return b, nil
}

// InProcessConn implements nats.InProcessConnProvider.
func (b *broker) InProcessConn() (net.Conn, error) {
	ours, conn := net.Pipe()
	b.serve(conn)
	return ours, nil
}

func (b *broker) url() string { return "nats://" + b.listener.Addr().String() }

// shutdown closes all connections.
func (b *broker) shutdown() {
	_ = b.listener.Close() // nothing can be done about an error
	b.mu.Lock()
	b.closed = true
	for c := range b.clients {
		c.leave("")
	}
	b.mu.Unlock()
	b.up.Wait()
}

func (b *broker) serve(conn net.Conn) {
	c := &client{b: b, conn: conn, subscriptions: make(map[string]*subscription), more: make(chan struct{}, 1)}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		_ = conn.Close() // the other side notices
		return
	}
	b.clients[c] = true
	b.up.Go(c.write)
	b.up.Go(func() {
		err := c.read()
		b.forget(c)
		c.leave(err)
	})
}

// read serves a client until it leaves. It returns the client's protocol error; "" if there is
// none.
func (c *client) read() (fault string) {
	info := mustJSON(map[string]any{
		"server_id": "thresh", "server_name": "thresh", "version": "2.10.0", "proto": 1, "headers": true, "auth_required": true, "max_payload": maxPayload,
	})
	c.send([]byte("INFO "), info, []byte("\r\n"))
	joined := false
	_ = c.conn.SetReadDeadline(time.Now().Add(joinWithin)) // if this fails, the client gets more time
	for r := bufio.NewReaderSize(c.conn, maxLine); ; {
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
			if !c.join(rest) {
				return "Authorization Violation"
			}
			joined = true
		case verb == "PING":
			c.send([]byte("PONG\r\n"))
		case verb == "PONG":
		case verb == "SUB" && len(words) == 2:
			c.subscribe(words[0], words[1])
		case verb == "UNSUB" && (len(words) == 1 || len(words) == 2):
			c.unsubscribe(words)
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
			c.b.pass(c, words[0], reply, data)
		default:
			return "Unknown Protocol Operation"
		}
		_ = c.conn.SetReadDeadline(time.Now().Add(silentFor))
	}
}

// join checks the token.
func (c *client) join(text string) bool {
	var options struct {
		Token        string `json:"auth_token"`
		NoResponders bool   `json:"no_responders"`
	}
	if json.Unmarshal([]byte(text), &options) != nil || subtle.ConstantTimeCompare([]byte(options.Token), []byte(c.b.token)) == 0 {
		return false
	}
	c.noResponders = options.NoResponders
	return true
}

func (c *client) subscribe(subject, id string) {
	i := &subscription{of: c, id: id, subject: subject}
	c.b.mu.Lock()
	defer c.b.mu.Unlock()
	if c.subscriptions[id] != nil {
		return
	}
	c.subscriptions[id] = i
	if words := strings.Split(subject, "."); slices.Contains(words, "*") || slices.Contains(words, ">") {
		i.words = words
		c.b.pattern = append(c.b.pattern, i)
	} else {
		c.b.exact[subject] = append(c.b.exact[subject], i)
	}
}

func (c *client) unsubscribe(words []string) {
	c.b.mu.Lock()
	defer c.b.mu.Unlock()
	i := c.subscriptions[words[0]]
	if i == nil {
		return
	}
	if len(words) == 2 {
		if i.most, _ = strconv.Atoi(words[1]); i.got < i.most {
			return
		}
	}
	c.b.end(i)
}

// end removes a subscription. Call it with mu held.
func (b *broker) end(i *subscription) {
	delete(i.of.subscriptions, i.id)
	same := func(other *subscription) bool { return other == i }
	if i.words != nil {
		b.pattern = slices.DeleteFunc(b.pattern, same)
	} else if b.exact[i.subject] = slices.DeleteFunc(b.exact[i.subject], same); len(b.exact[i.subject]) == 0 {
		delete(b.exact, i.subject)
	}
}

func (b *broker) forget(c *client) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.clients, c)
	for _, i := range c.subscriptions {
		b.end(i)
	}
}

// pass delivers a message to the subscribers of its subject. If nobody subscribes, the broker
// answers a request itself.
func (b *broker) pass(from *client, subject, reply string, data []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := b.subscribers(subject)
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
	for _, i := range b.subscribers(reply) {
		if i.of == from {
			i.give(fmt.Appendf(nil, "HMSG %s %s %d %d\r\n%s\r\n", reply, i.id, len(none), len(none), none))
		}
	}
}

// give sends a message to a subscription, and ends the subscription if it was its last.
func (i *subscription) give(parts ...[]byte) {
	i.of.send(parts...)
	if i.got++; i.got == i.most {
		i.of.b.end(i)
	}
}

func (b *broker) subscribers(subject string) []*subscription {
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

// matches reports whether a subject matches a pattern: * stands for one word, > for all remaining
// ones.
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

// send queues output. It drops a client that does not keep up.
func (c *client) send(parts ...[]byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone {
		return
	}
	for _, p := range parts {
		c.out = append(c.out, p...)
	}
	if len(c.out) > maxPending {
		c.out = nil
		c.end("Slow Consumer")
		return
	}
	select {
	case c.more <- struct{}{}:
	default:
	}
}

// leave ends the connection once its queue is written, with fault as the reason.
func (c *client) leave(fault string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.gone {
		c.end(fault)
	}
}

func (c *client) end(fault string) {
	c.gone = true
	if fault != "" {
		c.out = fmt.Appendf(c.out, "-ERR '%s'\r\n", fault)
	}
	close(c.more)
}

// write writes queued output until the connection ends, and thereby ends read as well.
func (c *client) write() {
	defer c.conn.Close()
	var out []byte
	for open := true; open; {
		_, open = <-c.more
		c.mu.Lock()
		if out, c.out = c.out, out[:0]; cap(c.out) > maxPayload {
			c.out = nil
		}
		c.mu.Unlock()
		if len(out) == 0 {
			continue
		}
		_ = c.conn.SetWriteDeadline(time.Now().Add(writeWithin)) // if this fails, the write has no time limit
		if _, err := c.conn.Write(out); err != nil {
			c.leave("")
			return
		}
	}
}
