import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { main } from '../../../src/cli/main.ts'
import { runProcess } from '../../../src/exec/process.ts'
import { ensurePrograms } from '../../../src/sandbox/build/ensure-programs.ts'
import { findNamespaceProblem } from '../../../src/sandbox/launch.ts'
import type { SandboxStatus } from '../../../src/sandbox/sandbox.ts'
import { takeClusterSlot } from '../../cluster.ts'
import { testIo } from '../../io.ts'
import { processesWith } from '../../processes.ts'
import { sandboxContext } from '../../sandbox-context.ts'

/** Uses a separate state folder, so that no sandbox of the user is touched. */
let state: string
let kubectl: string
let places: readonly Awaited<ReturnType<typeof takeClusterSlot>>[] = []
let noNamespace: string | undefined

const stackloom = async (...argv: string[]) => {
  const io = testIo({ env: { ...process.env, XDG_STATE_HOME: state } })
  const exitCode = await main(['sandbox', ...argv], io)
  return { exitCode, out: io.out(), err: io.err() }
}
const statusOf = async (name: string): Promise<SandboxStatus> =>
  JSON.parse((await stackloom('status', '--name', name, '-o', 'json')).out) as SandboxStatus
const kube = async (name: string, ...args: string[]) => {
  const { out } = await stackloom('kubeconfig', '--name', name)
  return runProcess({ file: kubectl, args: ['--kubeconfig', out.trim(), ...args] })
}

beforeAll(async () => {
  state = await mkdtemp(path.join(tmpdir(), 'stackloom-state-'))
  noNamespace = await findNamespaceProblem(runProcess)
  kubectl = (await ensurePrograms(['kubectl'], sandboxContext())).kubectl
  // Two at once, and both before the time limit of a test starts.
  places = [await takeClusterSlot(), await takeClusterSlot()]
}, 1_200_000)
afterAll(async () => {
  for (const name of ['one', 'two']) await stackloom('reset', '--name', name)
  await rm(state, { recursive: true })
  for (const place of places) await place.release()
})

