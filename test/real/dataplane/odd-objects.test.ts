/**
 * Stores objects with texts that programs misread: names that every JavaScript object has, numbers and times beyond their
 * types, deep annotations, signs that look like others. The operator refuses or reports them; none is an error of the program.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type IpSet, ipSets, isIpSetReady, reservations } from '../../../src/api/ipset.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import { configMaps, dnsDatas, dnsMasqs, HOSTS_LABEL, services } from '../../../src/controllers/dns/dns-kinds.ts'
import { ansibleRuns } from '../../../src/dataplane/kinds/ansible-run.ts'
import { Failure } from '../../../src/errors/failure.ts'
import { useCluster } from '../../cluster.ts'
import { dataPlaneNode, dataPlaneRole } from '../../data-plane.ts'
import { ipSet, netConfig, threeNetworks } from '../../ipam.ts'
import { launchOperator, type RunningOperator, startOperator } from '../ipam/operator.ts'

const cluster = useCluster({ crds: 'own-2023' })
const soon = { timeout: 240_000, interval: 200 }

/** What every object of JavaScript has. */
const INHERITED = ['constructor', '__proto__', 'toString', 'hasOwnProperty']
/** A parser that calls itself once per bracket does not return. */
const DEEP = `${'['.repeat(60_000)}${']'.repeat(60_000)}`
const ODD_JSON = ['null', '5', '"x"', '[null]', '{"__proto__": {"a": 1}}', '{"constructor": null}', DEEP]
const ODD_ADDRESSES = [
  'NaN',
  '1e9',
  '0x7f.1',
  '１０.０.０.１',
  '10.0.0.1/99999999999',
  '::ffff:10.0.0.1',
  '10.0.0.1%x\n',
  '',
]
const ODD_TIMES = ['', 'x', '+275760-09-13T00:00:00.000Z', '9999-12-31T23:59:59Z', '0000-00-00T00:00:00Z']

const inherited = (value: unknown): object => Object.fromEntries(INHERITED.map((name) => [name, value]))

function oddObjects(namespace: string): readonly KubeObject[] {
  const [first, ...others] = threeNetworks.networks
  const named = INHERITED.map((name) => ({ ...first, name }))
  const metadata = (name: string, annotations: Readonly<Record<string, string>> = {}) => ({
    name,
    namespace,
    annotations,
  })
  const run = (name: string, annotations: Readonly<Record<string, string>>): KubeObject => ({
    ...ansibleRuns,
    metadata: metadata(name, annotations),
    spec: {
      play: '- hosts: all\n',
      inventory: 'all: {hosts: {constructor: {}, __proto__: {}}}\n',
      extraVars: inherited(1),
    },
  })
  const node = (name: string, section: object, annotations: Readonly<Record<string, string>> = {}): KubeObject => {
    const made = dataPlaneNode(name, { role: 'constructor', node: section }, {}, namespace)
    return { ...made, metadata: { ...made.metadata, annotations } }
  }
  const vars = [
    'a: .nan\nb: -.inf\nc: 1e400\nd: 2026-02-30\ne: !!binary x\n',
    'a: &a {b: 1}\nc: {<<: *a, <<: *a}\n',
    '!!python/object/apply:os.system [id]\n',
    '__proto__: {a: 1}\nconstructor: {prototype: {a: 1}}\n',
    `a: ${DEEP}\n`,
    '\ufeffa: 1\n',
    'a: "\\ud800"\n',
  ]
  return [
    {
      ...netConfig(threeNetworks),
      metadata: metadata('netconfig', { 'stackloom.dev/shared-with': ','.repeat(100_000) }),
    },
    { ...netConfig({ networks: [...named, ...others] } as never), metadata: metadata('inherited') },
    { ...netConfig(threeNetworks), metadata: metadata('segment', { 'stackloom.dev/segment': DEEP }) },
    ...INHERITED.map((name, index) => ipSet(`set-${index}`, [{ name, subnetName: name }], namespace)),
    ipSet(
      'constructor',
      INHERITED.map((name) => ({ name })),
      namespace,
    ),
    ...ODD_ADDRESSES.map((address, index) => ({
      ...reservations,
      metadata: metadata(`odd-${index}`),
      spec: {
        ipSetRef: inherited('x'),
        reservation: inherited({ network: '__proto__', subnet: 'constructor', address }),
      },
    })),
    { ...dnsMasqs, metadata: metadata('constructor'), spec: { options: [{ key: 'server', values: ODD_ADDRESSES }] } },
    ...ODD_ADDRESSES.map((ip, index) => ({
      ...dnsDatas,
      metadata: metadata(`odd-${index}`),
      spec: { hosts: [{ ip, hostnames: [...INHERITED, 'a\u202eb', 'а.example.com', 'a\nb'] }] },
    })),
    {
      ...configMaps,
      metadata: { ...metadata('hosts'), labels: { [HOSTS_LABEL]: 'dnsdata' } },
      data: { constructor: '\0\n', toString: `10.0.0.1 ${'a'.repeat(500_000)}` },
      binaryData: { x: 'AAAA' },
    },
    ...['\0', '__proto__', `${'a.'.repeat(50_000)}`].map((hostname, index) => ({
      ...services,
      metadata: metadata(`service-${index}`, { 'dnsmasq.network.openstack.org/hostname': hostname }),
      spec: { type: 'LoadBalancer', ports: [{ port: 80 }] },
    })),
    dataPlaneRole('constructor', { nodeTemplate: { ansibleVars: vars[0] } } as never, {}, namespace),
    ...vars.map((ansibleVars, index) => node(`vars-${index}`, { ansibleVars })),
    ...ODD_JSON.map((text, index) =>
      node(
        `node-${index}`,
        { hostName: 'constructor' },
        {
          'stackloom.dev/ssh-host-keys': text,
          'stackloom.dev/run-policy': text,
          'stackloom.dev/run-request': text,
          'nova.openstack.org/cell': text.slice(0, 100),
        },
      ),
    ),
    ...ODD_JSON.map((text, index) =>
      run(`run-${index}`, {
        'stackloom.dev/host-inputs': text,
        'stackloom.dev/step': text,
        'stackloom.dev/hosts': text,
      }),
    ),
  ]
}

