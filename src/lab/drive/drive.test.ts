import { spawn } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { build } from 'esbuild'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { labText, labWith, smallSshKey } from '../../../test/lab.ts'
import { makeStandIns, type StandIns } from '../../../test/lab-stand-ins.ts'
import { runProcess } from '../../exec/process.ts'
import { systemClock } from '../../run/clock.ts'
import type { RunEvent } from '../../run/events.ts'
import { neverStopped } from '../../run/stage.ts'
import type { Lab } from '../lab.ts'
import { renderInto } from '../rendering.ts'
import { backupSteps } from './backup.ts'
import { diagnose, gatherFacts } from './doctor.ts'
import { downSteps } from './down.ts'
import { driveContext, planStages } from './drive.ts'
import { stageNames } from './names.ts'
import { snapshotSteps } from './snapshot.ts'
import { openMemory, readOnlyMemory } from './state.ts'
import { labStatus } from './status.ts'
import { shellLine } from './step.ts'
import { labUp } from './up.ts'

let base: string
let folder: string
let tools: StandIns
let events: RunEvent[]

let made: string
beforeAll(async () => {
  made = mkdtempSync(path.join(tmpdir(), 'stackloom-made-'))
  await renderInto(labWith({}, { phase: 'both' }), made, { now: Date.now(), makeSshKey: smallSshKey })
  return () => rmSync(made, { recursive: true })
})

beforeEach(() => {
  base = mkdtempSync(path.join(tmpdir(), 'stackloom-drive-'))
  folder = path.join(base, 'osl')
  tools = makeStandIns(base, folder)
  events = []
  // The secrets of every test are the same: making keys is what takes time.
  for (const part of ['kolla/certificates', 'kolla/passwords.yml', 'ssh/id_ed25519', 'ssh/id_ed25519.pub'])
    cpSync(path.join(made, part), path.join(folder, part), { recursive: true })
})
afterEach(() => rmSync(base, { recursive: true }))

const both = (changes: Record<string, unknown> = {}): Lab => labWith(changes, { phase: 'both' })

interface Wishes {
  readonly replace?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly from?: string
  readonly until?: string
  readonly system?: string
  readonly again?: readonly string[]
}

const up = (lab: Lab, { replace = [], env = {}, from, until, system = 'darwin', again = [] }: Wishes = {}) =>
  labUp({
    lab,
    folder,
    system,
    env: { ...tools.env, ...env },
    exec: runProcess,
    replace,
    again,
    patience: { tries: 2, everyMs: 1 },
    selection: { ...(from && { from: [from] }), ...(until && { until: [until] }) },
    run: 'r1',
    what: 'lab up',
    sink: (event) => events.push(event),
    clock: systemClock,
    stop: neverStopped(),
    makeSshKey: smallSshKey,
  })

const context = async (lab: Lab) =>
  driveContext({
    lab,
    folder,
    system: 'darwin',
    env: tools.env,
    exec: runProcess,
    memory: await openMemory(folder),
  })

const outcomes = (report: Awaited<ReturnType<typeof up>>) =>
  Object.fromEntries(report.stages.map((stage) => [stage.name, stage.outcome]))
const since = async (work: () => Promise<unknown>): Promise<readonly string[]> => {
  tools.forget()
  await work()
  return tools.calls()
}
const findings = () => events.flatMap((event) => (event.kind === 'finding' ? [event.finding] : []))
/** Each disk says when it was born: the same words later mean the same disk. */
const births = (): Readonly<Record<string, string>> => {
  const home = path.join(base, 'lima')
  const files = (readdirSync(home, { recursive: true }) as string[]).filter((file) =>
    /d(iff|ata)disk$/.test(file),
  )
  return Object.fromEntries(files.map((file) => [file, readFileSync(path.join(home, file), 'utf8')]))
}

