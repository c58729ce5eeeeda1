package command

import "github.com/thresh-dev/thresh/system/command/internal/aflserver"

// Guidable reports whether a program's file has instrumentation that shows what a case reached. A
// file that cannot be read has none.
func Guidable(path string) bool {
	f, err := aflserver.Detect(path)
	return err == nil && (f.Instrumented || f.Counters)
}
