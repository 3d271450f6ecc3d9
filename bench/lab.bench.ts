/** Compares checking and rendering a lab with a bare start of Node. Secrets are measured separately. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Figure } from '../tools/figure.ts'
import { once, ratio, runProgram, timed } from '../tools/measure.ts'

const node = (...args: string[]) => runProgram(process.execPath, args)
const stackloom = (...args: string[]) => node('bin/stackloom', 'lab', ...args)
const file = 'examples/lab-three-node.yaml'
const bare = () => node('-e', '0')

/** A tree with all its secrets, from a first rendering. */
const rendered = once(async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'stackloom-bench-lab-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const first = await timed(() => stackloom('render', '-f', file, '--out', path.join(folder, 'osl')))
  return { folder, first }
})

export const figures: readonly Figure[] = [
  {
    name: 'lab.check',
    unit: 'x',
    target: { op: '<=', value: 3 },
    measure: () => ratio({ ours: () => stackloom('check', '-f', file), theirs: bare, rounds: 11, warmUp: 2 }),
  },
  {
    name: 'lab.render',
    unit: 'x',
    target: { op: '<=', value: 3 },
    measure: async () => {
      const { folder } = await rendered()
      const out = path.join(folder, 'again')
      // Only the secrets exist: everything else is rendered and written.
      const resetTree = (): void => {
        rmSync(out, { recursive: true, force: true })
        for (const part of [
          'kolla/certificates',
          'kolla/passwords.yml',
          'kolla/config/nova/nova-libvirt',
          'ssh/id_ed25519',
          'ssh/id_ed25519.pub',
        ])
          cpSync(path.join(folder, 'osl', part), path.join(out, part), { recursive: true })
      }
      const ours = async (): Promise<number> => {
        resetTree()
        return timed(() => stackloom('render', '-f', file, '--out', out))
      }
      return ratio({ ours, theirs: bare, rounds: 11, warmUp: 2 })
    },
  },
  {
    name: 'lab.secrets',
    unit: 'ms',
    measure: async () => (await rendered()).first,
  },
]
