/** The stages of a lab, in the order of a deployment. */

export const stageNames = [
  'host',
  'deployer',
  'images',
  'disks',
  'vms',
  'dns',
  'certificates',
  'bootstrap',
  'prechecks',
  'pull',
  'deploy',
  'post-deploy',
  'resources',
  'ceph',
] as const

export type StageName = (typeof stageNames)[number]
