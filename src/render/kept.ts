/** Decides what stays with the tool that deployed a cloud (`keep` of the site file). Pure. */
import type { PlannedCloud } from '../plan/plan.ts'

type Kept = NonNullable<PlannedCloud['from']['file']['keep']>[number]

/** A data plane is configured by its control plane, so it stays with it. */
const keptStages: Readonly<Record<Kept, readonly string[]>> = {
  attachments: ['netattach'],
  'control-plane': ['secrets', 'control-plane', 'data-plane'],
}

export function isKept({ from }: PlannedCloud, stage: string): boolean {
  return from.file.keep?.some((kept) => keptStages[kept].includes(stage)) ?? false
}
