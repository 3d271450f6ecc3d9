/**
 * Deploys data plane hosts with the real programs of Debian: Open vSwitch, ovn-controller, libvirt, nova-compute and the OVN
 * metadata agent as units of systemd, on machines that reboot and lose power. Another node is the OVN control plane.
 */
import { describe, expect, it } from 'vitest'
import { phase0Playbooks } from '../../../src/dataplane/runs/playbooks.ts'
import { renderCinderVolumeConfig } from '../../../src/dataplane/service-definitions/cinder-volume-config.ts'
import type { ConfigFiles } from '../../../src/dataplane/service-definitions/config-files.ts'
import { renderComputeConfig } from '../../../src/dataplane/service-definitions/nova-config.ts'
import { renderMetadataConfig } from '../../../src/dataplane/service-definitions/ovn-metadata-config.ts'
import { renderSriovConfig } from '../../../src/dataplane/service-definitions/sriov-config.ts'
import { findSoakHostRoot } from '../../hosts.ts'
import { useNodes } from '../dataplane/nodes.ts'
import { type PlayRequest, play } from './playbooks.ts'

const HOST = 'edpm-compute-0'
const CENTRAL = 'ovn-central-0'
const nodes = useNodes([HOST, CENTRAL], findSoakHostRoot)
const soon = { timeout: 300_000, interval: 1000 }
const LONG = 1_800_000

const output = async (node: string, ...words: readonly string[]): Promise<string> =>
  (await nodes.node(node).run(...words)).stdout.trim()
const onHost = (...words: readonly string[]): Promise<string> => output(HOST, ...words)
const property = (name: string, unit: string): Promise<string> =>
  onHost('systemctl', 'show', '--property', name, '--value', unit)
const southbound = (): string => `tcp:${nodes.node(CENTRAL).address}:6642`

/** The kernel of the machine has no Open vSwitch: its datapath is a process. */
const hostVars = (): NonNullable<PlayRequest['vars']> => ({
  stackloom_services_from: 'packages',
  stackloom_ovn_remote: southbound(),
  stackloom_ovs_datapath: 'netdev',
  ctlplane_gateway_ip: '192.168.122.1',
  canonical_hostname: `${HOST}.ctlplane.example.org`,
})

const chassis = (): Promise<string> => output(CENTRAL, 'ovn-sbctl', '--bare', '--columns=hostname', 'list', 'chassis')

function filesOf(config: ConfigFiles): Readonly<Record<string, string>> {
  if (config.kind === 'refused') throw new Error(config.findings.map(({ message }) => message).join())
  return config.files
}

const metadataFiles = (custom = '', ovnSbConnection = southbound()): Readonly<Record<string, string>> =>
  filesOf(
    renderMetadataConfig({ host: HOST, novaMetadataHost: '192.168.122.1', sharedSecret: 's', ovnSbConnection }, custom),
  )

const computeFiles = (custom = ''): Readonly<Record<string, string>> => {
  const facts = {
    transportUrl: 'rabbit://nova:secret@192.168.122.1:5672/',
    keystoneAuthUrl: 'http://192.168.122.1:5000',
    serviceUser: 'nova',
    servicePassword: 'p',
    host: HOST,
  }
  return filesOf(renderComputeConfig(facts, custom))
}

const deploy = (playbooks: readonly string[], more: Partial<PlayRequest> = {}): ReturnType<typeof play> =>
  play(nodes, { playbooks, hosts: [HOST], ...more, vars: { ...hostVars(), ...more.vars } })

/**
 * The driver of NFS writes volumes as files. This kernel has neither NFS nor the device mapper that LVM needs: another file
 * system is mounted where the share belongs.
 */
const SHARE = `volume_driver = cinder.volume.drivers.nfs.NfsDriver
nfs_shares_config = /etc/cinder/shares
nfs_mount_point_base = /var/lib/cinder/mnt
nas_secure_file_operations = true
nas_secure_file_permissions = true
`
const PREPARE_SHARE = `set -e
share=192.0.2.1:/volumes
echo $share >/etc/cinder/shares
folder=/var/lib/cinder/mnt/$(printf %s $share | md5sum | cut -d ' ' -f 1)
mkdir -p $folder
mount -t tmpfs -o mode=700,uid=$(id -u cinder),gid=$(id -g cinder) tmpfs $folder
ln -s /bin/true /sbin/mount.nfs`

