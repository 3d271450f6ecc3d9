import { describe, expect, it } from 'vitest'
import { changed, renderedDocuments, withObject } from '../../test/healthy-snapshot.ts'
import { faults, healthy, plan, pool, removedService, spec } from '../../test/verify/faults.ts'
import { indexSnapshot, type Snapshot } from '../api/snapshot.ts'
import type { Plan } from '../plan/plan.ts'
import { checks } from './checks.ts'
import { isProved, requiredKinds, type VerifyInput, verify } from './verify.ts'

const documents = renderedDocuments(plan)

function run(snapshot: Snapshot, more: Partial<VerifyInput> = {}) {
  const { unread } = snapshot
  return verify(checks, { plan, documents, live: indexSnapshot(snapshot), unread, now: 0, ...more })
}

/** What is wrong: `check cloud CODE place`, so that a check that fires for another reason is seen. */
function wrong(snapshot: Snapshot, more: Partial<VerifyInput> = {}): readonly string[] {
  return run(snapshot, more).flatMap(({ id, cloud, findings }) =>
    findings.map(({ code, where }) => {
      const place = where && 'kind' in where ? `${where.kind} ${where.namespace ?? ''}/${where.name}` : ''
      return [id, cloud ?? '-', code, place].join(' ').trim()
    }),
  )
}

describe('a healthy cluster', () => {
  it('passes every check, and no check is empty', () => {
    expect(wrong(healthy)).toEqual([])
    const results = run(healthy)
    expect(isProved(results)).toBe(true)
    expect(results.filter(({ verdict }) => verdict !== 'passed')).toEqual([])
  })

  it('may have a data plane service of another site', () => {
    expect(wrong(withObject(healthy, removedService('other')))).toEqual([])
  })

  it('is checked per cloud, or for one cloud only', () => {
    const clouds = (names?: readonly string[]) =>
      new Set(run(healthy, names ? { clouds: names } : {}).map(({ cloud }) => cloud))
    expect(clouds()).toEqual(new Set([undefined, 'rhoso1', 'rhoso2']))
    expect(clouds(['rhoso2'])).toEqual(new Set([undefined, 'rhoso2']))
  })

  it("has the checks of the design document's verification with the same names", () => {
    const titles = checks.map(({ title }) => title)
    expect(titles).toEqual(
      expect.arrayContaining(['All IPAddressPools', 'Namespace Scoping', 'L2Advertisements', 'Service IP Allocation']),
    )
  })

  it('has checks with unique ids', () => {
    expect(new Set(checks.map(({ id }) => id)).size).toBe(checks.length)
  })
})