/** Stores what the API server and the webhooks accept. */
async function store(objects: readonly KubeObject[]): Promise<readonly KubeObject[]> {
  const stored: KubeObject[] = []
  for (const object of objects) {
    try {
      stored.push(await cluster.client.create(object))
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown
    }
  }
  return stored
}

/** A tenant may write the status of its runs. */
async function forgeStatuses(namespace: string): Promise<void> {
  const { items } = await cluster.client.list(ansibleRuns, { namespace })
  for (const [index, run] of items.entries()) {
    const time = ODD_TIMES[index % ODD_TIMES.length]
    const status = {
      JobStatus: 'Running',
      tries: 2 ** 31 - 1,
      running: { startedAt: time, hosts: INHERITED },
      result: { reason: 'Failed', finishedAt: time, hosts: inherited({ ok: 1 }) },
    }
    const object = { ...run, ...ansibleRuns, status } as KubeObject
    await cluster.client.update(object, { subresource: 'status' }).catch((thrown: unknown) => {
      if (!(thrown instanceof Failure)) throw thrown
    })
  }
}

/** Texts of errors that no rule throws. */
const OWN_ERROR =
  /Cannot (read|set|convert|destructure)|is not (a function|iterable|defined|an object)|Maximum call stack|Invalid (time|URL|array|string|code)|Unexpected (token|end)/

describe.each([
  ['without webhooks', launchOperator, { noWebhooks: true }],
  ['with webhooks', startOperator, {}],
] as const)('odd objects of a tenant, %s', (mode, start, changes) => {
  const suffix = mode.replace(/ .*/, '')
  let operator: RunningOperator | undefined
  beforeAll(async () => {
    for (const name of [`tenant-${suffix}`, `ns-${suffix}`])
      await cluster.client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
    operator = await start(cluster, changes)
  }, 240_000)
  afterAll(() => operator?.stop())

  it('are no errors of the program, and another namespace is served', async () => {
    const namespace = `tenant-${suffix}`
    const stored = await store(oddObjects(namespace))
    // Otherwise nothing was tried.
    expect(stored.length).toBeGreaterThan(20)
    await forgeStatuses(namespace)
    // Subnets of its own: those of the other mode are in use.
    const networks = JSON.stringify(threeNetworks).replaceAll('.0.', `.${suffix.length}.`)
    const config = netConfig(JSON.parse(networks) as typeof threeNetworks)
    await cluster.client.create({ ...config, metadata: { name: 'netconfig', namespace: `ns-${suffix}` } })
    await cluster.client.create(ipSet('a', [{}], `ns-${suffix}`))
    const isServed = async (): Promise<boolean> =>
      isIpSetReady((await cluster.client.get({ ...ipSets, namespace: `ns-${suffix}`, name: 'a' })) as IpSet)
    await expect.poll(isServed, soon).toBe(true)
    const metrics = await fetch(`http://127.0.0.1:${operator?.healthPort}/metrics`)
    expect(metrics.status).toBe(200)
    await metrics.text()
    for (const { apiVersion, kind, metadata } of stored)
      await cluster.client.delete({ apiVersion, kind, namespace, name: metadata.name })
    const lines = (operator?.said() ?? '').split('\n').filter((line) => OWN_ERROR.test(line))
    expect(lines.map((line) => line.slice(0, 500))).toEqual([])
    expect(operator?.ended()).toBeUndefined()
  }, 600_000)
})
