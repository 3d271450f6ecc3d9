/** Every command, in the order of a person's day. A module is imported when its command is used, not before. */
import type { CommandEntry } from './command.ts'

export const commands: readonly CommandEntry[] = [
  {
    name: 'init',
    summary: 'A commented starter file, from a few answers',
    load: () => import('./init/command.ts'),
  },
  {
    name: 'import',
    summary: 'A site file from install_yamls, from the architecture repository or from a cluster',
    load: () => import('./import/command.ts'),
  },
  {
    name: 'plan',
    summary: 'Every address, name and number of every cloud: decided, checked, locked',
    load: () => import('./plan/command.ts'),
  },
  {
    name: 'render',
    summary: 'Every object of every cloud: a stream, or a GitOps tree',
    load: () => import('./render/command.ts'),
  },
  {
    name: 'slots',
    summary: "Where the control plane's CRD takes Service settings, what each place gets and why",
    load: () => import('./slots/command.ts'),
  },
  {
    name: 'ip',
    summary: 'Who owns an address, where a name lives, what is free beside it',
    load: () => import('./ip/command.ts'),
  },
  {
    name: 'operator',
    summary: 'The controllers and webhooks that give data plane hosts addresses, names and services',
    load: () => import('./operator/command.ts'),
  },
  {
    name: 'ipam',
    summary: "The data plane's addresses: use of every subnet, who holds what, who waits and why",
    load: () => import('./ipam/command.ts'),
  },
  {
    name: 'dns',
    summary: "The clouds' names: who serves which address, what the server answers, a hosts file",
    load: () => import('./dns/command.ts'),
  },
  {
    name: 'config',
    summary: 'The configuration of the services on a node, with the origin of every value',
    load: () => import('./config/command.ts'),
  },
  {
    name: 'dataplane',
    summary: "The data plane of 2023 in the words of today's API",
    load: () => import('./dataplane/command.ts'),
  },
  {
    name: 'diff',
    summary: 'What `up` would change on the cluster, with the risk of each change',
    load: () => import('./diff/command.ts'),
  },
  {
    name: 'up',
    summary: 'Deploy the site, stage after stage; the same command resumes',
    load: () => import('./up/command.ts'),
  },
  {
    name: 'status',
    summary: 'How the deployed clouds are: by default only what is not fine',
    load: () => import('./status/command.ts'),
  },
  {
    name: 'doctor',
    summary: 'What is wrong with the clouds, why, and the command that repairs it; live or from a dump',
    load: () => import('./doctor/command.ts'),
  },
  {
    name: 'verify',
    summary: 'Is the cluster as planned, and are the clouds isolated: every check, its proof, a report',
    load: () => import('./verify/command.ts'),
  },
  {
    name: 'down',
    summary: 'Take a cloud, or everything, out of the cluster; prove that nothing is left',
    load: () => import('./down/command.ts'),
  },
  {
    name: 'access',
    summary: 'clouds.yaml and CA of a cloud that runs, its dashboard, a kubeconfig context',
    load: () => import('./access/command.ts'),
  },
  {
    name: 'adopt',
    summary: 'Move a cloud that other tools have deployed to pools of its own; every address stays',
    load: () => import('./adopt/command.ts'),
  },
  {
    name: 'update',
    summary: "Bring one cloud to another version of OpenStack, in upstream's order",
    load: () => import('./update/command.ts'),
  },
  {
    name: 'stages',
    summary: 'The steps of a deployment, what each waits for, what it replaces',
    load: () => import('./stages/command.ts'),
  },
  {
    name: 'schema',
    summary: 'The JSON Schema of a site or lab file, for editors',
    load: () => import('./schema/command.ts'),
  },
  {
    name: 'sandbox',
    summary: 'A real API server, with MetalLB, on this machine: start, stop, status, logs',
    load: () => import('./sandbox/command.ts'),
  },
  {
    name: 'lab',
    summary: 'A production-like OpenStack on this machine: init, check, render, up, status, down',
    load: () => import('./lab/command.ts'),
  },
  {
    name: 'explain',
    summary: 'The long story of a finding: what it means, why it matters, what to do',
    load: () => import('./explain/command.ts'),
  },
  {
    name: 'completion',
    summary: 'Completion of commands, options and names for bash, zsh and fish',
    load: () => import('./completion/command.ts'),
  },
  {
    name: '__complete',
    summary: 'What may come next on a command line',
    hidden: true,
    load: () => import('./completion/respond.ts'),
  },
]
