/**
 * Example documents of the console, made by the functions of the server: for tests of the page and of the contract.
 *
 * `planOnly`: two clouds without a cluster. `deployed`: the same, healthy. `broken`: a VIP that moved, a foreign Service,
 * a failed host and a run that failed.
 */
import { readFileSync } from 'node:fs'
import type { KubeObject } from '../src/api/object.ts'
import { indexSnapshot, type Snapshot } from '../src/api/snapshot.ts'
import type { DocumentName } from '../src/console/routes.ts'
import { buildAddressMap, buildNetwork } from '../src/console/views/address-map.ts'
import { buildFindings } from '../src/console/views/findings-list.ts'
import { buildHosts } from '../src/console/views/hosts-matrix.ts'
import { buildLab } from '../src/console/views/lab.ts'
import { buildMeta } from '../src/console/views/meta.ts'
import { buildOverview } from '../src/console/views/overview.ts'
import { fullestPools } from '../src/console/views/pool-use.ts'
import { buildRun, buildRunLine, foldRun, type KnownRun } from '../src/console/views/runs.ts'
import { search } from '../src/console/views/search.ts'
import { buildTopology, buildTopologyItem } from '../src/console/views/topology.ts'
import type { ViewInput } from '../src/console/views/view-input.ts'
import { computeStatus } from '../src/deploy/deployment-status.ts'
import { diagnose } from '../src/doctor/diagnose.ts'
import { rules } from '../src/doctor/rules.ts'
import { emptyLock } from '../src/plan/lock.ts'
import { planSite } from '../src/plan/planner.ts'
import { builtInTable } from '../src/plan/slots/built-in-crds.ts'
import { renderDocuments } from '../src/render/render.ts'
import type { RunEvent, StageRef } from '../src/run/events.ts'
import { readSite } from '../src/site/read.ts'
import { checks } from '../src/verify/checks.ts'
import { listHeldAddresses } from '../src/verify/held-addresses.ts'
import { verify } from '../src/verify/verify.ts'
import { changed, healthySnapshot, withObject } from './healthy-snapshot.ts'
import { labWith } from './lab.ts'
import { deployment, failed, judge, nodeSet } from './node-set-objects.ts'

const NOW = Date.parse('2026-11-17T12:00:00Z')
const FILE = 'examples/two-clouds.yaml'

export interface ConsoleExample {
  readonly documents: Readonly<Record<DocumentName, object>>
  readonly network: object
  readonly topologyItem: object
  readonly run: object
  readonly stage: object
  readonly deployment: object
  readonly runEvents: readonly RunEvent[]
  readonly search: object
}

function planTwoClouds(): NonNullable<ViewInput['planned']> {
  const text = readFileSync(FILE, 'utf8')
  const { site, findings, locate } = readSite(text, FILE)
  if (!site) throw new Error(JSON.stringify(findings))
  const before = emptyLock(site.name)
  const { plan, lock } = planSite({ site, lock: before, slots: builtInTable(), locate, findings })
  return { plan, before, lock, file: FILE, lockFile: 'examples/two-clouds.lock.yaml', locate, lines: text.split('\n') }
}

const base = {
  cloudName: (namespace: string) => ({ openstack: 'rhoso1', openstack2: 'rhoso2' })[namespace] ?? namespace,
  title: (code: string) => `Title of ${code}`,
  fileOptions: ['-f', FILE],
  clusterOptions: ['--context', 'example'],
  now: NOW,
} as const

