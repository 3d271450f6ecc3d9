import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type TestIo, testIo } from '../../../test/io.ts'
import { siteText } from '../../../test/site.ts'
import { main } from '../main.ts'

let cwd = ''
beforeEach(() => {
  cwd = mkdtempSync(path.join(tmpdir(), 'stackloom-capacity-'))
  writeFileSync(path.join(cwd, 'site.yaml'), site)
})
afterEach(() => rmSync(cwd, { recursive: true, force: true }))

const site = siteText({
  clouds: [
    {
      name: 'rhoso1',
      namespace: 'openstack',
      hosts: [{ name: 'compute-0' }],
      networks: { internalapi: { vlan: 30, subnets: [{ cidr: '172.27.0.0/24' }] } },
    },
  ],
})

async function capacity(...words: string[]): Promise<{ readonly code: number; readonly io: TestIo }> {
  const io = testIo({ cwd })
  return { code: await main(['capacity', ...words], io), io }
}

describe('stackloom capacity', () => {
  it('shows the planned use of every span and that one more cloud fits, and writes nothing', async () => {
    const { code, io } = await capacity()
    expect(code).toBe(0)
    expect(io.out()).toMatch(/^rhoso1 +internalapi +hosts +1 +150$/m)
    expect(io.out()).toMatch(/^1 more cloud: yes$/m)
    expect(readdirSync(cwd)).toEqual(['site.yaml'])
    expect(readFileSync(path.join(cwd, 'site.yaml'), 'utf8')).toBe(site)
  })

  it('names the first thing that runs out, and how many fit instead', async () => {
    const { code, io } = await capacity('--hosts', 'rhoso1=200', '-o', 'json')
    expect(code).toBe(1)
    const { answers } = JSON.parse(io.out()) as { readonly answers: readonly object[] }
    expect(answers).toMatchObject([
      { what: '200 more hosts in rhoso1', fits: false, most: 150, limit: { code: 'SL2303' } },
    ])
    expect((await capacity('--hosts', 'rhoso1=150')).code).toBe(0)
  })

  it('gives a new cloud numbers of its own', async () => {
    expect((await capacity('--clouds', '20')).code).toBe(0)
    const { code, io } = await capacity('--clouds', '4000')
    expect(code).toBe(1)
    expect(io.out()).toMatch(/^4000 more clouds: no; \d+ would fit$/m)
  }, 120_000)

  it('refuses an unknown cloud', async () => {
    const { code, io } = await capacity('--hosts', 'rhoso2=1')
    expect(code).toBe(2)
    expect(io.err()).toContain('did you mean rhoso1?')
  })

  it('counts what a cluster has given out and forecasts by the hosts of the last weeks', async () => {
    const DAY = 86_400_000
    const objects = [
      {
        apiVersion: 'network.openstack.org/v1beta1',
        kind: 'NetConfig',
        metadata: { name: 'netconfig', namespace: 'openstack' },
        spec: {
          networks: [
            {
              name: 'internalapi',
              dnsDomain: 'a.b',
              subnets: [
                {
                  name: 'subnet1',
                  cidr: '172.27.0.0/24',
                  allocationRanges: [{ start: '172.27.0.100', end: '172.27.0.119' }],
                },
              ],
            },
          ],
        },
      },
      ...[1, 2, 10, 20, 300].map((days, index) => ({
        apiVersion: 'network.openstack.org/v1beta1',
        kind: 'Reservation',
        metadata: {
          name: `compute-${index}`,
          namespace: 'openstack',
          creationTimestamp: new Date(Date.now() - days * DAY).toISOString(),
        },
        spec: {
          ipSetRef: {},
          reservation: {
            internalapi: { network: 'internalapi', subnet: 'subnet1', address: `172.27.0.10${index}` },
          },
        },
      })),
    ]
    writeFileSync(path.join(cwd, 'dump.json'), JSON.stringify({ kind: 'List', apiVersion: 'v1', items: objects }))
    const { io } = await capacity('--live', '--from', cwd)
    expect(io.out()).toMatch(/^rhoso1 +internalapi +hosts +5 +15 +1 +15 weeks$/m)
  })
})
