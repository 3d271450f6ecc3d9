import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { generateSmallKey } from '../../../test/lab.ts'
import { createLabRig, lvmAndCephLab, outcomes } from '../../../test/lab-rig.ts'
import { runProcess } from '../../exec/process.ts'
import { renderLab } from '../render-lab.ts'
import { planStages } from './driver.ts'
import { stageNames } from './stage.ts'
import { openReadOnlyState } from './state.ts'

const rig = createLabRig()

describe('lab up of a new lab', () => {
  it('runs every stage in order, with the expected commands', async () => {
    const report = await rig.up(lvmAndCephLab())
    expect(report.outcome).toBe('done')
    expect(Object.keys(outcomes(report))).toEqual(stageNames)
    const kolla = rig.tools
      .calls()
      .filter((call) => call.startsWith('kolla-ansible'))
      .map((call) => call.split(' ')[1])
    expect(kolla).toEqual(['bootstrap-servers', 'prechecks', 'pull', 'deploy', 'post-deploy', 'reconfigure'])
    const galaxy = rig.tools.calls().filter((call) => call.startsWith('ansible-galaxy'))
    expect(galaxy).toEqual([expect.stringMatching(/ --no-deps git\+https:\S+,[0-9a-f]{40}$/)])
    expect(rig.tools.calls()).toContain('limactl --tty=false disk create osl-node3-lvm --size 10GiB')
    expect(rig.tools.calls()).toContain('limactl --tty=false create --name=osl-node1 lima/node1-controller.yaml')
    expect(rig.tools.calls().at(-1)).toBe(
      'kolla-ansible reconfigure -i kolla/multinode --configdir kolla -t glance,cinder,nova'
        .replace('--configdir kolla', `--configdir ${rig.folder}/kolla`)
        .replaceAll(`${rig.folder}/`, ''),
    )
  })

  it('runs no command a second time', async () => {
    await rig.deployed()
    const calls = await rig.callsDuring(() => rig.up(lvmAndCephLab()))
    expect(calls.filter((call) => !/--version|version$|-V$|sudoers|list --json|disk ls|^find /.test(call))).toEqual([])
  })

  it('stops after --until, and the next run continues from there', async () => {
    expect(outcomes(await rig.up(lvmAndCephLab(), { until: 'vms' }))).toEqual({
      host: 'done',
      disks: 'done',
      vms: 'done',
    })
    const calls = await rig.callsDuring(() => rig.up(lvmAndCephLab()))
    expect(calls.filter((call) => call.includes('create'))).toEqual([])
    expect(calls.some((call) => call.startsWith('kolla-ansible deploy'))).toBe(true)
  })

  it('runs a done stage again when --from-stage names it', async () => {
    await rig.deployed()
    const calls = await rig.callsDuring(() => rig.up(lvmAndCephLab(), { from: 'deploy', rerun: ['deploy'] }))
    expect(calls.filter((call) => call.startsWith('kolla-ansible')).map((call) => call.split(' ')[1])).toEqual([
      'reconfigure',
    ])
  })

  it('prints the same commands in a dry run that the run executes', async () => {
    await renderLab(lvmAndCephLab(), rig.folder, { now: Date.now(), makeSshKey: generateSmallKey })
    const store = await openReadOnlyState(rig.folder)
    const settings = {
      lab: lvmAndCephLab(),
      folder: rig.folder,
      system: 'darwin',
      env: rig.tools.env,
      exec: runProcess,
      store,
    }
    const planned = await planStages(settings, new Set(stageNames))
    const commands = planned.flatMap((stage) => stage.commands).filter((line) => !line.startsWith('#'))
    rig.tools.clearCalls()
    await rig.up(lvmAndCephLab())
    const done = new Set(rig.tools.calls().filter((call) => !/list --json|disk ls/.test(call)))
    const asCalled = (line: string): string =>
      line
        .replace(/ < .*/, '')
        .replaceAll("'", '')
        .replaceAll(`${rig.folder}/`, '')
        .replace(/^\.stackloom\/venv\/bin\//, '')
        .replace(/^qemu-system-aarch64/, 'qemu')
    expect(commands.length).toBeGreaterThan(30)
    // A script of the tree is seen by the programs that it starts.
    const script = 'sh scripts/fetch-image.sh'
    expect(commands).toContain(script)
    for (const command of commands) if (command !== script) expect([...done]).toContain(asCalled(command))
  })

  it('keeps a log of every stage', async () => {
    await rig.deployed()
    const logs = readdirSync(path.join(rig.folder, '.stackloom/logs'))
    expect(logs).toContain('deploy.log')
    expect(readFileSync(path.join(rig.folder, '.stackloom/logs/vms.log'), 'utf8')).toContain(
      '$ limactl --tty=false start osl-node1',
    )
  })

  it('has no secret in arguments, logs or events', async () => {
    await rig.deployed()
    const passwords = readFileSync(path.join(rig.folder, 'kolla/passwords.yml'), 'utf8')
    const secrets = [...passwords.matchAll(/: "?([A-Za-z0-9]{40})"?$/gm)].map((match) => match[1] as string)
    expect(secrets.length).toBeGreaterThan(50)
    const output = rig.tools.calls().join('\n') + JSON.stringify(rig.events)
    expect(secrets.filter((secret) => output.includes(secret))).toEqual([])
  })

  it('refuses VMs on Linux with a finding, and runs all other stages', async () => {
    const report = await rig.up(lvmAndCephLab(), { system: 'linux' })
    expect(outcomes(report)).toMatchObject({
      host: 'done',
      deployer: 'done',
      disks: 'failed',
      vms: 'blocked',
    })
    expect(rig.findings().map((finding) => finding.code)).toContain('SL8303')
  })

  it("adds the lab's networks to Lima's networks.yaml and keeps the rest, comments included", async () => {
    const file = path.join(rig.base, 'lima/_config/networks.yaml')
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, '# mine\nnetworks:\n  shared: {mode: shared, gateway: 192.168.107.1}\n')
    await rig.up(lvmAndCephLab(), { until: 'host' })
    const text = readFileSync(file, 'utf8')
    expect(text).toContain('# mine')
    expect(text).toContain('192.168.107.1')
    expect(text).toContain('osl-mgmt')
    await expect(
      rig.callsDuring(() => rig.up(lvmAndCephLab({ 'spec.networks.tunnel.dhcpEnd': '10.0.1.8' }), { until: 'host' })),
    ).resolves.toBeDefined()
    expect(rig.findings().map((finding) => finding.code)).toContain('SL8314')
  })
})
