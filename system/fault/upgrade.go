package fault

import (
	"context"
	"io"
	"net/http"
	"sync"
)

// upgraded connects the two ends of a connection that has left HTTP, such as a WebSocket. Its
// content is not inspected.
func (x *exchange) upgraded(resp *http.Response) {
	server, ok := resp.Body.(io.ReadWriteCloser)
	agent, buffered, err := http.NewResponseController(x.w).Hijack()
	if err != nil || !ok {
		x.record.Error = "the connection could not be upgraded"
		return
	}
	protocol := resp.Header.Get("Upgrade")
	x.noteNoEffect("the connection left HTTP for " + protocol)
	x.ledger.Note("faults do not reach into the " + protocol + " connection to " + x.url.Host)
	x.record.Status = resp.StatusCode
	resp.Body = nil
	err = resp.Write(buffered)
	if err == nil {
		err = buffered.Flush()
	}
	var both sync.WaitGroup
	move := func(to io.Writer, from io.Reader, seen *capture) {
		both.Go(func() {
			io.Copy(to, io.TeeReader(from, seen))
			agent.Close()
			server.Close()
		})
	}
	if err == nil {
		defer context.AfterFunc(x.context, func() { agent.Close(); server.Close() })()
		move(server, buffered, &x.request)
		move(agent, server, &x.response)
	}
	both.Wait()
	agent.Close()
	server.Close()
}

// capture keeps the first limit bytes written to it and counts all of them.
type capture struct {
	kept  []byte
	limit int
	size  int64
}

func (c *capture) Write(b []byte) (int, error) {
	c.size += int64(len(b))
	if room := c.limit - len(c.kept); room > 0 {
		c.kept = append(c.kept, b[:min(room, len(b))]...)
	}
	return len(b), nil
}
