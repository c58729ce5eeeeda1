module github.com/thresh-dev/thresh/tools/record

go 1.26.0
