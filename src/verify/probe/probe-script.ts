/**
 * The program that a probe runs in its pod: a POSIX shell script, for what every small image has (ip, ping, arping, nc).
 *
 * A script and not a program of ours: raw packets need no library in a shell, no image of ours has to be mirrored into
 * an air-gapped cluster, and whoever must allow it can read it in its ConfigMap. Works with busybox and with iputils.
 */

export const probeScript: string = String.raw`# usage: probe.sh INTERFACE TASK...
# Says for each task, on a line of its own, what came back: "TASK ANSWER", or "TASK silent".
interface=$1
shift

# Hardware addresses that answered, each once. A reply names its sender in brackets.
answerers() { sed -n 's/.*\[\([0-9A-Fa-f:]*\)\].*/\1/p' | tr A-F a-f | sort -u | tr '\n' ' '; }

# Whether an own address is in doubt: still tried, or found to be somebody else's.
refused() { ip -6 addr show dev "$interface" | grep -F "inet6 $1/" | grep -qE 'tentative|dadfailed'; }

# Whoever still talks after three seconds was let in within two.
connects() {
  timeout 3 nc -w 2 "$1" "$2" >/dev/null 2>&1 </dev/null
  case $? in 0 | 124 | 143) return 0 ;; *) return 1 ;; esac
}

perform() {
  task=$1 answer=
  IFS=, && set -- $task && unset IFS
  case $1 in
    mtu) answer=$(ip link show dev "$interface" | sed -n 's/.* mtu \([0-9]*\).*/\1/p') ;;
    # Always broadcast, and to the end: two that hold one address both answer.
    arp) answer=$(arping -b -c 2 -w 3 -I "$interface" "$2" 2>/dev/null | answerers) ;;
    dad)
      case $2 in
        # The kernel has asked when it took the address, and marks one that somebody else has.
        *:*) refused "$2" && sleep 3 && refused "$2" && answer=refused ;;
        # Asked by nobody (0.0.0.0): reverse path filters of the other side would drop a question from a foreign subnet.
        *) answer=$(arping -D -c 2 -w 2 -I "$interface" "$2" 2>/dev/null | answerers) ;;
      esac
      ;;
    # IPv6 has no tool like arping everywhere: the kernel asks for the neighbour before it sends, and keeps the answer.
    nd)
      ping -c 1 -W 2 -I "$interface" "$2" >/dev/null 2>&1
      answer=$(ip -6 neigh show dev "$interface" | sed -n "s/^$2 .*lladdr \([0-9a-f:]*\).*/\1/p")
      ;;
    own6) answer=$(ip -6 addr show dev "$interface" scope link | sed -n 's/.*inet6 \([0-9a-f:]*\)\/.*/\1/p' | tr '\n' ' ') ;;
    # Everybody on the segment answers, in whatever subnet: also those whom no route leads to. Four times, for a pod that
    # has just started answers only once its kernel has tried its address.
    all6)
      answer=$(ping -c 4 -w 6 -I "$interface" ff02::1 2>/dev/null |
        sed -n 's/.* from \(fe80:[0-9a-f:]*[0-9a-f]\)[:%].*/\1/p' | sort -u | tr '\n' ' ')
      ;;
    # A pod that has just started does not answer by IPv6 before its kernel has tried the address: asked three times.
    ping)
      case $2 in *:*) tries=3 ;; *) tries=1 ;; esac
      while [ "$tries" -gt 0 ] && [ -z "$answer" ]; do
        ping -c 1 -W 2 -s "$3" -I "$interface" "$2" >/dev/null 2>&1 && answer=yes
        tries=$((tries - 1))
        [ -n "$answer" ] || [ "$tries" -eq 0 ] || sleep 1
      done
      ;;
    # A node answers for every VIP to its own pods: what would not leave by this interface proves nothing.
    tcp)
      case $(ip route get "$2" 2>/dev/null) in
        *" dev $interface "*) connects "$2" "$3" && answer=yes ;;
        *) answer=elsewhere ;;
      esac
      ;;
  esac
  [ -n "$answer" ] || answer=silent
  echo "$task $answer"
}

# Nothing can be asked by IPv6 from an address that the kernel still tries.
patience=10
while [ "$patience" -gt 0 ] && ip -6 addr show dev "$interface" 2>/dev/null | grep -q tentative; do
  patience=$((patience - 1))
  sleep 1
done

begun=0
for one; do
  perform "$one" &
  begun=$((begun + 1))
  [ $((begun % 16)) -ne 0 ] || wait
done
wait
`
