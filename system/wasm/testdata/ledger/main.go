// Command ledger is a small system in Go for the tests of package wasm: it has
// state on the heap, panics, prints, reads the clock and draws random numbers.
package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"time"
)

var accounts = map[int32]int64{}

//go:wasmexport deposit
func deposit(account int32, amount int64) int64 {
	if amount > 1_000_000 {
		fmt.Fprintln(os.Stderr, "too much for", account)
		panic("deposit too large")
	}
	accounts[account] += amount
	return accounts[account]
}

//go:wasmexport entries
func entries() int32 { return int32(len(accounts)) }

//go:wasmexport hoard
func hoard(n int32) int32 {
	b := make([]byte, n)
	b[len(b)-1] = 1
	return int32(len(b))
}

//go:wasmexport spin
func spin() {
	for i := 0; ; i++ {
		accounts[0] = int64(i)
	}
}

//go:wasmexport luck
func luck() int64 { return rand.Int64() ^ time.Now().UnixNano() }

func main() {}
