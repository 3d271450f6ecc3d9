import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { CloudRecord } from './clouds.ts'
import { type ComputeHost, type ComputeRequest, runComputeHost } from './compute-host.ts'
import { createComputeHosts } from './compute-hosts.ts'
import { reportComputes } from './report-computes.ts'

const request = (name: string, cell = 'cell1'): ComputeRequest => ({ name, cell, addresses: {} })

interface Fake extends ComputeHost {
  readonly end: () => void
}

/** Hosts without processes; `broken` ones cannot start. */
function fakeHosts(broken: Set<string> = new Set()) {
  const started: Fake[] = []
  const stopped: string[] = []
  const problems = new Map<string, string>()
  const hosts = createComputeHosts({
    start: async (asked) => {
      if (broken.has(asked.name)) throw new Error(`no network for ${asked.name}`)
      let end = (): void => undefined
      const ended = new Promise<void>((resolve) => {
        end = resolve
      })
      const problem = (): string | undefined => problems.get(asked.name)
      const stop = async (): Promise<void> => {
        stopped.push(asked.name)
        end()
      }
      const host = { request: asked, pid: started.length + 1, problem, ended, stop, end: () => end() }
      started.push(host)
      return host
    },
    log: (name) => `/logs/${name}`,
    onChange: () => undefined,
    retryMs: 1,
  })
  onTestFinished(hosts.stop)
  const states = (): readonly string[] =>
    hosts.statuses().map(({ name, state, reason }) => [name, state, ...(reason ? [reason] : [])].join(' '))
  return { hosts, started, stopped, problems, broken, states }
}

describe('the compute hosts of a cloud', () => {
  it('start although one of them cannot, which is reported until it can', async () => {
    const { hosts, states, broken } = fakeHosts(new Set(['a']))
    hosts.request([request('a'), request('b')])
    expect(states()).toEqual(['a starting', 'b starting'])
    await expect.poll(states).toEqual(['a failed no network for a', 'b running'])
    expect(hosts.statuses()[0]).toMatchObject({ cell: 'cell1', log: '/logs/a' })
    expect(Object.keys(hosts.pids())).toEqual(['b'])
    broken.clear()
    await expect.poll(states).toEqual(['a running', 'b running'])
  })

  it('start again when they end', async () => {
    const { hosts, started, states } = fakeHosts()
    hosts.request([request('a')])
    await expect.poll(states).toEqual(['a running'])
    started[0]?.end()
    await expect.poll(() => started.length).toBe(2)
    await expect.poll(states).toEqual(['a running'])
  })

  it('are reported while their nova-compute does not run', async () => {
    const { hosts, problems, states } = fakeHosts()
    hosts.request([request('a')])
    await expect.poll(states).toEqual(['a running'])
    problems.set('a', 'nova-compute exited with code 1')
    expect(states()).toEqual(['a failed nova-compute exited with code 1'])
  })

  it('end when they are not requested, start again with another request, and are no failures then', async () => {
    const { hosts, started, stopped, states } = fakeHosts()
    hosts.request([request('a'), request('b')])
    await expect.poll(states).toEqual(['a running', 'b running'])
    hosts.request([request('a', 'cell2')])
    await expect.poll(() => stopped).toEqual(['a', 'b'])
    await expect.poll(states).toEqual(['a running'])
    expect(started.map((host) => `${host.request.name} ${host.request.cell}`)).toEqual([
      'a cell1',
      'b cell1',
      'a cell2',
    ])
    await hosts.stop()
    expect(stopped).toEqual(['a', 'b', 'a'])
    expect(hosts.pids()).toEqual({})
  })
})

it('runComputeHost refuses a cell that the control plane does not have', async () => {
  const options = { request: request('a', 'cell9'), definition: { cells: ['cell1'] } } as unknown
  await expect(runComputeHost(options as Parameters<typeof runComputeHost>[0])).rejects.toThrow('no cell cell9')
})

describe('reportComputes', () => {
  it('names host, cloud, reason, the last error of the log, and the log', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'stackloom-computes-'))
    try {
      const log = path.join(folder, 'nova-compute.log')
      await writeFile(log, '2026-01-01 00:00:00.000 7 ERROR nova.service [-] PermissionDenied: no access to the cell\n')
      const compute = { name: 'compute-1', cell: 'cell1', state: 'failed', reason: 'nova-compute exited with code 1' }
      const computes = [
        { ...compute, log },
        { name: 'compute-0', cell: 'cell1', state: 'running', log },
      ]
      const findings = await reportComputes([{ cloud: 'rhoso1', computes } as unknown as CloudRecord])
      expect(findings).toMatchObject([
        {
          code: 'SL1256',
          severity: 'warning',
          message:
            'compute host compute-1 of rhoso1 does not run: nova-compute exited with code 1; it logs: PermissionDenied: no access to the cell',
          remedy: expect.stringContaining(log),
        },
      ])
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
})
