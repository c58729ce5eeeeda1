module github.com/thresh-dev/thresh/examples/ledger

go 1.26.0
