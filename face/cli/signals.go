package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// interruptions returns the signals that end a command in an orderly way. A hang-up is one unless
// the program was started with it ignored, as nohup does.
func interruptions() []os.Signal {
	list := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	return list
}
