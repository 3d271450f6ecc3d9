/**
 * Operator and runner killed at random moments, with real Ansible on real nodes: no two attempts at once on a host,
 * none after a recorded success, none lost.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AnsibleRun, ansibleRuns } from '../../../src/api/ansibleee.ts'
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
/** Two wait for each other; one is tried as often by itself. */
const perHost = count({ test: 1, soak: 2 })
/** How many of the kills hit a task at work; the others come at any time. */
const inTheMidst = count({ test: 0, soak: 0.5 })
/** On a busy machine a round takes minutes: Ansible starts many times in it. */
const ROUND_MS = 600_000
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

/** On its host, a run holds a lock while it works: whoever finds it held has caught two at once. */
const work = (name: string): string =>
  [
    'mkdir /srv/lock || echo overlap >> /srv/overlaps',
    `trap 'rmdir /srv/lock; exit 1' HUP INT TERM`,
    `echo ${name} >> /srv/begun`,
    'sleep 0.7 & wait',
    'rmdir /srv/lock',
  ].join('\n')

async function onHost(host: string, file: string): Promise<readonly string[]> {
  const text = await readFile(path.join(nodes.node(host).root, 'srv', file), 'utf8').catch(() => '')
  return text.split('\n').filter((line) => line !== '')
}

const begun = async (): Promise<readonly string[]> =>
  (await Promise.all(both.map((host) => onHost(host, 'begun')))).flat().toSorted()

/** Until a task has begun on a host, and somewhere into it: there a kill does the most harm. */
async function whileOneWorks(): Promise<void> {
  const before = (await begun()).length
  const deadline = Date.now() + 30_000
  while ((await begun()).length === before && Date.now() < deadline) await sleep(50)
  await sleep(Math.random() * 700)
}

describe('Runs whose operator or runner is killed', () => {
  it(
    'never overlap on a host, never repeat a recorded success, and are never lost',
    async () => {
      const expected: string[] = []
      for (let round = 0; round < rounds; round += 1) {
        start()
        const wanted = both.flatMap((host) =>
          ['a', 'b'].slice(0, perHost).map((id) => ({ host, name: `${host}-${round}-${id}` })),
        )
        for (const { host, name } of wanted) {
          await cluster.client.create(
            ansibleRun(namespace, name, {
              play: play([{ name: 'Work', 'ansible.builtin.shell': work(name) }]),
              backoffLimit: 20,
              extraMounts: mounts(`dataplanenode-${host}`),
            }),
          )
        }
        // Moments that nobody chose, somewhere in the life of the runs.
        for (const victim of [kill, killRunner, kill]) {
          if (Math.random() < inTheMidst) await whileOneWorks()
          else await sleep(1_000 + Math.random() * 4_000)
          await victim()
          if (victim === kill) start()
        }
        const states = async (): Promise<readonly (string | undefined)[]> => {
          const { items } = await cluster.client.list(ansibleRuns, { namespace })
          return [...new Set(items.map((one) => (one as AnsibleRun).status?.JobStatus))]
        }
        await expect.poll(states, { timeout: 240_000, interval: 500 }).toEqual(['Succeeded'])
        expected.push(...wanted.map(({ name }) => name))
        await kill()
      }
      const before = await begun()
      for (const name of expected) expect(before, `${name} never ran`).toContain(name)
      // A restart finds only recorded successes.
      start()
      await sleep(3_000)
      expect(await begun()).toEqual(before)
      for (const host of both) expect(await onHost(host, 'overlaps')).toEqual([])
      await kill()
      await expect.poll(left, { timeout: 30_000 }).toEqual([])
    },
    ROUND_MS * rounds,
  )
})
