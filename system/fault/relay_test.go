package fault

import (
	"io"
	"sync"

	"github.com/thresh-dev/thresh/engine/fault"
)

// pipe is the agent's end of a relay.
type pipe struct {
	*io.PipeReader
	w     *io.PipeWriter
	close func()
}

func (p *pipe) Write(b []byte) (int, error) { return p.w.Write(b) }

func (p *pipe) Close() error {
	p.close()
	return nil
}

// relayed is the agent's end of an MCP server on stdio: what is written goes to
// the server, what is read comes from it. Closing it closes the server's.
func relayed(at fault.Cell, server string, rw io.ReadWriteCloser) io.ReadWriteCloser {
	c := at.(*cell)
	fromAgent, agentWrites := io.Pipe()
	agentReads, toAgent := io.Pipe()
	r := &relay{server: server, cell: func() *cell { return c }, context: c.context, pending: map[string]*pendingCall{}, waiting: map[string]*pendingCall{}}
	if c.port.proxy.begin() {
		go func() {
			defer c.port.proxy.work.Done()
			r.run(fromAgent, rw, toAgent, rw)
		}()
	} else {
		rw.Close()
		toAgent.Close()
		fromAgent.Close()
	}
	var once sync.Once
	return &pipe{PipeReader: agentReads, w: agentWrites, close: func() {
		once.Do(func() {
			agentWrites.Close()
			agentReads.Close()
			rw.Close()
		})
	}}
}
