import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type TestIo, testIo } from '../../../test/io.ts'
import { siteText } from '../../../test/site.ts'
import { main } from '../main.ts'

let cwd = ''
beforeEach(() => {
  cwd = mkdtempSync(path.join(tmpdir(), 'stackloom-ip-'))
  writeFileSync(path.join(cwd, 'site.yaml'), site)
})
afterEach(() => {
  rmSync(cwd, { recursive: true, force: true })
})

const site = siteText({
  clouds: [
    {
      name: 'rhoso1',
      namespace: 'openstack',
      vips: { 'rabbitmq.rabbitmq': '172.17.0.85' },
      hosts: [{ name: 'compute-0', addresses: { internalapi: '172.17.0.111' } }, { name: 'compute-1' }],
      networks: {
        storage: { nodes: { 'worker-0': '172.18.0.9' } },
        tenant: { subnets: [{ cidr: '172.19.0.0/24', reserved: ['172.19.0.120'] }] },
      },
    },
  ],
})

async function run(...words: string[]): Promise<{ readonly code: number; readonly io: TestIo }> {
  const io = testIo({ cwd })
  return { code: await main(words, io), io }
}

const because = (io: TestIo): string | undefined => /^because: +(.*)$/m.exec(io.out())?.[1]

describe('stackloom ip', () => {
  it('shows the owner and the span of an address, and what is free beside it', async () => {
    const { code, io } = await run('ip', '172.17.0.80')
    expect(code).toBe(0)
    expect(io.out()).toMatch(/^owner: +keystone\.internal, /m)
    expect(io.out()).toMatch(/^cloud: +rhoso1 \(namespace openstack\)$/m)
    expect(io.out()).toMatch(/^span: +vips 172\.17\.0\.80-172\.17\.0\.90$/m)
    expect(io.out()).toMatch(/^free: +8 of 11 \(nearest: 172\.17\.0\.82 above\)$/m)
  })

  it('does not call an address free that an object of the cluster has, with --live', async () => {
    const holder = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'rabbitmq-cell1', namespace: 'openstack' },
      status: { loadBalancer: { ingress: [{ ip: '172.17.0.82' }] } },
    }
    writeFileSync(path.join(cwd, 'dump.json'), JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [holder] }))
    const free = async (...words: string[]): Promise<string | undefined> => {
      const { io } = await run('ip', ...words)
      return /^free: +(.*)$/m.exec(io.out())?.[1]
    }
    expect(await free('172.17.0.80')).toBe('8 of 11 (nearest: 172.17.0.82 above)')
    expect(await free('172.17.0.80', '--live', '--from', cwd)).toBe('7 of 11 (nearest: 172.17.0.83 above)')
    expect(await free('172.17.0.82', '--live', '--from', cwd)).toMatch(/^7 of 11 /)
  })

  it.each(['172.17.0.85', '172.17.0.111', '172.18.0.9'])('names the line that pins %s', async (address) => {
    const lines = site.split('\n')
    const line = lines.findIndex((line) => line.includes(address)) + 1
    const { io } = await run('ip', address)
    expect(because(io)).toBe(`pinned at site.yaml:${line}:${(lines[line - 1] ?? '').indexOf(address) + 1}`)
  })

  it('explains an address by the lock, or as the lowest free one before it is locked', async () => {
    expect(because((await run('ip', '172.17.0.80')).io)).toBe('it was the lowest free one; no lock has it yet')
    await run('plan')
    expect(because((await run('ip', '172.17.0.80')).io)).toBe('site.lock.yaml has it')
  })

  it('says that the site file reserves an address, and which span it is left out of', async () => {
    const { io } = await run('ip', '172.19.0.120')
    expect(io.out()).toMatch(/^owner: +none: the site file reserves it$/m)
    expect(io.out()).toMatch(/^span: +reserved, within 172\.19\.0\.100-172\.19\.0\.250$/m)
  })

  it('gives no reason for an address without a holder', async () => {
    const { code, io } = await run('ip', '172.17.0.90')
    expect(code).toBe(0)
    expect(io.out()).toMatch(/^owner: +none$/m)
    expect(because(io)).toBeUndefined()
  })

  it('finds a name on every network', async () => {
    const { io } = await run('ip', 'compute-0', '-o', 'json')
    const [answer] = (JSON.parse(io.out()) as { answers: { addresses: { network: string }[] }[] }).answers
    expect(answer?.addresses.map(({ network }) => network)).toContain('internalapi')
  })

  it('finds the VIP of a Service by its name', async () => {
    const { code, io } = await run('ip', 'keystone-internal')
    expect(code).toBe(0)
    expect(io.out()).toMatch(/^172\.17\.0\.80 +rhoso1 +internalapi +vip keystone\.internal$/m)
  })

  it('finds a VIP by the program that the name of its Service begins with', async () => {
    const { io } = await run('ip', 'dnsmasq')
    expect(io.out()).toMatch(/ctlplane +vip dns$/m)
  })

  it('finds the networks of the cluster itself', async () => {
    expect((await run('ip', '172.30.0.10')).io.out()).toBe(
      "172.30.0.10 is in the cluster's services network 172.30.0.0/16\n",
    )
  })

  it('finds the slots of a service by its name alone', async () => {
    const { code, io } = await run('ip', 'rabbitmq')
    expect(code).toBe(0)
    expect(io.out()).toMatch(/^172\.17\.0\.85 .* vip rabbitmq\.rabbitmq$/m)
    expect(io.out()).toMatch(/ vip rabbitmq\.rabbitmq-cell1$/m)
  })

  it('suggests the closest name for an unknown one', async () => {
    const { code, io } = await run('ip', 'compute-9')
    expect(code).toBe(1)
    expect(io.err()).toContain('did you mean compute-0?')
  })

  it('says how to create a site file where there is none', async () => {
    rmSync(path.join(cwd, 'site.yaml'))
    const { code, io } = await run('ip', '172.17.0.80')
    expect(code).toBe(2)
    expect(io.err()).toContain('or create one with `stackloom init`')
  })
})

