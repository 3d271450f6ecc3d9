/** Reads the log of a speaker, in lines of JSON: what it announces now, which speakers it knows, and why it ended. Pure. */
import { asRecord } from '../../api/json.ts'
import { formatCount } from '../../verify/checks/check-definition.ts'

export interface SpeakerState {
  /** Addresses that it announces; a later line may withdraw them. */
  readonly announced: ReadonlySet<string>
  /** Nodes whose speakers it knows, with its own. */
  readonly members: ReadonlySet<string>
}

export function parseSpeakerLog(log: string): SpeakerState {
  const announced = new Set<string>()
  const members = new Set<string>()
  for (const line of log.split('\n')) {
    const { event, ips, 'node event': nodeEvent, 'node name': node } = parseLine(line)
    const addresses = Array.isArray(ips) ? ips.map(String) : []
    if (event === 'serviceAnnounced') for (const address of addresses) announced.add(address)
    if (event === 'serviceWithdrawn') for (const address of addresses) announced.delete(address)
    if (nodeEvent === 'NodeJoin') members.add(String(node))
    if (nodeEvent === 'NodeLeave') members.delete(String(node))
  }
  return { announced, members }
}

/**
 * VIPs without an announcing node, or, by layer 2, with several. Until speakers know each other, each announces every VIP;
 * then they agree and withdraw, so all VIPs are unsettled before that.
 */
export function unsettledAddresses(
  states: readonly SpeakerState[],
  { addresses, mode }: { readonly addresses: readonly string[]; readonly mode: 'layer2' | 'bgp' },
): readonly string[] {
  if (mode === 'layer2' && states.some(({ members }) => members.size < states.length)) return addresses
  return addresses.filter((address) => {
    const nodes = states.filter(({ announced }) => announced.has(address)).length
    return mode === 'layer2' ? nodes !== 1 : nodes === 0
  })
}

/** What a speaker says of a VIP that no node answers for. `service` is the name of its Service. */
export function describeSpeaker(
  log: string,
  { node, address, service }: SilentVip & { readonly node: string },
): string {
  const { announced, members } = parseSpeakerLog(log)
  const lines = log.split('\n').map(parseLine)
  const times = lines.filter(({ ips }) => Array.isArray(ips) && ips.includes(address)).map(({ ts }) => String(ts))
  const losses = lines.filter((line) => line['node event'] === 'NodeLeave').length
  const warning = lines.findLast(({ level, service: name }) => level === 'warn' && String(name).endsWith(`/${service}`))
  const verb = announced.has(address) ? 'announces' : 'does not announce'
  return [
    `the speaker of ${node} ${verb} it${times.length > 0 ? ` since ${times.at(-1)}` : ''}`,
    `knows ${[...members].join(' and ') || 'no speaker'}`,
    ...(losses > 0 ? [`has lost another one ${formatCount(losses, 'time')}`] : []),
    ...(warning ? [`warns "${String(warning['msg'])}"`] : []),
  ].join(', ')
}

export interface SilentVip {
  readonly address: string
  readonly service: string
}

/** The last error, or the last line. */
export function lastMessage(log: string): string {
  const lines = log.split('\n').filter((line) => line !== '')
  const line = lines.findLast((text) => text.includes('"error"')) ?? lines.at(-1) ?? 'its log is empty'
  const { error } = parseLine(line)
  return typeof error === 'string' ? error : line
}

/** Lines of other forms, of a panic for example, have no field. */
function parseLine(line: string): Readonly<Record<string, unknown>> {
  try {
    return asRecord(JSON.parse(line))
  } catch {
    return {}
  }
}
