/**
 * Brings a control host from its configuration to services that answer: databases, users, catalogue, programs. What is done
 * is recorded in the database itself, so that a start after an interruption continues.
 */
import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { readData } from '../../data/data.ts'
import { describeExit, lastLines, succeeded } from '../../exec/process.ts'
import { writeFileAtomically } from '../../files/write-file.ts'
import type { Credentials } from '../../pki/authority.ts'
import type { Host } from '../hosts/host.ts'
import type { CloudDefinition } from './cloud-definition.ts'
import { infrastructure, northd, ovnDatabases, type Schema, serviceDaemons, serviceSchemas } from './daemons.ts'
import { CERTIFICATE, haproxyFile, hostsFile, rabbitmqFiles, trustAuthority, writeScript } from './host-files.ts'
import {
  databaseUrl,
  type HostFile,
  keystoneUrl,
  type LocalSecrets,
  REGION,
  serviceFiles,
  servicePassword,
  transportUrl,
} from './service-files.ts'
import type { Daemons } from './supervise-daemons.ts'

export interface BringUpInput {
  readonly host: Host
  readonly daemons: Daemons
  readonly cloud: CloudDefinition
  readonly secrets: LocalSecrets
  /** What haproxy presents. */
  readonly certificate: Credentials
  /** The certificate of the cloud's authority. */
  readonly authority: string
  /** The folder with tables of services, so that only the first cloud of a machine creates them step by step. */
  readonly schemas: string
  readonly report: (doing: string) => void
  readonly signal: AbortSignal
}

/** Busy machines need long; a program that fails is reported at once. */
const COMMAND_MS = 900_000

export async function bringUp(input: BringUpInput): Promise<void> {
  const { cloud, daemons, report } = input
  report('writing the configuration')
  await runScript(input, 'the configuration', prepareScript(input))
  for (const daemon of Object.values(infrastructure)) daemons.start(daemon)
  if (cloud.services.includes('neutron')) for (const daemon of ovnDatabases) daemons.start(daemon)
  report('starting the database')
  await waitUntil(input, 'mariadb', 'mariadb-admin ping')
  await runSql(input, setupSql(input))
  const others = cloud.services.filter((service) => service !== 'keystone')
  await Promise.all([bringUpKeystone(input), createSchemas(input, others)])
  if (cloud.services.includes('neutron')) daemons.start(northd)
  const start = (services: readonly string[]): void => {
    for (const service of services) for (const daemon of serviceDaemons(service, cloud)) daemons.start(daemon)
  }
  start(others.filter((service) => !usesMessageBus.includes(service)))
  const waiting = others.filter((service) => usesMessageBus.includes(service))
  if (waiting.length > 0) await waitUntil(input, 'rabbitmq', '</dev/tcp/127.0.0.1/5672')
  start(waiting)
  report('waiting for the services')
}

const usesMessageBus = ['neutron', 'nova']

async function bringUpKeystone(input: BringUpInput): Promise<void> {
  const { cloud, daemons, report } = input
  report('creating the database of keystone')
  for (const schema of serviceSchemas('keystone', cloud)) await ensureSchema(input, schema)
  const password = cloud.passwords['AdminPassword'] ?? ''
  const url = keystoneUrl(cloud)
  const urls = cloud.catalogue.find(({ service }) => service === 'keystone')?.urls ?? {}
  report('creating the administrator')
  await once(input, `bootstrap ${fingerprint([password, url])}`, () =>
    run(
      input,
      'keystone',
      [
        'keystone-manage',
        'bootstrap',
        `--bootstrap-region-id=${REGION}`,
        `--bootstrap-internal-url=${url}`,
        `--bootstrap-admin-url=${url}`,
        `--bootstrap-public-url=${urls['public'] ?? ''}/v3`,
      ],
      { OS_BOOTSTRAP_PASSWORD: password },
    ),
  )
  for (const daemon of serviceDaemons('keystone', cloud)) daemons.start(daemon)
  await waitUntil(input, 'keystone', 'curl -sf -o /dev/null http://127.0.0.1:5000/v3')
  report('registering the services')
  const request = registration(cloud)
  await once(input, `catalogue ${fingerprint(request)}`, () =>
    runScript(input, 'the catalogue', JSON.stringify(request), ['python3', '-c', readData('openstack/register.py')]),
  )
}