describe('a lab, from nothing', () => {
  it('runs every stage in order, with the exact commands', async () => {
    const report = await up(both())
    expect(report.outcome).toBe('done')
    expect(Object.keys(outcomes(report))).toEqual(stageNames)
    const kolla = tools
      .calls()
      .filter((call) => call.startsWith('kolla-ansible'))
      .map((call) => call.split(' ')[1])
    expect(kolla).toEqual([
      'install-deps',
      'bootstrap-servers',
      'prechecks',
      'pull',
      'deploy',
      'post-deploy',
      'reconfigure',
    ])
    expect(tools.calls()).toContain('limactl --tty=false disk create osl-node3-lvm --size 10GiB')
    expect(tools.calls()).toContain('limactl --tty=false create --name=osl-node1 lima/node1-controller.yaml')
    expect(tools.calls().at(-1)).toBe(
      'kolla-ansible reconfigure -i kolla/multinode --configdir kolla -t glance,cinder,nova'
        .replace('--configdir kolla', `--configdir ${folder}/kolla`)
        .replaceAll(`${folder}/`, ''),
    )
  })

  it('does nothing twice', async () => {
    await up(both())
    const calls = await since(() => up(both()))
    expect(calls.filter((call) => !/--version|version$|-V$|sudoers|list --json|disk ls/.test(call))).toEqual(
      [],
    )
  })

  it('stops where it is told to, and goes on from there', async () => {
    expect(outcomes(await up(both(), { until: 'vms' }))).toEqual({ host: 'done', disks: 'done', vms: 'done' })
    const calls = await since(() => up(both()))
    expect(calls.filter((call) => call.includes('create'))).toEqual([])
    expect(calls.some((call) => call.startsWith('kolla-ansible deploy'))).toBe(true)
  })

  it('does a stage again when it is asked for by name', async () => {
    await up(both())
    const calls = await since(() => up(both(), { from: 'deploy', again: ['deploy'] }))
    expect(
      calls.filter((call) => call.startsWith('kolla-ansible')).map((call) => call.split(' ')[1]),
    ).toEqual(['reconfigure'])
  })

  it('prints in a dry run what it then does', async () => {
    await renderInto(both(), folder, { now: Date.now(), makeSshKey: smallSshKey })
    const memory = await readOnlyMemory(folder)
    const settings = { lab: both(), folder, system: 'darwin', env: tools.env, exec: runProcess, memory }
    const planned = await planStages(settings, new Set(stageNames))
    const commands = planned.flatMap((stage) => stage.commands).filter((line) => !line.startsWith('#'))
    tools.forget()
    await up(both())
    const done = new Set(tools.calls().filter((call) => !/list --json|disk ls/.test(call)))
    const words = (line: string): string =>
      line.replace(/ < .*/, '').replaceAll("'", '').replaceAll(`${folder}/`, '')
    const named = (line: string): string =>
      words(line)
        .replace(/^\.stackloom\/venv\/bin\//, '')
        .replace(/^qemu-system-aarch64/, 'qemu')
    for (const command of commands) expect([...done]).toContain(named(command))
  })

  it('keeps the output of every stage', async () => {
    await up(both())
    const logs = readdirSync(path.join(folder, '.stackloom/logs'))
    expect(logs).toContain('deploy.log')
    expect(readFileSync(path.join(folder, '.stackloom/logs/vms.log'), 'utf8')).toContain(
      '$ limactl --tty=false start osl-node1',
    )
  })

  it('has no secret in any argument or log', async () => {
    await up(both())
    const passwords = readFileSync(path.join(folder, 'kolla/passwords.yml'), 'utf8')
    const secrets = [...passwords.matchAll(/: "?([A-Za-z0-9]{40})"?$/gm)].map((match) => match[1] as string)
    expect(secrets.length).toBeGreaterThan(50)
    const said = tools.calls().join('\n') + JSON.stringify(events)
    expect(secrets.filter((secret) => said.includes(secret))).toEqual([])
  })

  it('refuses VMs on Linux with the reason, and does everything else', async () => {
    const report = await up(both(), { system: 'linux' })
    expect(outcomes(report)).toMatchObject({
      host: 'done',
      deployer: 'done',
      disks: 'failed',
      vms: 'blocked',
    })
    expect(findings().map((one) => one.code)).toContain('SL8303')
  })

  it("adds the lab's networks to Lima's and keeps the others, comments included", async () => {
    const file = path.join(base, 'lima/_config/networks.yaml')
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, '# mine\nnetworks:\n  shared: {mode: shared, gateway: 192.168.107.1}\n')
    await up(both(), { until: 'host' })
    const text = readFileSync(file, 'utf8')
    expect(text).toContain('# mine')
    expect(text).toContain('192.168.107.1')
    expect(text).toContain('osl-mgmt')
    await expect(
      since(() => up(both({ 'spec.networks.tunnel.dhcpEnd': '10.0.1.8' }), { until: 'host' })),
    ).resolves.toBeDefined()
    expect(findings().map((one) => one.code)).toContain('SL8314')
  })
})

