/**
 * Deploys services from images with real Ansible on a node whose systemd runs Podman's real generator. Podman itself is a
 * stand-in: this machine has no image that it could run.
 */
import { copyFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { testProgram } from '../../../tools/test-programs.ts'
import { count, requireSoak } from '../../counts.ts'
import { play } from '../hosts/playbooks.ts'
import { useNodes } from './nodes.ts'

vi.setConfig({ testTimeout: 1_800_000, hookTimeout: 600_000 })

const HOST = 'edpm-compute-0'
const nodes = useNodes([HOST])

/** Reports as Podman's monitor does, logs what the test wants, and stays. */
const PODMAN = `#!/bin/sh
[ "$1" = run ] || exit 0
echo "$*" >> /var/log/podman
systemd-notify --ready
cat /etc/podman-logs
exec sleep infinity
`
const SOUTHBOUND = 'ssl:[fd00:17::80]:6642'
const CONFIG = `[DEFAULT]\nenabled_backends = fast, large\n[ovn]\novn_sb_connection = tcp:192.0.2.1:6642, ${SOUTHBOUND}\n`

/** What services log when they are up, and what they do not reach before. */
const up = {
  nova: ['Join ServiceGroup membership for this service compute', 'its cell, libvirt and Placement'],
  'ovn-metadata': [`ovsdbapp.backend.ovs_idl.vlog [-] ${SOUTHBOUND}: connected`, 'the southbound database'],
  sriov: ['Agent initialized successfully, now running... ', 'the message bus'],
  'cinder-volume': ['Driver post RPC initialization completed successfully.', 'the message bus'],
} as const
const ALL_UP = Object.values(up).flatMap(([line]) => [line, line])
/** The last one is of a connection of the metadata agent to the host itself. */
const STARTING = ['Starting compute node', 'ovsdbapp.backend.ovs_idl.vlog [-] tcp:127.0.0.1:6640: connected']

async function setLogs(lines: readonly string[]): Promise<void> {
  await writeFile(path.join(nodes.node(HOST).root, 'etc/podman-logs'), `${lines.join('\n')}\n`)
}

/** The images by service. */
const images = {
  libvirt: { edpm_libvirt_image: 'registry.example/libvirt:1' },
  nova: { edpm_nova_compute_image: 'registry.example/nova:1' },
  'ovn-metadata': { edpm_ovn_metadata_agent_image: 'registry.example/agent:1' },
  sriov: { edpm_neutron_sriov_image: 'registry.example/sriov:1' },
  'cinder-volume': { edpm_cinder_volume_image: 'registry.example/cinder:1' },
} as const
const services = (Object.keys(images) as readonly (keyof typeof images)[]).slice(0, count({ test: 1, soak: 5 }))

async function installPodman(): Promise<void> {
  const { root } = nodes.node(HOST)
  const generator = 'usr/lib/systemd/system-generators/podman-system-generator'
  await copyFile(await testProgram('quadlet'), path.join(root, generator))
  await writeFile(path.join(root, 'usr/bin/podman'), PODMAN, { mode: 0o755 })
  await setLogs(ALL_UP)
}

const onHost = async (...words: readonly string[]): Promise<string> =>
  (await nodes.node(HOST).run(...words)).stdout.trim()
const property = (name: string, unit: string): Promise<string> =>
  onHost('systemctl', 'show', '--property', name, '--value', unit)
/** The agents read every file; it does not matter here. */
const deploy = (playbooks: readonly string[], nova = CONFIG) =>
  play(nodes, {
    playbooks,
    hosts: [HOST],
    files: { 'virtqemud.conf': '', '01-nova.conf': nova },
    vars: Object.assign({ stackloom_start_seconds: 10 }, ...Object.values(images)),
  })

describe('services from images', () => {
  it('are units that systemd makes and starts from the files for Podman', async () => {
    await installPodman()
    const end = await deploy(services)
    expect(end, end.message).toMatchObject({ reason: 'Completed' })
    const commands = (await onHost('cat', '/var/log/podman')).split('\n')
    const wanted = await property('Wants', 'multi-user.target')
    for (const [index, service] of services.entries()) {
      const unit = `stackloom-${service}.service`
      expect(await property('SourcePath', unit)).toBe(`/etc/containers/systemd/stackloom-${service}.container`)
      expect(await property('ActiveState', unit)).toBe('active')
      expect(await property('Restart', unit)).toBe('always')
      expect(wanted).toContain(unit)
      expect(commands[index]).toContain(` ${Object.values(images[service])[0]} `)
      expect(commands[index]).toContain('--network host')
      expect(commands[index]).toContain(`-v /var/lib/openstack/config/${service}:`)
    }
  })

  it('are deployed when they have logged that they reach what they need', async () => {
    const waiting = (Object.keys(up) as readonly (keyof typeof up)[]).slice(0, count({ test: 1, soak: 4 }))
    for (const service of waiting) {
      const [line, needs] = up[service]
      await setLogs([...STARTING, ...ALL_UP.filter((other) => other !== line)])
      const refused = { reason: 'Failed', message: expect.stringContaining(`it does not reach ${needs}: `) }
      expect(await deploy([service], `${CONFIG}# ${service}\n`), service).toMatchObject(refused)
      // It runs, and is still not up.
      expect(await deploy([service], `${CONFIG}# ${service}\n`), service).toMatchObject(refused)
      await setLogs([...STARTING, ...ALL_UP])
      const end = await deploy([service], `${CONFIG}# ${service}\n`)
      expect(end, end.message).toMatchObject({ reason: 'Completed' })
    }
  })

  it('are not deployed when they log that they cannot work, or one of their parts is not up', async (context) => {
    requireSoak(context)
    const broken = 'ERROR nova.compute.manager [-] Error updating resources for node edpm-compute-0.'
    await setLogs([broken, ...ALL_UP])
    const refused = { reason: 'Failed', message: expect.stringContaining(broken) }
    expect(await deploy(['nova'], `${CONFIG}# 1\n`)).toMatchObject(refused)
    await setLogs([up['cinder-volume'][0]])
    expect(await deploy(['cinder-volume'], `${CONFIG}# 1\n`)).toMatchObject({ reason: 'Failed' })
    await setLogs(ALL_UP)
    expect(await deploy(['nova', 'cinder-volume'])).toMatchObject({ reason: 'Completed' })
  })

  it('are started again by the run after an interrupted one that left them not up', async (context) => {
    requireSoak(context)
    const before = await property('InvocationID', 'stackloom-nova.service')
    expect(await deploy(['nova'])).toMatchObject({ hosts: { [HOST]: { changed: 0 } } })
    expect(await property('InvocationID', 'stackloom-nova.service')).toBe(before)
    await setLogs(STARTING)
    await onHost('systemctl', 'restart', 'stackloom-nova')
    const interrupted = await property('InvocationID', 'stackloom-nova.service')
    await setLogs(ALL_UP)
    expect(await deploy(['nova'])).toMatchObject({ reason: 'Completed' })
    expect(await property('InvocationID', 'stackloom-nova.service')).not.toBe(interrupted)
  })

  it('are not changed by a second run, and only that with another configuration is started again', async (context) => {
    requireSoak(context)
    const starts = () => Promise.all(services.map((name) => property('InvocationID', `stackloom-${name}.service`)))
    const [libvirt, nova] = await starts()
    expect(await deploy(['libvirt', 'nova'])).toMatchObject({ hosts: { [HOST]: { changed: 0, failures: 0 } } })
    expect(await deploy(['libvirt', 'nova'], `${CONFIG}debug = true\n`)).toMatchObject({ reason: 'Completed' })
    const [libvirtAfter, novaAfter] = await starts()
    expect(libvirtAfter).toBe(libvirt)
    expect(novaAfter).not.toBe(nova)
  })

  it('are there again after lost power', async (context) => {
    requireSoak(context)
    await nodes.node(HOST).losePower()
    await nodes.node(HOST).powerOn()
    const units = services.map((name) => `stackloom-${name}.service`)
    await expect
      .poll(() => onHost('systemctl', 'is-active', ...units), { timeout: 120_000 })
      .toBe(units.map(() => 'active').join('\n'))
  })

  it('leave no unit and no configuration when they are decommissioned', async (context) => {
    requireSoak(context)
    const vars = { stackloom_services: services }
    expect(await play(nodes, { playbooks: ['decommission'], hosts: [HOST], vars })).toMatchObject({
      reason: 'Completed',
    })
    expect(await onHost('sh', '-c', 'ls /etc/containers/systemd /var/lib/openstack/config')).toBe(
      '/etc/containers/systemd:\n\n/var/lib/openstack/config:',
    )
    expect(await onHost('sh', '-c', "systemctl list-units --all --plain --no-legend 'stackloom-*.service'")).toBe('')
  })
})
