// Speaker is a WASI command that does what its standard input says.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	input, _ := io.ReadAll(os.Stdin)
	verb, arg, _ := strings.Cut(string(input), " ")
	switch verb {
	case "echo", "late":
		json.NewEncoder(os.Stdout).Encode(arg)
	case "reject":
		os.Exit(7)
	case "die", "fail":
		os.Exit(3)
	case "kill":
		panic("the ledger is torn")
	case "report":
		fmt.Fprint(os.Stderr, "panic: the ledger is torn\n\ngoroutine 1 [running]:\nmain.torn(...)\n\t/x/main.go:7\n")
	case "count":
		fmt.Println(1)
	case "hang":
		for {
		}
	case "flood":
		for range 9 << 10 {
			os.Stdout.WriteString(strings.Repeat("x", 1024))
		}
	}
}
