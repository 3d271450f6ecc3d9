import { existsSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { createLabRig, lvmAndCephLab } from '../../../test/lab-rig.ts'
import { namedConfFile } from '../bind.ts'
import { buildLimaNetworks } from '../lima/networks.ts'
import { terraformFiles } from '../terraform/resources.ts'

const rig = createLabRig()
const codes = (): readonly string[] => rig.findings().map(({ code }) => code)

describe('the stage resources', () => {
  it('fetches CirrOS once, before Terraform reads it', async () => {
    const lab = lvmAndCephLab()
    expect((await rig.up(lab, { until: 'resources' })).outcome).toBe('done')
    const image = path.join(rig.folder, 'terraform/openstack/images/cirros-0.6.3-aarch64-disk.img')
    expect(existsSync(image)).toBe(true)
    const calls = rig.tools.calls().filter((call) => /^(curl|tofu -chdir)/.test(call))
    expect(calls.map((call) => call.split(' ')[0])).toEqual(['curl', 'tofu', 'tofu'])
    rig.tools.clearCalls()
    await rig.up(lab, { until: 'resources', rerun: ['resources'] })
    expect(rig.tools.calls().filter((call) => call.startsWith('curl'))).toEqual([])
  })

  it('leaves no image behind when the download fails', async () => {
    const report = await rig.up(lvmAndCephLab(), { until: 'resources', env: { FAKE_TOOL_FAIL: 'curl' } })
    expect(report.outcome).toBe('failed')
    expect(existsSync(path.join(rig.folder, 'terraform/openstack/images/cirros-0.6.3-aarch64-disk.img'))).toBe(false)
    expect(rig.tools.calls().some((call) => call.startsWith('tofu -chdir'))).toBe(false)
  })

  it('names an image of the lab file that does not exist', async () => {
    const lab = lvmAndCephLab({ 'spec.terraform': { image: { name: 'debian', file: 'images/debian.qcow2' } } })
    expect((await rig.up(lab, { until: 'resources' })).outcome).toBe('failed')
    expect(codes()).toContain('SL8333')
  })

  it('stops before Terraform when this machine does not resolve the name of the cloud', async () => {
    const env = { FAKE_TOOL_ADDRESS: '192.0.2.1' }
    expect((await rig.up(lvmAndCephLab(), { until: 'resources', env })).outcome).toBe('failed')
    expect(rig.findings().find(({ code }) => code === 'SL8334')?.remedy).toContain('scripts/resolver.sh')
    expect(rig.tools.calls().some((call) => call.startsWith('tofu -chdir'))).toBe(false)
  })

  it('uses terraform where tofu is not installed', async () => {
    const bin = path.join(rig.base, 'bin')
    renameSync(path.join(bin, 'tofu'), path.join(bin, 'terraform'))
    expect((await rig.up(lvmAndCephLab(), { until: 'resources' })).outcome).toBe('done')
  })
})

describe('the stage host', () => {
  it('refuses a socket_vmnet that others than root may replace', async () => {
    writeFileSync(path.join(rig.base, 'bin/find'), '#!/bin/sh\necho /opt/socket_vmnet\n')
    expect((await rig.up(lvmAndCephLab(), { until: 'host' })).outcome).toBe('failed')
    expect(codes()).toContain('SL8335')
  })
})

describe('instances', () => {
  it('reach a nameserver on the external network, and the internet through it', () => {
    const lab = lvmAndCephLab()
    const [, address = ''] = /listen-on \{ 127\.0\.0\.1; [\d.]+; ([\d.]+); \};/.exec(namedConfFile(lab).text) ?? []
    expect(address).toMatch(/^10\.0\.2\./)
    const networks = terraformFiles(lab).find((file) => file.path.endsWith('networks.tf'))
    expect(networks?.text).toMatch(new RegExp(`dns_nameservers\\s+= \\["${address}"\\]`))
    expect(buildLimaNetworks(lab)[lab.networks.external.lima]?.mode).toBe('shared')
  })
})
