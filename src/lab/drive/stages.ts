/** All stages, in the order of a deployment. */
import type { LabStage } from './stage.ts'
import { cephStage, resourcesStage } from './stages/cloud.ts'
import { certificatesStage, dnsStage } from './stages/dns-and-certificates.ts'
import { hostStage } from './stages/host.ts'
import { bootstrapStage, deployStage, postDeployStage, prechecksStage, pullStage } from './stages/kolla.ts'
import { disksStage, vmsStage } from './stages/machines.ts'
import { deployerStage, imagesStage } from './stages/tooling.ts'

export const labStages: readonly LabStage[] = [
  hostStage,
  deployerStage,
  imagesStage,
  disksStage,
  vmsStage,
  dnsStage,
  certificatesStage,
  bootstrapStage,
  prechecksStage,
  pullStage,
  deployStage,
  postDeployStage,
  resourcesStage,
  cephStage,
]