function createInput(snapshot?: Snapshot, deployments: readonly KubeObject[] = []): ViewInput {
  const planned = planTwoClouds()
  const { plan } = planned
  if (!snapshot) return { ...base, planned, clusterOptions: [] }
  const index = indexSnapshot(snapshot)
  const documents = renderDocuments(plan)
  const inventories = [undefined, ...plan.clouds].map((cloud) => ({
    site: plan.site,
    ...(cloud && { cloud: cloud.name, namespace: cloud.namespace }),
    objects: documents
      .filter((document) => document.cloud === cloud?.name)
      .map(({ object: { apiVersion, kind, metadata } }) => ({
        apiVersion,
        kind,
        name: metadata.name,
        ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
      })),
  }))
  const examination = {
    checks: verify(checks, { plan, documents, live: index, unread: [], now: NOW }),
    report: diagnose({ snapshot, now: NOW, plan }, rules),
    time: new Date(NOW).toISOString(),
  }
  return {
    ...base,
    planned,
    live: {
      index,
      unread: [],
      held: listHeldAddresses(index),
      denied: new Set(),
      groups: computeStatus(inventories, snapshot, NOW),
    },
    hosts: {
      states: judge(deployments, { nodeSets: [nodeSet(), nodeSet({}, {}, 'openstack2')] }),
      deployments,
      certificates: [
        {
          namespace: 'openstack',
          kind: 'Secret',
          name: 'cert-keystone-internal-svc',
          verdict: 'soon',
          notAfter: new Date(NOW + 10 * 86_400_000).toISOString(),
          daysLeft: 10,
          outdatedHosts: [],
          outdatedPods: [],
        },
      ],
      subnets: [],
      findings: [],
    },
    examination,
  }
}

const stageNames = ['namespaces', 'nncp', 'netattach', 'metallb', 'control-plane', 'data-plane']

/** The events of `up` for two clouds; the last run ends with a failed stage of rhoso2. */
export function exampleEvents(run: string, isFailed: boolean, startedAt = NOW - 600_000): readonly RunEvent[] {
  const clouds = ['rhoso1', 'rhoso2']
  const stages: readonly StageRef[] = [
    { id: 'operators', stage: 'operators', after: [] },
    ...clouds.flatMap((cloud) =>
      stageNames.map((stage, index) => ({
        id: `${cloud}/${stage}`,
        stage,
        cloud,
        after: [index === 0 ? 'operators' : `${cloud}/${stageNames[index - 1]}`],
      })),
    ),
  ]
  const at = (seconds: number) => ({ time: new Date(startedAt + seconds * 1000).toISOString(), run })
  const events: RunEvent[] = [{ ...at(0), kind: 'run-started', what: 'up site.yaml', stages }]
  stages.forEach(({ stage, cloud, id }, index) => {
    const place = { stage, ...(cloud !== undefined && { cloud }) }
    const start = index * 20
    if (isFailed && id === 'rhoso2/data-plane') {
      events.push({
        ...at(start),
        ...place,
        kind: 'stage-finished',
        outcome: 'blocked',
        ms: 0,
        reason: 'control-plane failed',
      })
      return
    }
    const object = {
      apiVersion: 'core.openstack.org/v1beta1',
      kind: 'OpenStackControlPlane',
      namespace: 'openstack2',
      name: 'controlplane',
    }
    events.push({ ...at(start), ...place, kind: 'stage-started' })
    events.push({ ...at(start + 1), ...place, kind: 'applied', change: 'created', object })
    events.push({ ...at(start + 2), ...place, kind: 'waiting', reason: `waits for ${stage}`, object })
    const outcome = isFailed && id === 'rhoso2/control-plane' ? 'failed' : 'done'
    events.push({
      ...at(start + 19),
      ...place,
      kind: 'stage-finished',
      outcome,
      ms: 19_000,
      ...(outcome === 'failed' && { reason: 'Service openstack2/keystone-internal has no address' }),
    })
  })
  events.push({
    ...at(stages.length * 20),
    kind: 'run-finished',
    outcome: isFailed ? 'failed' : 'done',
    ms: stages.length * 20_000,
  })
  return events
}

const envelope = { version: 7, notes: [] }

