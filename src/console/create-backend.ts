/**
 * Connects sources, views and the stream: recomputes a document when something that it shows has changed, and publishes
 * the difference. Each document waits a multiple of its own cost, so that a busy cluster does not keep the console busy.
 */
import { sameJson } from '../api/same-json.ts'
import type { Clock } from '../clock/clock.ts'
import { readUsage } from '../controllers/ipam/read-usage.ts'
import { Failure, formatError } from '../errors/failure.ts'
import type { Finding } from '../errors/finding.ts'
import type { ActionRunner } from './actions.ts'
import type { Answer, ConsoleBackend } from './backend.ts'
import { createLiveState } from './backend-state.ts'
import type { Note } from './documents/common.ts'
import type { HostsDocument } from './documents/hosts.ts'
import type { Connection } from './documents/meta.ts'
import { examineCluster } from './examine.ts'
import { hostGroupKinds } from './live-kinds.ts'
import type { LiveSource } from './live-source.ts'
import { comparePatch, type Fields } from './patch.ts'
import { createRefreshers } from './refresher.ts'
import type { DocumentName } from './routes.ts'
import type { RunStore } from './run-store.ts'
import type { StreamHub } from './server/stream-hub.ts'
import { recordUse } from './use-over-time.ts'
import { buildAddressMap, buildNetwork, judgeOneMore } from './views/address-map.ts'
import { buildFindings } from './views/findings-list.ts'
import { buildHosts } from './views/hosts-matrix.ts'
import { buildLab, type LabInput } from './views/lab.ts'
import { buildMeta } from './views/meta.ts'
import { buildOverview } from './views/overview.ts'
import { buildRun, buildRunLine } from './views/runs.ts'
import { search } from './views/search.ts'
import { buildTopology, buildTopologyItem } from './views/topology.ts'
import { commandLine, type Examination, type HostsInput, type PlannedSite, type ViewInput } from './views/view-input.ts'

export interface BackendOptions {
  readonly program: { readonly name: string; readonly version: string }
  readonly server: string
  readonly hub: StreamHub
  readonly clock: Clock
  readonly site?: { readonly read: () => Promise<PlannedSite> }
  readonly live?: LiveSource
  /** Clouds by namespace that are known without a plan. */
  readonly namespaces?: readonly string[]
  readonly runs: RunStore
  readonly lab?: { readonly file: string; readonly read: () => Promise<LabInput> }
  readonly actions?: ActionRunner
  readonly title: (code: string) => string
  /** What fails for the moment. */
  readonly verbose?: ((text: string) => void) | undefined
  readonly fileOptions: readonly string[]
  readonly clusterOptions: readonly string[]
}

export interface RunningBackend extends ConsoleBackend {
  /** The site file or its lock changed. */
  readonly siteChanged: () => void
  readonly clusterChanged: (change: ClusterNotice) => void
  /** Objects of one more kind are known. */
  readonly clusterListed: () => void
  readonly connectionChanged: (connection: Connection) => void
  readonly runsChanged: () => void
  readonly close: () => Promise<void>
}

export interface ClusterNotice {
  readonly groupKind: string
  readonly object: Parameters<ReturnType<typeof createLiveState>['change']>[0]
  readonly isDeleted: boolean
}

const HOSTS_AGAIN_MS = 60_000
const AGE_MS = 5_000
const EVENTS_PER_PAGE = 2_000
const MAX_NOTES = 30

