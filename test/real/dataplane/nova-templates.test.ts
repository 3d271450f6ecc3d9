/**
 * Compares the configuration of nova-compute with what nova-operator 0.1.1, which did this work in 2023, renders from the same
 * facts. Every difference has its reason here; another one fails.
 */
import path from 'node:path'
import { expect, it } from 'vitest'
import { renderComputeConfig } from '../../../src/dataplane/service-definitions/nova-config.ts'
import { runProcess, succeeded } from '../../../src/exec/process.ts'
import { testProgram } from '../../../tools/test-programs.ts'
import { effectiveConfig } from '../../effective-config.ts'

const KEYSTONE = 'http://keystone-internal.openstack.svc:5000'
const BUS = 'rabbit://user:password@rabbitmq-cell1.openstack.svc:5672/'
const CONSOLE = 'http://nova-novncproxy-cell1-public-openstack.apps.example.org'

/** As the operator fills them for a NovaExternalCompute. */
const parameters = {
  service_name: 'nova-compute',
  keystone_internal_url: KEYSTONE,
  nova_keystone_user: 'nova',
  nova_keystone_password: 'S3cret',
  openstack_cacert: '',
  openstack_region_name: 'regionOne',
  default_project_domain: 'Default',
  default_user_domain: 'Default',
  transport_url: BUS,
  log_file: '/var/log/containers/nova/nova-compute.log',
  novncproxy_base_url: CONSOLE,
}

const accounts = ['keystone_authtoken', 'placement', 'glance', 'neutron', 'cinder', 'service_user']

/** Options that only one side has, or with other values. */
const named: Readonly<Record<string, string>> = {
  'DEFAULT.debug': 'a setting for development',
  'DEFAULT.host': 'upstream has the host name of the container; here it is the name in the inventory',
  'DEFAULT.log_file': 'the unit logs to the journal',
  'DEFAULT.log_rotation_type': 'the unit logs to the journal',
  'DEFAULT.max_logfile_count': 'the unit logs to the journal',
  'DEFAULT.max_logfile_size_mb': 'the unit logs to the journal',
  'DEFAULT.my_ip': 'upstream lets nova-compute guess the address, which is wrong on a host with several networks',
  'cinder.os_region_name': 'region_name of upstream is no option of this section',
  'cinder.region_name': 'region_name of upstream is no option of this section',
  'neutron.service_metadata_proxy': 'read by the metadata API only',
  'service_user.region_name': 'upstream has it in every other section',
  'vnc.novncproxy_host': 'read by the proxy only',
  'vnc.novncproxy_port': 'read by the proxy only',
  'vnc.server_proxyclient_address': 'upstream refers to my_ip, which is set here',
  ...Object.fromEntries(accounts.map((name) => [`${name}.cafile`, 'upstream writes an empty one'])),
}

async function renderTemplate(): Promise<string> {
  const cwd = path.join(import.meta.dirname, '../../../sandbox/nova-templates')
  const module = 'github.com/openstack-k8s-operators/nova-operator'
  const found = await runProcess({ file: 'go', args: ['mod', 'download', '-json', module], cwd })
  if (!succeeded(found.exit)) throw new Error(found.stderr)
  const { Dir: folder } = JSON.parse(found.stdout) as { readonly Dir: string }
  const program = { file: await testProgram('nova-templates'), args: [path.join(folder, 'templates/nova.conf')] }
  const { exit, stdout, stderr } = await runProcess({ ...program, input: JSON.stringify(parameters) })
  if (!succeeded(exit)) throw new Error(stderr)
  return stdout
}

/** oslo.config reads truth in any case. */
function normalise(values: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(values).map(([key, value]) => [key, /^(true|false)$/i.test(value) ? value.toLowerCase() : value]),
  )
}

it('the configuration of nova-compute is that of nova-operator but for the named differences', async () => {
  const theirs = normalise(effectiveConfig({ kind: 'files', files: { '01-nova.conf': await renderTemplate() } }))
  const facts = {
    transportUrl: BUS,
    keystoneAuthUrl: KEYSTONE,
    serviceUser: 'nova',
    servicePassword: 'S3cret',
    host: 'edpm-compute-0',
    myIp: '192.168.122.100',
    consoleUrl: `${CONSOLE}/vnc_lite.html`,
  }
  const ours = normalise(effectiveConfig(renderComputeConfig(facts)))
  const differing = [...new Set([...theirs.keys(), ...ours.keys()])].filter((key) => theirs.get(key) !== ours.get(key))
  expect(differing.toSorted()).toEqual(Object.keys(named).toSorted())
}, 300_000)
