// Driver makes a Go package a system under test. Thresh writes one line of JSON,
// the driver answers with one line:
//
//	{"reset":true}                                  -> {"ok":null}
//	{"call":"refund","args":{"order":1,"amount":5}} -> {"ok":VALUE}
//	                                                   {"rejected":"why"}  the library says no
//	                                                   {"error":"why"}     the library is broken
//
// "args" is an object, or a list if the document binds by position. Copy this file,
// and replace orders with your library.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

type orders struct{ paid, left map[int64]int64 }

var errRejected = errors.New("rejected")

func fresh() *orders { return &orders{map[int64]int64{}, map[int64]int64{}} }

func (o *orders) call(name string, order, amount int64) (int64, error) {
	switch _, paid := o.paid[order]; {
	case name == "remaining":
		return o.left[order], nil
	case name == "pay" && (paid || amount <= 0), name == "refund" && (!paid || amount <= 0 || amount > o.left[order]):
		return 0, fmt.Errorf("%w: order %d", errRejected, order)
	case name == "pay":
		o.paid[order], o.left[order] = amount, amount
	case name == "refund":
		o.left[order] -= amount
	default:
		return 0, fmt.Errorf("no operation %s", name)
	}
	return o.left[order], nil
}

func main() {
	in, out := bufio.NewScanner(os.Stdin), json.NewEncoder(os.Stdout)
	in.Buffer(nil, 16<<20)
	for system := fresh(); in.Scan(); {
		var line struct {
			Reset bool
			Call  string
			Args  json.RawMessage
			Body  []byte // a case's input, if the system file says `body: raw`
		}
		var named struct{ Order, Amount int64 }
		var list []int64
		err := json.Unmarshal(in.Bytes(), &line)
		if line.Args != nil && json.Unmarshal(line.Args, &list) == nil {
			list = append(list, 0, 0)
			named.Order, named.Amount = list[0], list[1]
		} else if err == nil && line.Args != nil {
			err = json.Unmarshal(line.Args, &named)
		}
		reply := map[string]any{"ok": nil}
		if line.Reset {
			system = fresh()
		} else if err == nil {
			reply["ok"], err = system.call(line.Call, named.Order, named.Amount)
		}
		if errors.Is(err, errRejected) {
			reply = map[string]any{"rejected": err.Error()}
		} else if err != nil {
			reply = map[string]any{"error": err.Error()}
		}
		if out.Encode(reply) != nil {
			return
		}
	}
}
