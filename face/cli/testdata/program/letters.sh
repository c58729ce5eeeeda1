# Reads a line that should hold the letter A and nothing but letters. A line
# without an A ends it with exit status 3; anything but a letter crashes it.
read -r line < "$1"
case $line in
  *A*) ;;
  *) echo "no letter A" >&2; exit 3 ;;
esac
case $line in
  *[!A-Za-z]*) echo "fatal: not a letter" >&2; kill -SEGV $$ ;;
esac
echo '{"ok": true}' > "$2/result.json"