async function createSchemas(input: BringUpInput, services: readonly string[]): Promise<void> {
  for (const service of services) {
    for (const schema of serviceSchemas(service, input.cloud)) await ensureSchema(input, schema)
  }
  if (services.includes('nova')) await mapCells(input)
}

/** The rows that `nova-manage cell_v2` writes; its own two runs would take longer than all tables together. */
async function mapCells(input: BringUpInput): Promise<void> {
  const { cloud, secrets } = input
  const mapping = (cell: string, uuid: string, transport: string): Promise<void> =>
    once(input, `cell ${cell}`, () => {
      const values = [uuid, cell, transport, databaseUrl('nova', `nova_${cell}`, secrets)].map(quoteSql)
      const columns = 'uuid, name, transport_url, database_connection, disabled'
      return runSql(input, `INSERT INTO nova_api.cell_mappings (${columns}) VALUES (${values.join(', ')}, 0);`)
    })
  await mapping('cell0', CELL0, 'none:///')
  for (const cell of cloud.cells) await mapping(cell, randomUUID(), transportUrl(cell, secrets))
}

const CELL0 = '00000000-0000-0000-0000-000000000000'

async function ensureSchema(input: BringUpInput, { name, database, user, sync }: Schema): Promise<void> {
  await once(input, `schema ${database}`, async () => {
    const file = path.join(input.schemas, `${name}.sql`)
    const tables = await readFile(file, 'utf8').catch(() => undefined)
    // An interrupted start may have left some of the tables.
    await runSql(input, `DROP DATABASE IF EXISTS ${database}; CREATE DATABASE ${database} CHARACTER SET utf8mb3;`)
    if (tables !== undefined) return void (await runSql(input, tables, database))
    await run(input, user, sync)
    const { exit, stdout } = await input.host.exec({ file: 'mariadb-dump', args: ['--skip-comments', database] })
    if (!succeeded(exit)) return
    await mkdir(input.schemas, { recursive: true })
    await writeFileAtomically(file, stdout, { replace: true })
  })
}

function prepareScript({ cloud, secrets, certificate, authority, host }: BringUpInput): string {
  const files: readonly HostFile[] = [
    ...serviceFiles(cloud, secrets),
    ...rabbitmqFiles(cloud, secrets),
    haproxyFile(cloud),
    hostsFile(host.name, cloud.names),
    { path: CERTIFICATE, group: 'haproxy', text: `${certificate.certificate}${certificate.privateKey}` },
    { path: '/run/stackloom/login.json', group: 'root', text: JSON.stringify(loginRequest(cloud)) },
  ]
  return `set -e
mkdir -p /run/mysqld /run/ovn /var/log/ovn /var/lib/neutron/tmp /var/lib/nova/tmp
chown mysql: /run/mysqld
chown neutron: /var/lib/neutron/tmp
chown nova: /var/lib/nova/tmp
${writeScript(files)}${trustAuthority(authority)}`
}

function loginRequest({ passwords }: CloudDefinition): object {
  const domain = { id: 'default' }
  const user = { name: 'admin', domain, password: passwords['AdminPassword'] ?? '' }
  return {
    auth: {
      identity: { methods: ['password'], password: { user } },
      scope: { project: { name: 'admin', domain } },
    },
  }
}

function registration(cloud: CloudDefinition) {
  const registered = cloud.catalogue.filter(({ service }) => service !== 'keystone')
  return {
    url: 'http://127.0.0.1:5000/v3',
    region: REGION,
    password: cloud.passwords['AdminPassword'] ?? '',
    users: registered.map(({ service }) => ({ name: service, password: servicePassword(service, cloud) })),
    services: registered.map(({ service, type, urls }) => ({ name: service, type, urls })),
  }
}