describe('a sandbox', { timeout: 120_000 }, () => {
  it('starts, works with plain kubectl, and is described completely', async ({ skip }) => {
    if (noNamespace) skip(`no network namespace can be made here: ${noNamespace}`)
    const started = await stackloom('start', '--name', 'one', '--crd', 'none', '--netns', '-o', 'json')
    expect(started).toMatchObject({ exitCode: 0 })
    const status = JSON.parse(started.out) as SandboxStatus
    expect(status).toMatchObject({ name: 'one', running: true, ready: true, netns: true, findings: [] })
    expect(status.programs.map(({ name, state }) => `${name} ${state}`)).toEqual([
      'etcd ready',
      'kube-apiserver ready',
      'kube-controller-manager ready',
      'metallb-controller ready',
      'metallb-webhooks ready',
    ])
    expect((await stat(status.kubeconfig)).mode & 0o777).toBe(0o600)
    expect((await kube('one', 'create', 'namespace', 'kept')).stdout).toContain('namespace/kept created')
    expect((await kube('one', 'get', 'ipaddresspools', '-A')).stderr).toContain('No resources found')
    expect((await kube('one', 'version')).stdout).toContain('Server Version: v1.35.4')
  })

  it('is not changed by a second start, and rejects another set of CRDs', async ({ skip }) => {
    if (noNamespace) skip(`no network namespace can be made here: ${noNamespace}`)
    const before = await statusOf('one')
    expect(JSON.parse((await stackloom('start', '--name', 'one', '-o', 'json')).out)).toEqual(before)
    expect(await stackloom('start', '--name', 'one', '--crd', '2023')).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining('SL1214'),
    })
    expect(await stackloom('start', '--name', 'one', '--actors', 'nmstate')).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining('SL1220'),
    })
    expect(await stackloom('start', '--name', 'one', '--actors', 'nmstat')).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining('SL1219'),
    })
  })

  it('reports a release that this machine does not have and a folder without CRDs', async () => {
    const missing = await stackloom('start', '--name', 'three', '--crd', '18.0-fr99')
    expect(missing).toMatchObject({ exitCode: 2, err: expect.stringContaining('SL1222') })
    expect(missing.err).toContain('or give any folder that has them: --crd ./FOLDER')
    expect(await stackloom('start', '--name', 'three', '--crd', './docs')).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining('SL1223'),
    })
    expect(await stackloom('status', '--name', 'three')).toMatchObject({ err: expect.stringContaining('SL1213') })
  })

  it('runs beside another one without a namespace, and reports what it omits and what is open', async () => {
    // MetalLB's port is in use, by this test or by another program of this machine.
    const holder = createServer()
      .on('error', () => undefined)
      .listen(9443)
    try {
      const used = createServer().listen(0, '127.0.0.1')
      await once(used, 'listening')
      const address = used.address()
      const port = String(typeof address === 'object' && address ? address.port : 0)
      const refused = await stackloom('start', '--name', 'two', '--crd', 'none', '--port', port)
      expect(refused).toMatchObject({ exitCode: 2, err: expect.stringContaining('SL1207') })
      used.close()
      const started = await stackloom('start', '--name', 'two', '--crd', 'none', '--port', port, '-o', 'json')
      const status = JSON.parse(started.out) as SandboxStatus
      expect(status.server).toBe(`https://127.0.0.1:${port}`)
      expect(status.findings.map(({ code }) => code)).toEqual(['SL1212', 'SL1211'])
      const pool = `{"apiVersion":"metallb.io/v1beta1","kind":"IPAddressPool","metadata":{"name":"a","namespace":"metallb-system"},"spec":{"addresses":["172.17.0.80/29"]}}`
      const { out } = await stackloom('kubeconfig', '--name', 'two')
      const applied = await runProcess({
        file: kubectl,
        args: ['--kubeconfig', out.trim(), 'apply', '-f', '-'],
        input: pool,
      })
      expect(applied.stdout).toContain('created')
      expect((await kube('two', 'get', 'namespace', 'kept')).stderr).toContain('NotFound')
      expect((await stackloom('status')).out).toMatch(/two +ready +none +loopback/)
    } finally {
      await stackloom('stop', '--name', 'two')
      holder.close()
    }
    expect(await processesWith(path.join(state, 'stackloom/sandboxes/two'))).toEqual([])
  })

  it('stops without leaving a process, and keeps its data even when its port was taken meanwhile', async ({ skip }) => {
    if (noNamespace) skip(`no network namespace can be made here: ${noNamespace}`)
    const { server, folder } = await statusOf('one')
    const stopped = await stackloom('stop', '--name', 'one')
    expect(stopped.err).toContain('its data is kept')
    expect(await processesWith(folder)).toEqual([])
    expect(await stackloom('stop', '--name', 'one')).toMatchObject({ exitCode: 0 })
    const thief = createServer().listen(Number(new URL(server).port), '127.0.0.1')
    await once(thief, 'listening')
    const again = await stackloom('start', '--name', 'one', '-o', 'json')
    thief.close()
    const status = JSON.parse(again.out) as SandboxStatus
    expect(status.findings.map(({ code }) => code)).toEqual(['SL1208'])
    expect(status.server).not.toBe(server)
    expect((await kube('one', 'get', 'namespace', 'kept', '-o', 'name')).stdout).toBe('namespace/kept\n')
  })

  it('ends with its supervisor, even by kill -9, and is then reported as stopped', async ({ skip }) => {
    if (noNamespace) skip(`no network namespace can be made here: ${noNamespace}`)
    const { supervisor, folder } = await statusOf('one')
    expect((await processesWith(folder)).length).toBeGreaterThan(4)
    process.kill(supervisor ?? 0, 'SIGKILL')
    await expect.poll(() => processesWith(folder), { timeout: 10_000 }).toEqual([])
    expect(await stackloom('status', '--name', 'one')).toMatchObject({ exitCode: 1, err: '' })
    expect((await stackloom('logs', 'etcd', '--name', 'one')).exitCode).toBe(0)
  })

  it('is stopped again when its start is interrupted', async ({ skip }) => {
    if (noNamespace) skip(`no network namespace can be made here: ${noNamespace}`)
    const { folder } = await statusOf('one')
    const stop = new AbortController()
    const io = testIo({ env: { ...process.env, XDG_STATE_HOME: state }, stop: stop.signal })
    const starting = main(['sandbox', 'start', '--name', 'one'], io)
    await expect.poll(() => processesWith(`--data-dir=${folder}`), { timeout: 30_000 }).toHaveLength(1)
    stop.abort()
    expect(await starting).toBe(130)
    expect(io.err()).toContain('SL1221')
    await expect.poll(() => processesWith(folder), { timeout: 10_000 }).toEqual([])
  })

  it('is known after its start was killed, and the next start begins again', async ({ skip }) => {
    if (noNamespace) skip(`no network namespace can be made here: ${noNamespace}`)
    const folder = path.join(state, 'stackloom/sandboxes/killed')
    const tsx = createRequire(import.meta.url).resolve('tsx')
    const words = ['sandbox', 'start', '--name', 'killed', '--crd', 'none', '--netns']
    const starting = spawn(process.execPath, ['--import', `file://${tsx}`, 'src/cli/entry.ts', ...words], {
      env: { ...process.env, XDG_STATE_HOME: state },
      stdio: 'ignore',
    })
    await expect.poll(() => processesWith(`--data-dir=${folder}`), { timeout: 60_000 }).toHaveLength(1)
    starting.kill('SIGKILL')
    expect(await statusOf('killed')).toMatchObject({ running: true, ready: false })
    expect(await stackloom('start', '--name', 'killed')).toMatchObject({ exitCode: 0 })
    expect(await statusOf('killed')).toMatchObject({ running: true, ready: true })
    expect(await processesWith(`--data-dir=${folder}`)).toHaveLength(1)
    await stackloom('reset', '--name', 'killed')
    expect(await processesWith(folder)).toEqual([])
  })

  it('is unknown after a reset, and a name that could leave the folder is rejected', async () => {
    await stackloom('reset', '--name', 'one')
    expect(await stackloom('status', '--name', 'one')).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining('SL1213'),
    })
    expect(await stackloom('reset', '--name', '../../x')).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining('SL1215'),
    })
  })
})

it('the cluster of a test ends with the test process, even by kill -9, and its folder is removed', async ({ skip }) => {
  if (noNamespace) skip(`no network namespace can be made here: ${noNamespace}`)
  const tsx = createRequire(import.meta.url).resolve('tsx')
  const script = `
    import { startCluster } from ${JSON.stringify(path.resolve('test/cluster.ts'))}
    const { cluster } = await startCluster({}, async () => ({ release: async () => {} }))
    console.log(cluster.kubeconfig)
    setInterval(() => {}, 1000)`
  const parent = spawn(process.execPath, ['--import', `file://${tsx}`, '--input-type=module', '-e', script])
  const [said] = (await once(parent.stdout, 'data')) as [Buffer]
  const folder = path.dirname(said.toString().trim())
  expect((await processesWith(folder)).length).toBeGreaterThan(2)
  parent.kill('SIGKILL')
  await expect.poll(() => processesWith(folder), { timeout: 10_000 }).toEqual([])
  await expect
    .poll(
      () =>
        stat(folder).then(
          () => 'there',
          () => 'gone',
        ),
      { timeout: 10_000 },
    )
    .toBe('gone')
}, 120_000)
