/** Proves that nothing of a host is left: reads everything that may be, and says what was found. */
import { objectKey } from '../../api/object.ts'
import { failure } from '../../errors/failure.ts'
import { hostLeft } from '../findings/host-removal.ts'
import { ATTEMPTS, dnsDataKind, findNode, type HostChange, NETWORK_API, namesHost, type Step } from './host-change.ts'

/** One thing that must be gone, and what was found. */
export interface ProofItem {
  readonly what: string
  readonly isGone: boolean
  readonly evidence: string
}

export function proofStage(options: HostChange, proof: ProofItem[]): Step {
  return {
    name: 'proof',
    why: 'everything was deleted before',
    work: async ({ stop, emit, clock }) => {
      // Names are removed by the operator after the node set has changed.
      for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
        proof.splice(0, proof.length, ...(await proveRemoval(options, stop)))
        if (proof.every(({ isGone }) => isGone)) break
        await clock.sleep(options.limits.pollMs, stop)
        stop.throwIfAborted()
      }
      for (const { what, evidence } of proof) emit({ kind: 'progress', message: `${what}: ${evidence}` })
      const left = proof.filter(({ isGone }) => !isGone).map(({ what, evidence }) => `${what}: ${evidence}`)
      if (left.length > 0) throw failure(hostLeft, { host: options.host, left }, { exitCode: 1 })
    },
  }
}

/** Everything that may be left of a host, with what was found. Reads only. */
async function proveRemoval(options: HostChange, signal: AbortSignal): Promise<readonly ProofItem[]> {
  const { api, client, namespace, host } = options
  const item = (what: string, found: readonly string[], looked: string): ProofItem => ({
    what,
    isGone: found.length === 0,
    evidence: found.length === 0 ? `none (${looked})` : found.join(', '),
  })
  const service = await api.findService()
  const agents = await api.listAgents()
  const providers = await api.listProviders()
  const node = await findNode(options, signal)
  const addresses = await Promise.all(
    ['IPSet', 'Reservation'].map((kind) =>
      client.get({ apiVersion: NETWORK_API, kind, namespace, name: host }, { signal }),
    ),
  )
  const { items: names } = await client.list(dnsDataKind, { namespace, signal })
  return [
    item('compute service', service ? [`${service.host} is ${service.status}`] : [], "Nova's compute services"),
    item(
      'network agents',
      agents.map(({ agent_type: type }) => type),
      "Neutron's agents",
    ),
    item(
      'resource provider',
      providers.map(({ uuid }) => uuid),
      "Placement's resource providers",
    ),
    item('node set', node ? [node.nodeSet.metadata.name] : [], `node sets of ${namespace}`),
    item(
      'addresses',
      addresses.flatMap((object) => (object ? [`${object.kind} ${objectKey(object.metadata)}`] : [])),
      'IPSet and Reservation',
    ),
    item(
      'names',
      names.filter((data) => namesHost(data, host)).map(({ metadata }) => `DNSData ${metadata.name}`),
      `${names.length} DNSData`,
    ),
  ]
}
