/**
 * Applies network configurations with the real nmstate on NetworkManager of a data plane host: a good one is kept, one that
 * cuts the host off is rolled back, an invalid one changes nothing; then packets test the network.
 */
import { existsSync } from 'node:fs'
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { nmstatectlPath } from '../../../src/rehearse/image/nmstatectl.ts'
import { findSoakHostRoot } from '../../hosts.ts'
import { sandboxContext } from '../../sandbox-context.ts'
import { useNodes } from '../dataplane/nodes.ts'
import { play } from './playbooks.ts'

const HOST = 'edpm-compute-0'
const nodes = useNodes([HOST], findSoakHostRoot)
const nmstatectl = nmstatectlPath(sandboxContext().paths)
let folder = ''

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'stackloom-network-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))
beforeEach((context) => {
  if (!existsSync(nmstatectl)) context.skip('nmstatectl is not built; `make test SUITE=rehearse` builds it')
})

const addresses = async (): Promise<string> =>
  (await nodes.node(HOST).run('ip', '-4', '-brief', 'address', 'show', 'eth0')).stdout

async function configure(template: string): ReturnType<typeof play> {
  const file = path.join(folder, 'template')
  await writeFile(file, template)
  return play(nodes, {
    playbooks: ['configure-network'],
    hosts: [HOST],
    // The template is a file of the machine that runs Ansible.
    vars: { stackloom_root: '', edpm_network_config_template: file, stackloom_network_rollback_seconds: 30 },
  })
}

const ethernet = (address: string, more = ''): string => `interfaces:
- name: eth0
  type: ethernet
  state: up
${more}  ipv4:
    enabled: true
    address: [{ip: ${address}, prefix-length: 24}]
`

describe('the network configuration of a host', () => {
  it('is kept when the host can be reached, and applied once', async () => {
    const { root, run } = nodes.node(HOST)
    await copyFile(nmstatectl, path.join(root, 'usr/bin/nmstatectl'))
    const settings = '[main]\nno-auto-default=*\n'
    await writeFile(path.join(root, 'etc/NetworkManager/conf.d/10-stackloom.conf'), settings)
    expect((await run('systemctl', 'start', 'NetworkManager')).exit).toEqual({ kind: 'exited', code: 0 })
    const good = ethernet('{{ ctlplane_ip }}')
    expect(await configure(good)).toMatchObject({ reason: 'Completed' })
    expect((await run('nmcli', '-t', '-f', 'DEVICE,STATE', 'device')).stdout).toContain('eth0:connected')
    expect(await configure(good)).toMatchObject({ hosts: { [HOST]: { changed: 0, failures: 0 } } })
  }, 600_000)

  it('is rolled back when it cuts the host off, and the run says so', async () => {
    expect(await configure(ethernet('172.31.9.9'))).toMatchObject({
      reason: 'Failed',
      message: expect.stringMatching(/^edpm-compute-0: Report why .*could not be reached.*SL7157/),
    })
    expect(await addresses()).toContain(`${nodes.node(HOST).address}/24`)
  }, 600_000)

  it('is refused by nmstate when it is invalid, with the reason', async () => {
    expect(await configure(ethernet('{{ ctlplane_ip }}', '  mtuu: 9000\n'))).toMatchObject({
      reason: 'Failed',
      message: expect.stringMatching(/unknown field `mtuu`.*SL7156/),
    })
  }, 600_000)

  it('is tested with packets: a silent gateway and an MTU that the path does not have are named', async () => {
    const validate = (vars: Readonly<Record<string, unknown>>): ReturnType<typeof play> =>
      play(nodes, { playbooks: ['validate-network'], hosts: [HOST], vars })
    expect(await validate({ ctlplane_gateway_ip: '192.168.122.1' })).toMatchObject({ reason: 'Completed' })
    expect((await validate({ ctlplane_gateway_ip: '192.168.122.1', ctlplane_mtu: 9000 })).message).toContain('SL7153')
    expect((await validate({ ctlplane_gateway_ip: '192.168.122.77' })).message).toContain('SL7154')
    expect((await validate({ internalapi_ip: '172.17.0.9' })).message).toContain('SL7155')
  }, 600_000)
})
