/** Lists all stages of a lab in deployment order. */
import type { LabStage } from './stage.ts'
import { cephStage, resourcesStage } from './stages/cloud.ts'
import { certificatesStage, dnsStage } from './stages/dns-and-certificates.ts'
import { deployerStage, hostStage, imagesStage } from './stages/host.ts'
import { bootstrapStage, deployStage, postDeployStage, prechecksStage, pullStage } from './stages/kolla.ts'
import { disksStage, vmsStage } from './stages/machines.ts'

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
