/** SL31xx: raw fields that conflict with the plan. SL32xx: the rendered documents and files. */
import { problem } from '../errors/finding.ts'

export const foreignPool = problem<{ cloud: string; field: string; pool: string; allowed: readonly string[] }>({
  code: 'SL3102',
  severity: 'error',
  message: ({ cloud, field, pool }) => `${cloud}: ${field} names ${pool}, which is not this cloud's`,
  remedy: ({ allowed }) => `remove it, so that the plan decides, or name one of ${allowed.join(', ')}`,
})

export const foreignAddress = problem<{ cloud: string; field: string; address: string; owner: string | undefined }>({
  code: 'SL3103',
  severity: 'error',
  message: ({ cloud, field, address, owner }) =>
    `${cloud}: ${field} requests ${address}, ${owner ? `which belongs to ${owner}` : "which is in none of this cloud's pools"}`,
  remedy: () => "remove it, so that the plan decides, or pin an address of the cloud's own pools under `vips`",
})

export const overrideConflict = problem<{ cloud: string; slot: string; what: string; planned: string; merged: string }>(
  {
    code: 'SL3104',
    severity: 'error',
    message: ({ cloud, slot, what, planned, merged }) =>
      `${cloud}: the raw fields make the ${what} of ${slot} ${merged}; the plan says ${planned}`,
    remedy: ({ slot }) => `remove it; to choose the address yourself, pin it: \`vips: {${slot}: ADDRESS}\``,
  },
)

export const noPlaceForAttachments = problem<{ cloud: string; service: string }>({
  code: 'SL3105',
  severity: 'error',
  message: ({ cloud, service }) => `${cloud}: the control plane has no network attachments for ${service}`,
  remedy: ({ service }) => `remove \`networkAttachments\` of ${service}`,
})

export const fewNodes = problem<{ nodes: number }>({
  code: 'SL3201',
  severity: 'warning',
  message: ({ nodes }) =>
    `databases and queues get 1 replica instead of 3, because the site has ${nodes} node${nodes === 1 ? '' : 's'}`,
  remedy: () => 'give the cluster three nodes before the clouds are used in production',
})

export const noDnsServer = problem<{ cloud: string }>({
  code: 'SL3202',
  severity: 'warning',
  message: ({ cloud }) => `${cloud}: no DNS server is named for what the cloud's own DNS does not know`,
  remedy: () => 'name one under `spec.cluster.dns`, or under `dns.servers` of the cloud',
})

export const prerequisites = problem<{ what: readonly string[] }>({
  code: 'SL3203',
  severity: 'info',
  message: ({ what }) => `plain Kubernetes has no OLM; install these first: ${what.join('; ')}`,
  remedy: () => 'install them with their own manifests, then run `stackloom up`: its first stage checks for them',
})

export const keptElsewhere = problem<{ cloud: string; keep: readonly ('attachments' | 'control-plane')[] }>({
  code: 'SL3209',
  severity: 'info',
  message: ({ cloud, keep }) =>
    `${cloud}: ${keep.map((kept) => keptNames[kept]).join(' and ')} stay with the tool that deployed them (\`keep\`): they are neither rendered nor applied`,
  remedy: () =>
    'nothing to do; remove an entry of `keep` only when Stackloom is to deploy it: see "After adopt" in the guide Adopt',
})

const keptNames = {
  attachments: 'the network attachments',
  'control-plane': 'the control plane, its Secrets and its data plane',
} as const

export const noPlaceForEndpoint = problem<{
  cloud: string
  endpoint: string
  value: string
  known: readonly string[]
}>({
  code: 'SL3204',
  severity: 'warning',
  message: ({ cloud, endpoint, value }) =>
    `${cloud}: the address of ${endpoint} is reserved, but no pod of the control plane gets it by this name: ${value}`,
  remedy: ({ known }) =>
    `name the pod by its place in the control plane${known.length > 0 ? ` (${known.join(', ')})` : ''}; for a pod of another program, set the annotation there`,
})

export const endpointAddressShared = problem<{ cloud: string; endpoint: string; replicas: number }>({
  code: 'SL3205',
  severity: 'error',
  message: ({ cloud, endpoint, replicas }) =>
    `${cloud}: ${endpoint} has one address, but ${replicas} pods would use it`,
  remedy: ({ endpoint }) => `give ${endpoint} one replica, or reach it through its Service`,
})

export const changedByOthers = problem<{ file: string }>({
  code: 'SL3206',
  severity: 'warning',
  message: ({ file }) => `${file} is no longer rendered, but it is not as Stackloom wrote it: it stays`,
  remedy: ({ file }) => `look at ${file}, and remove it if it is not needed`,
})

export const foreignFile = problem<{ file: string }>({
  code: 'SL3207',
  severity: 'error',
  message: ({ file }) => `${file} exists already, and Stackloom did not write it`,
  remedy: ({ file }) => `choose another folder, or remove ${file}; nothing was written`,
})

export const editedTreeFile = problem<{ file: string }>({
  code: 'SL3208',
  severity: 'error',
  message: ({ file }) => `${file} was edited since it was rendered, and would be overwritten`,
  remedy: () => 'move the change into the site file (overrides take any field), or discard it with --overwrite',
})

export const fieldLeftOut = problem<{ kind: string; field: string; nearest: string }>({
  code: 'SL3107',
  severity: 'warning',
  message: ({ kind, field, nearest }) => `${kind} has no field ${field}, which ${nearest} has: it is left out`,
  remedy: ({ field }) => `look up what replaces ${field} in this version, and set it with raw fields if it is needed`,
})

export const requiredFieldMissing = problem<{ cloud: string; kind: string; field: string }>({
  code: 'SL3108',
  severity: 'error',
  message: ({ cloud, kind, field }) => `${cloud}: ${kind} requires ${field}, and nothing sets it`,
  remedy: ({ field, kind }) =>
    `set ${field} in overrides.${kind === 'OpenStackDataPlaneNodeSet' ? 'nodeSet' : 'controlPlane'} of the cloud`,
})

export const slotMoved = problem<{ path: string; change: 'gone' | 'new'; nearest: string }>({
  code: 'SL3109',
  severity: 'warning',
  message: ({ path, change, nearest }) =>
    change === 'gone'
      ? `there is no slot spec.${path}, which ${nearest} has`
      : `there is a slot spec.${path}, which ${nearest} does not have`,
  remedy: () => 'compare with `stackloom slots --crd live`, and set the Service of a new slot with raw fields',
})

export const netConfigRefused = problem<{ cloud: string; field: string; detail: string }>({
  code: 'SL3229',
  severity: 'error',
  message: ({ cloud, field, detail }) => `the NetConfig of ${cloud} would be refused: ${field}: ${detail}`,
  remedy: () => 'correct the network in the site file, or in overrides.netConfig',
})

export const noBackend = problem<{ cloud: string; service: string; part: string; field: string }>({
  code: 'SL3230',
  severity: 'warning',
  message: ({ cloud, service, part }) => `${cloud}: ${service} is on without a backend, so no ${part} service runs`,
  remedy: ({ service, field }) =>
    `describe one in services.${service}.template.${field} (a name with customServiceConfig and replicas: 1), or give the cloud \`ceph\``,
})
