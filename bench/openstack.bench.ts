/** Measures the start of a real OpenStack with a compute host against the same packages by hand, and its memory. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { lastLines, runProcess, succeeded, toProgram } from '../src/exec/process.ts'
import { judgeMachine, readMachineFacts } from '../src/sandbox/hosts/requirements.ts'
import { findRootFileSystem, openstackRoot } from '../src/sandbox/hosts/root-file-system.ts'
import { sandboxContext } from '../test/sandbox-context.ts'
import type { Figure, Measured } from '../tools/figure.ts'
import { median, once } from '../tools/measure.ts'

const ROUNDS = 3

interface CloudFigures {
  readonly token: number
  readonly ready: number
  readonly compute: number
  readonly memoryMib: number
}

type ByHand = Pick<CloudFigures, 'token' | 'compute'>

interface Figures extends CloudFigures {
  readonly byHand: ByHand
}

async function findRoot(): Promise<{ readonly root: string } | { readonly unavailable: string }> {
  const [unfit] = judgeMachine(await readMachineFacts(process.env))
  if (unfit) return { unavailable: unfit.message }
  const root = await findRootFileSystem(openstackRoot, sandboxContext().paths)
  if (root === undefined) return { unavailable: 'the root file system is not built: `make test SUITE=hosts` builds it' }
  return { root }
}

/** The first cloud of a machine creates the tables of all services; later ones, which are measured, load them. */
const measureClouds = once(async (): Promise<Figures | { readonly unavailable: string }> => {
  const found = await findRoot()
  if ('unavailable' in found) return found
  const { root } = found
  await run<CloudFigures>('cloud', root)
  const clouds: CloudFigures[] = []
  const byHand: ByHand[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    clouds.push(await run<CloudFigures>('cloud', root))
    byHand.push(await run<ByHand>('by-hand', root))
  }
  const middle = (field: keyof CloudFigures): number => median(clouds.map((cloud) => cloud[field]))
  return {
    token: middle('token'),
    ready: middle('ready'),
    compute: middle('compute'),
    memoryMib: middle('memoryMib'),
    byHand: { token: median(byHand.map(({ token }) => token)), compute: median(byHand.map(({ compute }) => compute)) },
  }
})

async function run<T>(what: 'cloud' | 'two-clouds' | 'by-hand', root: string): Promise<T> {
  const folder = await mkdtemp(path.join(tmpdir(), 'stackloom-bench-'))
  try {
    const file = path.join(import.meta.dirname, 'openstack-run.ts')
    // The cloud ends with this process, also when that is killed.
    const isolated = ['setpriv', '--pdeathsig', 'KILL', '--', 'unshare', '--net', process.execPath, '--import', 'tsx']
    const { exit, stdout, stderr } = await runProcess(toProgram([...isolated, file, what, root, folder]))
    if (!succeeded(exit)) throw new Error(lastLines(stderr))
    return JSON.parse(stdout) as T
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const of =
  (select: (figures: Figures) => number): (() => Promise<Measured>) =>
  async () => {
    const found = await measureClouds()
    return 'unavailable' in found ? found : select(found)
  }

export const figures: readonly Figure[] = [
  {
    name: 'openstack.first-token-by-hand',
    unit: 'x',
    target: { op: '<=', value: 1.2 },
    measure: of(({ token, byHand }) => token / byHand.token),
  },
  {
    name: 'openstack.cloud-by-hand',
    unit: 'x',
    target: { op: '<=', value: 1.2 },
    measure: of(({ compute, byHand }) => compute / byHand.compute),
  },
  { name: 'openstack.first-token', unit: 's', target: { op: '<=', value: 30 }, measure: of(({ token }) => token) },
  {
    name: 'openstack.two-clouds',
    unit: 's',
    target: { op: '<=', value: 240 },
    measure: async () => {
      const found = await findRoot()
      if ('unavailable' in found) return found
      return (await run<{ readonly ready: number }>('two-clouds', found.root)).ready
    },
  },
  { name: 'openstack.services', unit: 's', measure: of(({ ready }) => ready) },
  { name: 'openstack.compute', unit: 's', measure: of(({ compute }) => compute) },
  { name: 'openstack.memory', unit: 'MiB', target: { op: '<=', value: 1741 }, measure: of((found) => found.memoryMib) },
]
