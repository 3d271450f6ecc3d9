import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type AddressBlock, addressBlocks, formatHolder } from '../../api/address-block.ts'
import { address, parseAddress } from '../../net/address.ts'
import { blockContaining, createLedger, type HeldAddress } from './ledger.ts'

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

test('writes entries of other programs back as they were, and counts their addresses as held', () => {
  const ledger = createLedger()
  const holders = {
    '10.0.0.10': 'ns/a ctlplane uid-a',
    '10.0.0.11': 'ns/b ctlplane uid-b and more',
    '10.9.0.1': 'ns/c ctlplane uid-c',
    'no address': 'ns/d ctlplane uid-d',
    'FD00::1': 'ns/e ctlplane uid-e',
  }
  const onSegment = (text: string) => ({ segment: 'vlan-20', ...address(text) })
  const id = blockContaining(onSegment('10.0.0.10'))
  ledger.load(block('1', holders))
  expect(ledger.block(id)).toEqual(block('1', holders))
  expect(['10.0.0.10', '10.0.0.11', '10.9.0.1', 'fd00::1'].map((text) => ledger.holder(onSegment(text))?.name)).toEqual(
    ['a', 'b', 'c', 'e'],
  )
  expect([...ledger.heldIn(onSegment('10.0.0.0'), (11n << 24n) - 1n)].map(({ holder }) => holder.name)).toEqual([
    'a',
    'b',
    'c',
  ])
  // Read again without a change, and then without one of them.
  expect(ledger.load(block('2', holders))).toEqual([])
  const { '10.9.0.1': _, ...rest } = holders
  expect(ledger.load(block('3', rest)).map(({ holder }) => holder.name)).toEqual(['c'])
  expect(ledger.holder(onSegment('10.9.0.1'))).toBeUndefined()
  expect(ledger.drop('vlan-20.v4-0a000000').map(({ holder }) => holder.name)).toEqual(['a', 'b', 'e'])
  expect([...ledger.all()]).toEqual([])
})

test('finds a block that holds nothing by its name, with the version to write it on', () => {
  const ledger = createLedger()
  const id = { segment: 'vlan-20', family: 4, first: 10n << 24n } as const
  ledger.load(block('1', {}))
  expect(ledger.block(id)?.metadata.resourceVersion).toBe('1')
  ledger.load(block('2', { '10.0.0.10': 'ns/a ctlplane uid-a' }))
  ledger.load(block('3', {}))
  expect(ledger.block(id)).toEqual(block('3', {}))
  expect(ledger.heldInBlock(id).size).toBe(0)
})

test('answers as the blocks that were loaded last say, in whatever order they change (property)', () => {
  const texts = ['10.0.0.1', '10.0.0.2', '10.0.0.255', '10.0.1.1', 'fd00::1', 'FD00::2', 'none']
  const names = ['vlan-20.v4-0a000000', 'vlan-20.v4-0a000100', 'vlan-20.v6-fd000000000000000000000000000000', 'other']
  const holders = ['ns/a ctlplane u1', 'ns/a ctlplane u2', 'ns/b storage u3']
  const change = fc.record({
    name: fc.constantFrom(...names),
    // Of an address that several blocks have, the ledger knows one: each block has addresses of its own here.
    holders: fc.option(fc.array(fc.tuple(fc.nat(texts.length - 1), fc.constantFrom(...holders))), { nil: undefined }),
  })
  fc.assert(
    fc.property(
      fc.array(change, { maxLength: 12 }),
      fc.array(fc.nat(3), { minLength: 7, maxLength: 7 }),
      (all, homes) => {
        const ledger = createLedger()
        const model = new Map<string, Readonly<Record<string, string>>>()
        all.forEach(({ name, holders: given }, version) => {
          const own = given?.filter(([index]) => names[homes[index] ?? 0] === name)
          const entries = own && Object.fromEntries(own.map(([index, holder]) => [texts[index], holder]))
          const before = Object.entries(model.get(name) ?? {}).filter(([text]) => parseAddress(text))
          const lost = before.filter(([text, holder]) => entries?.[text] !== holder)
          const made = entries && {
            ...block(String(version), entries),
            metadata: { name, resourceVersion: `${version}` },
          }
          expect(made ? ledger.load(made) : ledger.drop(name)).toHaveLength(lost.length)
          if (entries) model.set(name, entries)
          else model.delete(name)
        })
        const expected = [...model.values()].flatMap((entries) =>
          Object.entries(entries).flatMap(([text, holder]) => {
            const parsed = parseAddress(text)
            return parsed ? [`${parsed.family} ${parsed.value} ${holder}`] : []
          }),
        )
        const show = ({ address: { family, value }, holder }: HeldAddress) =>
          `${family} ${value} ${formatHolder(holder)}`
        expect([...ledger.all()].map(show).sort()).toEqual(expected.toSorted())
        expect(['ns/a', 'ns/b'].flatMap(ledger.heldBy).map(show).sort()).toEqual(expected.toSorted())
        const inRange = [4, 6].flatMap((family) => [
          ...ledger.heldIn({ segment: 'vlan-20', family: family as 4 | 6, value: 0n }, 1n << 128n),
        ])
        expect(inRange.map(show).sort()).toEqual(expected.toSorted())
        for (const entry of ledger.all()) expect(ledger.holder(entry.address)).toEqual(entry.holder)
        expect(ledger.holder({ segment: 'vlan-20', ...address('10.0.0.77') })).toBeUndefined()
      },
    ),
  )
})