const FAILURES: readonly (readonly [string, string, string])[] = [
  ['host', 'sudoers', 'SL8304'],
  ['deployer', 'pip install', 'SL8305'],
  ['disks', 'disk create osl-node2', 'SL8305'],
  ['vms', 'start osl-node2', 'SL8305'],
  ['dns', 'scp*bind', 'SL8305'],
  ['certificates', 'openssl', 'SL8305'],
  ['bootstrap', 'kolla-ansible bootstrap', 'SL8306'],
  ['prechecks', 'kolla-ansible prechecks', 'SL8306'],
  ['pull', 'kolla-ansible pull', 'SL8306'],
  ['deploy', 'kolla-ansible deploy', 'SL8306'],
  ['post-deploy', 'kolla-ansible post-deploy', 'SL8306'],
  ['resources', 'tofu*apply', 'SL8305'],
  ['ceph', 'kolla-ansible reconfigure', 'SL8306'],
]

describe('a failure', () => {
  it.each(FAILURES)(
    'in %s is told with its cause, and the next run goes on from there',
    async (stage, pattern, code) => {
      const report = await up(both(), { env: { STAND_IN_FAIL: pattern } })
      expect(report.outcome).toBe('failed')
      expect(outcomes(report)[stage]).toBe('failed')
      const told = findings().find((one) => one.code === code)
      expect(told?.message).toBeTruthy()
      if (code === 'SL8306') {
        expect(told?.message).toContain('mariadb : Wait for MariaDB service port liveness')
        expect(told?.message).toContain('on node1: Timeout when waiting for search string MariaDB')
      }
      const done = Object.entries(outcomes(report)).filter(([, outcome]) => outcome === 'done')
      const again = await up(both())
      expect(again.outcome).toBe('done')
      const repeated = done.map(([name]) => outcomes(again)[name]).filter((outcome) => outcome !== 'skipped')
      // Only `host` looks at its tools each time.
      expect(repeated.length).toBeLessThanOrEqual(1)
    },
  )

  it('in images is told too, when they are built', async () => {
    const lab = both({ 'spec.containers': { base: 'ubuntu' } })
    const report = await up(lab, { env: { STAND_IN_FAIL: 'kolla==21' } })
    expect(outcomes(report)).toMatchObject({ images: 'failed', prechecks: 'blocked' })
  })
})

describe('kill -9', () => {
  let program: string
  beforeAll(async () => {
    program = path.join(mkdtempSync(path.join(tmpdir(), 'stackloom-labrun-')), 'run.mjs')
    await build({
      entryPoints: [path.join(import.meta.dirname, '../../../test/lab-run.ts')],
      bundle: true,
      platform: 'node',
      format: 'esm',
      outfile: program,
      banner: {
        js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
      },
    })
    return () => rmSync(path.dirname(program), { recursive: true })
  })

  it.each(FAILURES)('in %s loses nothing: the next run ends what was begun', async (_, pattern) => {
    const file = path.join(base, 'lab.yaml')
    writeFileSync(file, labText({ phase: 'both' }))
    const child = spawn(process.execPath, [program, file, folder], {
      env: { ...process.env, ...tools.env, STAND_IN_HANG: pattern },
      stdio: 'ignore',
    })
    const ended = new Promise((resolve) => child.once('exit', resolve))
    while (tools.hungPid() === undefined && child.exitCode === null) await systemClock.sleep(20)
    const hung = tools.hungPid()
    expect(hung).toBeDefined()
    const before = existsSync(path.join(base, 'lima')) ? births() : {}
    child.kill('SIGKILL')
    await ended
    process.kill(hung as number, 'SIGKILL')
    expect((await up(both())).outcome).toBe('done')
    // No disk that existed was made anew.
    expect(births()).toMatchObject(before)
    expect(tools.calls().filter((call) => call.includes('delete'))).toEqual([])
  })
})

