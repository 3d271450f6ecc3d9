import { spawnSync } from 'node:child_process'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type TestIo, testIo } from '../../../test/io.ts'
import { siteText } from '../../../test/site.ts'
import { emptyLock } from '../../plan/lock.ts'
import { readLock } from '../../plan/lock-file.ts'
import { writeLock } from '../../plan/written-lock.ts'
import type { Io } from '../io.ts'
import { main } from '../main.ts'

let cwd = ''
beforeEach(() => {
  cwd = mkdtempSync(path.join(tmpdir(), 'stackloom-plan-'))
})
afterEach(() => {
  rmSync(cwd, { recursive: true, force: true })
})

const nodes = [0, 1, 2].map((index) => ({ name: `worker-${index}`, nic: 'enp6s0' }))
const two = siteText({
  cluster: { nodes, dns: ['192.168.122.1'] },
  clouds: [
    { name: 'rhoso1', namespace: 'openstack', hosts: [{ name: 'compute-0' }] },
    { name: 'rhoso2', namespace: 'openstack2' },
  ],
})
const broken = siteText({
  clouds: [{ name: 'rhoso1', namespace: 'openstack', networks: { storage: { vlan: 5000 } } }],
})
const file = (name: string): string => path.join(cwd, name)
const lock = (): string => readFileSync(file('site.lock.yaml'), 'utf8')

async function run(
  words: string,
  overrides: Partial<Io> = {},
): Promise<{ readonly code: number; readonly io: TestIo }> {
  const io = testIo({ cwd, ...overrides })
  return { code: await main(words.split(' '), io), io }
}

