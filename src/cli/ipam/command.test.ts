import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { testIo } from '../../../test/io.ts'
import { ipSet, netConfig, networkVersion, threeNetworks } from '../../../test/ipam.ts'
import type { KubeObject } from '../../api/object.ts'
import { main } from '../main.ts'

let folder: string
beforeEach(() => void (folder = mkdtempSync(path.join(tmpdir(), 'stackloom-ipam-'))))
afterEach(() => rmSync(folder, { recursive: true }))

const block: KubeObject = {
  apiVersion: 'stackloom.dev/v1alpha1',
  kind: 'AddressBlock',
  metadata: { name: 'vlan-20.v4-ac110000' },
  spec: {
    segment: 'vlan-20',
    first: '172.17.0.0',
    holders: { '172.17.0.100': 'ns/compute-0 net-1 1' },
  },
}
const reservation: KubeObject = {
  apiVersion: networkVersion,
  kind: 'Reservation',
  metadata: { name: 'compute-0', namespace: 'ns' },
  spec: {
    ipSetRef: {},
    reservation: { 'net-1': { network: 'net-1', subnet: 'subnet1', address: '172.17.0.100' } },
  },
}
/** What infra-operator writes when an address cannot be had, whatever the cause. */
const silent = {
  conditions: [
    {
      type: 'ReservationReady',
      status: 'False',
      message: 'Reservation reservations (0) do not match requested (1)',
    },
  ],
}

async function status(objects: readonly KubeObject[], ...words: string[]): Promise<string> {
  objects.forEach((object, n) => writeFileSync(path.join(folder, `${n}.json`), JSON.stringify(object)))
  const io = testIo()
  expect(await main(['ipam', 'status', '--from', folder, ...words], io)).toBe(0)
  return io.out()
}

describe('stackloom ipam status', () => {
  const waits = { ...ipSet('compute-1', [{ fixedIP: '172.17.0.100' }]), status: silent }

  it('shows the use of every subnet and the IPSets that wait', async () => {
    const out = await status([netConfig(threeNetworks), block, waits])
    expect(out.split('\n')[1]).toMatch(/^ns +net-1 +subnet1 +172\.17\.0\.0\/24 +vlan-20 +1 +100 +1$/)
    expect(out).toMatch(/^ns\/compute-1 +net-1 +Reservation reservations/m)
    expect(out).not.toContain('HOLDER')
    for (const line of out.split('\n').slice(0, 4)) expect(line.length).toBeLessThanOrEqual(80)
  })

  it('lists every holder with -o wide and in JSON', async () => {
    const objects = [netConfig(threeNetworks), block]
    expect(await status(objects, '-o', 'wide')).toMatch(/^172\.17\.0\.100 +net-1 +ns\/compute-0$/m)
    const [first] = JSON.parse(await status(objects, '-o', 'json')).subnets as readonly object[]
    expect(first).toMatchObject({ used: 1, holders: [{ address: '172.17.0.100', owner: 'ns/compute-0' }] })
  })

  it("reads infra-operator's Reservations where there is no ledger, and finds the cause", async () => {
    const out = await status([netConfig(threeNetworks), reservation, waits])
    expect(out.split('\n')[1]).toMatch(/ 1 +100 +1$/)
    expect(out).toMatch(/^ns\/compute-1 +net-1 +172\.17\.0\.100 already reserved on net-1 by ns\/compute-0$/m)
  })

  it('is limited to one namespace with -n, and says when it has no NetConfig', async () => {
    expect(await status([netConfig(threeNetworks)], '-n', 'other')).toBe('no NetConfig found\n')
  })
})