describe('a changed lab', () => {
  const four = () => labWith({}, { phase: 'both', preset: 'four-node' })

  it('scales to four nodes with one edit: resized, created, and no disk with state deleted', async () => {
    await up(both())
    const before = births()
    const calls = await since(() => up(four()))
    expect(births()).toMatchObject(before)
    expect(calls.filter((call) => /delete/.test(call))).toEqual([])
    expect(calls).toContain(
      'limactl --tty=false edit osl-node1 --set .cpus = 6 | .memory = "24GiB" | .disk = "60GiB"',
    )
    expect(calls).toContain('limactl --tty=false create --name=osl-node4 lima/node4-compute.yaml')
    expect(calls.some((call) => call.startsWith('kolla-ansible deploy'))).toBe(true)
    expect(await since(() => up(four()))).not.toContain('limactl --tty=false stop osl-node1')
  })

  it('shows a replacement and does it only with consent; data disks stay', async () => {
    await up(both())
    const image = both({ 'spec.vm.user': 'ops' })
    const refused = await up(image)
    expect(refused.outcome).toBe('failed')
    expect(findings().find((one) => one.code === 'SL8307')?.message).toMatch(/^replace node1, node2, node3: /)
    const one = both({ 'spec.nodes.1.disks.state': '10GiB' })
    const disks = births()
    const calls = await since(() => up(one, { replace: ['node2'] }))
    expect(calls).toContain('limactl --tty=false delete osl-node2')
    const after = births()
    expect(after['_disks/osl-node2-osd/datadisk']).toBe(disks['_disks/osl-node2-osd/datadisk'])
    expect(after['osl-node2/diffdisk']).not.toBe(disks['osl-node2/diffdisk'])
    expect(calls.some((call) => call.startsWith('kolla-ansible deploy'))).toBe(true)
  })

  it('refuses to replace a node whose OS disk holds the database, until a backup exists that it restores', async () => {
    await up(both())
    const changed = both({ 'spec.networks.tunnel.interface': 'tun1' })
    const wishes = { replace: ['node1', 'node2'] }
    expect((await up(changed, wishes)).outcome).toBe('failed')
    expect(findings().map((one) => one.code)).toContain('SL8308')
    mkdirSync(path.join(folder, '.stackloom/backups'), { recursive: true })
    writeFileSync(path.join(folder, '.stackloom/backups/2026.tar'), 'x')
    const calls = await since(() => up(changed, wishes))
    const deployed = calls.findIndex((call) => call.startsWith('kolla-ansible deploy'))
    const restored = calls.findIndex((call) => /^scp .*2026\.tar/.test(call))
    expect(calls).toContain('limactl --tty=false delete osl-node1')
    expect(deployed).toBeGreaterThan(0)
    expect(restored).toBeGreaterThan(deployed)
    expect((await openMemory(folder)).get().restore).toBeUndefined()
  })

  it('replaces a controller with a state disk freely, and keeps that disk', async () => {
    const state = { 'spec.nodes.0.disks': { state: '40GiB' } }
    await up(both(state))
    const disks = births()
    const report = await up(both({ ...state, 'spec.networks.tunnel.interface': 'tun1' }), {
      replace: ['node1', 'node2'],
    })
    expect(report.outcome).toBe('done')
    expect(births()['_disks/osl-node1-state/datadisk']).toBe(disks['_disks/osl-node1-state/datadisk'])
  })

  it('runs reconfigure for changed services', async () => {
    await up(both())
    const calls = await since(() => up(both({ 'spec.logging': 'opensearch' })))
    const kolla = calls.filter((call) => call.startsWith('kolla-ansible')).map((call) => call.split(' ')[1])
    expect(kolla).toEqual(['pull', 'reconfigure', 'post-deploy'])
  })

  it('never shrinks a disk', async () => {
    await up(both())
    await up(both({ 'spec.nodes.2.disks.lvm': '5GiB' }))
    expect(findings().map((one) => one.code)).toContain('SL8312')
  })

  it('comes back after a reboot of the host, unlocking disks', async () => {
    await up(both())
    const before = births()
    for (const node of ['node1', 'node2', 'node3'])
      writeFileSync(path.join(base, `lima/osl-${node}/status`), 'Stopped\n')
    writeFileSync(path.join(base, 'lima/_disks/osl-node3-lvm/lock'), 'osl-node3')
    const sick = diagnose(await gatherFacts(await context(both()), Date.now))
    expect(sick.map((one) => one.code)).toEqual(expect.arrayContaining(['SL8401', 'SL8402']))
    const calls = await since(() => up(both()))
    expect(calls).toContain('limactl --tty=false disk unlock osl-node3-lvm')
    expect(calls.filter((call) => call.startsWith('kolla-ansible'))).toEqual([])
    expect(births()).toEqual(before)
  })
})

