package flakestorm

import (
	"bytes"
	"crypto/rand"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/engine/fault"
)

// The agent gets another name for its conversation each time that a case runs, so that it remembers
// nothing from before. Before anything is judged or stored, this name is replaced in everything
// that comes back by the case's own name, which has the same length: equal cases have equal
// outcomes.

// unused returns a name that no conversation had before, as long as a case's name.
func unused(name string) string { return rand.Text()[:len(name)] }

func (c *cell) rename(texts ...*string) {
	for _, s := range texts {
		*s = strings.ReplaceAll(*s, c.sent, c.session)
	}
}

func renameBytes[T ~[]byte](c *cell, data T) T {
	if !bytes.Contains(data, []byte(c.sent)) {
		return data
	}
	return bytes.ReplaceAll(data, []byte(c.sent), []byte(c.session))
}

func renameAll(c *cell, list []string) []string {
	list = slices.Clone(list) // the cell still uses the other one
	for i := range list {
		c.rename(&list[i])
	}
	return list
}

func (c *cell) renameReply(r *agentcall.Reply) {
	c.rename(&r.Text, &r.Error, &r.Printed)
	r.Value = renameBytes(c, r.Value)
	for i := range r.Tools {
		t := &r.Tools[i]
		c.rename(&t.Tool, &t.Error)
		t.Names = renameAll(c, t.Names)
		t.Args, t.Result = renameBytes(c, t.Args), renameBytes(c, t.Result)
	}
	for i := range r.Copies {
		c.renameReply(&r.Copies[i])
	}
}

// report returns what the port has seen so far.
func (c *cell) report() fault.Report { return c.renamed(c.faults.Report()) }

func (c *cell) renamed(r fault.Report) fault.Report {
	for i := range r.Events {
		c.rename(&r.Events[i].Target, &r.Events[i].Change)
	}
	for i := range r.Exchanges {
		e := &r.Exchanges[i]
		c.rename(&e.Tool, &e.URL, &e.Key, &e.Error, &e.Raised)
		e.Names = renameAll(c, e.Names)
		e.Request, e.Response = renameBytes(c, e.Request), renameBytes(c, e.Response)
	}
	for i := range r.ToolCalls {
		s := &r.ToolCalls[i]
		s.Names = renameAll(c, s.Names)
		c.rename(&s.Tool, &s.Arguments, &s.ID, &s.Result)
	}
	for i := range r.Notes {
		c.rename(&r.Notes[i])
	}
	return r
}
