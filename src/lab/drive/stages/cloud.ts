/** Defines `resources` and `ceph`, which run after the deployment. */
import { failure } from '../../../errors/failure.ts'
import { quoteShellWord } from '../../../errors/shell-words.ts'
import { succeeded } from '../../../exec/process.ts'
import { imageMissing, nameNotResolved } from '../../findings/lab-run.ts'
import { cirrosFile, externalFqdn, type Lab, type LabNode, nodesWithRole, usesCeph, usesLvm } from '../../lab.ts'
import { isLocalImage, TERRAFORM_FOLDER, terraformFiles } from '../../terraform/resources.ts'
import { cephFiles } from '../../tree-files.ts'
import { type DriveContext, type LabStage, readInputs, run, type Step, vmGenerations } from '../stage.ts'

export const resourcesStage: LabStage = {
  name: 'resources',
  after: [{ stage: 'post-deploy', why: 'Terraform reads clouds.yaml' }],
  inputs: (context) => [
    ...readInputs(context, ...terraformFiles(context.lab).map((file) => file.path)),
    String(context.state().stages['deploy']),
  ],
  steps: async (context) => [
    ...imageSteps(context),
    resolveStep(context),
    run(context.tools.tofu('init', '-input=false', '-no-color'), 'install the OpenStack provider'),
    run(
      context.tools.tofu('apply', '-auto-approve', '-input=false', '-no-color'),
      'create networks, flavors, image and keypair',
    ),
  ],
}

/** Terraform reads a local image when it plans, so the file must exist before. */
function imageSteps({ lab, exists }: DriveContext): readonly Step[] {
  const { file } = lab.terraform.image
  if (!isLocalImage(file)) return []
  const location = file.startsWith('/') ? file : `${TERRAFORM_FOLDER}/${file}`
  if (exists(location)) return []
  if (file !== cirrosFile(lab.arch)) throw failure(imageMissing, { file: location }, { exitCode: 1 })
  return [run(['sh', 'scripts/fetch-image.sh'], 'fetch CirrOS')]
}

/** Fails before OpenTofu does, with the command that sends the names of the lab to its DNS server. */
function resolveStep({ lab, system, folder }: DriveContext): Step {
  const name = externalFqdn(lab)
  const address = lab.vips.external
  const script = 'import socket, sys; print(socket.gethostbyname(sys.argv[1]))'
  const hosts = `echo ${quoteShellWord(`${address} ${name}`)} | sudo tee -a /etc/hosts`
  const command = system === 'darwin' ? quoteShellWord(`${folder}/scripts/resolver.sh`) : hosts
  return run(['python3', '-c', script, name], `this machine resolves ${name}`, {
    checkOutput: ({ exit, stdout }) => {
      const answer = succeeded(exit) ? stdout.trim() : ''
      if (answer === address) return undefined
      return failure(nameNotResolved, { name, address, answer, command }, { exitCode: 1 })
    },
  })
}

export const cephStage: LabStage = {
  name: 'ceph',
  after: [
    { stage: 'post-deploy', why: 'phase 2 adds to a running cloud' },
    { stage: 'resources', why: 'it restarts services that Terraform is using' },
  ],
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
      run(tools.ssh(monitor, 'sudo sh -s'), 'create pools and users', { inputFile: 'scripts/node/ceph-pools.sh' }),
      enableCeph(context),
      run(tools.kolla('reconfigure', '-t', 'glance,cinder,nova'), 'switch Glance, Cinder and Nova to Ceph'),
      ...(usesLvm(lab) ? [migrationHint(lab, context)] : []),
    ]
  },
}

function clusterSteps(monitor: LabNode, { tools, folder }: DriveContext): readonly Step[] {
  const files = ['cluster.yaml', 'initial.conf', 'ceph.conf', 'keyrings'].map((name) => `${folder}/ceph/${name}`)
  const keys = [`${folder}/ssh/id_ed25519`, `${folder}/ssh/id_ed25519.pub`]
  const createFolder = 'rm -rf /tmp/stackloom-ceph && mkdir -m 700 /tmp/stackloom-ceph'
  return [
    run(tools.ssh(monitor, createFolder), 'create a folder for the specifications'),
    run(
      tools.copyTo(monitor, [...files, ...keys], '/tmp/stackloom-ceph/'),
      `copy the specifications to ${monitor.name}`,
    ),
    run(tools.ssh(monitor, 'sudo sh -s'), 'create the cluster, its monitor and its OSDs', {
      inputFile: 'scripts/node/ceph-bootstrap.sh',
    }),
  ]
}

/** Kolla-Ansible reads every file of globals.d. */
function enableCeph({ folder, read }: DriveContext): Step {
  const file = { path: 'kolla/globals.d/20-ceph.yml', text: read('ceph/20-ceph.yml') ?? '' }
  return { kind: 'write', description: 'enable Ceph in kolla/globals.d/20-ceph.yml', folder, file }
}

function migrationHint(lab: Lab, { folder }: DriveContext): Step {
  const text = `# Both backends of ${lab.name} are enabled. Change the type of a volume to move it from LVM to Ceph, attached or not:
scripts/openstack.sh volume set --type ceph --retype-policy on-demand VOLUME
scripts/openstack.sh volume show VOLUME -c type -c os-vol-host-attr:host
`
  return {
    kind: 'write',
    description: 'write ceph/MIGRATE: how to move volumes',
    folder,
    file: { path: 'ceph/MIGRATE', text },
  }
}
