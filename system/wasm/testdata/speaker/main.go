// Speaker is a WASI command that does what its standard input says. It imports
// little, since all that it imports is compiled.
package main

import (
	"strconv"
	"strings"
	"syscall"
)

func main() {
	var input [4096]byte
	n, _ := syscall.Read(0, input[:])
	verb, arg, _ := strings.Cut(string(input[:n]), " ")
	switch verb {
	case "echo", "late":
		say(1, strconv.Quote(arg)+"\n")
	case "reject":
		syscall.Exit(7)
	case "die", "fail":
		syscall.Exit(3)
	case "kill":
		panic("the ledger is torn")
	case "report":
		say(2, "panic: the ledger is torn\n\ngoroutine 1 [running]:\nmain.torn(...)\n\t/x/main.go:7\n")
	case "count":
		say(1, "1\n")
	case "hang":
		for {
		}
	case "flood":
		for range 9 << 10 {
			say(1, strings.Repeat("x", 1024))
		}
	}
}

func say(file int, text string) { _, _ = syscall.Write(file, []byte(text)) }
