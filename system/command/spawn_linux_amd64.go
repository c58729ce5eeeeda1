package command

// launch starts the child of p; written in assembly, because nothing that the
// Go runtime does is safe between clone3 and execve. It reports the process
// id, or the error of clone3.
//
//go:noescape
func launch(p *launchpad) (pid, errno uintptr)

const canLaunch = true
