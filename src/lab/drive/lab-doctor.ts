/** Diagnoses a lab, mostly after a reboot of the host: gathers facts first, then decides with pure functions. */
import { type Finding, finding } from '../../errors/finding.ts'
import { lastLines, succeeded } from '../../exec/process.ts'
import { parseCertificate } from '../../pki/certificate.ts'
import {
  certificateExpiring,
  clockSkew,
  diskLocked,
  nodeUnreachable,
  vipMissing,
  vmDrift,
  vmMissing,
  vmNotRunning,
} from '../findings/lab-doctor.ts'
import { sudoersStale, vmsNeedMacos } from '../findings/lab-run.ts'
import { type Lab, type LabNode, nodesWithRole } from '../lab.ts'
import { isRunning, type LimaState } from './lima-state.ts'
import type { DriveContext } from './stage.ts'
import { planVms, type VmAction } from './vm-plan.ts'

export interface NodeFacts {
  readonly node: LabNode
  /** Why the node could not be reached. */
  readonly reason?: string
  /** Seconds since the epoch, by the node's clock. */
  readonly clock?: number
  readonly addresses?: readonly { readonly interface: string; readonly address: string }[]
}

export interface LabFacts {
  readonly lab: Lab
  /** `darwin`, `linux`. */
  readonly system: string
  readonly lima: LimaState
  readonly actions: readonly VmAction[]
  readonly nodes: readonly NodeFacts[]
  readonly sudoers: boolean
  readonly deployed: boolean
  /** Milliseconds since the epoch. */
  readonly now: number
  readonly certificates: readonly { readonly file: string; readonly notAfter: number }[]
}

const MAX_SKEW_SECONDS = 5
const EXPIRY_WARNING_DAYS = 60
const CERTIFICATES = ['haproxy.pem', 'haproxy-internal.pem', 'backend-cert.pem']

export async function gatherFacts(context: DriveContext, now: () => number): Promise<LabFacts> {
  const { lab, tools, read, state, system } = context
  const lima = await context.readLima()
  const running = lab.nodes.filter((node) => isRunning(lima, node.instance))
  const sudoers = system !== 'darwin' || succeeded((await tools.query(tools.limactl('sudoers', '--check'))).exit)
  return {
    lab,
    system,
    lima,
    actions: planVms(context, lima),
    nodes: await Promise.all(running.map((node) => probeNode(node, context))),
    sudoers,
    deployed: state().stages['deploy'] !== undefined,
    now: now(),
    certificates: CERTIFICATES.flatMap((name) => {
      const file = `kolla/certificates/${name}`
      const text = read(file)
      return text === undefined ? [] : [{ file, notAfter: parseCertificate(text).notAfter }]
    }),
  }
}

async function probeNode(node: LabNode, { tools }: DriveContext): Promise<NodeFacts> {
  const { exit, stdout, stderr } = await tools.query(tools.ssh(node, 'date +%s; ip -o -4 addr show'))
  if (!succeeded(exit)) return { node, reason: lastLines(stderr, 1) || 'ssh failed' }
  const [clock = '', ...lines] = stdout.split('\n')
  const addresses = lines.flatMap((line) => {
    const match = /^\d+: (\S+)\s+inet ([\d.]+)/.exec(line)
    return match ? [{ interface: match[1] ?? '', address: match[2] ?? '' }] : []
  })
  return { node, clock: Number(clock), addresses }
}

export function diagnose(facts: LabFacts): readonly Finding[] {
  return [
    ...vmFindings(facts),
    ...lockFindings(facts),
    ...reachabilityFindings(facts),
    ...vipFindings(facts),
    ...certificateFindings(facts),
  ]
}

function vmFindings({ lab, system, lima, actions, sudoers }: LabFacts): readonly Finding[] {
  if (system !== 'darwin') return [finding(vmsNeedMacos, { system })]
  const states = lab.nodes.flatMap((node): readonly Finding[] => {
    const instance = lima.instances.get(node.instance)
    if (!instance) return [finding(vmMissing, { node: node.name })]
    return instance.status === 'Running' ? [] : [finding(vmNotRunning, { node: node.name, status: instance.status })]
  })
  const drift = actions.flatMap((action) => {
    if (action.kind !== 'resize' && action.kind !== 'replace') return []
    return [finding(vmDrift, { node: action.node.name, fields: action.fields.join(', '), action: action.kind })]
  })
  const command = 'limactl sudoers | sudo tee /private/etc/sudoers.d/lima'
  return [...states, ...drift, ...(sudoers ? [] : [finding(sudoersStale, { command })])]
}

function lockFindings({ lab, lima }: LabFacts): readonly Finding[] {
  return lab.nodes
    .flatMap((node) => node.disks)
    .flatMap(({ name }) => {
      const instance = lima.disks.get(name)?.instance
      return instance && !isRunning(lima, instance) ? [finding(diskLocked, { disk: name, instance })] : []
    })
}

function reachabilityFindings({ nodes, now }: LabFacts): readonly Finding[] {
  return nodes.flatMap(({ node, reason, clock }): readonly Finding[] => {
    if (reason !== undefined) return [finding(nodeUnreachable, { node: node.name, reason })]
    const seconds = Math.round((clock ?? 0) - now / 1000)
    return Math.abs(seconds) > MAX_SKEW_SECONDS ? [finding(clockSkew, { node: node.name, seconds })] : []
  })
}

/** Only a deployed cloud has VIPs, and only nodes with the role network can hold them. */
function vipFindings({ lab, nodes, deployed }: LabFacts): readonly Finding[] {
  const reachable = nodes.filter(({ node, addresses }) => addresses && node.roles.includes('network'))
  if (!deployed || reachable.length === 0) return []
  const expected = nodesWithRole(lab, 'network')
    .map((node) => node.name)
    .join(', ')
  const vips = [
    { vip: lab.vips.internal, interface: lab.networks.management.interface },
    { vip: lab.vips.external, interface: lab.networks.external.vipInterface },
  ]
  const present = reachable.flatMap(({ addresses = [] }) => addresses)
  return vips
    .filter(({ vip, interface: name }) => !present.some((nic) => nic.address === vip && nic.interface === name))
    .map((vip) => finding(vipMissing, { ...vip, node: expected }))
}

function certificateFindings({ certificates, now }: LabFacts): readonly Finding[] {
  return certificates.flatMap(({ file, notAfter }) => {
    const days = Math.floor((notAfter - now) / 86_400_000)
    return days < EXPIRY_WARNING_DAYS ? [finding(certificateExpiring, { file, days })] : []
  })
}
