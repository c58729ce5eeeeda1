package command

// launch starts the child of p. It is written in assembly because nothing that the Go runtime does
// is safe between clone3 and execve. It returns the process id, or clone3's error.
//
//go:noescape
func launch(p *launchpad) (pid, errno uintptr)

const canLaunch = true
