import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type TestIo, testIo } from '../../../test/io.ts'
import { listCodes, planSpec, siteText } from '../../../test/site.ts'
import { main } from '../main.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'stackloom-slots-'))
})
afterEach(() => rm(folder, { recursive: true }))

async function run(...argv: readonly string[]): Promise<TestIo & { readonly code: number }> {
  const io = testIo({ columns: 120 })
  const code = await main(['slots', ...argv], io)
  return { ...io, code }
}

async function fileWith(value: unknown): Promise<string> {
  const file = path.join(folder, 'crd.yaml')
  await writeFile(file, JSON.stringify(value))
  return file
}

/** A CRD with one unknown slot. */
const override = { type: 'object', properties: { metadata: { type: 'object' }, spec: { type: 'object' } } }
const newer = {
  kind: 'CustomResourceDefinition',
  spec: {
    names: { kind: 'OpenStackControlPlane' },
    versions: [
      {
        storage: true,
        schema: {
          openAPIV3Schema: {
            properties: {
              spec: {
                properties: {
                  zaqar: {
                    properties: {
                      enabled: { type: 'boolean' },
                      template: { properties: { override: { properties: { service: override } } } },
                    },
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
}

describe('stackloom slots', () => {
  it('shows for every slot what it gets and why', async () => {
    const { code, out } = await run()
    expect(code).toBe(0)
    expect(out()).toMatch(/^keystone\.internal +internalapi +shares the address of its network$/m)
    expect(out()).toMatch(/^rabbitmq\.rabbitmq-cell1 +internalapi +its ports clash/m)
    expect(out()).toMatch(/^swift\.swiftProxy +unused +swift is off$/m)
    expect(out()).toMatch(/^ovn\.ovnDBCluster\.\* +unused +hosts reach the databases/m)
    expect(out()).toMatch(/^horizon +unused +public only: reached through a Route$/m)
  })

  it('shows the addresses of a site', async () => {
    const { out } = await run('-f', 'examples/two-clouds.yaml', '-o', 'json')
    const { clouds } = JSON.parse(out()) as {
      clouds: readonly {
        cloud: string
        slots: readonly { uses: readonly { name: string; addresses: string[] }[] }[]
      }[]
    }
    const uses = clouds.map(({ slots }) => slots.flatMap((slot) => slot.uses))
    expect(uses[0]?.find((use) => use.name === 'rabbitmq.rabbitmq')?.addresses).toEqual(['172.17.0.85'])
    expect(uses[1]?.find((use) => use.name === 'keystone.internal')?.addresses).toEqual(['172.27.0.80'])
  })

  it('says which addresses the site file pins', async () => {
    const { out } = await run('-f', 'examples/two-clouds.yaml')
    expect(out()).toMatch(/^rhoso1 +rabbitmq\.rabbitmq +internalapi 172\.17\.0\.85 +`vips` of the site file pins it$/m)
    expect(out()).toMatch(/^rhoso1 +keystone\.internal +internalapi \S+ +shares the address of its network$/m)
  })

  it('prints names that a site file can pin', async () => {
    const file = path.join(folder, 'site.yaml')
    await writeFile(file, siteText({}))
    const lines = (await run('-f', file)).out().matchAll(/^(\S+) +\w+ (\d[\d.]+)/gm)
    const vips = Object.fromEntries([...lines].map(([, name, address]) => [name, address]))
    expect(Object.keys(vips)).toEqual(expect.arrayContaining(['dns', 'keystone.internal', 'rabbitmq.rabbitmq-cell1']))
    expect(listCodes(planSpec({ clouds: [{ name: 'rhoso1', namespace: 'openstack', vips }] }))).toEqual([])
  })

  it('exits 1 for slots that are not covered', async () => {
    const { code, out } = await run('--crd', await fileWith(newer))
    expect(code).toBe(1)
    expect(out()).toContain('not covered')
  })

  it('shows the slots of the 2023 CRD', async () => {
    expect((await run('--crd', '2023', '-o', 'name')).out()).toContain('rabbitmq.templates.*.externalEndpoint\n')
  })

  it.each([
    ['a ConfigMap', { kind: 'ConfigMap' }],
    ['the CRD of another kind', { kind: 'CustomResourceDefinition', spec: { names: { kind: 'NetConfig' } } }],
  ])('refuses %s, with a reason', async (_, value) => {
    const { code, out, err } = await run('--crd', await fileWith(value))
    expect([code, out()]).toEqual([2, ''])
    expect(err()).toContain('SL3008')
  })
})
