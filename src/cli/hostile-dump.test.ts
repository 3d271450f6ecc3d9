/** Feeds every command that reads a dump with dumps of which one field has another type: it reports, and never crashes. */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { count } from '../../test/counts.ts'
import { exampleDump, mutations, wrongValues } from '../../test/dump-mutations.ts'
import { useFolder } from '../../test/folder.ts'
import { testIo } from '../../test/io.ts'
import { main } from './main.ts'

const folder = useFolder()
const site = path.resolve('examples/two-clouds.yaml')
const commands = [
  'dns status',
  `dns hosts --cloud rhoso1 --live -f ${site}`,
  'ipam status -o wide',
  'status --all',
  'status --data-plane',
  'dataplane convert',
  'import --source cluster',
  `ip 172.17.0.80 --live -f ${site}`,
  `verify -f ${site}`,
  'doctor',
]

async function run(command: string, items: readonly unknown[]) {
  const file = path.join(folder, 'dump.json')
  writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
  const io = testIo({ cwd: folder })
  const code = await main([...command.split(' '), '--from', file], io)
  return { code, err: io.err(), out: io.out() }
}

describe('a dump with a value of the wrong type', { timeout: count({ test: 600_000, soak: 3_600_000 }) }, () => {
  it.each(commands)('does not crash %s', async (command) => {
    const dump = exampleDump()
    // All 14,000 for every command take hours: each command gets others, in `make soak` the ten together half of them.
    const every = count({ test: 200, soak: 20 })
    let index = commands.indexOf(command) * 2
    for (const value of wrongValues) {
      for (const { kind, path: field, objects } of mutations(dump, value)) {
        index += 1
        if (index % every !== 0) continue
        const { code, err } = await run(command, objects)
        expect(err, `${kind} ${field} = ${JSON.stringify(value)}`).not.toContain('SL1000')
        expect([0, 1, 2, 3]).toContain(code)
      }
    }
  })

  it.each([
    ['spec', 5],
    ['hosts', { spec: { hosts: 5 } }],
    ['an item', { spec: { hosts: [5] } }],
  ])('is reported with its object and field, and the rest is shown: %s', async (_, change) => {
    const broken = exampleDump().map((object) =>
      object.kind === 'DNSData' ? { ...object, ...(typeof change === 'number' ? { spec: change } : change) } : object,
    )
    const { code, err, out } = await run('dns status', broken)
    expect(code).toBe(0)
    expect(err).toMatch(/SL1169: spec\S* of DNSData \S+ is a number, and it must be an? /)
    expect(out).toContain('hand.example.com')
  })

  it.each(['a$(touch attacked)', 'a;b', "a'b", '-a', 'a\nb'])(
    'leaves out an object called %j, because its name is printed in commands',
    async (name) => {
      const hostile = exampleDump().map((object) => ({ ...object, metadata: { ...object.metadata, name } }))
      for (const command of commands) {
        const { err, out } = await run(command, hostile)
        expect(err, command).not.toMatch(/SL1000|^ +fix:.*(\$\(touch|a;b|a'b| -a)/m)
        expect(out, command).not.toContain('$(touch')
      }
    },
  )

  it('is not seen in a dump without one', async () => {
    for (const command of commands) expect((await run(command, exampleDump())).err).not.toContain('SL1169')
  })
})
