package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// interruptions are the signals that end a command in good order. A hang-up
// counts unless whoever started Thresh had it ignored, as nohup does.
func interruptions() []os.Signal {
	list := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	return list
}