/** API and scheduler of cinder, which accept every request, with their database and message bus. */
async function startCinder(): Promise<void> {
  const program = (name: string): string =>
    `python3 -c 'import sys; sys.argv[0] = "cinder-${name}"; from cinder.cmd.${name} import main; main()'`
  const script = `set -e
printf '[mysqld]\\nbind-address = 0.0.0.0\\nskip-name-resolve = 1\\n' >/etc/mysql/mariadb.conf.d/99-test.cnf
printf 'NODENAME=rabbit@localhost\\n' >/etc/rabbitmq/rabbitmq-env.conf
systemctl start mariadb rabbitmq-server
mariadb -e "CREATE DATABASE cinder; GRANT ALL ON cinder.* TO cinder@'%' IDENTIFIED BY 'p'"
rabbitmqctl -q add_user cinder p
rabbitmqctl -q set_permissions cinder '.*' '.*' '.*'
cat >/etc/cinder/cinder.conf <<END
[DEFAULT]
auth_strategy = noauth
api_paste_config = /etc/cinder/api-paste.ini
osapi_volume_listen = 127.0.0.1
osapi_volume_workers = 1
state_path = /var/lib/cinder
transport_url = rabbit://cinder:p@127.0.0.1:5672/
[database]
connection = mysql+pymysql://cinder:p@127.0.0.1/cinder
[oslo_concurrency]
lock_path = /var/lib/cinder/tmp
END
cinder-manage db sync
install -d -o cinder /var/lib/cinder/tmp
systemd-run --quiet --unit=cinder-api --uid=cinder ${program('api')}
systemd-run --quiet --unit=cinder-scheduler --uid=cinder ${program('scheduler')}
timeout 180 sh -c 'until curl -s -o /dev/null http://127.0.0.1:8776/; do sleep 1; done'`
  const { exit, stderr } = await nodes.node(CENTRAL).run('sh', '-c', script)
  expect(exit, stderr).toEqual({ kind: 'exited', code: 0 })
}

interface Volume {
  readonly volume: { readonly id: string; readonly status: string; readonly 'os-vol-host-attr:host'?: string }
}

/** Asks for volumes of a project; the last word may be the path of one. */
async function askCinder(...words: readonly string[]): Promise<string> {
  const project = '0123456789abcdef0123456789abcdef'
  const path = words.at(-1)?.startsWith('/') ? (words.at(-1) ?? '') : ''
  const options = path === '' ? words : words.slice(0, -1)
  const headers = ['-H', `X-Auth-Token: admin:${project}`, '-H', 'Content-Type: application/json']
  return output(CENTRAL, 'curl', '-s', ...headers, ...options, `http://127.0.0.1:8776/v3/${project}/volumes${path}`)
}

