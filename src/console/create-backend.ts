/**
 * Connects sources, views and the stream: recomputes a document when something that it shows has changed, and publishes
 * the difference. Each document waits a multiple of its own cost, so that a busy cluster does not keep the console busy.
 */
import { sameJson } from '../api/same-json.ts'
import { readUsage } from '../controllers/ipam/read-usage.ts'
import { Failure, formatError } from '../errors/failure.ts'
import type { Finding } from '../errors/finding.ts'
import type { ProbeRecord } from '../verify/probe/probe-record.ts'
import type { Answer } from './backend.ts'
import type { BackendOptions, RunningBackend } from './backend-options.ts'
import { createLiveState } from './backend-state.ts'
import type { Note } from './documents/common.ts'
import type { HostsDocument } from './documents/hosts.ts'
import type { OverviewDocument } from './documents/overview.ts'
import { examineCluster } from './examine.ts'
import { hostGroupKinds } from './live-kinds.ts'
import { comparePatch, type Fields } from './patch.ts'
import { createRefreshers } from './refresher.ts'
import type { DocumentName } from './routes.ts'
import { readStage } from './stage-logs.ts'
import { recordUse, type UseHistory } from './use-over-time.ts'
import { buildAddressMap, buildNetwork, judgeOneMore } from './views/address-map.ts'
import { buildFindings } from './views/findings-list.ts'
import { buildHosts } from './views/hosts-matrix.ts'
import { buildLab, type LabInput } from './views/lab.ts'
import { buildMeta } from './views/meta.ts'
import { listNotes } from './views/notes.ts'
import { buildOverview, type HostSummary, summarizeHosts } from './views/overview.ts'
import { buildRun, buildRunLine } from './views/runs.ts'
import { search } from './views/search.ts'
import { buildTopology, buildTopologyItem } from './views/topology.ts'
import { commandLine, type Examination, type HostsInput, type PlannedSite, type ViewInput } from './views/view-input.ts'

const HOSTS_AGAIN_MS = 60_000
const AGE_MS = 5_000
const LAB_AGAIN_MS = 5_000
const FLEET_AGAIN_MS = 30_000
const EVENTS_PER_PAGE = 2_000

export function createBackend(options: BackendOptions): RunningBackend {
  const { hub, clock, live: source, runs } = options
  const end = new AbortController()
  const bodies = new Map<DocumentName, Fields>()
  let planned: PlannedSite | undefined
  let planFindings: readonly Finding[] | undefined
  let oneMore: ViewInput['oneMore']
  let hosts: HostsInput | undefined
  let hostSummary: HostSummary | undefined
  let examination: Examination | undefined
  let probe: ProbeRecord | undefined
  let lab: LabInput | undefined
  let sites: OverviewDocument['sites'] = []
  let history: UseHistory | undefined
  let historyProblem: string | undefined
  let hostsProblem: string | undefined
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
    ...(probe && { probe }),
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
        sites,
        ...(lastRun && { lastRun }),
        ...(hostSummary && { hostSummary }),
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
    const input = { connection: source.connection(), isLoaded, unread: source.unread() }
    return listNotes(input, name === 'hosts' ? (hostsProblem ?? historyProblem) : undefined)
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
  /** Every address and every edge of fifty clouds take longer than all else, so they are computed when a page asks. */
  const invalidate = (name: 'addresses' | 'topology'): void => {
    bodies.delete(name)
    hub.publish({ kind: 'changed', route: name })
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
    probe = planned && (await options.readProbe?.(planned.plan.site))
    state?.load()
  }
  const readHosts = async (): Promise<void> => {
    if (!source || !isLoaded) return
    const [gathered, certificates] = await Promise.all([
      source.gather.hosts(end.signal),
      source.gather.certificates(end.signal),
    ]).catch((thrown: unknown) => {
      hostsProblem = `hosts cannot be read: ${formatError(thrown)}`
      throw thrown
    })
    hostsProblem = undefined
    const index = source.index()
    const subnets = readUsage(index)
    const time = new Date(clock.now()).toISOString()
    history ??= await readHistory()
    recordUse(use, subnets, { time, cloudName, history: history ?? [] })
    const deployments = index.all('dataplane.openstack.org/OpenStackDataPlaneDeployment')
    hosts = { ...gathered, certificates, deployments, subnets }
    hostSummary = summarizeHosts(hosts)
  }
  /** Undefined if it cannot be read now; it is asked again with the next sample. */
  const readHistory = async (): Promise<UseHistory | undefined> => {
    historyProblem = undefined
    try {
      return await options.readUse?.(end.signal)
    } catch (thrown) {
      historyProblem = `the use of addresses before this console was started cannot be read: ${formatError(thrown)}`
      return undefined
    }
  }
  const examine = async (): Promise<void> => {
    if (!source || !isLoaded) return
    probe = planned && (await options.readProbe?.(planned.plan.site))
    const gather = () => source.gather.evidence([...namespaces().keys()], end.signal)
    examination = await examineCluster(source, gather, planned?.plan, clock)
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
        invalidate('addresses')
        invalidate('topology')
        hub.publish({ kind: 'changed', route: 'network' })
      },
    },
    hosts: {
      minMs: 500,
      costFactor: 5,
      work: async () => {
        await readHosts().finally(() => publish('hosts'))
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
        invalidate('topology')
      },
    },
    lab: {
      minMs: 1_000,
      costFactor: 8,
      work: async () => {
        await readLab()
        publish('lab')
      },
    },
    fleet: {
      minMs: 1_000,
      costFactor: 2,
      work: async () => {
        if (options.fleet) sites = await options.fleet.read(end.signal)
        refreshers.overview.request()
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
        for (const name of ['meta', 'findings', 'overview'] as const) publish(name)
        refreshers.slow.request()
        refreshers.findings.request()
      },
    },
  })

  const start = async (): Promise<void> => {
    await Promise.all([readSite(), readLab().catch(() => undefined)])
    void loadLive().catch(() => undefined)
    if (options.fleet) repeat(FLEET_AGAIN_MS, refreshers.fleet.request)
    if (options.lab) repeat(LAB_AGAIN_MS, refreshers.lab.request)
    if (!source) return
    repeat(AGE_MS, () => {
      state?.age()
      refreshers.overview.request()
    })
    repeat(HOSTS_AGAIN_MS, refreshers.hosts.request)
  }
  const loadLive = async (): Promise<void> => {
    if (!source || !state) return
    await source.ready
    isLoaded = true
    state.load()
    for (const name of ['meta', 'overview'] as const) publish(name)
    refreshers.slow.request()
    refreshers.hosts.request()
    refreshers.findings.request()
  }
  const repeat = (ms: number, work: () => void): void => {
    const next = async (): Promise<void> => {
      while (!end.signal.aborted) {
        work()
        await clock.sleep(ms, end.signal)
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
    stage: async (run, id) => {
      const stage = describeRun(run)?.stages.find((line) => line.id === id)
      if (!stage) return undefined
      const body = await readStage(stage, source, end.signal)
      return answer(() => body, 'overview')
    },
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
          logs: logs.map(({ service, pod = '', output }, index) => ({ id: String(index), service, pod, output })),
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
