// Command ledger is a driver for a register that outlives its process: it keeps values in the file
// that its argument names. With a second argument, "buffered", it acknowledges a write before
// writing the file, and loses the write if it is killed.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strconv"
)

type ledger struct {
	file     string
	buffered bool
	values   []int // by key - 1
	pending  int   // number of writes, whether in the file or not
}

func open(file string, buffered bool) (*ledger, error) {
	l := &ledger{file: file, buffered: buffered}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return nil, err
	}
	return l, json.Unmarshal(text, &l.values)
}

// keep writes the file: after every call, or if buffered after every third.
func (l *ledger) keep() error {
	if l.pending++; l.buffered && l.pending%3 != 0 {
		return nil
	}
	text, err := json.Marshal(l.values)
	if err != nil {
		return err
	}
	if err := os.WriteFile(l.file+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(l.file+".new", l.file)
}

func (l *ledger) call(name string, args []int) (any, error) {
	switch name {
	case "open":
		l.values = append(l.values, 0)
		return len(l.values), l.keep()
	case "write":
		if args[0] > len(l.values) {
			return nil, errors.New("no account " + strconv.Itoa(args[0]))
		}
		l.values[args[0]-1] = args[1]
		return nil, l.keep()
	case "read":
		if args[0] > len(l.values) {
			return -1, nil
		}
		return l.values[args[0]-1], nil
	}
	return nil, errors.New("no call " + name)
}

func main() {
	l, err := open(os.Args[1], len(os.Args) > 2 && os.Args[2] == "buffered")
	if err != nil {
		panic(err)
	}
	in, out := bufio.NewScanner(os.Stdin), json.NewEncoder(os.Stdout)
	for in.Scan() {
		var line struct {
			Reset bool
			Call  string
			Args  json.RawMessage
			ID    int
		}
		if err := json.Unmarshal(in.Bytes(), &line); err != nil {
			panic(err)
		}
		reply := map[string]any{"ok": nil, "id": line.ID}
		if line.Reset {
			_ = os.Remove(l.file) // the file may not exist
			l.values = nil
		} else {
			var args []int
			_ = json.Unmarshal(line.Args, &args) // a call without arguments has {}
			if reply["ok"], err = l.call(line.Call, args); err != nil {
				reply = map[string]any{"error": err.Error(), "id": line.ID}
			}
		}
		if out.Encode(reply) != nil {
			return // nobody reads any longer
		}
	}
}
