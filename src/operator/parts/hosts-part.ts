/** Defines the operator part that serves the verdicts about hosts as a metric and as Events. It reads only, and no Secrets. */
import { Gauge, type Registry } from 'prom-client'
import { groupBy } from '../../api/collections.ts'
import { deploymentKind, nodeSetKind, serviceKind, versionKind } from '../../hosts/data-plane.ts'
import { type HostsInput, judgeHosts, verdicts } from '../../hosts/judge-hosts.ts'
import { selectJudgeable } from '../../hosts/judging-work.ts'
import { createHostObserver } from './host-events.ts'
import type { OperatorPart, PartContext } from './part.ts'

const READ = ['get', 'list', 'watch']
const kinds = [nodeSetKind, deploymentKind, serviceKind, versionKind]

export const hostsPart: OperatorPart = {
  name: 'hosts',
  optional: true,
  kinds,
  crds: { own: [], upstream: [] },
  rules: [
    {
      apiGroups: ['dataplane.openstack.org'],
      resources: ['openstackdataplanenodesets', 'openstackdataplanedeployments', 'openstackdataplaneservices'],
      verbs: READ,
      reason: 'count the hosts that lack what is declared',
    },
    {
      apiGroups: ['core.openstack.org'],
      resources: ['openstackversions'],
      verbs: READ,
      reason: 'compare the images of hosts with the version of their cloud',
    },
  ],
  webhooks: [],
  start: (context) => {
    startHosts(context)
    return {}
  },
  observe: { kinds, start: startHosts },
}

function startHosts({ runtime, metrics, record }: PartContext): void {
  const [nodeSets, deployments, services, versions] = kinds.map((kind) => runtime.cache({ kind }))
  const input = (namespace?: string): HostsInput => ({
    nodeSets: nodeSets?.list(namespace) ?? [],
    deployments: deployments?.list(namespace) ?? [],
    services: services?.list(namespace) ?? [],
    versions: versions?.list(namespace) ?? [],
    content: () => ({ kind: 'ignored' }),
    certificates: [],
  })
  registerHostMetrics(metrics.registry, input)
  runtime.add(createHostObserver(input, (key) => nodeSets?.get(key), record))
}

/** Of one namespace: more than any cloud has, and few enough that a tenant cannot fill Prometheus. */
const MAX_NODE_SETS = 100

/** Computed when Prometheus scrapes it; every verdict of a node set is present, so that an alert sees a zero. */
export function registerHostMetrics(registry: Registry, input: () => HostsInput): void {
  const gauge: Gauge = new Gauge({
    name: 'stackloom_hosts',
    help: 'Hosts of node sets by verdict, without a comparison of Secrets and ConfigMaps',
    labelNames: ['namespace', 'node_set', 'verdict'],
    registers: [registry],
    collect: () => {
      gauge.reset()
      const all = input()
      const shown = [...groupBy(all.nodeSets, ({ metadata }) => metadata.namespace).values()].flatMap((nodeSets) =>
        nodeSets.slice(0, MAX_NODE_SETS),
      )
      const { nodeSets, tooLarge } = selectJudgeable(shown, all.deployments)
      const judged = groupBy(judgeHosts({ ...all, nodeSets }), ({ namespace, nodeSet }) => `${namespace}/${nodeSet}`)
      for (const states of judged.values()) {
        const [first] = states
        if (!first) continue
        for (const verdict of verdicts) {
          const count = states.filter((state) => state.verdict === verdict).length
          gauge.set({ namespace: first.namespace, node_set: first.nodeSet, verdict }, count)
        }
      }
      for (const { nodeSet, hosts } of tooLarge) {
        const { namespace = '', name } = nodeSet.metadata
        gauge.set({ namespace, node_set: name, verdict: 'unknown' }, hosts)
      }
    },
  })
}
