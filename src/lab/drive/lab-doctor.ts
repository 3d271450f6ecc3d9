/**
 * What is wrong with a lab, most of all after a reboot: facts are gathered first, the judgement is a pure function.
 */
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
import type { World } from './lima-state.ts'
import type { DriveContext } from './stage.ts'
import { planVms, type VmAction } from './vm-plan.ts'

export interface NodeFacts {
  readonly node: LabNode
  readonly reason?: string
  /** Seconds since the epoch, by the node's clock. */
  readonly clock?: number
  /** Every address that the node has, by interface. */
  readonly addresses?: readonly { readonly interface: string; readonly address: string }[]
}

export interface LabFacts {
  readonly lab: Lab
  /** `darwin`, `linux`. */
  readonly system: string
  readonly world: World
  readonly actions: readonly VmAction[]
  readonly nodes: readonly NodeFacts[]
  readonly sudoers: boolean
  readonly deployed: boolean
  /** Milliseconds since the epoch. */
  readonly now: number
  readonly certificates: readonly { readonly file: string; readonly notAfter: number }[]
}

const MOST_SKEW = 5
const SOON_DAYS = 60
const LEAVES = ['haproxy.pem', 'haproxy-internal.pem', 'backend-cert.pem']

export async function gatherFacts(context: DriveContext, now: () => number): Promise<LabFacts> {
  const { lab, tools, read, state, system } = context
  const world = await context.world()
  const running = lab.nodes.filter((node) => world.instances.get(node.instance)?.status === 'Running')
  const sudoers = system !== 'darwin' || succeeded((await tools.query(tools.limactl('sudoers', '--check'))).exit)
  return {
    lab,
    system,
    world,
    actions: planVms(lab, (read('ssh/id_ed25519.pub') ?? '').trim(), world),
    nodes: await Promise.all(running.map((node) => probeNode(node, context))),
    sudoers,
    deployed: state().stages['deploy'] !== undefined,
    now: now(),
    certificates: LEAVES.flatMap((name) => {
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
    const found = /^\d+: (\S+)\s+inet ([\d.]+)/.exec(line)
    return found ? [{ interface: found[1] ?? '', address: found[2] ?? '' }] : []
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

function vmFindings({ lab, system, world, actions, sudoers }: LabFacts): readonly Finding[] {
  if (system !== 'darwin') return [finding(vmsNeedMacos, { system })]
  const states = lab.nodes.flatMap((node): readonly Finding[] => {
    const found = world.instances.get(node.instance)
    if (!found) return [finding(vmMissing, { node: node.name })]
    return found.status === 'Running' ? [] : [finding(vmNotRunning, { node: node.name, status: found.status })]
  })
  const drift = actions.flatMap((action) =>
    action.kind === 'resize' || action.kind === 'replace'
      ? [
          finding(vmDrift, {
            node: action.node.name,
            fields: action.fields.join(', '),
            action: action.kind,
          }),
        ]
      : [],
  )
  const command = 'limactl sudoers | sudo tee /private/etc/sudoers.d/lima'
  return [...states, ...drift, ...(sudoers ? [] : [finding(sudoersStale, { command })])]
}

function lockFindings({ lab, world }: LabFacts): readonly Finding[] {
  return lab.nodes
    .flatMap((node) => node.disks)
    .flatMap((disk) => {
      const found = world.disks.get(disk.name)
      if (!found?.instance || world.instances.get(found.instance)?.status === 'Running') return []
      return [finding(diskLocked, { disk: disk.name, instance: found.instance })]
    })
}

function reachabilityFindings({ nodes, now }: LabFacts): readonly Finding[] {
  return nodes.flatMap(({ node, reason, clock }): readonly Finding[] => {
    if (reason !== undefined) return [finding(nodeUnreachable, { node: node.name, reason })]
    const seconds = Math.round((clock ?? 0) - now / 1000)
    return Math.abs(seconds) > MOST_SKEW ? [finding(clockSkew, { node: node.name, seconds })] : []
  })
}

/** Only a deployed cloud has VIPs, and only the nodes of the role network can hold them. */
function vipFindings({ lab, nodes, deployed }: LabFacts): readonly Finding[] {
  if (!deployed) return []
  const holders = nodes.filter(({ node, addresses }) => addresses && node.roles.includes('network'))
  const expected = nodesWithRole(lab, 'network')
    .map((node) => node.name)
    .join(', ')
  const wanted = [
    { vip: lab.vips.internal, interface: lab.networks.management.interface },
    { vip: lab.vips.external, interface: lab.networks.external.vipInterface },
  ]
  if (holders.length === 0) return []
  return wanted
    .filter(
      (one) =>
        !holders.some(({ addresses = [] }) =>
          addresses.some((have) => have.address === one.vip && have.interface === one.interface),
        ),
    )
    .map((one) => finding(vipMissing, { ...one, node: expected }))
}

function certificateFindings({ certificates: known, now }: LabFacts): readonly Finding[] {
  return known.flatMap(({ file, notAfter }) => {
    const days = Math.floor((notAfter - now) / 86_400_000)
    return days < SOON_DAYS ? [finding(certificateExpiring, { file, days })] : []
  })
}