describe('around the stages', () => {
  it('tells status: VMs, real disk use, stages', async () => {
    await up(both())
    const status = await labStatus(await context(both()))
    expect(status.nodes.map((node) => [node.name, node.status, node.next])).toEqual([
      ['node1', 'Running', 'keep'],
      ['node2', 'Running', 'keep'],
      ['node3', 'Running', 'keep'],
    ])
    expect(status.disk.nominalGiB).toBe(180)
    expect(status.stages.find((stage) => stage.name === 'deploy')?.state).toBe('done')
  })

  it('diagnoses missing VIPs, wrong clocks and stale sudoers', async () => {
    await up(both())
    const facts = await gatherFacts(await context(both()), Date.now)
    const [first] = facts.nodes
    const broken = {
      ...facts,
      sudoers: false,
      nodes: [
        {
          node: first?.node as never,
          clock: facts.now / 1000 - 1800,
          addresses: [{ interface: 'mgmt0', address: '192.168.105.11' }],
        },
      ],
    }
    expect(diagnose(broken).map((one) => one.code)).toEqual(['SL8304', 'SL8405', 'SL8404', 'SL8404'])
  })

  it('snapshots all VMs, and only when all of them run', async () => {
    await up(both())
    const lines = (await snapshotSteps(await context(both()), 'create', 'x')).map((step) =>
      step.kind === 'run' ? shellLine(step.words) : '',
    )
    expect(lines).toEqual(
      [1, 2, 3].map((node) => `limactl --tty=false snapshot create osl-node${node} --tag x`),
    )
    writeFileSync(path.join(base, 'lima/osl-node2/status'), 'Stopped\n')
    await expect(context(both()).then((one) => snapshotSteps(one, 'create', 'x'))).rejects.toThrow('SL8313')
  })

  it('stops without deleting; deletes VMs and disks when told to', async () => {
    await up(both())
    const words = async (remove: boolean) =>
      (await downSteps(await context(both()), remove)).map((step) =>
        step.kind === 'run' ? step.words.slice(2).join(' ') : step.kind,
      )
    expect(await words(false)).toEqual(['stop osl-node3', 'stop osl-node2', 'stop osl-node1'])
    expect(await words(true)).toEqual(
      expect.arrayContaining(['delete --force osl-node1', 'disk delete osl-node3-lvm', 'note']),
    )
  })

  it('packs a backup whole or not at all', async () => {
    await up(both())
    const steps = backupSteps(await context(both()), 0).map((step) =>
      step.kind === 'run' ? step.words[0] : step.kind,
    )
    expect(steps.at(-2)).toBe('mv')
  })

  it('lets one run at a time work on a lab', async () => {
    await up(both(), { until: 'host' })
    writeFileSync(path.join(folder, '.stackloom/lock'), `${process.ppid}\n`)
    await expect(up(both())).rejects.toThrow('SL8311')
    writeFileSync(path.join(folder, '.stackloom/lock'), '999999999\n')
    expect((await up(both(), { until: 'host' })).outcome).toBe('done')
  })

  it('puts all disks where host.storage says', async () => {
    const lab = both({ 'spec.host.storage': path.join(base, 'drive') })
    await up(lab, { until: 'vms' })
    expect(existsSync(path.join(base, 'drive/lima/osl-node1'))).toBe(true)
  })
})
