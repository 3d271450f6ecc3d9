/** Builds the view of a lab from its file, its status and its certificates. Pure. */
import { judgeLifetime } from '../../certificates/judge-certificates.ts'
import type { Finding } from '../../errors/finding.ts'
import type { LabStatus } from '../../lab/drive/lab-status.ts'
import { buildGlobals } from '../../lab/kolla/globals.ts'
import { externalFqdn, internalFqdn, type Lab, nameserverAddress, usesTls } from '../../lab/lab.ts'
import type { LabDocument } from '../documents/lab.ts'
import { commandLine } from './view-input.ts'

type Body<T> = Omit<T, 'version' | 'notes'>

export interface LabCertificate {
  /** The path in the lab's tree. */
  readonly path: string
  readonly subject: string
  /** Milliseconds since the epoch. */
  readonly notBefore: number
  readonly notAfter: number
}

export interface LabInput {
  readonly lab: Lab
  readonly file: string
  /** Absent before `lab render`. */
  readonly status?: LabStatus
  readonly certificates: readonly LabCertificate[]
  readonly findings: readonly Finding[]
  readonly now: number
}

const DAY = 86_400_000

export function buildLab({ lab, file, status, certificates, findings, now }: LabInput): Body<LabDocument> {
  const nominal = lab.nodes.reduce(
    (sum, { disk, disks }) => sum + disk + disks.reduce((all, { size }) => all + size, 0),
    0,
  )
  return {
    command: commandLine('lab', 'status', '-f', file),
    name: lab.name,
    nodes: lab.nodes.map(({ name, roles, address, disk, disks }) => {
      const found = status?.nodes.find((node) => node.name === name)
      return {
        id: name,
        name,
        roles,
        status: found?.status ?? 'not rendered',
        address,
        next: found?.next ?? '-',
        nominalGiB: found?.nominalGiB ?? disk + disks.reduce((all, { size }) => all + size, 0),
        ...(found?.usedGiB !== undefined && { usedGiB: found.usedGiB }),
      }
    }),
    stages: (status?.stages ?? []).map(({ name, state }) => ({ id: name, name, state })),
    services: listServices(lab),
    endpoints: listEndpoints(lab),
    certificates: certificates.map(({ path, subject, notBefore, notAfter }) => ({
      id: path,
      name: path,
      subject,
      notAfter: new Date(notAfter).toISOString(),
      daysLeft: Math.floor((notAfter - now) / DAY),
      verdict: judgeLifetime({ notBefore, notAfter }, now),
    })),
    disk: {
      usedGiB: status?.disk.usedGiB ?? 0,
      nominalGiB: status?.disk.nominalGiB ?? nominal,
      ...(status?.disk.glanceGiB !== undefined && { glanceGiB: status.disk.glanceGiB }),
    },
    findings,
  }
}

/** Kolla's `enable_<service>` variables as the lab sets them. */
function listServices(lab: Lab): LabDocument['services'] {
  return Object.entries(buildGlobals(lab)).flatMap(([key, value]) => {
    const name = /^enable_(\w+)$/.exec(key)?.[1]
    return name === undefined ? [] : [{ id: name, name, enabled: value === 'yes' || value === true }]
  })
}

function listEndpoints(lab: Lab): LabDocument['endpoints'] {
  const scheme = usesTls(lab) ? 'https' : 'http'
  const endpoints = [
    { name: 'Public API and Horizon', url: `${scheme}://${externalFqdn(lab)}` },
    { name: 'Public VIP', url: `${scheme}://${lab.vips.external}` },
    { name: 'Internal API', url: `${scheme}://${internalFqdn(lab)}` },
    { name: 'Internal VIP', url: `${scheme}://${lab.vips.internal}` },
    { name: 'DNS server', url: `dns://${nameserverAddress(lab)}` },
  ]
  return endpoints.map((endpoint) => ({ id: endpoint.name, ...endpoint }))
}
