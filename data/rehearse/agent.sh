#!/bin/sh
# Runs in a node of a rehearsal. The host sends one line per script, "ID BASE64", over a virtio serial port; the answer is
# "ID CODE BASE64" with the output. Scripts run side by side.
port=/dev/virtio-ports/stackloom.agent
until [ -c "$port" ]; do sleep 0.1; done
exec 3<>"$port"

run() {
  printf '%s' "$2" | base64 -d >"/run/agent.$1"
  output=$(sh "/run/agent.$1" 2>&1 3<&- </dev/null)
  code=$?
  rm "/run/agent.$1"
  # A long answer is written in parts, which must not mix with another answer.
  (
    flock 9
    printf '%s %s %s\n' "$1" "$code" "$(printf '%s' "$output" | base64 -w 0)" >&3
  ) 9>/run/agent.lock
}

# While the host is not connected, reading ends at once.
while :; do
  while IFS=' ' read -r id body <&3; do run "$id" "$body" & done
  sleep 0.1
done
