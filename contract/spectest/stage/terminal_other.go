//go:build !linux

package stage

func terminal(int, int) (*Terminal, error) { return nil, ErrNoTerminal }

func (*Terminal) send(string) error { return ErrNoTerminal }