export function createBackend(options: BackendOptions): RunningBackend {
  const { hub, clock, live: source, runs } = options
  const end = new AbortController()
  const bodies = new Map<DocumentName, Fields>()
  let planned: PlannedSite | undefined
  let planFindings: readonly Finding[] | undefined
  let oneMore: ViewInput['oneMore']
  let hosts: HostsInput | undefined
  let examination: Examination | undefined
  let lab: LabInput | undefined
  let isLoaded = source === undefined
  const use = new Map<string, HostsDocument['use'][number]>()

  const namespaces = (): ReadonlyMap<string, string> =>
    new Map([
      ...(options.namespaces ?? []).map((namespace) => [namespace, namespace] as const),
      ...(planned?.plan.clouds ?? []).map(({ name, namespace }) => [namespace, name] as const),
    ])
  const state = source && createLiveState(source, namespaces, clock.now)
  const cloudName = (namespace: string): string =>
    state?.inventories().find((inventory) => inventory.namespace === namespace)?.cloud ??
    namespaces().get(namespace) ??
    namespace

  const input = (): ViewInput => ({
    ...(planned && { planned }),
    ...(planFindings && { planFindings }),
    ...(oneMore && { oneMore }),
    ...(state && isLoaded && { live: state.site() }),
    ...(hosts && { hosts }),
    ...(examination && { examination }),
    cloudName,
    title: options.title,
    fileOptions: options.fileOptions,
    clusterOptions: options.clusterOptions,
    now: clock.now(),
  })

  const describeRun = (id?: string) => {
    const run = id === undefined ? runs.runs()[0] : runs.find(id)
    if (!run) return undefined
    const earlier = runs.runs().filter((other) => other.id !== run.id && other.view.what === run.view.what)
    return buildRun(
      run,
      earlier.map(({ view }) => view),
      clock.now(),
    )
  }

  const builders: Readonly<Record<DocumentName, () => Fields | undefined>> = {
    meta: () =>
      buildMeta({
        ...input(),
        program: options.program,
        server: options.server,
        source: source?.description ?? { kind: 'none' },
        connection: source?.connection() ?? { kind: 'none', since: startedAt },
        ...(options.lab && { labFile: options.lab.file }),
        hasRuns: runs.runs().length > 0,
        actionsAllowed: options.actions !== undefined,
      }),
    overview: () => {
      const lastRun = describeRun()
      return buildOverview({
        ...input(),
        findings: (bodies.get('findings') ?? build('findings')) as ReturnType<typeof buildFindings>,
        pools: state?.pools(planned) ?? new Map(),
        ...(lastRun && { lastRun }),
      })
    },
    addresses: () => buildAddressMap(input()),
    topology: () => buildTopology(input()),
    runs: () => ({ command: commandLine('up', ...options.fileOptions), runs: runs.runs().map(buildRunLine) }),
    hosts: () => buildHosts(input(), [...use.values()]),
    findings: () => buildFindings(input()),
    lab: () => lab && buildLab({ ...lab, now: clock.now() }),
  }
  const startedAt = new Date(clock.now()).toISOString()

  const notes = (name: DocumentName): readonly Note[] => {
    if (!source || name === 'lab' || name === 'runs') return []
    const connection = source.connection()
    return [
      ...(connection.kind === 'lost'
        ? [{ kind: 'lost', text: `the API server does not answer: ${connection.reason ?? 'unknown'}` } as const]
        : []),
      ...(isLoaded ? [] : [{ kind: 'loading', text: 'the cluster is being read' } as const]),
      ...source
        .unread()
        .filter(({ cause }) => cause === 'forbidden' || cause === 'failed')
        .slice(0, MAX_NOTES)
        .map(({ kind, reason, cause }) => ({
          kind: cause === 'forbidden' ? ('denied' as const) : ('unread' as const),
          text: `${kind}: ${reason}`,
        })),
    ]
  }
  function build(name: DocumentName): Fields | undefined {
    const body = builders[name]()
    return body && { ...body, notes: notes(name) }
  }
  /** Publishes what differs from the document as it was sent last. */
  const publish = (name: DocumentName): void => {
    const before = bodies.get(name)
    const after = build(name)
    if (!after) return
    bodies.set(name, after)
    const patch = before && comparePatch(before, after, sameJson)
    if (patch) hub.publish({ kind: 'patch', document: name, ...patch })
  }
  const document = async (name: DocumentName): Promise<Answer> => {
    await started
    const body = bodies.get(name) ?? build(name)
    if (!body) return undefined
    bodies.set(name, body)
    return { ...body, version: hub.version() }
  }

  const readSite = async (): Promise<void> => {
    if (!options.site) return
    try {
      planned = await options.site.read()
      oneMore = judgeOneMore(planned)
      planFindings = undefined
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown
      // A file that is broken for a moment does not empty the page: the findings say what is wrong with it.
      planFindings = thrown.findings
      planned = undefined
    }
    state?.load()
  }
  const readHosts = async (): Promise<void> => {
    if (!source || !isLoaded) return
    const [gathered, certificates] = await Promise.all([
      source.gather.hosts(end.signal),
      source.gather.certificates(end.signal),
    ])
    const index = source.index()
    const subnets = readUsage(index)
    const time = new Date(clock.now()).toISOString()
    recordUse(use, subnets, time, cloudName)
    const deployments = index.all('dataplane.openstack.org/OpenStackDataPlaneDeployment')
    hosts = { ...gathered, certificates, deployments, subnets }
  }
  const examine = async (): Promise<void> => {
    if (!source || !isLoaded) return
    const evidence = await source.gather.evidence([...namespaces().keys()], end.signal)
    examination = await examineCluster(source, evidence, planned?.plan, clock.now())
  }
  const readLab = async (): Promise<void> => {
    if (options.lab) lab = await options.lab.read()
  }

  const reportError = (name: string, thrown: unknown): void => {
    if (!end.signal.aborted) options.verbose?.(`${name}: ${formatError(thrown)}`)
  }
  /** A source that fails for the moment keeps its last result; the connection says why. */
  const refreshers = createRefreshers(clock, end.signal, reportError, {
    overview: { minMs: 20, costFactor: 1, work: () => publish('overview') },
    meta: { minMs: 100, costFactor: 2, work: () => publish('meta') },
    runs: { minMs: 50, costFactor: 2, work: () => publish('runs') },
    slow: {
      minMs: 250,
      costFactor: 4,
      work: () => {
        for (const name of ['addresses', 'topology'] as const) if (bodies.has(name)) publish(name)
        hub.publish({ kind: 'changed', route: 'network' })
      },
    },
    hosts: {
      minMs: 500,
      costFactor: 5,
      work: async () => {
        await readHosts()
        publish('hosts')
        refreshers.overview.request()
      },
    },
    findings: {
      minMs: 1_000,
      costFactor: 8,
      work: async () => {
        await examine()
        publish('findings')
        refreshers.overview.request()
        if (bodies.has('topology')) publish('topology')
      },
    },
    reload: {
      minMs: 200,
      costFactor: 4,
      work: () => {
        state?.load()
        refreshers.overview.request()
        refreshers.slow.request()
        refreshers.hosts.request()
        refreshers.findings.request()
      },
    },
    site: {
      minMs: 100,
      costFactor: 2,
      work: async () => {
        await readSite()
        for (const name of ['meta', 'addresses', 'topology', 'findings', 'overview'] as const) publish(name)
        refreshers.findings.request()
      },
    },
  })

  const start = async (): Promise<void> => {
    await Promise.all([readSite(), readLab().catch(() => undefined)])
    void loadLive().catch(() => undefined)
    repeat(AGE_MS, () => {
      state?.age()
      refreshers.overview.request()
    })
    repeat(HOSTS_AGAIN_MS, () => refreshers.hosts.request())
  }
  const loadLive = async (): Promise<void> => {
    if (!source || !state) return
    await source.ready
    isLoaded = true
    state.load()
    for (const name of ['meta', 'overview', 'addresses', 'topology'] as const) publish(name)
    refreshers.hosts.request()
    refreshers.findings.request()
  }
  const repeat = (ms: number, work: () => void): void => {
    if (!source) return
    const next = async (): Promise<void> => {
      while (!end.signal.aborted) {
        await clock.sleep(ms, end.signal)
        work()
      }
    }
    void next().catch(() => undefined)
  }
  const started = start()

  const answer = async (compute: () => Fields | undefined, name: DocumentName): Promise<Answer> => {
    await started
    const body = compute()
    return body && { ...body, notes: notes(name), version: hub.version() }
  }
  const { actions } = options
  return {
    hub,
    document,
    network: (cloud, network) => answer(() => buildNetwork(input(), cloud, network), 'addresses'),
    topologyItem: (item) => answer(() => buildTopologyItem(buildTopology(input()), item), 'topology'),
    run: (run) => answer(() => describeRun(run), 'runs'),
    runEvents: async (run, from) => {
      const events = runs.events(run, from, EVENTS_PER_PAGE)
      const next = events && events.length === EVENTS_PER_PAGE ? { next: from + events.length } : {}
      return events && { run, from, events, ...next }
    },
    deployment: async (namespace, deployment) => {
      if (!source) return undefined
      const logs = await source.gather.logs(namespace, deployment, end.signal)
      const command = `kubectl -n ${namespace} logs -l openstackdataplanedeployment=${deployment}`
      return answer(
        () => ({
          command,
          namespace,
          deployment,
          logs: logs.map(({ service, output }, index) => ({ id: String(index), service, pod: '', output })),
        }),
        'hosts',
      )
    },
    search: (query) => answer(() => search(input(), query), 'addresses'),
    actions: () => actions?.list() ?? [],
    startAction: actions?.start,
    siteChanged: () => refreshers.site.request(),
    clusterChanged: ({ groupKind, object, isDeleted }) => {
      if (!isLoaded) return
      state?.change(object, isDeleted)
      refreshers.overview.request()
      refreshers.slow.request()
      refreshers.findings.request()
      if (hostGroupKinds.has(groupKind)) refreshers.hosts.request()
    },
    clusterListed: () => {
      if (isLoaded) refreshers.reload.request()
    },
    connectionChanged: (connection) => {
      hub.publish({ kind: 'connection', connection })
      for (const name of bodies.keys()) publish(name)
    },
    runsChanged: () => {
      refreshers.runs.request()
      refreshers.overview.request()
      refreshers.meta.request()
    },
    close: async () => {
      end.abort()
      runs.close()
      hub.close()
      await source?.close()
    },
  }
}
