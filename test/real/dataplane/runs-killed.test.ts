/**
 * Kills operator and runner at random moments, with real Ansible on real nodes: no two attempts at once on a host, none
 * after a recorded success, none lost.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { access, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AnsibleRun, ansibleRuns } from '../../../src/dataplane/kinds/ansible-run.ts'
import { useCluster } from '../../cluster.ts'
import { count } from '../../counts.ts'
import { processesWith } from '../../processes.ts'
import { useNodes } from './nodes.ts'
import { ansibleRun, inventory, mounts, play, SSH_SECRET, secret, serveRuns } from './runs.ts'

const both = ['edpm-compute-0', 'edpm-compute-1'] as const
const cluster = useCluster()
const nodes = useNodes(both)
const namespace = 'openstack'
const rounds = count({ test: 1, soak: 20 })
/** Kills per round, operator and runner in turn. */
const killsPerRound = count({ test: 2, soak: 3 })
/** Every nth kill hits a running task; the others come at any time. */
const aimedEvery = count({ test: 1, soak: 2 })
/** Whether new runs are added before every kill, which then wait for the active ones. */
const newRunsEveryTime = count({ test: 0, soak: 1 }) === 1
/** On a busy machine a round takes minutes: it starts Ansible many times. */
const ROUND_MS = 600_000
const PATIENCE = { timeout: 240_000, interval: 200 }
let folder = ''
let operator: ChildProcess | undefined

beforeAll(async () => {
  await serveRuns(cluster.client, namespace)
  await cluster.client.create(secret(namespace, SSH_SECRET, { 'ssh-privatekey': nodes.privateKey }))
  for (const name of both) {
    const text = inventory(nodes, [name])
    await cluster.client.create(secret(namespace, `dataplanenode-${name}`, { inventory: text }))
  }
  folder = await mkdtemp(path.join(tmpdir(), 'stackloom-killed-'))
}, 600_000)
afterAll(async () => {
  await kill()
  await rm(folder, { recursive: true, force: true })
})

function start(): void {
  const script = path.join(import.meta.dirname, 'run-operator-process.ts')
  const words = ['--import', 'tsx', script, cluster.kubeconfig, folder, ...nodes.enter]
  operator = spawn(process.execPath, words, { stdio: 'ignore' })
}

async function kill(): Promise<void> {
  const victim = operator
  if (!victim || victim.exitCode !== null || victim.signalCode !== null) return
  const gone = new Promise((resolve) => victim.once('exit', resolve))
  victim.kill('SIGKILL')
  await gone
}

/** Processes of runs, by the folder in their command lines. */
async function left(): Promise<readonly string[]> {
  const all = await processesWith(folder)
  return all.filter((line) => !line.includes('run-operator-process'))
}

async function killRunner(): Promise<void> {
  const victims = (await left()).filter((line) => line.includes('ansible'))
  const victim = victims[Math.floor(Math.random() * victims.length)]
  const pid = Number(victim?.split(/\s+/)[1])
  if (pid > 1) process.kill(pid, 'SIGKILL')
}

/**
 * A run holds a lock on its host while it works: a run that finds it held by a living process proves an overlap. The lock of
 * a killed run stays, so only a living holder counts.
 */
const work = (name: string): string =>
  [
    'kill -0 "$(cat /srv/lock)" 2>/dev/null && echo overlap >> /srv/overlaps',
    'echo $$ > /srv/lock',
    `echo ${name} >> /srv/begun`,
    'sleep 0.7',
    'while [ -e /srv/hold ]; do sleep 0.2; done',
    'rm -f /srv/lock',
  ].join('\n')

const onHost = (host: string, file: string): string => path.join(nodes.node(host).root, 'srv', file)

async function linesOn(host: string, file: string): Promise<readonly string[]> {
  const text = await readFile(onHost(host, file), 'utf8').catch(() => '')
  return text.split('\n').filter((line) => line !== '')
}

const begun = async (): Promise<readonly string[]> =>
  (await Promise.all(both.map((host) => linesOn(host, 'begun')))).flat().toSorted()

async function isAtWork(host: string): Promise<boolean> {
  const [pid] = await linesOn(host, 'lock')
  if (pid === undefined) return false
  return access(path.join(nodes.node(host).root, 'proc', pid)).then(
    () => true,
    () => false,
  )
}
const allAtWork = async (): Promise<boolean> => (await Promise.all(both.map(isAtWork))).every(Boolean)

/** From now on every run hangs in the middle of its task. */
const hold = (): Promise<unknown> => Promise.all(both.map((host) => writeFile(onHost(host, 'hold'), '')))
const letGo = (): Promise<unknown> => Promise.all(both.map((host) => rm(onHost(host, 'hold'), { force: true })))

/**
 * A kill in the middle of a task is the worst case: the next attempt would overlap with any process that survived. With all
 * hosts busy, only a new attempt can start.
 */
async function killInTheMidst(victim: () => Promise<void>): Promise<void> {
  await hold()
  await expect.poll(allAtWork, PATIENCE).toBe(true)
  await sleep(Math.random() * 700)
  const before = (await begun()).length
  await victim()
  await expect.poll(async () => (await begun()).length, PATIENCE).toBeGreaterThan(before)
}

async function killAnyTime(victim: () => Promise<void>): Promise<void> {
  await letGo()
  await sleep(1_000 + Math.random() * 4_000)
  await victim()
}

async function killOperator(): Promise<void> {
  await kill()
  start()
}

/** One run on each host. */
async function ask(id: string): Promise<readonly string[]> {
  const names = both.map((host) => `${host}-${id}`)
  for (const [index, name] of names.entries()) {
    await cluster.client.create(
      ansibleRun(namespace, name, {
        play: play([{ name: 'Work', 'ansible.builtin.raw': work(name) }]),
        backoffLimit: 20,
        extraMounts: mounts(`dataplanenode-${both[index]}`),
      }),
    )
  }
  return names
}

async function states(): Promise<readonly (string | undefined)[]> {
  const { items } = await cluster.client.list(ansibleRuns, { namespace })
  return [...new Set(items.map((item) => (item as AnsibleRun).status?.JobStatus))]
}

describe('runs whose operator or runner is killed', () => {
  it(
    'never overlap on a host, never repeat a recorded success, and are never lost',
    async () => {
      const expected: string[] = []
      let kills = 0
      for (let round = 0; round < rounds; round += 1) {
        start()
        for (let index = 0; index < killsPerRound; index += 1) {
          if (index === 0 || newRunsEveryTime) expected.push(...(await ask(`${round}-${index}`)))
          const victim = kills % 2 === 0 ? killOperator : killRunner
          const strike = Math.floor(kills / 2) % aimedEvery === 0 ? killInTheMidst : killAnyTime
          await strike(victim)
          kills += 1
        }
        await letGo()
        await expect.poll(states, PATIENCE).toEqual(['Succeeded'])
        for (const host of both) expect(await linesOn(host, 'overlaps')).toEqual([])
        await kill()
      }
      const before = await begun()
      for (const name of expected) expect(before, `${name} never ran`).toContain(name)
      // A restarted operator reconciles all runs: only new ones start.
      start()
      const since = await ask('last')
      await expect.poll(states, PATIENCE).toEqual(['Succeeded'])
      expect(await begun()).toEqual([...before, ...since].toSorted())
      await kill()
      await expect.poll(left, { timeout: 30_000 }).toEqual([])
    },
    ROUND_MS * rounds,
  )
})