describe('stackloom ip audit', () => {
  const dump = async (objects: readonly object[], ...words: string[]) => {
    objects.forEach((object, n) => writeFileSync(path.join(cwd, `${n}.json`), JSON.stringify(object)))
    return run('ip', 'audit', '--from', cwd, ...words)
  }
  const ipPool = {
    apiVersion: 'whereabouts.cni.cncf.io/v1alpha1',
    kind: 'IPPool',
    metadata: { name: 'pool', namespace: 'kube-system' },
    spec: { range: '172.17.0.0/24', allocations: { '31': { id: 'a', podref: 'openstack/gone' } } },
  }
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'other', namespace: 'openstack' } }
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', namespace: 'openstack' },
    spec: { type: 'LoadBalancer' },
    status: { loadBalancer: { ingress: [{ ip: '172.17.0.200' }] } },
  }

  it('shows leaked addresses and ends with 1', async () => {
    const { code, io } = await dump([ipPool, pod])
    expect(code).toBe(1)
    expect(io.out()).toMatch(
      /^openstack +172\.17\.0\.31 +- +leaked +IPPool kube-system\/pool has it for Pod openstack\/gone/m,
    )
  })

  it('judges nothing without the pods and ends with 3', async () => {
    const { code, io } = await dump([ipPool])
    expect(code).toBe(3)
    expect(io.out()).toMatch(/^not judged: Pod: /m)
  })

  it('shows VIPs outside the plan only if a site file is named', async () => {
    expect((await dump([pod, service])).code).toBe(0)
    const { code, io } = await dump([pod, service], '-f', 'site.yaml')
    expect(code).toBe(1)
    expect(io.out()).toMatch(/^openstack +172\.17\.0\.200 +- +not planned +Service openstack\/web has it/m)
  })

  it('refuses a dump without objects', async () => {
    const { code, io } = await run('ip', 'audit', '--from', mkdtempSync(path.join(cwd, 'empty-')))
    expect(code).toBe(2)
    expect(io.err()).toContain('SL1128')
  })

  it('is not followed by a repair of a dump', async () => {
    const { code, io } = await run('ip', 'repair', '--from', cwd)
    expect(code).toBe(2)
    expect(io.err()).toContain('repair has no --from')
  })
})
