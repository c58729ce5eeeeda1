module github.com/thresh-dev/thresh/examples/races

go 1.26.0
