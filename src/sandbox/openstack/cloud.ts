/** Runs one cloud: its control host with real services, its client host, and a check of every service that repeats. */
import { randomBytes } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readData } from '../../data/data.ts'
import { formatError } from '../../errors/failure.ts'
import { type Exec, runProcess } from '../../exec/process.ts'
import { writeFileAtomically } from '../../files/write-file.ts'
import type { Authority } from '../../pki/authority.ts'
import { type Host, startHost } from '../hosts/host.ts'
import { bringUp } from './bring-up.ts'
import type { CloudDefinition } from './cloud-definition.ts'
import { attachHost } from './cloud-network.ts'
import { type ComputeRequest, computeLog, runComputeHost } from './compute-host.ts'
import { type ComputeHosts, type ComputeStatus, createComputeHosts } from './compute-hosts.ts'
import { healthUrls, serviceDaemons } from './daemons.ts'
import { hostsFile, trustAuthority, writeScript } from './host-files.ts'
import { watchLogs } from './logged-errors.ts'
import type { LocalSecrets } from './service-files.ts'
import { type DaemonStatus, type Daemons, superviseDaemons } from './supervise-daemons.ts'

export interface ServiceAnswer {
  readonly service: string
  /** Absent if the service answers. */
  readonly problem?: string
}

export type CloudState =
  | { readonly kind: 'starting'; readonly doing: string }
  /** All services have answered; one may have failed since. */
  | { readonly kind: 'running'; readonly answers: readonly ServiceAnswer[] }
  /** The start failed and is repeated. */
  | { readonly kind: 'failed'; readonly doing: string; readonly reason: string }

export interface CloudOptions {
  readonly definition: CloudDefinition
  /** The root file system of hosts. */
  readonly root: string
  /** Files of this cloud: layers of its hosts, secrets, logs. */
  readonly folder: string
  readonly authority: Authority
  /** Runs `ip` in the network that gets the bridges of the cloud; that of this process by default. */
  readonly exec?: Exec
  /** Called after each change of the state. */
  readonly onChange: () => void
}

export interface Cloud {
  readonly definition: CloudDefinition
  readonly state: () => CloudState
  readonly programs: () => readonly DaemonStatus[]
  /** Processes whose network is that of the host, by its name: `control`, `client`, and those of compute hosts. */
  readonly hosts: () => Readonly<Record<string, number>>
  /** Runs exactly these compute hosts, once the services have answered. */
  readonly setComputes: (requests: readonly ComputeRequest[]) => void
  /** None before the services have answered. */
  readonly computes: () => readonly ComputeStatus[]
  readonly stop: () => Promise<void>
}

const HEALTH_MS = 15_000
const FIRST_HEALTH_MS = 1000
const RETRY_MS = 10_000
/** A busy machine may leave one request unanswered. */
const FAILURES_TO_REPORT = 2

export function runCloud(options: CloudOptions): Cloud {
  const { definition, onChange } = options
  const aborted = new AbortController()
  const hosts = new Map<string, Host>()
  let requested: readonly ComputeRequest[] = []
  let daemons: Daemons | undefined
  let computes: ComputeHosts | undefined
  let state: CloudState = { kind: 'starting', doing: 'starting the host' }
  const change = (next: CloudState): void => {
    if (JSON.stringify(next) === JSON.stringify(state)) return
    state = next
    onChange()
    if (next.kind !== 'running') return
    computes ??= startComputes()
    computes.request(requested)
  }
  const startComputes = (): ComputeHosts => {
    const { root, folder, authority, exec = runProcess } = options
    return createComputeHosts({
      start: async (request) => {
        const secrets = await readSecrets(folder)
        const given = { request, definition, root, folder, secrets, authority: authority.certificate, exec }
        return runComputeHost({ ...given, onChange })
      },
      log: (name) => computeLog(folder, name),
      onChange,
    })
  }
  const attempt = async (): Promise<void> => {
    const control = await startCloudHost('control', options, hosts)
    await startCloudHost('client', options, hosts)
    const logs = path.join(options.folder, 'logs')
    await mkdir(logs, { recursive: true, mode: 0o700 })
    daemons = superviseDaemons(control, logs)
    await bringUp({
      host: control,
      daemons,
      cloud: definition,
      secrets: await readSecrets(options.folder),
      certificate: await issueCertificate(options),
      authority: options.authority.certificate,
      schemas: schemaFolder(options.root),
      report: (doing) => change({ kind: 'starting', doing }),
      signal: aborted.signal,
    })
    await watchHealth({ control, daemons, definition, change, current: () => state, signal: aborted.signal })
  }
  const endHosts = async (): Promise<void> => {
    daemons?.release()
    await computes?.stop()
    computes = undefined
    await Promise.all([...hosts.values()].map((host) => host.stop()))
    hosts.clear()
  }
  const keepTrying = async (): Promise<void> => {
    while (!aborted.signal.aborted) {
      try {
        await attempt()
      } catch (error) {
        if (aborted.signal.aborted) return
        const doing = state.kind === 'running' ? 'watching the services' : state.doing
        change({ kind: 'failed', doing, reason: formatError(error) })
      }
      await endHosts()
      await sleep(RETRY_MS, undefined, { signal: aborted.signal }).catch(() => undefined)
    }
  }
  const ended = keepTrying()
  return {
    definition,
    state: () => state,
    programs: () => daemons?.statuses() ?? [],
    hosts: () => ({ ...computes?.pids(), ...Object.fromEntries([...hosts].map(([name, { pid }]) => [name, pid])) }),
    setComputes: (requests) => {
      requested = requests
      computes?.request(requested)
    },
    computes: () => computes?.statuses() ?? [],
    stop: async () => {
      aborted.abort()
      await ended
      await endHosts()
    },
  }
}

