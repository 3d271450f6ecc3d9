/** `bootstrap`, `prechecks`, `pull`, `deploy`, `post-deploy`: Kolla-Ansible's own steps. */
import { certificatePaths } from '../../certificates.ts'
import { type Lab, nodesWithRole } from '../../lab.ts'
import { kollaFiles } from '../../tree-files.ts'
import { type DriveContext, type LabStage, readInputs, vmGenerations } from '../stage.ts'
import type { LabState } from '../state.ts'
import { run, type Step } from '../step.ts'

/** What a deployment is made of. Phase 2 has its own stage and is not in it. */
function deploymentInputs(context: DriveContext): readonly (string | undefined)[] {
  const { lab } = context
  const configuration = kollaFiles(lab).map((file) => file.path)
  return readInputs(context, 'kolla/passwords.yml', ...certificatePaths(lab), ...configuration)
}

const nodeNames = (lab: Lab): string => lab.nodes.map((node) => node.name).join()

export const bootstrapStage: LabStage = {
  name: 'bootstrap',
  after: [
    { stage: 'deployer', why: 'kolla-ansible does it' },
    { stage: 'dns', why: 'the nodes resolve names of the lab' },
  ],
  inputs: (context) => [vmGenerations(context), nodeNames(context.lab)],
  steps: async ({ tools }) => [run(tools.kolla('bootstrap-servers'), 'Docker and the hosts file on every node')],
}

export const prechecksStage: LabStage = {
  name: 'prechecks',
  after: [
    { stage: 'bootstrap', why: 'it looks for Docker' },
    { stage: 'certificates', why: 'it looks for certificates' },
    { stage: 'images', why: 'images come from the registry' },
  ],
  // On a running cloud the ports are taken, by the cloud: prechecks are for what is not deployed yet.
  inputs: (context) => [vmGenerations(context), nodeNames(context.lab)],
  steps: async ({ tools }) => [run(tools.kolla('prechecks'), "Kolla-Ansible's own checks")],
}

export const pullStage: LabStage = {
  name: 'pull',
  after: [{ stage: 'prechecks', why: 'nothing is fetched for what cannot be deployed' }],
  inputs: (context) => [vmGenerations(context), ...readInputs(context, 'kolla/globals.yml', 'kolla/multinode')],
  steps: async ({ tools }) => [run(tools.kolla('pull'), 'container images')],
}

/** The first time, and for new VMs: deploy. Later, for what changed: reconfigure. */
export const deployStage: LabStage = {
  name: 'deploy',
  after: [{ stage: 'pull', why: 'containers need their images' }],
  inputs: (context) => [vmGenerations(context), ...deploymentInputs(context)],
  steps: async (context) => {
    const { tools, state, lab } = context
    const before = state().deployed
    const now = Object.fromEntries(lab.nodes.map((node) => [node.name, state().generations[node.name] ?? 0]))
    const same = before && Object.entries(now).every(([name, made]) => before[name] === made)
    const command = same && state().restore === undefined ? 'reconfigure' : 'deploy'
    const say = command === 'deploy' ? 'OpenStack is deployed' : 'changed services are reconfigured'
    return [
      run(tools.kolla(command), say),
      ...restoreSteps(context),
      { kind: 'note', update: (old) => ({ ...old, deployed: now }) },
    ]
  },
}

/** A controller was replaced: what its OS disk held comes back from the backup, in the same run. */
function restoreSteps({ lab, tools, state, folder }: DriveContext): readonly Step[] {
  const { restore } = state()
  const [node] = nodesWithRole(lab, 'control')
  if (restore === undefined || !node) return []
  return [
    run(tools.copyTo(node, [`${folder}/${restore}`], '/tmp/stackloom-backup.tar'), `${restore} to ${node.name}`),
    run(tools.ssh(node, 'sudo sh -s'), 'the database and images of before', {
      inputFile: 'scripts/node/restore-database.sh',
    }),
    run(tools.kolla('reconfigure'), 'services find the restored database'),
    { kind: 'note', update: clearRestore },
  ]
}

function clearRestore({ stages, generations: made, deployed: last }: LabState): LabState {
  return { stages, generations: made, ...(last && { deployed: last }) }
}

export const postDeployStage: LabStage = {
  name: 'post-deploy',
  after: [{ stage: 'deploy', why: 'it writes the credentials of what was deployed' }],
  inputs: (context) => readInputs(context, 'kolla/globals.yml', 'kolla/passwords.yml'),
  steps: async ({ tools }) => [run(tools.kolla('post-deploy'), 'clouds.yaml and openrc files')],
}
