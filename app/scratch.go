package app

import "github.com/thresh-dev/thresh/system/scratch"

// Scratch makes a temporary folder and says how it is removed. Should this
// process be killed first, the next one that makes such a folder removes it.
func Scratch() (dir string, remove func() error, err error) {
	f, err := scratch.Make("")
	if err != nil {
		return "", nil, err
	}
	return f.Path, f.Close, nil
}