/** Beside the root file system whose services create the tables. */
function schemaFolder(root: string): string {
  return `${path.dirname(root)}-schemas`
}

async function startCloudHost(
  kind: 'control' | 'client',
  { definition, root, folder, authority, exec = runProcess }: CloudOptions,
  hosts: Map<string, Host>,
): Promise<Host> {
  const { namespace, networks, names } = definition
  const host = await startHost({ name: `${namespace}-${kind}`, root, folder: path.join(folder, kind) })
  hosts.set(kind, host)
  const attachments = networks.map(({ name, prefixLength, addresses, clientAddress }) => ({
    network: name,
    addresses: (kind === 'control' ? addresses : [clientAddress]).map((address) => `${address}/${prefixLength}`),
  }))
  await attachHost(host, namespace, attachments, exec)
  if (kind === 'control') return host
  const known = names.filter(({ address }) => address !== undefined)
  const script = `${writeScript([hostsFile(host.name, known)])}${trustAuthority(authority.certificate)}`
  await host.exec({ file: 'sh', args: ['-s'], input: script })
  return host
}

/** Kept, because the data of the services is kept. */
async function readSecrets(folder: string): Promise<LocalSecrets> {
  const file = path.join(folder, 'secrets.json')
  const known = await readFile(file, 'utf8').catch(() => undefined)
  if (known !== undefined) return JSON.parse(known) as LocalSecrets
  const key = (): string => `${randomBytes(32).toString('base64url')}=`
  const secrets: LocalSecrets = {
    database: randomBytes(18).toString('hex'),
    messageBus: randomBytes(18).toString('hex'),
    keys: [key(), key()],
  }
  await writeFileAtomically(file, JSON.stringify(secrets), { replace: true, mode: 0o600 })
  return secrets
}

function issueCertificate({ definition, authority }: CloudOptions) {
  const { namespace, names, frontends } = definition
  const hosts = [...new Set([...names.map(({ name }) => name), ...frontends.map(({ address }) => address)])]
  return authority.issue({ commonName: `${namespace} services`, hosts, uses: ['server'] })
}

interface HealthInput {
  readonly control: Host
  readonly daemons: Daemons
  readonly definition: CloudDefinition
  readonly change: (state: CloudState) => void
  readonly current: () => CloudState
  readonly signal: AbortSignal
}

/** Ends only with the host. */
async function watchHealth({ control, daemons, definition, change, current, signal }: HealthInput): Promise<void> {
  const failures = new Map<string, number>()
  const errors = watchLogs()
  const logsOf = (service: string): readonly string[] =>
    serviceDaemons(service, definition).map(({ name }) => daemons.log(name))
  let ended = false
  void control.ended.then(() => {
    ended = true
  })
  while (!ended) {
    const stopped = daemons.statuses().filter(({ running }) => !running)
    const asked = await askServices(control, definition.services, signal)
    const answers = await Promise.all(asked.map((answer) => addCauses(answer, stopped)))
    if (asked.every(({ problem }) => problem === undefined))
      await errors.forget(daemons.statuses().map(({ name }) => daemons.log(name)))
    signal.throwIfAborted()
    for (const { service, problem } of answers)
      failures.set(service, problem === undefined ? 0 : (failures.get(service) ?? 0) + 1)
    const broken = answers.filter(({ problem }) => problem !== undefined)
    const isRunning = current().kind === 'running'
    if (isRunning) {
      const certain = answers.map((answer) =>
        (failures.get(answer.service) ?? 0) >= FAILURES_TO_REPORT ? answer : { service: answer.service },
      )
      change({ kind: 'running', answers: certain })
    } else if (broken.length === 0) change({ kind: 'running', answers })
    else change({ kind: 'starting', doing: `waiting for ${broken.map(({ service }) => service).join(', ')}` })
    await sleep(current().kind === 'running' ? HEALTH_MS : FIRST_HEALTH_MS, undefined, { signal })
  }
  throw new Error('the control host has ended')

  /** What the service logs, and programs that do not run: any service may need them. */
  async function addCauses(answer: ServiceAnswer, stopped: readonly DaemonStatus[]): Promise<ServiceAnswer> {
    const { service, problem } = answer
    if (problem === undefined) return answer
    const logged = await errors.findCause(logsOf(service))
    const ends = await Promise.all(
      stopped.map(async ({ name, reason = 'does not run' }) => {
        const cause = await errors.findCause([daemons.log(name)])
        return `; ${name} ${reason}${cause === undefined ? '' : `: ${cause}`}`
      }),
    )
    return { service, problem: `${problem}${logged === undefined ? '' : `; it logs: ${logged}`}${ends.join('')}` }
  }
}

async function askServices(
  control: Host,
  services: readonly string[],
  signal: AbortSignal,
): Promise<readonly ServiceAnswer[]> {
  const urls = services.flatMap((service) => (healthUrls[service] ? [`${service}=${healthUrls[service]}`] : []))
  const program = { file: 'sh', args: ['-c', readData('openstack/health.sh'), 'sh', ...urls] }
  const { stdout } = await control.exec(program, { timeoutMs: 120_000, signal })
  const lines = new Map(
    stdout.split('\n').map((line): [string, string] => {
      const [name = '', ...rest] = line.split(' ')
      return [name, rest.join(' ')]
    }),
  )
  return services.map((service) => {
    const text = lines.get(service) ?? 'no answer, because keystone gives no token'
    return text === 'ok' ? { service } : { service, problem: text }
  })
}