describe('network attachments that stay with another tool', () => {
  const isKept = ({ cloud, object }: (typeof documents)[number]) =>
    cloud === 'rhoso1' && object.kind === 'NetworkAttachmentDefinition'
  const keeping = { documents: documents.filter((document) => !isKept(document)), kept: documents.filter(isKept) }
  const edited = (edit: (config: string) => string, labels = {}) =>
    changed(healthy, 'NetworkAttachmentDefinition openstack/storage', (object) => ({
      ...object,
      metadata: { ...object.metadata, labels },
      spec: { config: edit(String((object['spec'] as { config: string }).config)) },
    }))
  const results = (snapshot: Snapshot) =>
    run(snapshot, keeping).filter(({ id, cloud }) => id === 'network-attachments' && cloud === 'rhoso1')

  it('pass without labels and network_name, with a warning', () => {
    const unnamed = edited((config) => config.replace(/,\s*"network_name": "[^"]*"/, ''))
    expect(results(unnamed)).toMatchObject([{ verdict: 'passed', findings: [{ code: 'SL9006', severity: 'warning' }] }])
  })

  it('fail with other addresses than the plan, or if they do not exist', () => {
    const wider = edited((config) => config.replace(/("range_end": "[^"]*\.)\d+"/, '$190"'))
    expect(results(wider)).toMatchObject([{ verdict: 'failed', findings: [{ code: 'SL9004' }] }])
    const isStorage = ({ kind, metadata: { name, namespace } }: Snapshot['objects'][number]) =>
      kind === 'NetworkAttachmentDefinition' && name === 'storage' && namespace === 'openstack'
    const without = { ...healthy, objects: healthy.objects.filter((object) => !isStorage(object)) }
    expect(results(without)).toMatchObject([{ verdict: 'failed', findings: [{ code: 'SL9005' }] }])
  })
})

describe('an empty cluster', () => {
  it('fails the checks of required objects', () => {
    const failed = run({ objects: [], unread: [] }).filter(({ verdict }) => verdict === 'failed')
    const ids = new Set(failed.map(({ id }) => id))
    expect([...ids]).toEqual([
      'node-policies',
      'node-tuning',
      'ipaddresspools',
      'l2advertisements',
      'service-ip-allocation',
      'network-attachments',
      'netconfig',
      'pod-networks',
      'keystone-endpoints',
    ])
  })

  it('leaves the other checks empty', () => {
    const results = run({ objects: [], unread: [] }, { clouds: ['rhoso2'] })
    expect(results.filter(({ verdict }) => verdict === 'passed')).toEqual([])
    const nothing = results.filter(({ verdict }) => verdict === 'empty')
    expect(nothing.map(({ id, seen }) => `${id}: ${seen}`)).toEqual([
      'room: the nodes report no capacity',
      'leftovers: 0 objects',
      'namespace-scoping: the scope of 0 pools',
      'foreign-holders: 0 Services of other namespaces',
      'sharing-keys: 0 keys',
      'whereabouts-pools: 0 addresses of pods',
      'reservations: 0 Reservations',
      'dns-names: 0 names, not queried (--ask-dns)',
    ])
  })
})

describe('an accepted finding', () => {
  const open = changed(
    healthy,
    pool,
    spec((old) => ({ ...old, serviceAllocation: { namespaces: ['openstack', 'shop'] } })),
  )
  const accepting = (...accept: Plan['from']['accept']): Plan => ({ ...plan, from: { ...plan.from, accept } })
  const known = { code: 'SL9011', where: 'openstack-internalapi', reason: 'the shop is ours', path: [] }

  it('is reported as a warning with the reason and does not fail its check', () => {
    const results = run(open, { plan: accepting(known) })
    expect(isProved(results)).toBe(true)
    expect(results.flatMap(({ findings }) => findings)).toMatchObject([
      { code: 'SL9011', severity: 'warning', message: expect.stringMatching(/\(accepted: the shop is ours\)$/) },
    ])
  })

  it('is limited to its location', () => {
    expect(isProved(run(open, { plan: accepting({ ...known, where: 'openstack-storage' }) }))).toBe(false)
  })

  it('may be an unreadable kind', () => {
    const unread = [{ apiVersion: 'v1', kind: 'Pod', reason: 'forbidden', cause: 'forbidden' as const }]
    const blind = { ...healthy, unread }
    expect(isProved(run(blind))).toBe(false)
    const entry = { code: 'SL9001', where: undefined, reason: 'not ours to see', path: [] }
    expect(isProved(run(blind, { plan: accepting(entry) }))).toBe(true)
  })
})

describe('a kind that could not be read', () => {
  it('makes its checks unknown', () => {
    const unread = [{ apiVersion: 'v1', kind: 'Service', reason: 'forbidden', cause: 'forbidden' as const }]
    const results = run({ ...healthy, unread }, { clouds: ['rhoso1'] })
    const unknown = results.filter(({ verdict }) => verdict === 'unknown').map(({ id }) => id)
    expect(unknown).toEqual([
      'room',
      'service-ip-allocation',
      'foreign-holders',
      'sharing-keys',
      'dns-names',
      'keystone-endpoints',
    ])
    expect(isProved(results)).toBe(false)
  })

  it.each([
    ['not-dumped', 'kubectl get Pod -A -o yaml'],
    ['forbidden', 'an account that may list Pod'],
  ] as const)('has the remedy of where it was looked for: %s', (cause, remedy) => {
    const unread = [{ apiVersion: 'v1', kind: 'Pod', reason: 'x', cause }]
    const found = run({ ...healthy, unread }, { clouds: ['rhoso1'] }).flatMap(({ findings }) => findings)
    expect(found).toMatchObject([{ code: 'SL9001', remedy: expect.stringContaining(remedy) }])
  })

  it('does not matter if the cluster does not serve it', () => {
    const unread = [
      { apiVersion: 'route.openshift.io/v1', kind: 'Route', reason: 'none', cause: 'not-served' as const },
    ]
    expect(wrong({ ...healthy, unread })).toEqual([])
  })

  it('is required by a check', () => {
    expect(requiredKinds(checks).map(({ kind }) => kind)).toContain('IPPool')
  })
})

describe('each check reports its fault and the object:', () => {
  it.each(faults)('%s', (_, snapshot, expected) => {
    expect(wrong(snapshot)).toEqual(expected)
  })

  it('has a case for every check', () => {
    const fired = new Set(faults.flatMap(([, snapshot]) => wrong(snapshot)).map((one) => one.split(' ')[0]))
    expect(checks.map(({ id }) => id).filter((id) => !fired.has(id))).toEqual([])
  })
})

describe("a cloud's DNS server", () => {
  const server = '192.168.122.80'
  const all = (address: string) => ({
    dns: new Map([['rhoso1', { server, answers: new Map([['keystone-internal.openstack.svc', [address]]]) }]]),
  })

  it('must return the planned address of every name', () => {
    const results = run(healthy, all('172.17.0.80'))
    const messages = results.flatMap(({ findings }) => findings.map(({ message }) => message))
    expect(messages).not.toContainEqual(expect.stringContaining('keystone-internal.openstack.svc'))
    expect(messages).toContainEqual(
      `${server} answers nothing for placement-internal.openstack.svc, planned is 172.17.0.80`,
    )
  })

  it('must not return another address', () => {
    const [first] = run(healthy, all('172.17.1.80'))
      .flatMap(({ findings }) => findings)
      .filter(({ message }) => message.includes('keystone-internal'))
    expect(first?.message).toBe(
      `${server} answers 172.17.1.80 for keystone-internal.openstack.svc, planned is 172.17.0.80`,
    )
  })

  it('causes a warning if it is unreachable', () => {
    const dns = new Map([['rhoso1', { server, unreachable: 'timeout', answers: new Map() }]])
    expect(wrong(healthy, { dns })).toEqual(['dns-names rhoso1 SL9053'])
    expect(isProved(run(healthy, { dns }))).toBe(true)
  })
})

describe('the services of a cloud that were asked', () => {
  const asked = (services: readonly { type: string; url: string; problem?: string }[]) => ({
    endpoints: new Map([['rhoso1', { kind: 'asked' as const, services }]]),
  })
  const compute = { type: 'compute', url: 'https://nova' }

  it('are counted when they answer', () => {
    const result = run(healthy, asked([compute])).find(
      ({ id, cloud }) => id === 'keystone-endpoints' && cloud === 'rhoso1',
    )
    expect(result).toMatchObject({ verdict: 'passed', seen: expect.stringMatching(/, 1 of 1 answered$/) })
  })

  it('must answer', () => {
    const results = run(healthy, asked([{ ...compute, problem: 'it answers 500' }]))
    expect(results.flatMap(({ findings }) => findings.map(({ message }) => message))).toEqual([
      'compute of rhoso1 at https://nova does not work: it answers 500',
    ])
    expect(isProved(results)).toBe(false)
  })

  it('cannot be asked without a token', () => {
    const answer = { kind: 'no-token' as const, keystone: 'https://keystone', reason: 'Keystone answered 401' }
    expect(wrong(healthy, { endpoints: new Map([['rhoso1', answer]]) })).toEqual(['keystone-endpoints rhoso1 SL9064'])
  })
})

it('the scope finding contains the command that fixes it', () => {
  const open = changed(
    healthy,
    pool,
    spec((old) => ({ ...old, serviceAllocation: undefined })),
  )
  const [found] = run(open).flatMap(({ findings }) => findings)
  expect(found?.remedy).toContain(
    `patch ipaddresspool openstack-internalapi --type merge -p '{"spec":{"serviceAllocation":{"namespaces":["openstack"]}}}'`,
  )
})
