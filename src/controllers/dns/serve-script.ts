/**
 * What runs in the pod: dnsmasq, and the reloader that brings it every change of its hosts.
 *
 * The kubelet brings ConfigMaps by swapping a symbolic link, which dnsmasq does not notice. The reloader notices, and
 * brings one small file per changed address into the plain folder that dnsmasq watches. Small files, because dnsmasq
 * compares each name of a changed file with everything that it knows: a file of ten thousand names stops it for
 * seconds. For the same reason many changes come in groups, the next when the last is read: it answers in between.
 * A dnsmasq older than 2.90 does not forget what vanished from a file: it is told by a signal as well.
 *
 * No name is without its answer in between: an address that loses a name has it until the one that gains it was read.
 */

export const SCRIPT_NAME = 'serve.sh'

export const serveScript = String.raw`#!/bin/sh
# Runs dnsmasq with the given arguments, and keeps its hosts as the kubelet brings them.
#   HOSTS_SOURCE  the volume: the number of the edition, its changes, and its parts
#   HOSTS_RUN     an empty folder of our own; dnsmasq reads its folder "hosts"
#   HOSTS_RELOAD  watch or signal: how dnsmasq hears of a change; by its version unless given
#   HOSTS_LOOK    seconds after which is looked in any case
set -u
source=$HOSTS_SOURCE/..data
hosts=$HOSTS_RUN/hosts held=$HOSTS_RUN/held work=$HOSTS_RUN/work calls=$HOSTS_RUN/calls
# The edition that dnsmasq has, and the folder of the volume in which it was read.
at='' folder=''
server=''

# What is no address is left out: no server can answer with it.
is_address() {
  case $1 in
    *[!0-9a-fA-F:.]*) return 1 ;;
    *:*:*) return 0 ;;
    *[!0-9.]*) return 1 ;;
  esac
  local IFS=.
  set -- $1
  [ $# -eq 4 ] || return 1
  for byte; do
    case $byte in '' | ????*) return 1 ;; esac
    [ "$byte" -le 255 ] || return 1
  done
}

# Runs the command on the listed files, in groups, the next when dnsmasq has read the last and sleeps again.
in_groups() {
  xargs -r -n 64 sh -c '"$@" || exit 255
    while read -r _ _ state _ <"/proc/$0/stat"; do
      case $state in R | D) sleep 0.01 ;; *) break ;; esac
    done 2>/dev/null' "$server" "$@"
}

# The changes since the edition that dnsmasq has, newest first: of one address the first counts. Somebody waits, so a
# program is started only where one must be. An address that was not there is written in its place, because nothing of
# it can be lost; one that goes is emptied there; one that has other names now is renamed to its place, because dnsmasq
# must not find it half written. Fails where there are too many; all of the edition makes good what was done by then.
recent() {
  seen=' ' lines= first= then= goes= count=0 changed=0 gone=0
  read -r _
  while read -r edition ip names && [ "$edition" -gt "$at" ]; do
    case $seen in *" $ip "*) continue ;; esac
    seen="$seen$ip " count=$((count + 1))
    [ $count -le 64 ] || return 1
    is_address "$ip" || continue
    before=
    [ ! -e "$hosts/$ip" ] || read -r _ before <"$hosts/$ip"
    [ "$names" != "$before" ] || continue
    lines="$lines$ip $names$newline"
    if [ -z "$names" ]; then
      goes="$goes $hosts/$ip" gone=$((gone + 1))
      continue
    fi
    changed=$((changed + 1))
    if [ -z "$before" ]; then
      printf '%s\n' "$ip $names" >"$hosts/$ip" || fail
    else
      printf '%s\n' "$ip $names" >"$work/new/$ip" || fail
      printf '%s\n' "$ip $names $before" >"$work/both/$ip" || fail
      first="$first $work/both/$ip" then="$then $work/new/$ip"
    fi
  done
  # Where one address changes alone, no other gains what it loses.
  [ $((changed + gone)) -gt 1 ] || first=
  [ -z "$first" ] || mv -f -t "$hosts" -- $first || fail
  [ -z "$then" ] || mv -f -t "$hosts" -- $then || fail
  for file in $goes; do
    printf '' >"$file" || fail
  done
  printf %s "$lines" >>"$held"
  [ -z "$goes" ] || rm -f -- $goes
}

# Compares the parts and their changes with what dnsmasq has. Prints how many changed and how many are gone; leaves a
# file for each change, and lists of what to rename first, what then, and what to remove.
differences() {
  awk -v held="$held" -v work="$work" '
    function is_address(text,   byte, bytes, at) {
      if (text ~ /:.*:/) return text ~ /^[0-9a-fA-F:.]+$/
      bytes = split(text, byte, ".")
      for (at = 1; at <= bytes; at++) if (byte[at] !~ /^[0-9]+$/ || byte[at] > 255) return 0
      return bytes == 4
    }
    function put(file, line) { print line > file; close(file) }
    function list(name, word) { print word > (work "/" name) }
    BEGIN {
      while ((getline line < held) > 0) {
        words = split(line, word, " ")
        if (words > 1) before[word[1]] = line
        else delete before[word[1]]
      }
      close(held)
      if ((getline line < "changes") <= 0) { print "torn"; exit }
      while ((getline line < "changes") > 0) {
        words = split(line, word, " ")
        if (word[2] in newest) continue
        newest[word[2]]
        if (words > 2 && is_address(word[2])) after[word[2]] = substr(line, length(word[1]) + 2)
      }
      for (at = 1; at < ARGC; at++) {
        while ((got = (getline line < ARGV[at])) > 0) {
          if (split(line, word, " ") < 2 || (word[1] in newest) || !is_address(word[1])) continue
          after[word[1]] = line
        }
        close(ARGV[at])
        # Swapped away under our hands: the next look has all of it.
        if (got < 0) { print "torn"; exit }
      }
      printf "" > held
      for (ip in after) print after[ip] > held
      for (name in after) if (after[name] != before[name]) changed++
      for (name in before) if (before[name] != "" && !(name in after)) gone++
      for (ip in after) {
        if (after[ip] == before[ip]) continue
        put(work "/new/" ip, after[ip])
        if (before[ip] == "") list("first", "new/" ip)
        else {
          list("then", "new/" ip)
          if (changed + gone == 1) continue
          put(work "/both/" ip, after[ip] substr(before[ip], index(before[ip], " ")))
          list("first", "both/" ip)
        }
      }
      for (ip in before) if (before[ip] != "" && !(ip in after)) list("gone", ip)
      print changed + 0, gone + 0
    }' "$@"
}

# All of the edition: at the start, and where its changes alone do not reach back far enough.
whole() {
  read -r parts 2>/dev/null <parts || return 1
  for part in $parts; do
    # It has not come yet: the swap that brings it wakes us.
    [ -e "$part" ] || return 1
  done
  rm -rf "$work"
  mkdir -p "$work/new" "$work/both" && : >"$work/first" && : >"$work/then" && : >"$work/gone" || fail
  set -- $(differences $parts)
  [ "$1" != torn ] || return 1
  changed=$1 gone=$2
  cd "$work" && in_groups mv -f -t "$hosts" -- <first && in_groups mv -f -t "$hosts" -- <then || fail
  cd "$hosts" && in_groups rm -f -- <"$work/gone" || fail
}

# Leaves the volume's folder in any case: who stays in it keeps tail from hearing that it is gone.
settle() {
  apply
  cd /
}

apply() {
  cd -P "$source" 2>/dev/null || return 0
  folder=$PWD
  read -r number reaches 2>/dev/null <changes && [ "$number" != "$at" ] || return 0
  if [ -z "$at" ] || [ "$at" -lt "$reaches" ] || [ "$at" -gt "$number" ] || ! recent <changes; then
    whole || return 0
  fi
  at=$number
  echo "hosts: $changed changed, $gone gone" >&2
  [ "$way" = signal ] && [ -n "$server" ] || return 0
  kill -HUP "$server"
  # It reads every file anew: a second signal right behind would leave it no time for questions.
  sleep 1
}

# Settles whenever the kubelet has swapped the volume, and every so often whatever happened. GNU tail hears of the
# first swap from the kernel and looks ten times a second from then on: so there is a new one for each. Where it is
# another tail, the clock alone is left.
follow() {
  mkfifo "$calls" && exec 3<>"$calls" || return
  { while sleep "$look" && kill -0 $$; do echo >&3; done 2>/dev/null; echo over >&3; } &
  watched='' watcher='' call=''
  while [ "$call" != over ]; do
    settle
    if [ "$folder" != "$watched" ]; then
      [ -z "$watcher" ] || { kill "$watcher"; wait "$watcher"; } 2>/dev/null
      watched=$folder
      tail -n 1 -F -s 0.1 --pid=$$ "$source/number" >&3 2>/dev/null &
      watcher=$!
    fi
    read -r call <&3
  done
}

# Without its reloader the server would go stale in silence.
fail() {
  [ -z "$server" ] || kill "$server"
  exit 1
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

newline='
'
way=$HOSTS_RELOAD
look=$HOSTS_LOOK
[ -n "$way" ] || way=$(way_for)
rm -rf "$hosts" "$held" "$work" "$calls"
mkdir -p "$hosts" "$work" && : >"$held" || exit 1
settle
dnsmasq "$@" &
server=$!
trap 'kill "$server"' TERM INT
{
  follow
  fail
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
