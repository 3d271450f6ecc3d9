import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useFolder } from '../../../test/folder.ts'
import { testIo } from '../../../test/io.ts'
import { type NetBoxServer, startNetBox } from '../../../test/netbox-server.ts'
import { smallSite, smallSiteWith } from '../../../test/site-files.ts'
import { main } from '../main.ts'

const TOKEN = 'nbt_key.very-secret-token'

describe('stackloom netbox', () => {
  const folder = useFolder()
  let server: NetBoxServer
  beforeAll(async () => {
    server = await startNetBox(TOKEN)
    await writeFile(path.join(folder, 'site.yaml'), smallSite)
    await writeFile(path.join(folder, 'token'), `${TOKEN}\n`)
  })
  afterAll(() => server.close())

  const run = async (words: readonly string[], env: Readonly<Record<string, string>> = { NETBOX_TOKEN: TOKEN }) => {
    const io = testIo({ cwd: folder, env, columns: 200 })
    const code = await main(['netbox', ...words, '--url', server.url], io)
    expect(io.err() + io.out()).not.toContain(TOKEN)
    return { code, out: io.out(), err: io.err() }
  }
  const changes = (out: string) =>
    (
      JSON.parse(out) as {
        readonly changes: readonly { readonly change: string; readonly type: string; readonly key: string }[]
      }
    ).changes

  it('needs a token, from the environment or a file', async () => {
    expect((await run(['diff'], {})).err).toContain('SL2231')
    expect((await run(['diff'], { NETBOX_TOKEN: 'wrong' })).err).toContain('SL2230')
    expect((await run(['diff', '--token-file', 'token'], {})).code).toBe(1)
  })

  it('writes nothing without consent', async () => {
    expect((await run(['export'])).err).toContain('SL2234')
    expect((await run(['export', '--dry-run'])).code).toBe(0)
    expect(server.requests.filter((request) => !request.startsWith('GET'))).toEqual([])
  })

  it('writes VLANs, prefixes and addresses of the plan, with the tag of the site', async () => {
    const foreign = server.add('ipam/prefixes', { prefix: '198.51.100.0/24', description: 'of another team' })
    const { code, err } = await run(['export', '--yes'])
    expect(code, err).toBe(0)
    const [prefix] = server.entries('ipam/prefixes').filter(({ description }) => description === 'rhoso1/internalapi')
    expect(prefix).toMatchObject({ tags: [{ slug: 'stackloom-lab' }], status: 'active' })
    const vlan = server.entries('ipam/vlans').find(({ id }) => id === prefix?.['vlan'])
    expect(vlan).toMatchObject({ name: 'lab rhoso1/internalapi' })
    const addresses = server.entries('ipam/ip-addresses').map(({ description }) => description)
    expect(addresses).toContain('rhoso1/internalapi node worker-0')
    expect(addresses).toContain('rhoso2/internalapi VIP')
    expect(server.entries('ipam/prefixes').some(({ id }) => id === foreign)).toBe(true)
    const again = await run(['diff', '-o', 'json'])
    expect(changes(again.out)).toEqual([])
    expect(again.code).toBe(0)
  })

  it('shows and repairs what was changed in NetBox', async () => {
    const [address] = server.entries('ipam/ip-addresses')
    Object.assign(address ?? {}, { description: 'changed' })
    const { code, out } = await run(['diff', '-o', 'json'])
    expect(changes(out)).toMatchObject([{ change: 'update', type: 'ip-addresses', before: { description: 'changed' } }])
    expect(code).toBe(1)
    expect((await run(['export', '--yes'])).code).toBe(0)
    expect((await run(['diff'])).code).toBe(0)
  })

  it('deletes what left the plan, and nothing that it did not make', async () => {
    const untouched = server.add('ipam/ip-addresses', { address: '198.51.100.7/24', description: 'a printer' })
    const other = server.add('ipam/vlans', { vid: 7, name: 'x', tags: [{ slug: 'stackloom-elsewhere' }] })
    await writeFile(
      path.join(folder, 'site.yaml'),
      smallSiteWith({ clouds: [{ name: 'rhoso1', namespace: 'openstack' }] }),
    )
    const { code, out } = await run(['export', '--yes', '-o', 'json'])
    expect(code).toBe(0)
    expect(changes(out).some(({ change, key }) => change === 'delete' && key.includes('rhoso2'))).toBe(true)
    expect(server.entries('ipam/vlans').some(({ name }) => String(name).includes('rhoso2'))).toBe(false)
    expect(server.entries('ipam/ip-addresses').some(({ id }) => id === untouched)).toBe(true)
    expect(server.entries('ipam/vlans').some(({ id }) => id === other)).toBe(true)
  })

  it('reports an entry of others that contradicts the plan, and leaves it', async () => {
    const [prefix] = server.entries('ipam/prefixes').filter(({ description }) => description === 'rhoso1/storage')
    Object.assign(prefix ?? {}, { tags: [], description: 'of the storage team' })
    const { code, err } = await run(['export', '--yes'])
    expect(err).toContain('SL2232')
    expect(code).toBe(0)
    expect(prefix).toMatchObject({ description: 'of the storage team' })
  })

  it('prints prefixes by tenant and role as pins, with addresses in use as reserved', async () => {
    const vlan = server.add('ipam/vlans', { vid: 120, name: 'corp' })
    const named = { tenant: { slug: 'rhoso9' }, role: { slug: 'ctlplane' } }
    server.add('ipam/prefixes', { prefix: '203.0.113.0/24', ...named, vlan })
    server.add('ipam/ip-addresses', { address: '203.0.113.1/24', tags: [{ slug: 'gateway' }] })
    server.add('ipam/ip-addresses', { address: '203.0.113.9/24' })
    const { code, out } = await run(['import', '--tenant', 'rhoso9', '-o', 'json'])
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      spec: {
        clouds: [
          {
            name: 'rhoso9',
            networks: {
              ctlplane: {
                vlan: 120,
                subnets: [{ cidr: '203.0.113.0/24', gateway: '203.0.113.1', reserved: ['203.0.113.9'] }],
              },
            },
          },
        ],
      },
    })
    expect((await run(['import'])).err).toContain('SL2233')
  })

  it('reads all pages from the given server where links name the one behind a proxy', async () => {
    const before = await run(['diff', '-o', 'json'])
    server.linkOrigin = 'http://127.0.0.1:1'
    expect(await run(['diff', '-o', 'json'])).toEqual(before)
    delete server.linkOrigin
  })

  it('takes the same prefix in a VRF for another one', async () => {
    const vrf = server.add('ipam/vrfs', { name: 'lab' })
    const before = await run(['diff', '-o', 'json'])
    server.add('ipam/prefixes', { prefix: '172.17.0.0/24', vrf, description: 'of another lab' })
    server.add('ipam/ip-addresses', { address: '203.0.113.20/24', vrf })
    expect(await run(['diff', '-o', 'json'])).toEqual(before)
    expect((await run(['import', '--tenant', 'rhoso9', '-o', 'json'])).out).not.toContain('203.0.113.20')
  })

  it.each([
    ['http://netbox.example.com', 'HTTPS only'],
    ['https://user:pw@netbox.example.com', 'user'],
    ['netbox', 'not a URL'],
  ])('refuses %s', async (url, reason) => {
    const io = testIo({ cwd: folder, env: { NETBOX_TOKEN: TOKEN } })
    expect(await main(['netbox', 'diff', '--url', url], io)).toBe(2)
    expect(io.err()).toContain(reason)
    expect(io.err()).not.toContain('pw')
  })

  it('keeps sites with the same subnets apart by a VRF', async () => {
    expect((await run(['export', '--yes', '--vrf', 'paris'])).err).toContain('SL2236')
    const paris = server.add('ipam/vrfs', { name: 'paris' })
    await writeFile(path.join(folder, 'paris.yaml'), smallSite.replace('name: lab', 'name: paris'))
    const words = ['-f', 'paris.yaml', '--vrf', 'paris']
    const before = server.entries('ipam/prefixes').filter(({ vrf }) => vrf !== paris)
    const { code, err } = await run(['export', '--yes', ...words])
    expect(code, err).toBe(0)
    expect(err).not.toContain('SL2232')
    const written = server.entries('ipam/prefixes').filter(({ vrf }) => vrf === paris)
    expect(written.map(({ prefix }) => prefix)).toContain('172.17.0.0/24')
    expect(server.entries('ipam/prefixes').filter(({ vrf }) => vrf !== paris)).toEqual(before)
    expect(changes((await run(['diff', '-o', 'json', ...words])).out)).toEqual([])
  })
})
