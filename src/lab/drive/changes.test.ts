import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { labWith } from '../../../test/lab.ts'
import { createLabRig, lvmAndCephLab } from '../../../test/lab-rig.ts'
import { formatShellCommand } from '../../errors/shell-words.ts'
import { diagnose, gatherFacts } from './lab-doctor.ts'
import { readLabStatus } from './lab-status.ts'
import { backupSteps, downSteps, snapshotSteps } from './maintenance.ts'
import { openStateStore, withLabLock } from './state.ts'

const rig = createLabRig()

describe('lab up after a change of the lab file', () => {
  const four = () => labWith({}, { phase: 'both', preset: 'four-node' })

  it('scales to four nodes with one edit: resizes and creates VMs, and deletes no disk', async () => {
    await rig.deployed()
    const before = rig.diskIds()
    const calls = await rig.callsDuring(() => rig.up(four()))
    expect(rig.diskIds()).toMatchObject(before)
    expect(calls.filter((call) => /delete/.test(call))).toEqual([])
    expect(calls).toContain('limactl --tty=false edit osl-node1 --set .cpus = 6 | .memory = "24GiB" | .disk = "60GiB"')
    expect(calls).toContain('limactl --tty=false create --name=osl-node4 lima/node4-compute.yaml')
    expect(calls.some((call) => call.startsWith('kolla-ansible deploy'))).toBe(true)
    expect(await rig.callsDuring(() => rig.up(four()))).not.toContain('limactl --tty=false stop osl-node1')
  })

  it('replaces a VM only with consent, and keeps its data disks', async () => {
    await rig.deployed()
    const newUser = lvmAndCephLab({ 'spec.vm.user': 'ops' })
    const refused = await rig.up(newUser)
    expect(refused.outcome).toBe('failed')
    expect(rig.findings().find((finding) => finding.code === 'SL8307')?.message).toMatch(
      /^replace node1, node2, node3: /,
    )
    const newDisk = lvmAndCephLab({ 'spec.nodes.1.disks.state': '10GiB' })
    const disks = rig.diskIds()
    const calls = await rig.callsDuring(() => rig.up(newDisk, { replace: ['node2'] }))
    expect(calls).toContain('limactl --tty=false delete osl-node2')
    const after = rig.diskIds()
    expect(after['_disks/osl-node2-osd/datadisk']).toBe(disks['_disks/osl-node2-osd/datadisk'])
    expect(after['osl-node2/diffdisk']).not.toBe(disks['osl-node2/diffdisk'])
    expect(calls.some((call) => call.startsWith('kolla-ansible deploy'))).toBe(true)
  })

  it('refuses to replace a node with the database on its OS disk until a backup exists, then restores it', async () => {
    await rig.deployed()
    const changed = lvmAndCephLab({ 'spec.networks.tunnel.interface': 'tun1' })
    const consent = { replace: ['node1', 'node2'] }
    expect((await rig.up(changed, consent)).outcome).toBe('failed')
    expect(rig.findings().map((finding) => finding.code)).toContain('SL8308')
    mkdirSync(path.join(rig.folder, '.stackloom/backups'), { recursive: true })
    writeFileSync(path.join(rig.folder, '.stackloom/backups/2026.tar'), 'x')
    const calls = await rig.callsDuring(() => rig.up(changed, consent))
    const deployed = calls.findIndex((call) => call.startsWith('kolla-ansible deploy'))
    const restored = calls.findIndex((call) => /^scp .*2026\.tar/.test(call))
    expect(calls).toContain('limactl --tty=false delete osl-node1')
    expect(deployed).toBeGreaterThan(0)
    expect(restored).toBeGreaterThan(deployed)
    expect((await openStateStore(rig.folder)).get().restore).toBeUndefined()
  })

  it('replaces a controller with a state disk without a backup, and keeps that disk', async () => {
    const state = { 'spec.nodes.0.disks': { state: '40GiB' } }
    await rig.up(lvmAndCephLab(state))
    const disks = rig.diskIds()
    const report = await rig.up(lvmAndCephLab({ ...state, 'spec.networks.tunnel.interface': 'tun1' }), {
      replace: ['node1', 'node2'],
    })
    expect(report.outcome).toBe('done')
    expect(rig.diskIds()['_disks/osl-node1-state/datadisk']).toBe(disks['_disks/osl-node1-state/datadisk'])
  })

  it('runs reconfigure when only the configuration changed', async () => {
    await rig.deployed()
    const calls = await rig.callsDuring(() => rig.up(lvmAndCephLab({ 'spec.logging': 'opensearch' })))
    const kolla = calls.filter((call) => call.startsWith('kolla-ansible')).map((call) => call.split(' ')[1])
    expect(kolla).toEqual(['pull', 'reconfigure', 'post-deploy'])
  })

  it('never shrinks a disk', async () => {
    await rig.deployed()
    await rig.up(lvmAndCephLab({ 'spec.nodes.2.disks.lvm': '5GiB' }))
    expect(rig.findings().map((finding) => finding.code)).toContain('SL8312')
  })

  it('unlocks disks and starts VMs after a reboot of the host', async () => {
    await rig.deployed()
    const before = rig.diskIds()
    for (const node of ['node1', 'node2', 'node3'])
      writeFileSync(path.join(rig.base, `lima/osl-${node}/status`), 'Stopped\n')
    writeFileSync(path.join(rig.base, 'lima/_disks/osl-node3-lvm/lock'), 'osl-node3')
    const findings = diagnose(await gatherFacts(await rig.context(lvmAndCephLab()), Date.now))
    expect(findings.map((finding) => finding.code)).toEqual(expect.arrayContaining(['SL8401', 'SL8402']))
    const calls = await rig.callsDuring(() => rig.up(lvmAndCephLab()))
    expect(calls).toContain('limactl --tty=false disk unlock osl-node3-lvm')
    expect(calls.filter((call) => call.startsWith('kolla-ansible'))).toEqual([])
    expect(rig.diskIds()).toEqual(before)
  })
})

