/**
 * Joins two data plane hosts to an OVN whose southbound database has TLS, and sends packets between ports of one logical
 * network through the tunnels of the hosts. Another node is the OVN control plane; namespaces are the instances.
 */
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { phase0Playbooks } from '../../../src/dataplane/runs/playbooks.ts'
import { renderMetadataConfig } from '../../../src/dataplane/service-definitions/ovn-metadata-config.ts'
import { succeeded } from '../../../src/exec/process.ts'
import { type Authority, createAuthority } from '../../../src/pki/authority.ts'
import { isSoak } from '../../counts.ts'
import { findSoakHostRoot } from '../../hosts.ts'
import { useNodes } from '../dataplane/nodes.ts'
import { type PlayRequest, play } from './playbooks.ts'
import { createTunnelNetwork, describeTunnels } from './tunnel-network.ts'

vi.setConfig({ testTimeout: 1_800_000, hookTimeout: 600_000 })

const HOSTS = ['edpm-compute-0', 'edpm-compute-1'] as const
const [FIRST, SECOND] = HOSTS
const CENTRAL = 'ovn-central-0'
const nodes = useNodes([...HOSTS, CENTRAL], findSoakHostRoot)
const soon = { timeout: 120_000, interval: 1000 }
let authority: Authority

/** What Neutron tells instances of a Geneve network on a network with 1500. */
const GUEST_MTU = 1442

async function on(node: string, script: string): Promise<string> {
  const { exit, stdout, stderr } = await nodes.node(node).run('sh', '-c', script)
  if (!succeeded(exit)) throw new Error(`${node}: ${stderr || stdout}`)
  return stdout.trim()
}

async function issueFiles(name: string): Promise<Readonly<Record<string, string>>> {
  const { privateKey, certificate } = await authority.issue({ commonName: name, uses: ['client', 'server'] })
  return { 'key.pem': privateKey, 'certificate.pem': certificate, 'ca.pem': authority.certificate }
}

const southbound = (): string => `ssl:${nodes.node(CENTRAL).address}:6642`
const inRun = (name: string): string => `/var/lib/openstack/config/${name}.pem`

const deploy = async (
  playbooks: readonly string[],
  hosts: readonly string[],
  files: NonNullable<PlayRequest['files']>,
): ReturnType<typeof play> =>
  play(nodes, {
    playbooks,
    hosts,
    files,
    vars: {
      stackloom_services_from: 'packages',
      stackloom_ovn_remote: southbound(),
      stackloom_ovn_tls: { key: inRun('key'), certificate: inRun('certificate'), ca: inRun('ca') },
      stackloom_ovs_datapath: 'netdev',
      tenant_ip: "172.19.0.{{ ansible_host.split('.')[3] }}",
    },
  })

beforeAll(async () => {
  if (!isSoak()) return
  authority = await createAuthority({ commonName: 'ovn' })
  const files = Object.entries(await issueFiles('ovn-central'))
  const written = files.map(([name, text]) => `cat >/etc/ovn/${name} <<'END'\n${text}\nEND`).join('\n')
  await on(
    CENTRAL,
    `${written}
systemctl start ovn-central
timeout 120 sh -c 'until ovn-sbctl set-connection pssl:6642; do sleep 1; done'
cd /etc/ovn && ovn-sbctl set-ssl $PWD/key.pem $PWD/certificate.pem $PWD/ca.pem`,
  )
  await createTunnelNetwork(nodes, HOSTS)
})

describe('hosts of an OVN with TLS', () => {
  let files: Readonly<Record<string, string>>

  it('are chassis after phase 0, and the second run changes nothing', async () => {
    files = await issueFiles('hosts')
    const end = await deploy(phase0Playbooks, HOSTS, files)
    expect(end, end.message).toMatchObject({ reason: 'Completed' })
    const chassis = (): Promise<string> =>
      on(CENTRAL, 'ovn-sbctl --bare --columns=hostname list Chassis | sort | xargs')
    await expect.poll(chassis, soon).toBe(HOSTS.join(' '))
    const unchanged = { changed: 0, failures: 0 }
    expect(await deploy(phase0Playbooks, HOSTS, files)).toMatchObject({
      hosts: { [FIRST]: unchanged, [SECOND]: unchanged },
    })
  })

  it('carry packets of instances to each other, of every size that Neutron allows', async () => {
    const ports = HOSTS.map((host, index) => ({ host, port: `vm-${index}`, mac: `0a:00:00:00:00:0${index + 1}` }))
    const address = (port: string): string => `198.51.100.${10 + ports.findIndex((known) => known.port === port)}`
    const switches = ports.map(
      ({ port, mac }) => `ovn-nbctl lsp-add net ${port} -- lsp-set-addresses ${port} "${mac} ${address(port)}"`,
    )
    await on(CENTRAL, ['ovn-nbctl ls-add net', ...switches].join('\n'))
    for (const { host, port, mac } of ports) {
      await on(
        host,
        `set -e
ip netns add vm
ip link add ${port} type veth peer name eth0 address ${mac} mtu ${GUEST_MTU} netns vm
ip -n vm address add ${address(port)}/24 dev eth0
ip -n vm link set eth0 up
ip link set ${port} up
ovs-vsctl add-port br-int ${port} -- set Interface ${port} external_ids:iface-id=${port}`,
      )
    }
    await on(CENTRAL, 'timeout 60 ovn-nbctl --wait=hv sync')
    const ping = async (size: number): Promise<string> => {
      const words = ['ip', 'netns', 'exec', 'vm', 'ping', '-c', '3', '-W', '2', '-M', 'do', '-s', String(size)]
      const { stdout } = await nodes.node(FIRST).run(...words, address('vm-1'))
      return /\d+ received/.exec(stdout)?.[0] ?? stdout
    }
    // The first packets are lost while the tunnel's own neighbour is found.
    for (const size of [56, GUEST_MTU - 28]) {
      await expect
        .poll(() => ping(size), { timeout: 30_000 })
        .toBe('3 received')
        .catch(async (error: unknown) => {
          throw new Error(await describeTunnels(nodes, HOSTS), { cause: error })
        })
    }
  })

  it('run a metadata agent that uses TLS, too, and starts again with another certificate', async () => {
    const facts = { host: FIRST, novaMetadataHost: '192.168.122.1', sharedSecret: 's', ovnSbConnection: southbound() }
    const config = renderMetadataConfig(facts)
    if (config.kind === 'refused') throw new Error('refused')
    const start = (): Promise<string> =>
      on(FIRST, 'systemctl show --property InvocationID --value stackloom-ovn-metadata.service')
    const deployAgent = (certificates: Readonly<Record<string, string>>): ReturnType<typeof play> =>
      deploy(['ovn-metadata'], [FIRST], { ...config.files, ...certificates })
    const end = await deployAgent(files)
    expect(end, end.message).toMatchObject({ reason: 'Completed' })
    // The agent records itself in the southbound database that it uses.
    const recorded = (): Promise<string> => on(CENTRAL, 'ovn-sbctl --bare --columns=external_ids list Chassis_Private')
    await expect.poll(recorded, soon).toContain('neutron:ovn-metadata-id')
    const first = await start()
    expect(await deployAgent(files)).toMatchObject({ hosts: { [FIRST]: { changed: 0, failures: 0 } } })
    expect(await start()).toBe(first)
    expect(await deployAgent(await issueFiles('others'))).toMatchObject({ reason: 'Completed' })
    expect(await start()).not.toBe(first)
  })
})
