/**
 * Compares the configuration of nova-compute with what nova-operator 0.1.1, which did this work in 2023, renders from the same
 * facts. Every difference has its reason; another one fails.
 */
import path from 'node:path'
import { expect, it } from 'vitest'
import { renderComputeConfig } from '../../../src/dataplane/service-definitions/nova-config.ts'
import { runProcess, succeeded } from '../../../src/exec/process.ts'
import { testProgram } from '../../../tools/test-programs.ts'
import { effectiveConfig } from '../../effective-config.ts'
import { differingOptions, namedOptions } from './nova-differences.ts'

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

it('the configuration of nova-compute is that of nova-operator but for the named differences', async () => {
  const theirs = effectiveConfig({ kind: 'files', files: { '01-nova.conf': await renderTemplate() } })
  const facts = {
    transportUrl: BUS,
    keystoneAuthUrl: KEYSTONE,
    serviceUser: 'nova',
    servicePassword: 'S3cret',
    host: 'edpm-compute-0',
    myIp: '192.168.122.100',
    consoleUrl: `${CONSOLE}/vnc_lite.html`,
  }
  const ours = effectiveConfig(renderComputeConfig(facts))
  expect(differingOptions(theirs, ours)).toEqual(Object.keys(namedOptions).toSorted())
}, 300_000)
