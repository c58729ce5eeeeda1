package fleet

import (
	"crypto/rand"
	"fmt"
	"os"
	"strings"
)

// MinToken is how many characters a token has at least: fewer can be guessed.
const MinToken = 16

// TokenFile is where the embedded server's token is, in the folder "fleet" of
// the store; only its owner can read it.
const TokenFile = "token"

// keptToken leaves a token in a file. Without one it is that of the file, so
// that workers find a coordinator again that was killed, or else a random one.
func keptToken(file, token string) (string, error) {
	if token == "" {
		if fi, err := os.Stat(file); err == nil && fi.Mode().Perm()&0o077 == 0 {
			if data, err := os.ReadFile(file); err == nil {
				token = strings.TrimSpace(string(data))
			}
		}
		if len(token) < MinToken {
			token = rand.Text()
		}
	}
	f, err := os.CreateTemp(strings.TrimSuffix(file, TokenFile), TokenFile+"-*") // with mode 0600
	if err != nil {
		return "", err
	}
	_, err = fmt.Fprintln(f, token)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // what remains of it is in a folder of its owner
	}
	return token, err
}
