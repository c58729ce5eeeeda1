Nothing without these:

  $ command -v no-such-tool > /dev/null || exit 80
  $ which sh >/dev/null 2>&1 || exit 80
  $ type cat > /dev/null || exit 80
  $ [ -f /nowhere ] || exit 80