describe('lab status, doctor, snapshot, down and backup', () => {
  it('show VMs, real disk use and stages', async () => {
    await rig.deployed()
    const status = await readLabStatus(await rig.context(lvmAndCephLab()))
    expect(status.nodes.map((node) => [node.name, node.status, node.next])).toEqual([
      ['node1', 'Running', 'keep'],
      ['node2', 'Running', 'keep'],
      ['node3', 'Running', 'keep'],
    ])
    expect(status.disk.nominalGiB).toBe(180)
    expect(status.stages.find((stage) => stage.name === 'deploy')?.state).toBe('done')
  })

  it('diagnose missing VIPs, wrong clocks and stale sudoers', async () => {
    await rig.deployed()
    const facts = await gatherFacts(await rig.context(lvmAndCephLab()), Date.now)
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
    expect(diagnose(broken).map((finding) => finding.code)).toEqual(['SL8304', 'SL8405', 'SL8404', 'SL8404'])
  })

  it('snapshot all VMs, and only when all of them run', async () => {
    await rig.deployed()
    const lines = (await snapshotSteps(await rig.context(lvmAndCephLab()), 'create', 'x')).map((step) =>
      step.kind === 'run' ? formatShellCommand(step.command) : '',
    )
    expect(lines).toEqual([1, 2, 3].map((node) => `limactl --tty=false snapshot create osl-node${node} --tag x`))
    writeFileSync(path.join(rig.base, 'lima/osl-node2/status'), 'Stopped\n')
    await expect(
      rig.context(lvmAndCephLab()).then((driveContext) => snapshotSteps(driveContext, 'create', 'x')),
    ).rejects.toThrow('SL8313')
  })

  it('restore only a snapshot that every VM has', async () => {
    await rig.up(lvmAndCephLab(), { until: 'vms' })
    const context = await rig.context(lvmAndCephLab())
    expect(await snapshotSteps(context, 'apply', 'before-ceph')).toHaveLength(3)
    await expect(snapshotSteps(context, 'apply', 'before-cpeh')).rejects.toThrow(
      'SL8317: there is no snapshot before-cpeh of node1, node2, node3',
    )
  })

  it('fail when limactl fails, instead of assuming that there are no VMs', async () => {
    const failing = await rig.context(lvmAndCephLab(), { env: { FAKE_TOOL_FAIL: 'list --json' } })
    const absent = await rig.context(lvmAndCephLab(), { env: { PATH: rig.base } })
    for (const remove of [false, true]) {
      await expect(downSteps(failing, remove)).rejects.toThrow('SL8316: limactl list --json failed: time=')
      await expect(downSteps(absent, remove)).rejects.toThrow('SL8301: limactl cannot be started')
    }
    await expect(readLabStatus(failing)).rejects.toThrow('SL8316')
    await expect(gatherFacts(absent, Date.now)).rejects.toThrow('SL8301')
  })

  it('refuse or skip VMs on Linux', async () => {
    const linux = await rig.context(lvmAndCephLab(), { system: 'linux' })
    await expect(downSteps(linux, true)).rejects.toThrow('SL8303')
    await expect(snapshotSteps(linux, 'create', 'x')).rejects.toThrow('SL8303')
    expect(diagnose(await gatherFacts(linux, Date.now)).map((finding) => finding.code)).toEqual(['SL8303'])
    expect((await readLabStatus(linux)).nodes.map((node) => node.next)).toEqual(['-', '-', '-'])
  })

  it('stop VMs by default, and delete VMs and disks on request', async () => {
    await rig.deployed()
    const commands = async (remove: boolean) =>
      (await downSteps(await rig.context(lvmAndCephLab()), remove)).map((step) =>
        step.kind === 'run' ? step.command.slice(2).join(' ') : step.kind,
      )
    expect(await commands(false)).toEqual(['stop osl-node3', 'stop osl-node2', 'stop osl-node1'])
    expect(await commands(true)).toEqual(
      expect.arrayContaining(['delete --force osl-node1', 'disk delete osl-node3-lvm', 'note']),
    )
  })

  it('rename a backup last, so that a partial copy does not count', async () => {
    await rig.deployed()
    const steps = backupSteps(await rig.context(lvmAndCephLab()), 0).map((step) =>
      step.kind === 'run' ? step.command[0] : step.kind,
    )
    expect(steps.at(-2)).toBe('mv')
  })

  it('refuse a second run while the first one is alive', async () => {
    await rig.up(lvmAndCephLab(), { until: 'host' })
    await withLabLock(rig.folder, () => expect(rig.up(lvmAndCephLab())).rejects.toThrow('SL8311'))
    // What a killed run leaves behind is only text.
    writeFileSync(path.join(rig.folder, '.stackloom/lock'), `${process.ppid}\n`)
    expect((await rig.up(lvmAndCephLab(), { until: 'host' })).outcome).toBe('done')
  })

  it('put all disks into host.storage', async () => {
    const lab = lvmAndCephLab({ 'spec.host.storage': path.join(rig.base, 'drive') })
    await rig.up(lab, { until: 'vms' })
    expect(existsSync(path.join(rig.base, 'drive/lima/osl-node1'))).toBe(true)
  })
})
