/** Lists every command, in the order in which a site is built and operated. A module is imported when it is used. */
import type { CommandEntry } from './command.ts'

export const commands: readonly CommandEntry[] = [
  {
    name: 'init',
    summary: 'Create a commented site file from a few answers',
    load: () => import('./init/command.ts'),
  },
  {
    name: 'import',
    summary: 'Create a site file from existing configuration or a cluster',
    load: () => import('./import/command.ts'),
  },
  {
    name: 'plan',
    summary: 'Assign and check every address and VLAN, and write the lock',
    load: () => import('./plan/command.ts'),
  },
  {
    name: 'render',
    summary: 'Render all objects as a stream or as a GitOps tree',
    load: () => import('./render/command.ts'),
  },
  {
    name: 'slots',
    summary: 'List Service overrides of the control plane CRD with values',
    load: () => import('./slots/command.ts'),
  },
  {
    name: 'ip',
    summary: 'Show the owner of an address and what is free around it',
    load: () => import('./ip/command.ts'),
  },
  {
    name: 'operator',
    summary: 'Run or install the controllers and webhooks',
    load: () => import('./operator/command.ts'),
  },
  {
    name: 'ipam',
    summary: 'Show subnet usage, allocated addresses and waiting IPSets',
    load: () => import('./ipam/command.ts'),
  },
  {
    name: 'dns',
    summary: 'Show or query the DNS servers of the clouds; print hosts files',
    load: () => import('./dns/command.ts'),
  },
  {
    name: 'config',
    summary: 'Explain the configuration of services on a node',
    load: () => import('./config/command.ts'),
  },
  {
    name: 'dataplane',
    summary: 'Convert Role/Node objects to NodeSets',
    load: () => import('./dataplane/command.ts'),
  },
  {
    name: 'diff',
    summary: 'Show what `up` would change, and the risk of each change',
    load: () => import('./diff/command.ts'),
  },
  {
    name: 'up',
    summary: 'Deploy the site stage by stage; run it again to resume',
    load: () => import('./up/command.ts'),
  },
  {
    name: 'status',
    summary: 'Show the state of deployed clouds (problems only by default)',
    load: () => import('./status/command.ts'),
  },
  {
    name: 'doctor',
    summary: 'Diagnose problems, live or from a dump, and print the remedy',
    load: () => import('./doctor/command.ts'),
  },
  {
    name: 'verify',
    summary: 'Check that clouds match the plan and are isolated',
    load: () => import('./verify/command.ts'),
  },
  {
    name: 'down',
    summary: 'Remove a cloud or the whole site, and check nothing is left',
    load: () => import('./down/command.ts'),
  },
  {
    name: 'access',
    summary: 'Write clouds.yaml, the CA and a kubeconfig context',
    load: () => import('./access/command.ts'),
  },
  {
    name: 'adopt',
    summary: 'Move an existing cloud to its own pools, keeping its addresses',
    load: () => import('./adopt/command.ts'),
  },
  {
    name: 'update',
    summary: 'Update a cloud to another OpenStack version',
    load: () => import('./update/command.ts'),
  },
  {
    name: 'stages',
    summary: 'List the stages of a deployment and what each waits for',
    load: () => import('./stages/command.ts'),
  },
  {
    name: 'schema',
    summary: 'Print the JSON Schema of a site or lab file, for editors',
    load: () => import('./schema/command.ts'),
  },
  {
    name: 'sandbox',
    summary: 'Run a real API server with MetalLB on this machine',
    load: () => import('./sandbox/command.ts'),
  },
  {
    name: 'lab',
    summary: 'Run a production-like OpenStack on this machine',
    load: () => import('./lab/command.ts'),
  },
  {
    name: 'explain',
    summary: 'Explain a finding: meaning, cause and remedy',
    load: () => import('./explain/command.ts'),
  },
  {
    name: 'completion',
    summary: 'Print a shell completion script for bash, zsh or fish',
    load: () => import('./completion/command.ts'),
  },
  {
    name: '__complete',
    summary: 'Print the completions of a command line',
    hidden: true,
    load: () => import('./completion/respond.ts'),
  },
]
