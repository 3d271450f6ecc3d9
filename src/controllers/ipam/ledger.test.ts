import { expect, test } from 'vitest'
import { type AddressBlock, addressBlocks } from '../../api/address-block.ts'
import { createLedger } from './ledger.ts'

const block = (version: string, holders: Readonly<Record<string, string>>): AddressBlock => ({
  ...addressBlocks,
  metadata: { name: 'vlan-20.v4-0a000000', resourceVersion: version },
  spec: { segment: 'vlan-20', first: '10.0.0.0', holders },
})

const held = (ledger: ReturnType<typeof createLedger>, owner: string) =>
  ledger.heldBy(owner).map(({ address, holder }) => `${address.value - (10n << 24n)} ${holder.uid}`)

test('keeps one entry per address, however often its block is written', () => {
  const ledger = createLedger()
  ledger.load(block('1', { '10.0.0.10': 'ns/a ctlplane uid-a' }))
  ledger.load(block('2', { '10.0.0.10': 'ns/a ctlplane uid-a', '10.0.0.11': 'ns/b ctlplane uid-b' }))
  const all = [...ledger.all()]
  expect(all).toHaveLength(2)
  expect(all[0]).toBe(ledger.heldBy('ns/a')[0])
})

test('moves an address to its new holder, and reports the one that lost it', () => {
  const ledger = createLedger()
  ledger.load(block('1', { '10.0.0.10': 'ns/a ctlplane uid-a', '10.0.0.12': 'ns/a storage uid-a' }))
  const lost = ledger.load(block('2', { '10.0.0.10': 'ns/b ctlplane uid-b', '10.0.0.12': 'ns/a storage uid-a' }))
  expect(lost.map(({ holder }) => holder.name)).toEqual(['a'])
  expect(held(ledger, 'ns/a')).toEqual(['12 uid-a'])
  expect(held(ledger, 'ns/b')).toEqual(['10 uid-b'])
  expect(ledger.drop('vlan-20.v4-0a000000')).toHaveLength(2)
  expect(held(ledger, 'ns/a')).toEqual([])
})