describe('stackloom plan', () => {
  it('colours the header on a terminal, with the same text and width', async () => {
    writeFileSync(file('site.yaml'), two)
    const plain = await run('plan --check', { columns: 120 })
    const coloured = await run('plan --check', { columns: 120, colour: { stdout: true, stderr: true } })
    expect(coloured.io.out()).toContain('\u001b[1mCLOUD')
    // oxlint-disable-next-line no-control-regex -- colour codes begin with one
    expect(coloured.io.out().replaceAll(/\u001b\[\d+m/g, '')).toBe(plain.io.out())
  })

  it('draws the address map and the topology, and refuses other formats before it writes', async () => {
    writeFileSync(file('site.yaml'), two)
    for (const option of ['--picture plan.png', '--picture plan.mmd', '--topology site.pdf']) {
      const { code, io } = await run(`plan ${option}`)
      expect(code).toBe(2)
      expect(io.err()).toContain('must end in .svg')
    }
    expect(existsSync(file('site.lock.yaml'))).toBe(false)
    expect((await run('plan --picture plan.svg --topology site.svg')).code).toBe(0)
    expect((await run('plan --topology site.mmd')).code).toBe(0)
    for (const name of ['plan.svg', 'site.svg']) expect(readFileSync(file(name), 'utf8')).toMatch(/^<svg /)
    expect(readFileSync(file('site.mmd'), 'utf8')).toMatch(/^flowchart /)
  })

  it('shows only the clouds of --cloud, plans all, and refuses an unknown one', async () => {
    writeFileSync(file('site.yaml'), two)
    const { code, io } = await run('plan --cloud rhoso2 -o json')
    expect(code).toBe(0)
    const { clouds } = JSON.parse(io.out()) as { readonly clouds: readonly { readonly name: string }[] }
    expect(clouds.map(({ name }) => name)).toEqual(['rhoso2'])
    expect(lock()).toContain('rhoso1')
    const unknown = await run('plan --cloud rhoso3')
    expect(unknown.code).toBe(2)
    expect(unknown.io.err()).toContain('rhoso3')
  })

  it('fits 80 columns with a table per cloud and the use of vips spans', async () => {
    writeFileSync(file('site.yaml'), two)
    const { io } = await run('plan', { columns: 80 })
    expect(
      io
        .out()
        .split('\n')
        .filter((line) => line.length > 80),
    ).toEqual([])
    expect(io.out()).toMatch(/^rhoso2 \(namespace openstack2\)$/m)
    expect(io.out()).toMatch(/^internalapi +20 +172\.17\.0\.0\/24 +\.5-\.29 +\.30-\.70 +\.80-\.90 3\/11 +\.100-\.250$/m)
  })

  it('prints a table and writes the lock beside the site file, once', async () => {
    writeFileSync(file('site.yaml'), two)
    const { code, io } = await run('plan', { columns: 160 })
    expect(code).toBe(0)
    expect(io.out()).toMatch(
      /rhoso1 +internalapi +20 +172\.17\.0\.0\/24 +\.5-\.29 3\/25 +\.30-\.70 +\.80-\.90 3\/11 +\.100-\.250 1\/151/,
    )
    expect(io.err()).toContain('site.lock.yaml is written; new: rhoso1, rhoso2\n')
    const before = lock()
    const again = await run('plan')
    expect(again.io.err()).toMatch(/^2 clouds, \d+ subnets: no findings\. Nothing was written\.\n$/)
    expect(lock()).toBe(before)
  })

  it('prints the documented JSON, with addresses as strings', async () => {
    writeFileSync(file('site.yaml'), two)
    const { io } = await run('plan -o json')
    const printed = JSON.parse(io.out()) as Record<string, unknown>
    expect(printed).toMatchObject({ site: 'lab', findings: [] })
    const [cloud] = printed['clouds'] as Record<string, unknown>[]
    expect(cloud).toMatchObject({ name: 'rhoso1', namespace: 'openstack' })
    const networks = cloud?.['networks'] as Record<string, unknown>[]
    expect(networks.find((network) => network['name'] === 'internalapi')).toMatchObject({
      vlan: 20,
      interface: 'enp6s0.20',
      mtu: 1500,
      pool: 'openstack-internalapi',
      sharingKey: 'openstack-internalapi',
      subnets: [
        {
          cidr: '172.17.0.0/24',
          spans: [{ role: 'nodes', start: '172.17.0.5', end: '172.17.0.29' }, {}, {}, {}],
        },
      ],
      nodes: [{ name: 'worker-0', address: '172.17.0.5' }, {}, {}],
      hosts: [{ name: 'compute-0', address: '172.17.0.100', names: ['compute-0.internalapi.rhoso1.example.com'] }],
    })
  })

  it('exits 1 for a plan with errors, without a lock, with the location on stderr', async () => {
    writeFileSync(file('site.yaml'), broken)
    const { code, io } = await run('plan')
    expect(code).toBe(1)
    expect(io.err()).toMatch(
      /site\.yaml:\d+:\d+: error SL2204[^]*\n\d+ clouds?, \d+ subnets: \d+ errors?\b.*Nothing was written\.\n$/,
    )
    expect(existsSync(file('site.lock.yaml'))).toBe(false)
  })

  it('with --check writes nothing, and exits 1 if the lock is out of date', async () => {
    writeFileSync(file('site.yaml'), two)
    expect((await run('plan --check')).code).toBe(1)
    expect(existsSync(file('site.lock.yaml'))).toBe(false)
    await run('plan')
    expect((await run('plan --check')).code).toBe(0)
  })

  it('with --check annotates the cloud that the lock lacks, and names one that has left the file', async () => {
    const third = two.replace('- name: rhoso2', '- {name: rhoso3, namespace: openstack3}\n  - name: rhoso2')
    expect(third).not.toBe(two)
    writeFileSync(file('site.yaml'), two)
    await run('plan')
    writeFileSync(file('site.yaml'), third)
    const added = await run('plan --check -o github')
    expect(added.code).toBe(1)
    const line = third.split('\n').findIndex((text) => text.includes('rhoso3')) + 1
    expect(added.io.out()).toMatch(new RegExp(`^::error file=site.yaml,line=${line},.*SL2403.*it lacks rhoso3`, 'm'))
    await run('plan')
    writeFileSync(file('site.yaml'), two)
    expect((await run('plan --check')).io.err()).toContain('the lock is not up to date: it still has rhoso3')
  })

  it('with --locked fails instead of adding a decision', async () => {
    writeFileSync(file('site.yaml'), two)
    const { code, io } = await run('plan --locked')
    expect(code).toBe(1)
    expect(io.err()).toContain('SL2403')
    expect(existsSync(file('site.lock.yaml'))).toBe(false)
    await run('plan')
    expect((await run('plan --locked')).code).toBe(0)
  })

  it('with --diff shows each change with its risk, and writes nothing', async () => {
    writeFileSync(file('site.yaml'), two)
    await run('plan')
    const before = lock()
    writeFileSync(file('site.yaml'), two.replace('compute-0', 'compute-1'))
    const { io } = await run('plan --diff')
    expect(io.out()).toMatch(/rhoso1\/storage +host compute-1 +- +172\.18\.0\.101 +safe/)
    expect(lock()).toBe(before)
    const json = JSON.parse((await run('plan --diff -o json')).io.out()) as { changes: unknown[] }
    expect(json.changes).toContainEqual(expect.objectContaining({ what: 'host compute-0', risk: 'safe' }))
  })

  it('refuses to move what the lock has, until --allow-move names it', async () => {
    writeFileSync(file('site.yaml'), two)
    await run('plan')
    const before = lock()
    const pinned = siteText({
      clouds: [
        {
          name: 'rhoso1',
          namespace: 'openstack',
          networks: { storage: { vlan: 99 } },
          hosts: [{ name: 'compute-0' }],
        },
        { name: 'rhoso2', namespace: 'openstack2' },
      ],
    })
    writeFileSync(file('site.yaml'), pinned)
    const refused = await run('plan')
    expect([refused.code, lock() === before]).toEqual([1, true])
    expect(refused.io.err()).toContain('vlan 21 -> 99')
    expect((await run('plan --allow-move rhoso1')).code).toBe(0)
    expect(lock()).toContain('vlan: 99')
  })

  it('refuses a broken lock', async () => {
    writeFileSync(file('site.yaml'), two)
    writeFileSync(file('site.lock.yaml'), '<<<<<<< HEAD\n')
    const { code, io } = await run('plan')
    expect(code).toBe(2)
    expect(io.err()).toContain('SL2404')
    expect(lock()).toBe('<<<<<<< HEAD\n')
  })

  it('loses no decision when several runs write one lock: the others fail and say so', async () => {
    const clouds = [0, 1, 2, 3, 4].map((index) => `cloud${index}`)
    for (const name of clouds) writeFileSync(file(`${name}.yaml`), siteText({ clouds: [{ name, namespace: name }] }))
    const pending = new Set(clouds)
    while (pending.size > 0) {
      const runs = [...pending].map(async (name) => ({
        name,
        ...(await run(`plan -f ${name}.yaml --lock site.lock.yaml`)),
      }))
      const results = await Promise.all(runs)
      for (const { name, code, io } of results) {
        if (code === 0) pending.delete(name)
        else expect([code, io.err()]).toEqual([1, expect.stringContaining('SL2410')])
      }
      expect(results.some(({ code }) => code === 0)).toBe(true)
    }
    const { lock: written } = readLock(lock(), 'site.lock.yaml')
    expect(Object.keys(written?.clouds ?? {}).sort()).toEqual(clouds)
    expect(readdirSync(cwd).filter((name) => name.startsWith('.'))).toEqual([])
  })

  it('writes through a symbolic link, which stays one', async () => {
    writeFileSync(file('site.yaml'), two)
    mkdirSync(file('locks'))
    symlinkSync('locks/lab.yaml', file('site.lock.yaml'))
    writeFileSync(file('locks/lab.yaml'), writeLock(emptyLock('lab')))
    expect((await run('plan')).code).toBe(0)
    expect(lstatSync(file('site.lock.yaml')).isSymbolicLink()).toBe(true)
    expect(readFileSync(file('locks/lab.yaml'), 'utf8')).toContain('rhoso1')
  })

  it('goes on after a run that was killed while it wrote, and removes what that run left', async () => {
    writeFileSync(file('site.yaml'), two)
    const { pid } = spawnSync(process.execPath, ['-e', ''])
    writeFileSync(file('.site.lock.yaml.writing'), String(pid))
    writeFileSync(file(`.site.lock.yaml.${pid}.tmp`), 'half')
    expect((await run('plan')).code).toBe(0)
    expect(readdirSync(cwd).sort()).toEqual(['site.lock.yaml', 'site.yaml'])
  })

  it('reads a site from stdin, and then has no lock unless --lock names one', async () => {
    expect((await run('plan -f -', { stdin: Readable.from([two]) })).code).toBe(0)
    expect(existsSync(file('site.lock.yaml'))).toBe(false)
    await run('plan -f - --lock my.lock.yaml', { stdin: Readable.from([two]) })
    expect(existsSync(file('my.lock.yaml'))).toBe(true)
  })

  it('draws the address map with conflicts', async () => {
    writeFileSync(file('site.yaml'), two)
    await run('plan --picture plan.svg')
    expect(readFileSync(file('plan.svg'), 'utf8')).toMatch(/^<svg .*<\/svg>\n$/s)
  })

  it('exits 2 for a file that does not exist or is not a site', async () => {
    expect((await run('plan -f none.yaml')).code).toBe(2)
    writeFileSync(file('site.yaml'), 'kind: Pod\n')
    const { code, io } = await run('plan')
    expect(code).toBe(2)
    expect(io.err()).toMatch(/site\.yaml:1:\d+/)
  })
})

describe('stackloom ip', () => {
  beforeEach(() => writeFileSync(file('site.yaml'), two))

  it('shows the owner of an address with its cloud, network and span, and what is free beside it', async () => {
    const { code, io } = await run('ip 172.17.0.80 -o json')
    expect(code).toBe(0)
    const { answers } = JSON.parse(io.out()) as { answers: Record<string, unknown>[] }
    expect(answers).toEqual([
      expect.objectContaining({
        kind: 'address',
        cloud: 'rhoso1',
        network: 'internalapi',
        role: 'vips',
        span: '172.17.0.80-172.17.0.90',
        free: { after: '172.17.0.83', count: '8', of: '11' },
      }),
    ])
    expect(answers[0]?.['holders']).toContain('keystone.internal')
  })

  it('finds a host by its name and its DNS name, and a slot by its name', async () => {
    expect((await run('ip compute-0')).io.out()).toMatch(/172\.17\.0\.100 +rhoso1 +internalapi +host compute-0/)
    expect((await run('ip compute-0.storage.rhoso1.example.com')).io.out()).toContain('172.18.0.100')
    expect((await run('ip keystone.internal')).io.out()).toContain('172.17.1.80')
  })

  it('shows networks of the cluster, free addresses and unknown names', async () => {
    expect((await run('ip 172.30.0.1')).io.out()).toContain('services network')
    expect((await run('ip 172.17.0.120')).io.out()).toContain('owner:   none')
    expect((await run('ip 192.168.122.1')).io.out()).toContain('gateway')
    const { code, io } = await run('ip compute-9')
    expect(code).toBe(1)
    expect(io.err()).toContain('did you mean compute-0')
  })
})