describe('a data plane host', () => {
  it(
    'is a chassis after phase 0, and the second run changes nothing',
    async () => {
      const { exit, stderr } = await nodes
        .node(CENTRAL)
        .run(
          'timeout',
          '120',
          'sh',
          '-c',
          'systemctl start ovn-central; until ovn-sbctl set-connection ptcp:6642; do sleep 1; done',
        )
      expect(exit, stderr).toEqual({ kind: 'exited', code: 0 })
      expect(await deploy(phase0Playbooks)).toMatchObject({ reason: 'Completed' })
      await expect.poll(chassis, soon).toBe(HOST)
      expect(await deploy(phase0Playbooks)).toMatchObject({ hosts: { [HOST]: { changed: 0, failures: 0 } } })
    },
    LONG,
  )

  it(
    'runs the metadata agent and libvirt as units that read our files only',
    async () => {
      // What a package brings must not count: the agent would ask a database on its own host.
      await onHost(
        'sh',
        '-c',
        "printf '[ovn]\\novn_sb_connection = tcp:127.0.0.1:6642\\n' >> /etc/neutron/neutron.conf",
      )
      const files = { ...metadataFiles(), 'virtqemud.conf': computeFiles()['virtqemud.conf'] ?? '' }
      const { 'virtqemud.conf': libvirt, ...agent } = files
      expect(await deploy(['libvirt'], { files: { 'virtqemud.conf': libvirt } })).toMatchObject({ reason: 'Completed' })
      expect(await deploy(['ovn-metadata'], { files: agent })).toMatchObject({ reason: 'Completed' })
      const asNova = ['setpriv', '--reuid=nova', '--regid=nova', '--init-groups']
      await expect.poll(() => onHost(...asNova, 'virsh', '-c', 'qemu:///system', 'uri'), soon).toBe('qemu:///system')
      // The agent records itself in the southbound database that it uses.
      const recorded = (): Promise<string> =>
        output(CENTRAL, 'ovn-sbctl', '--bare', '--columns=external_ids', 'list', 'chassis_private')
      await expect.poll(recorded, soon).toContain('neutron:ovn-metadata-id')
      expect(await onHost('systemctl', 'is-enabled', 'stackloom-libvirt', 'stackloom-ovn-metadata')).toBe(
        'enabled\nenabled',
      )
      expect(await onHost('systemctl', 'is-active', 'libvirtd', 'neutron-ovn-metadata-agent')).toBe(
        'inactive\ninactive',
      )
      expect(await onHost('journalctl', '-u', 'stackloom-ovn-metadata', '-o', 'cat', '--no-pager')).toContain('neutron')
    },
    LONG,
  )

  it(
    'is not deployed while its metadata agent does not reach the southbound database',
    async () => {
      const vars = { stackloom_start_seconds: 30 }
      expect(
        await deploy(['ovn-metadata'], { files: metadataFiles('', 'tcp:192.168.122.99:6642'), vars }),
      ).toMatchObject({
        reason: 'Failed',
        message: expect.stringMatching(/it does not reach the southbound database: .*SL7159/),
      })
      expect(await deploy(['ovn-metadata'], { files: metadataFiles(), vars })).toMatchObject({ reason: 'Completed' })
    },
    LONG,
  )

  it(
    'restarts the service whose configuration changed, and no other',
    async () => {
      const starts = (): Promise<readonly string[]> =>
        Promise.all(['libvirt', 'ovn-metadata'].map((name) => property('InvocationID', `stackloom-${name}.service`)))
      const [libvirt, agent] = await starts()
      const virtqemud = { 'virtqemud.conf': computeFiles()['virtqemud.conf'] ?? '' }
      const changed = metadataFiles('[DEFAULT]\ndebug = True\n')
      expect(await deploy(['libvirt'], { files: virtqemud })).toMatchObject({ hosts: { [HOST]: { changed: 0 } } })
      expect(await deploy(['ovn-metadata'], { files: changed })).toMatchObject({ reason: 'Completed' })
      const [libvirtAfter, agentAfter] = await starts()
      expect(libvirtAfter).toBe(libvirt)
      expect(agentAfter).not.toBe(agent)
      expect(await deploy(['ovn-metadata'], { files: changed })).toMatchObject({ hosts: { [HOST]: { changed: 0 } } })
      // An interrupted run wrote the files and did not restart the service: the next run does.
      const folder = '/var/lib/openstack/config/ovn-metadata'
      await onHost('sh', '-c', `echo > ${folder}/02-neutron-metadata-override.conf`)
      expect(await deploy(['ovn-metadata'], { files: metadataFiles('') })).toMatchObject({ reason: 'Completed' })
      expect((await starts())[1]).not.toBe(agentAfter)
    },
    LONG,
  )

  it(
    'has its services again after a reboot and after lost power, without the operator',
    async () => {
      const units = ['stackloom-libvirt', 'stackloom-ovn-metadata', 'openvswitch-switch', 'ovn-controller']
      const states = (): Promise<string> => onHost('systemctl', 'is-active', ...units)
      const connected = (): Promise<string> => onHost('ovn-appctl', '-t', 'ovn-controller', 'connection-status')
      const boots = async (): Promise<void> => {
        await expect.poll(states, soon).toBe('active\nactive\nactive\nactive')
        await expect.poll(connected, soon).toBe('connected')
      }
      const first = await property('InvocationID', 'stackloom-libvirt.service')
      await nodes.node(HOST).run('systemctl', 'reboot')
      await expect
        .poll(() => property('InvocationID', 'stackloom-libvirt.service').catch(() => first), soon)
        .not.toBe(first)
      await boots()
      await nodes.node(HOST).losePower()
      await nodes.node(HOST).powerOn()
      await boots()
    },
    LONG,
  )

  it(
    'gives nova-compute the values of our files, whatever its package configures',
    async () => {
      await onHost(
        'sh',
        '-c',
        "printf '[DEFAULT]\\nhost = packaged\\ntransport_url = rabbit://packaged/\\n' >> /etc/nova/nova.conf",
      )
      const custom = '[DEFAULT]\ncompute_driver = fake.FakeDriver\n'
      // No control plane answers: the step fails, and says what nova-compute waits for.
      const end = await deploy(['nova'], { files: computeFiles(custom), vars: { stackloom_start_seconds: 90 } })
      expect(end).toMatchObject({
        reason: 'Failed',
        message: expect.stringMatching(
          /^edpm-compute-0: Check that the service runs: .*stackloom-nova\.service does not start: .*SL71(49|66)/,
        ),
      })
      const command = await property('ExecStart', 'stackloom-nova.service')
      const [, argv = ''] = /argv\[\]=(.*?) ;/.exec(command) ?? []
      const ask = `
import sys
from nova import config
import nova.conf
from oslo_messaging import transport
config.parse_args(['nova-compute', *sys.argv[2:]], default_config_files=None, configure_db=False, init_rpc=False)
conf = nova.conf.CONF
conf.register_opts(transport._transport_opts)
print(conf.host, conf.transport_url, conf.compute_driver)`
      const printed = await onHost(
        'setpriv',
        '--reuid=nova',
        '--regid=nova',
        '--init-groups',
        'python3',
        '-c',
        ask,
        ...argv.split(' '),
      )
      expect(printed.split('\n').at(-1)).toBe(`${HOST} rabbit://nova:secret@192.168.122.1:5672/ fake.FakeDriver`)
    },
    LONG,
  )

  it(
    'runs cinder-volume, which makes volumes for the cloud, and is not up while no backend can be used',
    async () => {
      await startCinder()
      const { address } = nodes.node(CENTRAL)
      const facts = {
        transportUrl: `rabbit://cinder:p@${address}:5672/`,
        connection: `mysql+pymysql://cinder:p@${address}/cinder`,
        host: HOST,
      }
      const deployVolume = (backend: string, changed: Partial<typeof facts> = {}): ReturnType<typeof deploy> => {
        const custom = `[DEFAULT]\nenabled_backends = files\n[files]\nvolume_backend_name = files\n${backend}`
        const files = filesOf(renderCinderVolumeConfig({ ...facts, ...changed }, custom))
        return deploy(['cinder-volume'], { files, vars: { stackloom_start_seconds: 120 } })
      }
      // The packaged file must not count. sudo looks for the name of the host, which phase 0 has written.
      await onHost('sh', '-c', "printf '[DEFAULT]\\nhost = packaged\\n' >> /etc/cinder/cinder.conf")
      await onHost('sh', '-c', `grep -q ${HOST} /etc/hosts || echo 127.0.1.1 ${HOST} >> /etc/hosts`)
      // A service that runs and is not up is no success of the next run either.
      for (let run = 0; run < 2; run += 1) {
        expect(await deployVolume('volume_driver = cinder.volume.drivers.lvm.LVMVolumeDriver\n')).toMatchObject({
          reason: 'Failed',
          message: expect.stringMatching(
            /^edpm-compute-0: Check that the service runs: .*Volume group .*cinder-volumes.* not found/,
          ),
        })
      }
      await onHost('sh', '-c', PREPARE_SHARE)
      const withoutBus = { transportUrl: `rabbit://cinder:p@${address}:1/` }
      const unreachable = {
        reason: 'Failed',
        message: expect.stringMatching(/it does not reach the message bus: .*SL7149/),
      }
      expect(await deployVolume(SHARE, withoutBus)).toMatchObject(unreachable)
      const end = await deployVolume(SHARE)
      expect(end, end.message).toMatchObject({ reason: 'Completed' })
      const created = JSON.parse(await askCinder('-d', '{"volume": {"size": 1, "name": "first"}}')) as Volume
      const volume = async (): Promise<string> => {
        const shown = JSON.parse(await askCinder(`/${created.volume.id}`)) as Volume
        return `${shown.volume.status} on ${shown.volume['os-vol-host-attr:host']}`
      }
      await expect.poll(volume, soon).toBe(`available on ${HOST}@files#files`)
      const size = ['find', '/var/lib/cinder/mnt', '-name', `volume-${created.volume.id}`, '-printf', '%s\n']
      expect(await onHost(...size)).toBe(String(1024 ** 3))
      expect(await deployVolume(SHARE)).toMatchObject({ hosts: { [HOST]: { changed: 0 } } })
      // The agent of SR-IOV needs the bus alone, and no NIC.
      const deployAgent = (transportUrl: string): ReturnType<typeof deploy> => {
        const files = filesOf(renderSriovConfig({ transportUrl, host: HOST }))
        return deploy(['sriov'], { files, vars: { stackloom_start_seconds: 60 } })
      }
      expect(await deployAgent(withoutBus.transportUrl)).toMatchObject(unreachable)
      const agent = await deployAgent(facts.transportUrl)
      expect(agent, agent.message).toMatchObject({ reason: 'Completed' })
    },
    LONG,
  )

  it(
    'loses the units, the processes and the configuration of removed services, and nothing else',
    async () => {
      const services = ['nova', 'libvirt', 'ovn-metadata', 'cinder-volume', 'sriov']
      const end = await deploy(['decommission'], { vars: { stackloom_services: services } })
      expect(end).toMatchObject({ reason: 'Completed' })
      expect(
        await onHost(
          'sh',
          '-c',
          'ls /etc/systemd/system/*stackloom* /etc/systemd/system/*/*stackloom*.service; ls /var/lib/openstack/config',
        ),
      ).toBe('')
      expect(await onHost('pgrep', '-fa', 'nova-compute|libvirtd|metadata-agent|cinder-volume')).toBe('')
      expect(await onHost('systemctl', 'is-active', 'openvswitch-switch', 'ovn-controller')).toBe('active\nactive')
      const again = await deploy(['decommission'], { vars: { stackloom_services: services } })
      expect(again).toMatchObject({ hosts: { [HOST]: { changed: 0 } } })
    },
    LONG,
  )

  it(
    'keeps the name of its chassis when it starts again, and leaves OVN with Open vSwitch running',
    async () => {
      await nodes.node(HOST).losePower()
      await nodes.node(HOST).powerOn()
      const units = ['ovs-record-hostname', 'openvswitch-switch', 'ovn-controller']
      await expect.poll(() => onHost('systemctl', 'is-active', ...units), soon).toBe('active\nactive\nactive')
      expect(await onHost('hostname', '-f')).toBe(`${HOST}.ctlplane.example.org`)
      expect(await onHost('ovs-vsctl', 'get', 'Open_vSwitch', '.', 'external_ids:hostname')).toBe(HOST)
      await expect.poll(chassis, soon).toBe(HOST)
      expect(await deploy(['leave-ovn'])).toMatchObject({ reason: 'Completed' })
      expect(await chassis()).toBe('')
      expect(await onHost('systemctl', 'is-active', ...units)).toBe('active\nactive\ninactive')
      expect(await onHost('systemctl', 'is-enabled', 'ovn-controller')).not.toBe('enabled')
      expect(await onHost('ovs-vsctl', 'get', 'Open_vSwitch', '.', 'external_ids')).not.toContain('ovn-')
      expect(await onHost('find', '/etc/systemd/system', '-name', '*stackloom-chassis*')).toBe('')
      expect(await deploy(['leave-ovn'])).toMatchObject({ hosts: { [HOST]: { changed: 0, failures: 0 } } })
    },
    LONG,
  )
})
