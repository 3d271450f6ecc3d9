/** Writes the shell scripts that run in nodes. Pure. */
import { quoteShellWord } from '../errors/shell-words.ts'
import type { RehearsedPod } from './rehearsal-plan.ts'
import type { NodeNic } from './topology.ts'

export interface AddressedNic {
  readonly nic: NodeNic
  readonly address: string
  /** What else is on its network. */
  readonly neighbours?: readonly string[]
}

export interface NodeIdentity {
  readonly name: string
  /** The time in milliseconds: the clock of a restored machine is that of its saving, when no certificate of today was valid. */
  readonly now: number
  readonly nics: readonly NodeNic[]
  /** `net.ipv4.ip_forward=1`. */
  readonly settings: readonly string[]
  /** NICs with an address that is not the site's. */
  readonly addressed?: readonly AddressedNic[]
}

/** Gives a restored machine its identity, its kernel settings and its NICs, then starts NetworkManager. */
export function identityScript({ name, now, nics, settings, addressed = [] }: NodeIdentity): string {
  return [
    'set -e',
    `date -s @${Math.ceil(now / 1000)} >/dev/null`,
    `hostname ${quoteShellWord(name)}`,
    `echo ${quoteShellWord(name)} >/etc/hostname`,
    // Two nodes with one id would choose the same link-local addresses.
    'tr -d - </proc/sys/kernel/random/uuid >/etc/machine-id',
    'rm -f /var/lib/NetworkManager/secret_key',
    `sysctl -qw ${settings.map(quoteShellWord).join(' ')}`,
    ...[...nics, ...addressed.map(({ nic }) => nic)].flatMap(nameNic),
    ...addressed.flatMap(({ nic, address, neighbours = [] }) => [
      `ip address add ${address} dev ${nic.name}`,
      ...neighbours.map((neighbour) => `ip route add ${neighbour} dev ${nic.name}`),
    ]),
    'udevadm settle',
    'systemctl start NetworkManager',
    // It has its D-Bus name before it answers.
    'until nmcli -t general status >/dev/null 2>&1; do sleep 0.1; done',
  ].join('\n')
}

/** A plugged NIC appears after a moment, with a name in the order of the slots. The driver starts with the MTU of the switch. */
function nameNic({ name, mac }: NodeNic): readonly string[] {
  const find = `grep -lix ${mac} /sys/class/net/*/address 2>/dev/null | head -1`
  return [
    `until path=$(${find}); [ -n "$path" ]; do sleep 0.1; done`,
    'current=$(basename "$(dirname "$path")")',
    'ip link set dev "$current" down',
    `[ "$current" = ${quoteShellWord(name)} ] || ip link set dev "$current" name ${quoteShellWord(name)}`,
    `ip link set dev ${quoteShellWord(name)} mtu 1500 up`,
  ]
}

export interface TerminalSize {
  /** 0 where the terminal does not know it. */
  readonly rows: number
  readonly columns: number
}

/** Runs a shell on the serial port until it ends. A shell that another terminal has left there is ended. */
export function shellScript({ rows, columns }: TerminalSize): string {
  // The agent starts scripts in the background, where a shell ignores Ctrl-C, and so would every program of this one.
  const shell = 'echo $$ >/run/shell.pid; exec env --default-signal=INT,QUIT bash -i'
  return [
    'kill -KILL "$(cat /run/shell.pid)" 2>/dev/null',
    'exec </dev/ttyS0 >/dev/ttyS0 2>&1',
    `stty sane rows ${rows || 24} cols ${columns || 80}`,
    `cd /root && HOME=/root TERM=linux setsid -c -w sh -c '${shell}'`,
  ].join('\n')
}

/** nmstate's own limit must not end an apply on a slow machine: the checkpoint would be rolled back. */
const APPLY_SECONDS = 900

export function applyScript(desiredState: unknown): string {
  return [
    'cat >/run/state.json <<\\END',
    JSON.stringify(desiredState),
    'END',
    `nmstatectl apply --timeout ${APPLY_SECONDS} /run/state.json`,
  ].join('\n')
}

/** The kernel tests a new IPv6 address for a second or two; on a NIC without a carrier the test does not end. */
const WAIT_FOR_ADDRESSES =
  'for try in $(seq 150); do [ -n "$(ip -6 -o address show tentative -dadfailed)" ] || break; sleep 0.2; done'

/** What a second apply must not change: links with their index, addresses, routes and rules. */
export const STATE_SCRIPT = [
  WAIT_FOR_ADDRESSES,
  'ip -o link show',
  "ip -o addr show | sed 's/ *valid_lft.*//'",
  ...['-4', '-6'].flatMap((family) => [
    `ip ${family} rule show`,
    `ip ${family} route show table all | sed 's/ expires [0-9a-z]*//' | sort`,
  ]),
  'bridge vlan show',
].join('\n')

/** Attaches a pod as Multus would: a namespace, and a call of the plugin for each interface. */
export function attachScript({ name, cni, interfaces }: RehearsedPod): string {
  return [
    'set -e',
    `ip netns add ${name}`,
    `ip -n ${name} link set lo up`,
    ...interfaces.flatMap((iface) => [
      `CNI_COMMAND=ADD CNI_CONTAINERID=${name} CNI_NETNS=/run/netns/${name} CNI_IFNAME=${iface} CNI_PATH=/opt/cni/bin \\`,
      `/opt/cni/bin/${String(cni['type'])} <<\\END`,
      JSON.stringify(cni),
      'END',
    ]),
  ].join('\n')
}

/** The message of a failed plugin, which prints its result as JSON. */
export function cniError(output: string): string {
  const message = /"msg":\s*"((?:[^"\\]|\\.)*)"/.exec(output)?.[1]
  return message?.replaceAll('\\"', '"') ?? output.trim().split('\n').at(-1) ?? ''
}

/** Tests of one pod; the script is written once per node. */
export function probeScript({ name }: Pick<RehearsedPod, 'name'>, tasks: readonly string[]): string {
  return `ip netns exec ${name} busybox sh /run/probe.sh net1 ${tasks.map(quoteShellWord).join(' ')}`
}

export function writeProbeScript(program: string): string {
  return `cat >/run/probe.sh <<\\END_OF_PROBE\n${program}\nEND_OF_PROBE\n`
}
