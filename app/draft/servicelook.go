package draft

import (
	"encoding/json"

	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/port/sut"
)

// NextLook returns the next call whose answer will show the form of an operation's answers; not ok:
// there is none. f.Seen holds the answers so far.
func NextLook(f *ServiceFacts) (c sut.Call, ok bool) {
	a := analyse(f)
	value := func(s *Slot) json.RawMessage { return json.RawMessage(s.samples()[0]) }
	made := map[*resource]json.RawMessage{}
	for _, r := range a.resources {
		for _, e := range r.made {
			if v, was := f.Seen[e.op.Name]; was && r.keyed == "" {
				if id, _ := e.identity(r); id != "" {
					v = valueAt(v, id)
				}
				made[r] = v
			}
		}
	}
	for _, wanted := range []func(e *endpoint) bool{
		func(e *endpoint) bool { return e.role == makes || e.role == stores },
		func(e *endpoint) bool { return e.role == reads },
		(*endpoint).moves,
	} {
	next:
		for _, e := range a.endpoints {
			if _, was := f.Seen[e.op.Name]; was || e.skip != "" || e.op.Destroys || answerOf(e.op) != nil || !wanted(e) {
				continue
			}
			c = sut.Call{Operation: e.op.Name}
			if e.handle != "" {
				id := made[e.of]
				if e.of.keyed != "" {
					slot, ok := readSchema(e.op.Schema).get("properties").get(e.handle).slot(e.handle)
					if !ok {
						continue
					}
					id = value(&slot)
				}
				if len(id) == 0 || string(id) == "null" {
					continue
				}
				c.Named = append(c.Named, sut.Named{Name: e.handle, Value: id})
			}
			for _, x := range e.slots {
				v := made[x.of]
				if x.of == nil {
					v = value(&x.Slot)
				} else if len(v) == 0 || string(v) == "null" {
					continue next
				}
				c.Named = append(c.Named, sut.Named{Name: x.Name, Value: v})
			}
			return c, true
		}
	}
	return c, false
}

// valueAt is the value at a path in an answer.
func valueAt(answer json.RawMessage, at string) json.RawMessage {
	p, err := agentcall.ParsePath(at)
	if err != nil {
		return nil
	}
	root, err := agentcall.ParseReply(answer)
	if err != nil {
		return nil
	}
	if n := p.In(root); n != nil {
		return agentcall.JSON(n)
	}
	return nil
}
