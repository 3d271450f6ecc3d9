# usage: probe.sh INTERFACE TASK...
# Prints one line per task: "TASK ANSWER", or "TASK silent".
interface=$1
shift

# Hardware addresses that answered, each once: arping prints the sender in the first brackets, and in a request of the holder for
# another address, which shows the holder too, the target in the second. Most tests are for silence, and without an answer no
# further program is started.
answerers() {
  replies=$(arping "$@" 2>/dev/null)
  case $replies in
    *\[*) printf '%s\n' "$replies" | sed -n 's/^[^[]*\[\([0-9A-Fa-f:]*\)\].*/\1/p' | tr A-F a-f | sort -u | tr '\n' ' ' ;;
  esac
}

# Whether duplicate address detection of an own address is pending or has failed.
refused() { ip -6 addr show dev "$interface" | grep -F "inet6 $1/" | grep -qE 'tentative|dadfailed'; }

# A timeout after three seconds means that the connection was accepted within two.
connects() {
  timeout 3 nc -w 2 "$1" "$2" >/dev/null 2>&1 </dev/null
  case $? in 0 | 124 | 143) return 0 ;; *) return 1 ;; esac
}

# Whether packets to an address leave through this interface, and not by its default route, which leads to a node.
leaves_here() {
  route=$(ip route get "$1" 2>/dev/null)
  case $route in *" dev $interface "*) ;; *) return 1 ;; esac
  for gateway in $({ ip route show default; ip -6 route show default; } 2>/dev/null |
    sed -n "s/^default via \([^ ]*\) dev $interface.*/\1/p"); do
    case $route in *" via $gateway dev $interface "*) return 1 ;; esac
  done
}

# Whether the two interfaces of the pod are in one bridge: an untagged frame passes it. The address is on the interface that
# is asked, because pods of nodes with arp_ignore answer for no other.
bridged() {
  ip address add "$1/32" dev net2 || return
  reference=$(answerers -D -c 2 -w 2 -I "$interface" "$1")
  ip address del "$1/32" dev net2
  [ -n "$reference" ]
}

# Whether the bridge passes a tagged frame from this interface to the second one of the pod.
tag_answer() {
  bridged "$2" &&
    ip link add link "$interface" name "from$1" type vlan id "$1" && ip link add link net2 name "to$1" type vlan id "$1" &&
    ip link set "from$1" up && ip link set "to$1" up && ip address add "$2/32" dev "to$1" &&
    answerers -D -c 2 -w 2 -I "from$1" "$2"
  status=$?
  ip link del "from$1" 2>/dev/null
  ip link del "to$1" 2>/dev/null
  return $status
}

# One ping, for IPv6 up to three, because a new pod answers only after duplicate address detection.
pings() {
  case $1 in *:*) tries=3 ;; *) tries=1 ;; esac
  until ping -c 1 -W 2 -s "$2" -I "$interface" "$1" >/dev/null 2>&1; do
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || return 1
    sleep 1
  done
}

# DHCP servers that made an offer. Older clients do not print the server.
dhcp_servers() {
  udhcpc -i "$interface" -f -n -q -t 2 -T 2 -A 1 -s /bin/true 2>&1 | sed -n \
    -e 's/.*server \([0-9.]*[0-9]\).*/\1/p' -e 's/.*obtained from \([0-9.]*[0-9]\).*/\1/p' -e 's/.*lease of .* obtained,.*/a-server/p' |
    sort -u | tr '\n' ' '
}

perform() {
  task=$1 answer=
  IFS=, && set -- $task && unset IFS
  case $1 in
    mtu) answer=$(ip link show dev "$interface" | sed -n 's/.* mtu \([0-9]*\).*/\1/p') ;;
    # Broadcast all requests, so that both holders of a duplicate address answer.
    arp) answer=$(answerers -b -c 2 -w 3 -I "$interface" "$2") ;;
    dad)
      case $2 in
        # The kernel has tested the address and marks a duplicate.
        *:*) refused "$2" && sleep 3 && refused "$2" && answer=refused ;;
        # With the source 0.0.0.0, because reverse path filters drop requests from other subnets.
        *) answer=$(answerers -D -c 2 -w 2 -I "$interface" "$2") ;;
      esac
      ;;
    # Small images have no arping for IPv6: the kernel resolves the neighbour before it sends, and keeps the result.
    nd)
      ping -c 1 -W 2 -I "$interface" "$2" >/dev/null 2>&1
      answer=$(ip -6 neigh show dev "$interface" | sed -n "s/^$2 .*lladdr \([0-9a-f:]*\).*/\1/p")
      ;;
    # Only asks: nothing is configured with an offer.
    dhcp) if command -v udhcpc >/dev/null; then answer=$(dhcp_servers); else answer=untested; fi ;;
    route) case $(ip route get "$2" 2>/dev/null) in *" via $3 dev $interface "*) answer=yes ;; esac ;;
    own6) answer=$(ip -6 addr show dev "$interface" scope link | sed -n 's/.*inet6 \([0-9a-f:]*\)\/.*/\1/p' | tr '\n' ' ') ;;
    # All machines on the segment answer, in any subnet. Four times, because a pod that has just started answers only after
    # duplicate address detection.
    all6)
      answer=$(ping -c 4 -w 6 -I "$interface" ff02::1 2>/dev/null |
        sed -n 's/.* from \(fe80:[0-9a-f:]*[0-9a-f]\)[:%].*/\1/p' | sort -u | tr '\n' ' ')
      ;;
    ping) pings "$2" "$3" && answer=yes ;;
    # A test without the route to the node has no result.
    via)
      case $(ip route get "$2" 2>/dev/null) in *" via $3 dev $interface "*) ;; *) return ;; esac
      pings "$2" 56 && answer=yes
      ;;
    tag) answer=$(tag_answer "$2" "$3" 2>/dev/null) || return ;;
    # A node answers for every VIP to its own pods, so only packets through this interface count.
    tcp) if leaves_here "$2"; then connects "$2" "$3" && answer=yes; else answer=elsewhere; fi ;;
  esac
  [ -n "$answer" ] || answer=silent
  echo "$task $answer"
}

# IPv6 cannot be used before duplicate address detection has finished.
remaining=10
while [ "$remaining" -gt 0 ] && ip -6 addr show dev "$interface" 2>/dev/null | grep -q tentative; do
  remaining=$((remaining - 1))
  sleep 1
done

started=0
for task; do
  perform "$task" &
  started=$((started + 1))
  [ $((started % 16)) -ne 0 ] || wait
done
wait
