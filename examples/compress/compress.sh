#!/bin/sh
# Compresses a file with xz or zstd, unpacks it again, and compares.
#
# usage: compress.sh [-p xz|zstd] [-l LEVEL] [-t THREADS] FILE
set -eu

refuse() {
    echo "compress: $1" >&2
    exit 2
}

program=xz level=1 threads=1
while getopts p:l:t: flag; do
    case $flag in
        p) program=$OPTARG ;;
        l) level=$OPTARG ;;
        t) threads=$OPTARG ;;
        *) refuse "usage: compress.sh [-p xz|zstd] [-l LEVEL] [-t THREADS] FILE" ;;
    esac
done
shift $((OPTIND - 1))
[ $# -eq 1 ] || refuse "usage: compress.sh [-p xz|zstd] [-l LEVEL] [-t THREADS] FILE"
input=$1
[ -f "$input" ] && [ -r "$input" ] || refuse "$input: no such file; make it with make_input.py"

# Checked here: an option with more than a number in it would reach the program as another option.
case $level/$threads in *[!0-9/]* | /* | */) refuse "-l and -t take whole numbers" ;; esac
case $program in
    xz) most=9 ;;
    zstd) most=19 ;;
    *) refuse "$program: not xz or zstd" ;;
esac
[ "$level" -le "$most" ] || refuse "-l $level: $program goes to $most"
[ "$program" = xz ] || [ "$level" -ge 1 ] || refuse "-l $level: zstd starts at 1"
command -v "$program" >/dev/null || refuse "$program is not installed"

packed=$(mktemp)
trap 'rm -f "$packed"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

"$program" -q "-$level" "-T$threads" -c -- "$input" >"$packed"
size=$(stat -L -c %s "$input")
packed_size=$(stat -c %s "$packed")
echo "packed_bytes=$packed_size"
echo "ratio=$(awk "BEGIN { printf \"%.4f\", $size / $packed_size }")"
if ! "$program" -q -d -c <"$packed" | cmp -s - "$input"; then
    echo "compress: $input does not come back as it was" >&2
    exit 1
fi
echo "check=ok"
