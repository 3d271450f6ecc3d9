#!/bin/sh
# Runs dnsmasq with the given arguments, and keeps its hosts current with the volume.
#
# The kubelet updates ConfigMap volumes by swapping a symbolic link, which dnsmasq does not notice. This script does, and
# writes one small file per changed address into the folder that dnsmasq watches. Small files, because dnsmasq compares
# each name of a changed file with every name that it knows: a file of ten thousand names blocks it for seconds. For the
# same reason many changes come in groups, the next when the last is read. A dnsmasq older than 2.90 does not forget what
# vanished from a file, so it gets a signal as well. An address that loses a name keeps it until the address that gains
# it is read, so that every name resolves all the time.
#
#   HOSTS_SOURCE  the volume: the number of the revision, its changes, and its parts
#   HOSTS_RUN     an empty, writable folder; dnsmasq reads its folder "hosts"
#   HOSTS_RELOAD  watch or signal: how dnsmasq is notified of a change; by its version unless given
#   HOSTS_LOOK    seconds between checks that need no event
set -u
source=$HOSTS_SOURCE/..data
hosts=$HOSTS_RUN/hosts held=$HOSTS_RUN/held work=$HOSTS_RUN/work calls=$HOSTS_RUN/calls
# The revision that dnsmasq has, and the folder of the volume from which it was read.
at='' folder=''
server=''

# Text that is not an address is skipped: no server can answer with it.
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

# Runs the command on the listed files in groups, the next when dnsmasq has read the last and sleeps again.
in_groups() {
  xargs -r -n 64 sh -c '"$@" || exit 255
    while read -r _ _ state _ <"/proc/$0/stat"; do
      case $state in R | D) sleep 0.01 ;; *) break ;; esac
    done 2>/dev/null' "$server" "$@"
}

# Applies the changes since the revision that dnsmasq has, newest first: the first line of an address counts. Clients
# wait, so a program is started only where it must be. A new address is written in place, because nothing of it can be
# lost; a removed one is emptied in place; one with other names is renamed into place, because dnsmasq must not find it
# half written. Fails where there are too many changes; the whole revision then corrects what was done so far.
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
  # When a single address changes, no other address gains what it loses.
  [ $((changed + gone)) -gt 1 ] || first=
  [ -z "$first" ] || mv -f -t "$hosts" -- $first || fail
  [ -z "$then" ] || mv -f -t "$hosts" -- $then || fail
  for file in $goes; do
    printf '' >"$file" || fail
  done
  printf %s "$lines" >>"$held"
  [ -z "$goes" ] || rm -f -- $goes
}

# Compares the parts and their changes with what dnsmasq has. Prints how many changed and how many are gone; writes a
# file for each change, and lists of what to rename first, what next, and what to remove.
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
        # The volume was swapped meanwhile: the next check has all of it.
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

# Applies the whole revision: at the start, and where its changes do not reach back far enough.
whole() {
  read -r parts 2>/dev/null <parts || return 1
  for part in $parts; do
    # It is not there yet: the swap that brings it causes another check.
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

# Leaves the volume's folder in any case: a process in it keeps tail from noticing that it is gone.
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
  # It reads every file again: a second signal right after would leave it no time for queries.
  sleep 1
}

# Settles whenever the kubelet has swapped the volume, and at regular intervals. GNU tail is notified of the first swap
# by the kernel and polls ten times a second from then on, so each swap gets a new one. With another tail only the
# interval is left.
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

# Without its reloader the server would silently serve old hosts.
fail() {
  [ -z "$server" ] || kill "$server"
  exit 1
}

# From 2.90 on dnsmasq drops what vanished from a watched file (tested). Older versions need a signal.
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
# A signal ends the first wait, the end of the server the last.
while kill -0 "$server" 2>/dev/null; do
  wait "$server"
  code=$?
done
kill "$reloader" 2>/dev/null
exit "$code"