function createExample(input: ViewInput, isFailed: boolean): ConsoleExample {
  const runEvents = exampleEvents('host-1-2', isFailed)
  const run: KnownRun = {
    id: 'host-1-2',
    source: 'live',
    view: foldRun(runEvents),
    events: runEvents.length,
    isAlive: false,
  }
  const runDocument = buildRun(run, [foldRun(exampleEvents('host-1-1', false))], NOW)
  const findings = buildFindings(input)
  const topology = buildTopology(input)
  const network = buildNetwork(input, 'rhoso1', 'internalapi')
  const item = buildTopologyItem(topology, 'segment:main/20')
  if (!network || !item) throw new Error('the example has no such network or segment')
  return {
    documents: {
      meta: {
        ...envelope,
        ...buildMeta({
          ...input,
          program: { name: 'stackloom', version: '0.1.0' },
          server: 'example',
          source: input.live
            ? { kind: 'live', server: 'https://127.0.0.1:6443', context: 'example' }
            : { kind: 'none' },
          connection: { kind: input.live ? 'connected' : 'none', since: new Date(NOW).toISOString() },
          labFile: 'lab.yaml',
          hasRuns: true,
          actionsAllowed: true,
        }),
      },
      overview: {
        ...envelope,
        ...buildOverview({
          ...input,
          findings,
          pools: fullestPools(input),
          lastRun: { run: runDocument.run, stages: runDocument.stages },
        }),
      },
      addresses: { ...envelope, ...buildAddressMap(input) },
      topology: { ...envelope, ...topology },
      runs: { ...envelope, command: 'stackloom up', runs: [buildRunLine(run)] },
      hosts: { ...envelope, ...buildHosts(input) },
      findings: { ...envelope, ...findings },
      lab: {
        ...envelope,
        ...buildLab({ lab: labWith(), file: 'lab.yaml', certificates: [], findings: [], now: NOW }),
      },
    },
    network: { ...envelope, ...network },
    topologyItem: { ...envelope, ...item },
    run: { ...envelope, ...runDocument },
    stage: {
      ...envelope,
      command: 'kubectl -n openstack2 describe openstackcontrolplane controlplane',
      stage: 'rhoso2/control-plane',
      pods: [
        {
          id: 'keystone-5d4f8c-b7x2k',
          container: 'keystone-api',
          phase: 'Running',
          output: 'ERROR oslo_db.sqlalchemy.engines: the database of rhoso2 does not answer\n',
          command: 'kubectl -n openstack2 logs keystone-5d4f8c-b7x2k -c keystone-api --previous',
        },
      ],
    },
    deployment: {
      ...envelope,
      command: 'kubectl -n openstack logs -l openstackdataplanedeployment=edpm-update',
      namespace: 'openstack',
      deployment: 'edpm-update',
      logs: [
        {
          id: '0',
          service: 'bootstrap',
          pod: 'bootstrap-edpm-update-computes-x7k2p',
          output: 'TASK [osp.edpm.edpm_bootstrap : Install packages] ***\nfatal: [compute-1]: FAILED! => {"rc": 1}\n',
        },
      ],
    },
    runEvents,
    search: { ...envelope, ...search(input, '172.17.0.85') },
  }
}

export function planOnlyExample(): ConsoleExample {
  return createExample(createInput(), false)
}

export function deployedExample(): ConsoleExample {
  return createExample(createInput(healthySnapshot(planTwoClouds().plan), [deployment('edpm-deploy')]), false)
}

export function brokenExample(): ConsoleExample {
  const healthy = healthySnapshot(planTwoClouds().plan)
  const moved = changed(healthy, 'Service openstack/keystone-internal', (service) => ({
    ...service,
    status: { loadBalancer: { ingress: [{ ip: '172.17.0.88' }] } },
  }))
  const foreign = withObject(moved, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', namespace: 'shop' },
    spec: { type: 'LoadBalancer' },
    status: { loadBalancer: { ingress: [{ ip: '172.17.0.90' }] } },
  })
  const deployments = [
    deployment('edpm-deploy'),
    failed('edpm-update', {
      ansibleExecutionSummaries: { 'bootstrap-edpm-update-computes': { failedHostList: ['compute-1'] } },
    }),
  ]
  return createExample(createInput(foreign, deployments), true)
}