function setupSql({ cloud, secrets }: BringUpInput): string {
  const password = quoteSql(secrets.database)
  const owners = cloud.services.flatMap((service) => serviceSchemas(service, cloud))
  const root = quoteSql(cloud.passwords['DbRootPassword'] ?? secrets.database)
  return [
    'CREATE DATABASE IF NOT EXISTS stackloom;',
    'CREATE TABLE IF NOT EXISTS stackloom.done (step VARCHAR(200) PRIMARY KEY);',
    `ALTER USER root@localhost IDENTIFIED VIA mysql_native_password USING PASSWORD(${root}) OR unix_socket;`,
    ...owners.map(({ database, user }) => `GRANT ALL ON ${database}.* TO '${user}'@'%' IDENTIFIED BY ${password};`),
  ].join('\n')
}

function quoteSql(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
}

/** Runs a step unless an earlier start has finished it. */
async function once(input: BringUpInput, step: string, action: () => Promise<unknown>): Promise<void> {
  input.signal.throwIfAborted()
  const found = await runSql(input, `SELECT step FROM stackloom.done WHERE step = ${quoteSql(step)};`)
  if (found.trim() !== '') return
  await action()
  await runSql(input, `INSERT INTO stackloom.done VALUES (${quoteSql(step)});`)
}

function fingerprint(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16)
}

async function run(
  { host, signal, cloud }: BringUpInput,
  user: string,
  command: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const args = [`--reuid=${user}`, `--regid=${user}`, '--init-groups', ...command]
  const program = { file: 'setpriv', args, env: { HOME: `/var/lib/${user}`, ...env } }
  const secrets = [...Object.values(cloud.passwords), ...Object.values(env)]
  const { exit, stderr, stdout } = await host.exec(program, { timeoutMs: COMMAND_MS, signal, secrets })
  if (succeeded(exit)) return
  const words = command.filter((word) => !word.startsWith('/') && !word.startsWith('--')).slice(0, 3)
  throw new Error(`${words.join(' ')}: ${lastLines(stderr) || lastLines(stdout) || describeExit(exit)}`)
}

async function runScript(
  { host, signal }: BringUpInput,
  what: string,
  input: string,
  [file = '', ...args]: readonly string[] = ['sh', '-s'],
): Promise<void> {
  const { exit, stderr } = await host.exec({ file, args, input }, { timeoutMs: COMMAND_MS, signal })
  if (!succeeded(exit)) throw new Error(`${what}: ${lastLines(stderr) || describeExit(exit)}`)
}

async function runSql({ host, signal }: BringUpInput, sql: string, database?: string): Promise<string> {
  const args = ['--batch', '--skip-column-names', ...(database === undefined ? [] : [database])]
  const { exit, stdout, stderr } = await host.exec(
    { file: 'mariadb', args, input: sql },
    { timeoutMs: COMMAND_MS, signal },
  )
  if (!succeeded(exit)) throw new Error(`MariaDB: ${lastLines(stderr) || describeExit(exit)}`)
  return stdout
}

/** Gives up early when the program behind it ends again and again. */
const MOST_RESTARTS = 4

async function waitUntil(input: BringUpInput, daemon: string, condition: string): Promise<void> {
  const { host, daemons } = input
  const giveUp = new AbortController()
  const signal = AbortSignal.any([input.signal, giveUp.signal])
  const status = () => daemons.statuses().find(({ name }) => name === daemon)
  const watch = setInterval(() => {
    if ((status()?.restarts ?? 0) > MOST_RESTARTS) giveUp.abort()
  }, 1000)
  try {
    const script = `until ${condition} >/dev/null 2>&1; do sleep 0.2; done`
    const { exit } = await host.exec({ file: 'bash', args: ['-c', script] }, { timeoutMs: COMMAND_MS, signal })
    if (succeeded(exit)) return
    input.signal.throwIfAborted()
    const reason = status()?.reason ?? `does not answer after ${COMMAND_MS / 1000} s`
    throw new Error(`${daemon} ${reason}; its log is ${daemons.log(daemon)}`)
  } finally {
    clearInterval(watch)
  }
}
