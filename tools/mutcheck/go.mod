module github.com/thresh-dev/thresh/tools/mutcheck

go 1.26.0
