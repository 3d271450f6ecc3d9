/** `resources` and `ceph`: what comes after the deployment. */

import { type Lab, type LabNode, nodesWithRole, usesCeph, usesLvm } from '../../lab.ts'
import { terraformFiles } from '../../terraform/resources.ts'
import { cephFiles } from '../../tree-files.ts'
import { type DriveContext, type LabStage, readInputs, vmGenerations } from '../stage.ts'
import { run, type Step } from '../step.ts'

export const resourcesStage: LabStage = {
  name: 'resources',
  after: [{ stage: 'post-deploy', why: 'Terraform reads clouds.yaml' }],
  inputs: (context) => [
    ...readInputs(context, ...terraformFiles(context.lab).map((file) => file.path)),
    String(context.state().stages['deploy']),
  ],
  steps: async ({ tools }) => [
    run(tools.tofu('init', '-input=false', '-no-color'), 'the OpenStack provider'),
    run(tools.tofu('apply', '-auto-approve', '-input=false', '-no-color'), 'networks, flavors, image, keypair'),
  ],
}

export const cephStage: LabStage = {
  name: 'ceph',
  after: [{ stage: 'post-deploy', why: 'phase 2 adds to a running cloud' }],
  skipReason: (lab) => (usesCeph(lab) ? undefined : 'storage phase lvm'),
  inputs: (context) => [
    ...readInputs(context, ...cephFiles(context.lab, { fsid: '', keys: {} }, false).map((file) => file.path)),
    vmGenerations(context),
  ],
  steps: async (context) => {
    const { lab, tools } = context
    const [monitor] = nodesWithRole(lab, 'ceph-mon')
    if (!monitor) return []
    return [
      ...clusterSteps(monitor, context),
      run(tools.ssh(monitor, 'sudo sh -s'), 'pools and users', { inputFile: 'scripts/node/ceph-pools.sh' }),
      enable(context),
      run(tools.kolla('reconfigure', '-t', 'glance,cinder,nova'), 'Glance, Cinder and Nova use Ceph'),
      ...(usesLvm(lab) ? [migrationHint(lab, context)] : []),
    ]
  },
}

function clusterSteps(monitor: LabNode, { tools, folder }: DriveContext): readonly Step[] {
  const files = ['cluster.yaml', 'initial.conf', 'ceph.conf', 'keyrings'].map((name) => `${folder}/ceph/${name}`)
  const keys = [`${folder}/ssh/id_ed25519`, `${folder}/ssh/id_ed25519.pub`]
  const room = 'rm -rf /tmp/stackloom-ceph && mkdir -m 700 /tmp/stackloom-ceph'
  return [
    run(tools.ssh(monitor, room), 'room for the specifications'),
    run(tools.copyTo(monitor, [...files, ...keys], '/tmp/stackloom-ceph/'), `specifications to ${monitor.name}`),
    run(tools.ssh(monitor, 'sudo sh -s'), 'the cluster, its monitor and its OSDs', {
      inputFile: 'scripts/node/ceph-bootstrap.sh',
    }),
  ]
}

/** From now on every kolla-ansible command reads it. */
function enable({ folder, read }: DriveContext): Step {
  const file = { path: 'kolla/globals.d/20-ceph.yml', text: read('ceph/20-ceph.yml') ?? '' }
  return { kind: 'write', description: 'phase 2 is on: kolla/globals.d/20-ceph.yml', folder, file }
}

/** Both backends at once: how a volume moves is shown, not done. */
function migrationHint(lab: Lab, { folder }: DriveContext): Step {
  const text = `# Both backends of ${lab.name} are on. A volume moves from LVM to Ceph, attached or not, by its type:
scripts/openstack.sh volume set --type ceph --retype-policy on-demand VOLUME
scripts/openstack.sh volume show VOLUME -c type -c os-vol-host-attr:host
`
  return {
    kind: 'write',
    description: 'how volumes move is in ceph/MIGRATE',
    folder,
    file: { path: 'ceph/MIGRATE', text },
  }
}
