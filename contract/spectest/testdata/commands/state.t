An alias, a function and a variable:

  $ alias say='echo said'
  $ double() {
  >   echo "$1$1"
  > }
  $ HERE="$TESTDIR"

which are used below.

  $ say a
  said a
  $ double b
  bb
  $ test "$HERE" = "$TESTDIR" && basename "$TESTFILE"
  state.md
