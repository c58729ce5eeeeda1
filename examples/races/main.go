// Command races is a driver for a store with concurrent users: a map with a cache in front of it.
// Its argument names the race that the store has:
//
//	thresh run races.model.star                      the correct one
//	thresh run races.model.star --system stale-fill.system.yaml
//
// It answers each line in its own goroutine, with the id of the line.
package main

import (
	"bufio"
	"encoding/json"
	"os"
	"sync"
)

func main() {
	race := ""
	if len(os.Args) > 1 {
		race = os.Args[1]
	}
	in, out := bufio.NewScanner(os.Stdin), json.NewEncoder(os.Stdout)
	var writing sync.Mutex
	var calls sync.WaitGroup
	for s := NewStore(race); in.Scan(); {
		var line struct {
			Reset bool
			Call  string
			Args  json.RawMessage
			ID    int `json:"id"`
		}
		if json.Unmarshal(in.Bytes(), &line) != nil {
			os.Exit(1)
		}
		answer := func(value any) {
			writing.Lock()
			defer writing.Unlock()
			_ = out.Encode(map[string]any{"ok": value, "id": line.ID}) // nobody may be reading any longer
		}
		if line.Reset {
			calls.Wait()
			s = NewStore(race)
			answer(nil)
			continue
		}
		var args []int
		_ = json.Unmarshal(line.Args, &args) // a call without arguments has {}
		store := s
		calls.Go(func() { answer(call(store, line.Call, args)) })
	}
}

// call performs a call on the store.
func call(s *Store, name string, args []int) any {
	switch name {
	case "create":
		return s.Create()
	case "get":
		return s.Get(args[0])
	case "put":
		s.Put(args[0], args[1])
	case "increment":
		return s.Increment(args[0])
	case "swap":
		return s.Swap(args[0], args[1], args[2])
	}
	return nil
}
