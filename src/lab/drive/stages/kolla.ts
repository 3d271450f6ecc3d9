/** Defines `bootstrap`, `prechecks`, `pull`, `deploy` and `post-deploy`: the steps of Kolla-Ansible. */
import { certificatePaths } from '../../certificates.ts'
import { type Lab, nodesWithRole } from '../../lab.ts'
import { kollaFiles } from '../../tree-files.ts'
import { type DriveContext, type LabStage, readInputs, run, type Step, vmGenerations } from '../stage.ts'
import type { LabState } from '../state.ts'

/** Without the files of Ceph, which the stage `ceph` has as its inputs. */
function deploymentInputs(context: DriveContext): readonly (string | undefined)[] {
  const { lab } = context
  const configuration = kollaFiles(lab).map((file) => file.path)
  return readInputs(context, 'kolla/passwords.yml', ...certificatePaths(lab), ...configuration)
}

const nodeNames = (lab: Lab): string => lab.nodes.map((node) => node.name).join()

export const bootstrapStage: LabStage = {
  name: 'bootstrap',
  after: [
    { stage: 'deployer', why: 'kolla-ansible runs it' },
    { stage: 'dns', why: 'the nodes resolve names of the lab' },
  ],
  inputs: (context) => [vmGenerations(context), nodeNames(context.lab)],
  steps: async ({ tools }) => [
    run(tools.kolla('bootstrap-servers'), 'install Docker and write /etc/hosts on every node'),
  ],
}

export const prechecksStage: LabStage = {
  name: 'prechecks',
  after: [
    { stage: 'bootstrap', why: 'it checks for Docker' },
    { stage: 'certificates', why: 'it checks for certificates' },
    { stage: 'images', why: 'images come from the registry' },
  ],
  // Prechecks fail on a running cloud, because its own services use the ports. So they run for new VMs only.
  inputs: (context) => [vmGenerations(context), nodeNames(context.lab)],
  steps: async ({ tools }) => [run(tools.kolla('prechecks'), "run Kolla-Ansible's prechecks")],
}

export const pullStage: LabStage = {
  name: 'pull',
  after: [{ stage: 'prechecks', why: 'a lab that cannot be deployed needs no images' }],
  inputs: (context) => [vmGenerations(context), ...readInputs(context, 'kolla/globals.yml', 'kolla/multinode')],
  steps: async ({ tools }) => [run(tools.kolla('pull'), 'pull the container images')],
}

/** Runs `deploy` the first time and for new VMs, and `reconfigure` when only the configuration changed. */
export const deployStage: LabStage = {
  name: 'deploy',
  after: [{ stage: 'pull', why: 'containers need their images' }],
  inputs: (context) => [vmGenerations(context), ...deploymentInputs(context)],
  steps: async (context) => {
    const { tools, state, lab } = context
    const before = state().deployed
    const now = Object.fromEntries(lab.nodes.map((node) => [node.name, state().generations[node.name] ?? 0]))
    const sameVms = before && Object.entries(now).every(([name, generation]) => before[name] === generation)
    const reconfigure = sameVms && state().restore === undefined
    return [
      reconfigure
        ? run(tools.kolla('reconfigure'), 'reconfigure changed services')
        : run(tools.kolla('deploy'), 'deploy OpenStack'),
      ...restoreSteps(context),
      { kind: 'note', update: (old) => ({ ...old, deployed: now }) },
    ]
  },
}

/** After the replacement of a controller, restores what its OS disk held. */
function restoreSteps({ lab, tools, state, folder }: DriveContext): readonly Step[] {
  const { restore } = state()
  const [node] = nodesWithRole(lab, 'control')
  if (restore === undefined || !node) return []
  return [
    run(tools.copyTo(node, [`${folder}/${restore}`], '/tmp/stackloom-backup.tar'), `copy ${restore} to ${node.name}`),
    run(tools.ssh(node, 'sudo sh -s'), 'restore the database and the images', {
      inputFile: 'scripts/node/restore-database.sh',
    }),
    run(tools.kolla('reconfigure'), 'reconfigure services for the restored database'),
    { kind: 'note', update: clearRestore },
  ]
}

function clearRestore({ stages, generations, deployed }: LabState): LabState {
  return { stages, generations, ...(deployed && { deployed }) }
}

export const postDeployStage: LabStage = {
  name: 'post-deploy',
  after: [{ stage: 'deploy', why: 'it writes the credentials of the deployed cloud' }],
  inputs: (context) => readInputs(context, 'kolla/globals.yml', 'kolla/passwords.yml'),
  steps: async ({ tools }) => [run(tools.kolla('post-deploy'), 'write clouds.yaml and openrc files')],
}
