/**
 * What runs in the pod: dnsmasq, and the reloader that brings it every change of its hosts.
 *
 * The kubelet brings ConfigMaps by swapping a symbolic link, which dnsmasq does not notice. The reloader notices, and
 * renames one small file per changed address into the plain folder that dnsmasq watches. Small files, because dnsmasq
 * compares each name of a changed file with everything that it knows: a file of ten thousand names stops it for
 * seconds. Many changes at once are therefore written behind its back (through a second link to the same file, which
 * its watch does not see) and told with one SIGHUP; so is every change to a dnsmasq older than 2.90, which does not
 * forget what vanished from a file.
 *
 * No name is without its answer in between: an address that loses a name has it until the one that gains it was read.
 */

export const SCRIPT_NAME = 'serve.sh'

export const serveScript = String.raw`#!/bin/sh
# Runs dnsmasq with the given arguments, and keeps its hosts as the kubelet brings them.
#   HOSTS_SOURCE  the volume with the parts, and with the index that names them
#   HOSTS_RUN     an empty folder of our own; dnsmasq reads its folder "hosts"
#   HOSTS_RELOAD  watch or signal: how dnsmasq hears of a change; by its version unless given
#   HOSTS_LOOK    seconds after which is looked in any case
set -u
source=$HOSTS_SOURCE/..data
hosts=$HOSTS_RUN/hosts held=$HOSTS_RUN/held work=$HOSTS_RUN/work links=$HOSTS_RUN/links
applied=' '
server=''

# Compares the given parts with those of before. Prints how to go on, how many changed, how many are gone, and what to
# remove; leaves a file per changed address in work/new, one with old and new names in work/both, or lists of it all.
differences() {
  awk -v held="$held" -v work="$work" -v way="$way" '
    function is_address(text,   byte, bytes, at) {
      if (text ~ /:.*:/) return text ~ /^[0-9a-fA-F:.]+$/
      bytes = split(text, byte, ".")
      for (at = 1; at <= bytes; at++) if (byte[at] !~ /^[0-9]+$/ || byte[at] > 255) return 0
      return bytes == 4
    }
    # What is no address is left out here: no server can answer with it.
    function take(file, lines, number,   line, word, got) {
      while ((got = (getline line < file)) > 0) {
        if (split(line, word, " ") < 2 || !is_address(word[1])) continue
        lines[word[1]] = line
        part[word[1]] = number
      }
      close(file)
      return got
    }
    function put(file, line) { print line > file; close(file) }
    BEGIN {
      for (at = 1; at < ARGC; at++) {
        number = substr(ARGV[at], 1, 2)
        take(held "/" number, before, number)
        # Swapped away under our hands: the next look has all of it.
        if (take(ARGV[at], after, number) < 0) { print "torn"; exit }
      }
      for (at = 1; at < ARGC; at++) printf "" > (held "/" substr(ARGV[at], 1, 2))
      for (ip in after) print after[ip] > (held "/" part[ip])
      for (ip in after) if (after[ip] != before[ip]) { changes[ip]; changed++ }
      for (ip in before) if (!(ip in after)) { goes[ip]; gone++ }
      if (way == "signal" || changed + gone > 64) {
        printf "" > (work "/lines")
        for (ip in changes) print after[ip] > (work "/lines")
        for (ip in goes) print ip > (work "/lines")
        print "quietly", changed + 0, gone + 0
        exit
      }
      for (ip in changes) {
        put(work "/new/" ip, after[ip])
        if (changed > 1 && before[ip] != "")
          put(work "/both/" ip, after[ip] substr(before[ip], index(before[ip], " ")))
      }
      printf "openly %d %d", changed, gone
      for (ip in goes) printf " %s", ip
    }' "$@"
}

# Renames into the watched folder: first what has the names of before and of now, then what has those of now.
openly() {
  for stage in both new; do
    set -- "$work/$stage"/*
    [ ! -e "$1" ] || mv -f -- "$@" "$hosts/"
  done
}

# Links the listed files of one folder into another where they are missing: no event that dnsmasq listens to.
link_into() {
  (cd "$1" && xargs -n 1000 sh -c '
    list=
    for ip; do [ ! -e "$ip" ] || [ -e "$0/$ip" ] || list="$list $ip"; done
    [ -z "$list" ] || ln -- $list "$0/"' "$2") <"$work/addresses"
}

quietly() {
  rm -rf "$links"
  mkdir "$links"
  awk '{ print $1 }' "$work/lines" >"$work/addresses"
  link_into "$hosts" "$links"
  awk -v links="$links" '{
    file = links "/" $1
    if (NF > 1) print > file
    else printf "" > file
    close(file)
  }' "$work/lines"
  link_into "$links" "$hosts"
  [ -z "$server" ] || kill -HUP "$server"
}

# Leaves the volume's folder in any case: who stays in it keeps tail from hearing that it is gone.
settle() {
  apply_parts
  cd /
}

apply_parts() {
  cd -P "$source" 2>/dev/null && read -r index <index || return 0
  changed=
  for file in $index; do
    # A part that has not come yet: the swap that brings it wakes us.
    [ -e "$file" ] || return 0
    case $applied in *" $file "*) ;; *) changed="$changed $file" ;; esac
  done
  [ -n "$changed" ] || return 0
  set -- $(differences $changed)
  [ "$1" != torn ] || return 0
  how=$1
  "$how" || exit 1
  applied=" $index "
  echo "hosts: $2 changed, $3 gone, $how" >&2
  shift 3
  [ $# -eq 0 ] || (cd "$hosts" && rm -f -- "$@")
  # After a signal it reads every file anew: a second one right behind would leave it no time for questions.
  [ "$how" = openly ] || [ -z "$server" ] || sleep 1
}

# From 2.90 on dnsmasq drops what vanished from a watched file: tried. Older ones are told by a signal.
way_for() {
  set -- $(dnsmasq --version)
  version=$3
  IFS=.
  set -- $version
  case $2 in
    9[0-9]* | [1-9][0-9][0-9]*) echo watch ;;
    *) echo signal ;;
  esac
}

# A line whenever the kubelet has swapped the volume, and one every so often whatever happened. GNU tail looks a
# hundred times a second; where it is another tail, the clock alone is left.
swaps() {
  tail -n 0 -F -s 0.01 --max-unchanged-stats=1 --pid=$$ "$source/index" 2>/dev/null &
  while sleep "$look" && kill -0 $$ 2>/dev/null; do echo; done
}

way=$HOSTS_RELOAD
look=$HOSTS_LOOK
[ -n "$way" ] || way=$(way_for)
rm -rf "$hosts" "$held" "$work" "$links"
mkdir -p "$hosts" "$held" "$work/both" "$work/new" || exit 1
settle
dnsmasq "$@" &
server=$!
trap 'kill "$server"' TERM INT
{
  swaps | while read -r _; do settle; done
  # Without the reloader the server would go stale in silence.
  kill "$server"
} &
reloader=$!
# A signal ends the first wait, the server's end the last.
while kill -0 "$server" 2>/dev/null; do
  wait "$server"
  code=$?
done
kill "$reloader" 2>/dev/null
exit "$code"
`
